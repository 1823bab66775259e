package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/live"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/watch"
	"github.com/zonefold/zonefold/internal/console"
	"github.com/zonefold/zonefold/internal/zone"
)

// newConsole makes the command that shows all that in a browser.
func newConsole(env Env) *cobra.Command {
	var (
		in   objectFlags
		show showing
	)
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Show zones, records and servers in a browser",
		Long: `console starts a web server for you alone, on 127.0.0.1, and prints a link to it. The link
works once, in one browser. Pages show the zones as a tree, the records of each with a search,
what explain says of a name, who may have what, the Backends, what servers hold otherwise
(diff), and the history of a Zone. They follow what changes.

The objects are those of files with -f, and else those of the cluster that you may list. All
is read, and done, with the rights of your kubeconfig. Without --edit it only shows; with it,
there are forms for approve, freeze, thaw and rollback. Each shows first what it would do, and
asks.

It ends when it is interrupted: docs/console.md.

Exit codes: 0 when interrupted; 1 if the objects cannot be read at the start, or the port
cannot be listened on.`,
		Example: `  zonefold console
  kubectl zonefold console --edit -n team-a
  zonefold console -f zones/`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show.run(cmd.Context(), env, in)
		},
	}
	in.register(cmd)
	cmd.Flags().BoolVar(&show.edit, "edit", false, "have forms that change things; each asks before it does")
	cmd.Flags().Uint16Var(&show.port, "port", 0, "the port on 127.0.0.1; 0 is any that is free")
	return cmd
}

// showing says how the console is shown.
type showing struct {
	edit bool
	port uint16
}

// run shows the objects until the context ends.
func (s showing) run(ctx context.Context, env Env, in objectFlags) error {
	var w *consoleWorld
	var follow func(context.Context)
	err := untilDone(ctx, env, func(env Env, p *progress) (err error) {
		if len(in.files) > 0 {
			w, follow, err = in.followFiles(env, p)
		} else {
			w, follow, err = in.followCluster(ctx, env, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	followed := make(chan struct{})
	go func() { defer close(followed); follow(ctx) }()
	defer func() { cancel(); <-followed }()
	end, err := s.begin(ctx, env, w)
	if err != nil {
		return err
	}
	<-ctx.Done()
	return end()
}

// Time-outs of requests. Whoever reads servers for differences waits longest.
const (
	headersTake = 10 * time.Second
	requestTake = 30 * time.Second
	answerTakes = 5 * time.Minute
	maxHeaders  = 32 << 10
)

// begin serves the console, and returns what ends it.
func (s showing) begin(ctx context.Context, env Env, w *consoleWorld) (end func() error, err error) {
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), s.port)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, fmt.Errorf("listening for the console: %w; choose another --port, or none for any that is free", err)
	}
	shown, err := console.New(console.Options{Source: w, Edit: s.edit && w.flags.files == nil, Random: rand.Reader,
		Now: running(env.Now), Addr: listener.Addr().(*net.TCPAddr).AddrPort()})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: shown, ReadHeaderTimeout: headersTake, ReadTimeout: requestTake,
		WriteTimeout: answerTakes, MaxHeaderBytes: maxHeaders, ErrorLog: log.New(env.Stderr, "console: ", 0),
		BaseContext: func(net.Listener) context.Context { return ctx }}
	w.warm()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if _, err := fmt.Fprintf(env.Stdout, "open this link, which works once: %s\n", shown.Link()); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return func() error {
		_ = server.Close() // pages that are kept up to date would be waited for
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving the console: %w", err)
		}
		return nil
	}, nil
}

// followFiles reads files, and returns what follows their changes.
func (f *objectFlags) followFiles(env Env, p *progress) (*consoleWorld, func(context.Context), error) {
	f.namespace = cmp.Or(f.namespace, metav1.NamespaceDefault)
	paths := slices.DeleteFunc(slices.Clone(f.files), func(path string) bool { return path == "-" })
	watcher, err := watch.New(paths)
	if err != nil {
		return nil, nil, err
	}
	w := newConsoleWorld(env, *f, strings.Join(f.files, ", "), newFold())
	reader := manifest.NewReader(manifest.Options{Paths: f.files, Stdin: env.Stdin, Namespace: f.namespace,
		Begin: p.begin})
	read := func() error {
		if err := watcher.Follow(); err != nil {
			return err
		}
		in, err := reader.Read()
		if err == nil {
			w.put(&objects{Input: in, namespace: f.namespace, unseen: leftOut(in)})
		}
		return err
	}
	if err := read(); err != nil {
		return nil, nil, errors.Join(err, watcher.Close())
	}
	return w, func(ctx context.Context) {
		defer func() { _ = watcher.Close() }() // the program ends
		whenever(ctx, watcher.Changed(), func() {
			if err := read(); err != nil {
				fmt.Fprintf(env.Stderr, "error: %s; everything is shown as it was before.\n", oneLine(err.Error()))
			}
		})
	}, nil
}

// leftOut says what of files could not be read.
func leftOut(in *manifest.Input) []string {
	var out []string
	for _, p := range slices.Concat(in.Problems, in.Ignored) {
		out = append(out, p.Place.String()+": "+p.Message)
	}
	return out
}

// followCluster reads a cluster, and returns what follows its changes.
func (f *objectFlags) followCluster(ctx context.Context, env Env, p *progress) (*consoleWorld, func(context.Context),
	error) {
	f.cluster.namespace = f.namespace
	config, namespace, err := f.cluster.config(env)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; or say with -f which files to read", err)
	}
	p.begin("reading the cluster", 0)
	fetcher, err := newFetcher(config, namespace)
	if err != nil {
		return nil, nil, err
	}
	if err := fetcher.fetchAll(ctx, f.sources); err != nil {
		return nil, nil, err
	}
	watching, err := watchClient(config)
	if err != nil {
		return nil, nil, err
	}
	var lists []live.List
	for _, l := range fetcher.lists {
		in, err := manifest.Read(manifest.Options{Texts: l.texts, Namespace: namespace, Begin: p.begin})
		if err != nil {
			return nil, nil, err
		}
		lists = append(lists, live.List{Path: l.path, Version: l.version, Objects: in.Objects})
	}
	found := live.New(watching, namespace, lists, running(env.Now))
	w := newConsoleWorld(env, *f, "the cluster at "+config.Host, newFold())
	take := func() {
		w.put(&objects{Input: &manifest.Input{Objects: found.All()}, namespace: namespace, cluster: true,
			unseen: append(found.Troubles(), fetcher.unseen...), api: fetcher.client.RESTClient()})
	}
	p.begin("deciding about objects", 0)
	take()
	p.end()
	return w, func(ctx context.Context) {
		followed := make(chan struct{})
		go func() { defer close(followed); found.Follow(ctx) }()
		whenever(ctx, found.Changed(), take)
		<-followed
	}, nil
}

// How long whenever rests after a change: so many times as long as it took, and at least whileRests.
const (
	whileTimes = 3
	whileRests = 50 * time.Millisecond
)

// whenever acts when something has changed, until the context ends. Changes that come close together are one.
func whenever(ctx context.Context, changed <-chan struct{}, act func()) {
	now := running(time.Time{})
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		began := now()
		act()
		rest := time.NewTimer(max(whileRests, whileTimes*now().Sub(began)))
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
}

// errFiles is about what files do not have.
var errFiles = errors.New("the objects are those of files, which have no history, and nothing of them is published")

// History implements console.Source: it is what history says.
func (w *consoleWorld) History(ctx context.Context, of console.Object) (*console.History, error) {
	if !w.explainer().cluster {
		return nil, errFiles
	}
	c, _, err := w.flags.cluster.connect(w.env)
	if err != nil {
		return nil, err
	}
	z, err := findZone(ctx, c, "", of.Namespace+"/"+of.Name)
	if err != nil {
		return nil, err
	}
	list, err := revisionsOf(ctx, c, z)
	if err != nil {
		return nil, err
	}
	p := pastOf(z, list, func(*pastChange) bool { return true })
	out := &console.History{Serial: serialText(z)}
	for i := range p.Revisions {
		r := &p.Revisions[i]
		one := console.Revision{Serial: fmt.Sprint(r.Serial), Previous: fmt.Sprint(r.PreviousSerial), Time: r.Time,
			Added: int(r.Added), Changed: int(r.Changed), Deleted: int(r.Deleted), Causes: r.causes(), LeftOut: r.LeftOut}
		for _, line := range r.Delta {
			one.Lines = append(one.Lines, consoleLine(line))
		}
		out.Revisions = append(out.Revisions, one)
	}
	return out, nil
}

// actionTakes is how long the operator has to say that something is so.
const actionTakes = 10 * time.Second

// errOtherPlan says that something has changed since a person was asked.
var errOtherPlan = errors.New("it would do something else by now than what was shown; look again")

// Plan implements console.Source: it says what a command would do.
func (w *consoleWorld) Plan(ctx context.Context, a console.Action) (*console.Plan, error) {
	if !w.explainer().cluster {
		return nil, errFiles
	}
	if a.Verb == console.Approve {
		return w.planApproval(ctx, a)
	}
	c, _, err := w.flags.cluster.connect(w.env)
	if err != nil {
		return nil, err
	}
	z, err := findZone(ctx, c, "", a.Zone.Namespace+"/"+a.Zone.Name)
	if err != nil {
		return nil, err
	}
	out, err := w.planOf(ctx, c, z, a)
	if err != nil {
		return nil, err
	}
	if err := annotateAs(ctx, c, z, annotationsOf(a), "All"); err != nil {
		out.Refused = "You could not have it done: " + err.Error() + "."
	}
	return out, nil
}

// planOf says what an action would do with a Zone.
func (w *consoleWorld) planOf(
	ctx context.Context, c *cluster, z *kubizone.Zone, a console.Action,
) (*console.Plan, error) {
	name := fmt.Sprintf("Zone %s/%s at serial %s", z.Namespace, z.Name, serialText(z))
	switch a.Verb {
	case console.Freeze:
		return &console.Plan{ID: string(a.Verb), Sentence: name + " stays as it is published: what changes waits."}, nil
	case console.Thaw:
		return &console.Plan{ID: string(a.Verb), Sentence: name + " follows its objects again: all that has waited is sent."},
			nil
	}
	to, err := strconv.ParseUint(a.Serial, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("%q is no serial", a.Serial)
	}
	edits, err := (&rollingBack{to: int64(to)}).plan(ctx, c, z)
	if err != nil {
		return nil, err
	}
	text := zone.EditText(edits)
	sum := sha256.Sum256([]byte(string(z.UID) + "\n" + a.Serial + "\n" + text))
	out := &console.Plan{ID: hex.EncodeToString(sum[:]), Sentence: fmt.Sprintf(
		"%s goes back to serial %d, and is frozen at that: %s of it would be otherwise.", name, to, count(len(edits), "set"))}
	for line := range strings.Lines(text) {
		out.Lines = append(out.Lines, consoleLine(strings.TrimSuffix(line, "\n")))
	}
	return out, nil
}

// annotationsOf returns what has the operator act.
func annotationsOf(a console.Action) map[string]any {
	switch a.Verb {
	case console.Freeze:
		return map[string]any{zonefold.FreezeAnnotation: a.Reason}
	case console.Thaw:
		return map[string]any{zonefold.FreezeAnnotation: nil, zonefold.RollbackAnnotation: nil}
	}
	return map[string]any{zonefold.RollbackAnnotation: a.Serial}
}

// approval returns what approves, as the command does, and prints to out.
func (w *consoleWorld) approval(a console.Action, out *bytes.Buffer) (*approval, string, error) {
	config, _, err := w.flags.cluster.config(w.env)
	if err != nil {
		return nil, "", err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, "", fmt.Errorf("connecting to the cluster: %w", err)
	}
	env := w.env
	env.Stdout = out
	return &approval{env, client.RESTClient(), a.Zone.Namespace}, strings.ToLower(a.Zone.Kind) + "/" + a.Zone.Name, nil
}

func (w *consoleWorld) planApproval(ctx context.Context, a console.Action) (*console.Plan, error) {
	approval, ref, err := w.approval(a, nil)
	if err != nil {
		return nil, err
	}
	_, z, err := approval.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	held := z.Status.Held
	if held == nil {
		return nil, fmt.Errorf("no deletions are held of %s", a.Zone.String())
	}
	out := &console.Plan{ID: held.Plan, Sentence: fmt.Sprintf("The deletion of %s of %s is made, among them:",
		count(int(held.Sets), "set"), a.Zone.String())}
	for _, example := range held.Examples {
		out.Lines = append(out.Lines, console.Line{Sign: "-", Text: example})
	}
	if held.Plan == "" {
		out.Refused = "The policy of its Backend leaves what is held, and nobody can approve it: change " +
			"spec.protection.policy of the Backend."
	}
	return out, nil
}

// Do implements console.Source: it does what a command does.
func (w *consoleWorld) Do(ctx context.Context, a console.Action, plan string) (string, error) {
	var said bytes.Buffer
	if !w.explainer().cluster {
		return "", errFiles
	}
	if a.Verb == console.Approve {
		approval, ref, err := w.approval(a, &said)
		if err != nil || plan == "" {
			return "", errors.Join(err, errOtherPlan)
		}
		err = approval.approve(ctx, ref, plan)
		return said.String(), err
	}
	f := rollingBack{freezing: freezing{env: w.env, flags: w.flags.cluster, timeout: actionTakes}}
	f.env.Stdout = &said
	told := map[console.Verb]func(*kubizone.Zone) string{console.Freeze: f.frozen, console.Thaw: f.thawed}[a.Verb]
	if told == nil {
		f.to, _ = strconv.ParseInt(a.Serial, 10, 64) // which the plan has read
		told = f.rolledBack
	}
	err := f.run(ctx, a.Zone.Namespace+"/"+a.Zone.Name, func(ctx context.Context, c *cluster, z *kubizone.Zone) error {
		now, err := w.planOf(ctx, c, z, a)
		if err == nil && now.ID != plan {
			err = errOtherPlan
		}
		if err != nil {
			return err
		}
		return annotate(ctx, c, z, annotationsOf(a))
	}, told)
	return said.String(), err
}
