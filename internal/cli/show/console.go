package show

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/live"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/cli/watch"
	"github.com/zonefold/zonefold/internal/console"
)

// newConsole makes the command that shows all that in a browser.
func newConsole(env command.Env) *cobra.Command {
	var (
		in   command.ObjectFlags
		show showing
	)
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Show zones, records and servers in a browser",
		Long: `console starts a web server for you alone, on 127.0.0.1, and prints a link to it. The link
works once, in one browser. Pages show the zones as a tree, the records of each with a search,
what explain says of a name, who may have what, the Backends, how servers differ (diff), and
the history of a Zone. They follow changes.

The objects are those of files with -f, otherwise those of the cluster that you may list.
Everything is read and done with the rights of your kubeconfig. Without --edit the pages only
show. With it, there are forms for approve, freeze, thaw and rollback, and to create, change
and delete Records. Each shows first what it would do, and asks.

It runs until it is interrupted: docs/console.md.

Exit codes: 0 when interrupted; 1 if the objects cannot be read at the start, or the port
cannot be listened on.`,
		Example: `  zonefold console
  kubectl zonefold console --edit -n team-a
  zonefold console -f zones/`,
		Args: command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return show.run(cmd.Context(), env, in)
		},
	}
	cmd.AddCommand(newInCluster(env))
	in.Register(cmd)
	cmd.Flags().BoolVar(&show.edit, "edit", false, "have forms that change things; each asks before it does")
	cmd.Flags().Uint16Var(&show.port, "port", 0, "the port on 127.0.0.1; 0 chooses a free one")
	return cmd
}

// showing says how the console is shown.
type showing struct {
	edit bool
	port uint16
}

// run shows the objects until the context ends.
func (s showing) run(ctx context.Context, env command.Env, in command.ObjectFlags) error {
	var w *consoleWorld
	var follow func(context.Context) error
	err := command.UntilDone(ctx, env, func(env command.Env, p *command.Progress) (err error) {
		if len(in.Files) > 0 {
			w, follow, err = followFiles(env, p, &in)
		} else {
			w, follow, err = followCluster(ctx, env, p, &in)
		}
		return err
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	followed := make(chan struct{})
	go func() { defer close(followed); _ = follow(ctx) }() // which bounds nothing of a person's own
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
func (s showing) begin(ctx context.Context, env command.Env, w *consoleWorld) (end func() error, err error) {
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), s.port)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, fmt.Errorf("listening for the console: %w; choose another --port, or leave it out to use a free one", err)
	}
	shown, err := console.New(console.Options{Source: w, Edit: s.edit && w.flags.Files == nil, Random: rand.Reader,
		Now: command.Running(env.Now), Addr: listener.Addr().(*net.TCPAddr).AddrPort()})
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
func followFiles(env command.Env, p *command.Progress, f *command.ObjectFlags) (*consoleWorld,
	func(context.Context) error, error) {
	f.Namespace = cmp.Or(f.Namespace, metav1.NamespaceDefault)
	paths := slices.DeleteFunc(slices.Clone(f.Files), func(path string) bool { return path == "-" })
	watcher, err := watch.New(paths)
	if err != nil {
		return nil, nil, err
	}
	w := newConsoleWorld(env, *f, strings.Join(f.Files, ", "), fold.New())
	reader := manifest.NewReader(manifest.Options{Paths: f.Files, Stdin: env.Stdin, Namespace: f.Namespace,
		Begin: p.Begin})
	read := func() error {
		if err := watcher.Follow(); err != nil {
			return err
		}
		in, err := reader.Read()
		if err == nil {
			w.put(&command.Found{Input: in, Namespace: f.Namespace, Unseen: leftOut(in)})
		}
		return err
	}
	if err := read(); err != nil {
		return nil, nil, errors.Join(err, watcher.Close())
	}
	return w, func(ctx context.Context) error {
		defer func() { _ = watcher.Close() }() // the program ends
		return whenever(ctx, watcher.Changed(), func() error {
			if err := read(); err != nil {
				fmt.Fprintf(env.Stderr, "error: %s; everything is shown as it was before.\n", plain.Line(err.Error()))
			}
			return nil
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
func followCluster(ctx context.Context, env command.Env, p *command.Progress, f *command.ObjectFlags) (*consoleWorld,
	func(context.Context) error, error) {
	f.Cluster.Namespace = f.Namespace
	config, namespace, err := f.Cluster.Config(env)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; or name files to read with -f", err)
	}
	config.WarningHandler = rest.NoWarnings{} // pages show them
	f.Cluster.Given, f.Cluster.Namespace = config, namespace
	p.Begin("reading the cluster", 0)
	s := cmp.Or(f.Shared, &command.Shared{Namespaces: []string{namespace}})
	fetcher, err := command.NewFetcher(config, s.Namespaces...)
	if err != nil {
		return nil, nil, err
	}
	fetcher.Most = s.Most
	if err := fetcher.FetchAll(ctx, f.Sources); err != nil {
		return nil, nil, err
	}
	watching, err := command.WatchClient(config)
	if err != nil {
		return nil, nil, err
	}
	var lists []live.List
	for _, l := range fetcher.Lists {
		in, err := manifest.Read(manifest.Options{Texts: l.Texts, Namespace: namespace, Begin: p.Begin})
		if err != nil {
			return nil, nil, err
		}
		lists = append(lists, live.List{Path: l.Path, Version: l.Version, Objects: in.Objects})
	}
	found := live.New(watching, namespace, lists, command.Running(env.Now), live.Limits{Octets: s.Most, Watch: s.Anew})
	w := newConsoleWorld(env, *f, "the cluster at "+config.Host, fold.New())
	take := func() error {
		all := found.All()
		w.put(&command.Found{Input: &manifest.Input{Objects: all}, Namespace: namespace, Cluster: true, Guard: s.Guard,
			Unseen: append(found.Troubles(), fetcher.Unseen...), API: fetcher.Client.RESTClient()})
		var octets int64
		for _, o := range all {
			octets += int64(len(o.JSON))
		}
		return command.TooMuch(octets, s.Most)
	}
	p.Begin("deciding about objects", 0)
	if err := take(); err != nil {
		return nil, nil, err
	}
	p.End()
	return w, func(ctx context.Context) error {
		ctx, end := context.WithCancel(ctx)
		var parts sync.WaitGroup
		defer func() { end(); parts.Wait() }()
		parts.Go(func() { found.Follow(ctx) })
		if s.Anew > 0 {
			parts.Go(func() { gained(ctx, fetcher, gainTimes*s.Anew); end() })
		}
		return whenever(ctx, found.Changed(), take)
	}, nil
}

// gainTimes is how much more rarely new rights are looked for than those that are gone: each kind costs a request.
const gainTimes = 2

// gained waits until the person may see more than at first, so that everything is read again.
func gained(ctx context.Context, f *command.Fetcher, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if f.Gains(ctx) {
			return
		}
	}
}

// How long whenever rests after a change: so many times as long as it took, and at least whileRests.
const (
	whileTimes = 3
	whileRests = 50 * time.Millisecond
)

// whenever acts when something has changed, until the context ends or it fails. Changes that come close together are
// one.
func whenever(ctx context.Context, changed <-chan struct{}, act func() error) error {
	now := command.Running(time.Time{})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		began := now()
		if err := act(); err != nil {
			return err
		}
		rest := time.NewTimer(max(whileRests, whileTimes*now().Sub(began)))
		select {
		case <-ctx.Done():
			rest.Stop()
			return nil
		case <-rest.C:
		}
	}
}
