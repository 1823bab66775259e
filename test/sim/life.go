package sim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// How long a life lasts behind its last step.
const (
	calmAfter  = 20 * time.Minute // all is as it is to be
	auditAfter = 80 * time.Minute // all has been read again: audits are an hour apart, more or less a quarter
	idleFor    = time.Hour        // in which nobody writes anything
)

// A Life is what happens in a world, as a txtar archive. The name of a file is a step, what is in it belongs to the
// step:
//
//	server 192.0.2.1:53 SECRET example.org.   a name server with a key and a zone
//	server 192.0.2.1:53 SECRET example.org. powerdns    the same, of one of the kinds in servers.go
//	refuse 192.0.2.1:53 www.example.org.      it takes no sets of a name
//	accept 192.0.2.1:53 www.example.org.      it does again
//	half 192.0.2.1:53                         it takes half of each message, or, where it takes only
//	                                          whole ones, none of those with several sets
//	whole 192.0.2.1:53                        it takes all again
//	slow 192.0.2.1:53 2m                      it does what it is told, and so long answers nothing; 0s:
//	                                          it answers at once again
//	forget 192.0.2.1:53                       it has its zones, and nothing in them
//	down 192.0.2.1:53                         it does not answer
//	up 192.0.2.1:53                           it answers again
//	key 192.0.2.1:53 SECRET                   it knows another key from now on
//	write 192.0.2.1:53 www.example.org. A 192.0.2.1   somebody else puts a set there
//	unsynced 192.0.2.1:53                     it ends right after its next answer to a message, and
//	                                          comes back without what that was about
//	keep 192.0.2.1:53 example.org.            its content is kept, as a backup is
//	lose 192.0.2.1:53 example.org.            it has the content that was kept last, or loses the zone
//	update example.org. SECRET                a client of dynamic updates changes something: see updating.go
//	webhook dns.example SECRET                a server of DNSClasses, with a key; what follows is in
//	                                          webhook.go; those of pods of fleets are in fleet.go
//	service dns.googleapis.com example.org.   the API of a service: what follows is in service.go
//	begin homelab                             operators begin, with these dialects; none: kubizone
//	sources service ingress                   operators follow these sources; written before they begin
//	entries 4                                 as many the status of a Zone has at most; more of them are in
//	                                          ZoneSlices. Written before operators begin
//	status Service a/www                      somebody writes the status of an object, such as the controller of
//	                                          a load balancer
//	operators 2                               so many live at the same time; written before they begin
//	apply                                     objects, as kubectl apply has them
//	deny                                      objects that are not stored, unless there is nobody to ask
//	try                                       objects that may be denied
//	delete Record a/www                       an object; one of several kinds of that name:
//	                                          DNSRecord.extensions.gardener.cloud. Without its Lease an operator
//	                                          leads until it looks at it, beside another
//	annotate DNSRecord a/www KEY=VALUE        an object; KEY- takes it off
//	strip Zone a/org                          somebody takes all finalizers off
//	wait 5s                                   nothing
//	holds 192.0.2.1:53                        a server has this by now, and nothing else: a set a line
//	reads 192.0.2.1:53 2                      it was asked for a whole zone so often by now, at most
//	says Record a/www                         the status of an object has, as JSON, each line in it by now; "not x": it
//	                                          has x not
//	never Zone a/org                          the status of an object never has a line in it from now on; "not x": always
//	late zones 60s, failing 409 after 30s,    what is wrong with the API server from then on: see troubles
//	tardy zones/status 1s, gone 30s,
//	unread dnsendpoints 5m
//	settled                                   servers have what objects ask for by now, and statuses say so
//	undefine dnsendpoints                     somebody deletes the definition of a kind, and with it all objects
//	define dnsendpoints                       somebody applies it again
//	backup                                    the API server's objects are kept
//	restore                                   it has the backup again, and its revisions fall; operators are started
//	                                          anew, as they have to be
//	restore bumped                            it has the backup again, with higher revisions
//	replace                                   an object is deleted and, once it is gone, made again
//	clock -2h                                 the API server's clock jumps
//	verbose 50ms                              operators log each verdict from now on, and that takes so long
//	seed 17                                   how long each message takes
//	lease 50s 40s 20s                         for how long an operator leads, tries to go on, and waits between two
//	                                          tries, if another one may take over
//	fault crash after 37                      what goes wrong: see Fault; "crash after 3 NAME" is at the third effect
//	                                          of this name
type Life struct {
	Name  string // a sentence
	Steps []Step
	Fault Fault
	Then  []Fault // further ones
	Seed  uint64  // of how long messages take
	Lease Lease

	Rights  *Rights  // what operators may do; nil: everything
	Reviews *Reviews // who is asked before objects are stored; nil: nobody

	// Unsucceeded has nobody take over in the end, to be looked at: the definitions lack fields, which each leader writes
	// anew, or it was looked at in the same life before.
	Unsucceeded bool
}

// A Lease is for how long an operator leads, tries to go on, and waits between two tries. The zero one is what
// operators have by themselves.
type Lease [3]time.Duration

// A Step is one thing that happens.
type Step struct {
	Text  string // such as "delete Record a/www"
	Data  []byte
	mends bool // what was wrong ends: see Shrink
	turn  int  // of a random life, in which it is; 0: none
}

// ParseLife reads a life.
func ParseLife(text []byte) (Life, error) {
	archive := txtar.Parse(text)
	l := Life{Name: strings.TrimSpace(string(archive.Comment))}
	for _, f := range archive.Files {
		words := strings.Fields(f.Name)
		var err error
		switch words[0] {
		case "fault":
			err = l.meet(words[1:])
		case "seed":
			l.Seed, err = strconv.ParseUint(words[len(words)-1], 10, 64)
		case "lease":
			l.Lease, err = parseLease(words[1:])
		default:
			l.Steps = append(l.Steps, Step{Text: f.Name, Data: f.Data})
		}
		if err != nil {
			return l, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return l, nil
}

// parseLease reads what Format writes of a Lease.
func parseLease(words []string) (lease Lease, err error) {
	if len(words) != len(lease) {
		return lease, fmt.Errorf("a lease has %d durations, not %q", len(lease), words)
	}
	for i, word := range words {
		if lease[i], err = time.ParseDuration(word); err != nil {
			return Lease{}, err
		}
	}
	return lease, nil
}

// meet adds a fault.
func (l *Life) meet(words []string) error {
	f, err := parseFault(words)
	if l.Fault.Kind == None {
		l.Fault = f
	} else {
		l.Then = append(l.Then, f)
	}
	return err
}

// Format writes a life as ParseLife reads it.
func (l Life) Format() []byte {
	out := &txtar.Archive{Comment: []byte(l.Name + "\n")}
	if l.Seed != 0 {
		out.Files = append(out.Files, txtar.File{Name: "seed " + strconv.FormatUint(l.Seed, 10)})
	}
	if l.Lease != (Lease{}) {
		out.Files = append(out.Files, txtar.File{Name: fmt.Sprintf("lease %v %v %v", l.Lease[0], l.Lease[1], l.Lease[2])})
	}
	for _, s := range l.Steps {
		out.Files = append(out.Files, txtar.File{Name: s.Text, Data: s.Data})
	}
	for _, f := range append([]Fault{l.Fault}, l.Then...) {
		if f.Kind != None {
			out.Files = append(out.Files, txtar.File{Name: "fault " + f.String()})
		}
	}
	return txtar.Format(out)
}

// An Outcome is what came of a life.
type Outcome struct {
	Effects []string // that operators had, in order
	Follows []bool   // which of them came right after the one before: who crashes between the two leaves the same
	Wrong   []string // what must never happen and did
	Denied  []string // objects of people
	State   string   // of objects and servers when all is calm, without what differs from life to life
}

// Live lives a life. It is called in a bubble (testing/synctest), and returns when nothing of it is left.
func (l Life) Live(ctx context.Context, kinds *Kinds, run Run) (Outcome, error) {
	entries, err := l.entries()
	if err != nil {
		return Outcome{}, fmt.Errorf("reading how many entries a status has: %w", err)
	}
	w := newWorld(kinds, run, l)
	w.entries = entries
	for _, name := range []string{"zonefold-system", "a", "b"} {
		if err := w.apply(ctx, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}"); err != nil {
			return Outcome{}, err
		}
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	if err := w.house(ctx); err != nil {
		return Outcome{}, err
	}
	started := false
	endWatch := func() {}
	defer func() { endWatch() }()
	for _, s := range l.Steps {
		words := strings.Fields(s.Text)
		if words[0] == "begin" {
			started = true
			w.parts.Go(func() { w.supervise(ctx) })
			endWatch = w.watch(ctx)
			continue
		}
		w.acts()
		if err := w.step(ctx, words, s.Data); err != nil {
			end()
			err = errors.Join(fmt.Errorf("%s: %w", s.Text, err), w.stopAll())
			<-time.After(time.Minute) // for what is under way
			return Outcome{}, err
		}
	}
	if !started {
		return Outcome{}, errors.New("no operator was started: write a step begin")
	}
	<-time.After(calmAfter)
	w.calm()
	endWatch()
	state := w.replicated(ctx)
	if l.Fault.Kind == None && !l.Unsucceeded {
		endWatch = w.watch(ctx)
		w.succeed()
		endWatch()
		state = w.replicated(ctx)
	}
	w.promises()
	w.updatesHold()
	w.updatesLeft()
	state += w.state()
	end()
	w.parts.Wait()
	err = w.stopAll()
	w.judge()
	w.mu.Lock()
	defer w.mu.Unlock()
	return Outcome{w.effects, w.follows, append(w.wrong, w.eyes.found()...), w.denied, state}, err
}

// step does one thing.
func (w *World) step(ctx context.Context, words []string, data []byte) error {
	switch {
	case words[0] == "absent" && len(words) == 2:
		d, err := time.ParseDuration(words[1])
		w.desert(d)
		return err
	case words[0] == "behind" && len(words) == 3:
		w.eyes.blur(words)
		return w.fallBehind(words)
	case inTrouble(words):
		w.eyes.blur(words)
		return w.api.begin(words)
	case w.nodes.takes(words):
		return w.nodes.step(words, string(data))
	case words[0] == "settled":
		w.settled()
		return nil
	case len(words) == 2 && strings.HasSuffix(words[0], "define"):
		return w.define(words[1], words[0] == "define")
	case words[0] == "backup":
		w.api.store.backUp()
		return nil
	case words[0] == "restore":
		return w.comeBack(len(words) > 1)
	case words[0] == "replace":
		return w.replace(ctx, string(data))
	case (words[0] == "clock" || words[0] == "verbose") && len(words) == 2:
		return w.pace(words)
	case words[0] == "apply":
		return w.apply(ctx, string(data))
	case words[0] == "deny" || words[0] == "try":
		return w.attempt(ctx, words[0], string(data))
	case words[0] == "operators" && len(words) == 2:
		n, err := strconv.Atoi(words[1])
		w.operators = n
		return err
	case words[0] == "delete" && len(words) == 3:
		return w.delete(words[1], words[2])
	case words[0] == "annotate" && len(words) == 4:
		return w.annotate(ctx, words[1], words[2], words[3])
	case words[0] == "sources" || words[0] == "entries":
		return nil // see Live
	case words[0] == "status" && len(words) == 3:
		return w.say(ctx, words[1], words[2], string(data))
	case words[0] == "strip" && len(words) == 3:
		return w.strip(ctx, words[1], words[2])
	case words[0] == "wait" && len(words) == 2:
		d, err := time.ParseDuration(words[1])
		if err == nil {
			<-time.After(d)
		}
		return err
	case words[0] == "server" && (len(words) == 4 || len(words) == 5):
		return w.serve(words[1:], string(data))
	case words[0] == "update" && len(words) >= 3:
		return w.update(ctx, words[1:], string(data))
	case words[0] == "holds" && len(words) == 2:
		return w.holds(words[1], string(data))
	case words[0] == "says" && len(words) == 3:
		return w.says(words[1], words[2], string(data))
	case words[0] == "never" && len(words) == 3:
		return w.never(words[1], words[2], string(data))
	case w.overHTTP(words):
		return w.stepOverHTTP(ctx, words, string(data))
	case len(words) < 2 || w.servers[words[1]] == nil:
		return errors.New("there is no such step, or no such server")
	}
	return w.serverStep(w.servers[words[1]], words)
}

// pace has the API server's clock jump, or operators take time to log.
func (w *World) pace(words []string) error {
	d, err := time.ParseDuration(words[1])
	if words[0] == "clock" {
		w.api.store.jump(d)
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.verbose = d
	return err
}

// serverStep does what happens to a name server.
func (w *World) serverStep(s *server, words []string) error {
	switch words[0] {
	case "refuse", "accept", "half", "whole", "slow", "forget":
		return w.spoil(s, words)
	case "down":
		s.SetDown(true)
	case "up":
		s.SetDown(false)
	case "key":
		w.mu.Lock()
		s.key = words[2]
		w.mu.Unlock()
	case "unsynced":
		w.mu.Lock()
		s.unsynced = true
		w.mu.Unlock()
	case "write":
		return s.write(words[2:])
	case "reads":
		return w.mostReads(s, words)
	case "keep":
		return w.restore(s, words)
	case "lose":
		w.eyes.loses()
		return w.restore(s, words)
	default:
		return errors.New("there is no such step")
	}
	return nil
}

// apply makes objects, or puts what they say in the place of what is there.
func (w *World) apply(ctx context.Context, text string) error {
	for document := range strings.SplitSeq(text, "\n---\n") {
		r, object, err := w.read(document)
		if err != nil {
			return err
		}
		if _, err := w.put(ctx, r, object); err != nil {
			return err
		}
	}
	return nil
}

// comeBack has the API server come back with a backup.
func (w *World) comeBack(bumped bool) error {
	undone, err := w.api.restore(bumped)
	for _, e := range undone {
		w.eyes.learns(e) // what statuses say is as old as they are
		w.eyes.remains(e, true)
		w.eyes.enters(e, true)
	}
	w.forgetUpdates(nil)
	w.forgetSerials()
	if err == nil && !bumped {
		w.desert(0)
	}
	return err
}

// longestEnd is how long an object may be being deleted that is to be made again: watches are ten minutes late at most.
const longestEnd = time.Hour

// replace deletes an object and, once it is gone, makes it again, as kubectl replace --force does.
func (w *World) replace(ctx context.Context, text string) error {
	r, object, err := w.read(text)
	if err != nil {
		return err
	}
	name := object.GetName()
	if n := object.GetNamespace(); n != "" {
		name = n + "/" + name
	}
	w.forgetUpdates(object)
	kind := object.GroupVersionKind().GroupKind().String()
	if err := w.delete(kind, name); err != nil {
		return err
	}
	for range longestEnd / time.Second {
		if _, err := w.api.get(r); err != nil {
			return w.apply(ctx, text)
		}
		<-time.After(time.Second)
	}
	w.fail(fmt.Sprintf("%s is still being deleted", r))
	return nil
}

// refOf returns the object of a kind and a name.
func (w *World) refOf(kind, name string) (ref, error) {
	k := w.api.kinds.named(kind)
	if k == nil {
		return ref{}, fmt.Errorf("there is no kind %s", kind)
	}
	namespace, name, namespaced := strings.Cut(name, "/")
	if !namespaced {
		namespace, name = "", namespace
	}
	return ref{k, types.NamespacedName{Namespace: namespace, Name: name}}, nil
}

func (w *World) delete(kind, name string) error {
	r, err := w.refOf(kind, name)
	if err != nil {
		return err
	}
	if kind == "Lease" {
		w.api.distrust()
	}
	how, wrong := w.attempted[r]
	if object, err := w.api.get(r); how == "deny" && err == nil && ready(object) {
		w.fail(fmt.Sprintf("%s is Ready although it is wrong", r))
	}
	_, err = w.api.remove(r, &metav1.DeleteOptions{})
	if wrong && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// named returns a kind by its name, such as Zone or Zone.kubi.zone, nil if there is none.
func (k *Kinds) named(name string) *kind {
	name, group, whole := strings.Cut(name, ".")
	for _, one := range k.all {
		if one.Kind == name && (!whole || one.Group == group) {
			return one
		}
	}
	return nil
}

// discovers reports whether a request asks which kinds there are.
func discovers(r *http.Request) bool {
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	return words[0] == "api" && len(words) <= 2 || words[0] == "apis" && len(words) <= 3
}

// tells reports whether a request is an event for people.
func tells(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/apis/events.k8s.io/") && !discovers(r)
}

// counts reports whether a request is an effect that faults are put at: a Lease is renewed all the time, events are for
// people, and a token changes nothing.
func counts(r *http.Request) bool {
	return !strings.HasSuffix(r.URL.Path, "/token") && r.Method != http.MethodGet &&
		!strings.HasPrefix(r.URL.Path, leases) && !tells(r)
}
