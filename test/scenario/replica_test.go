package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// A replica is one of several operators that are name servers, each time it runs at the same address.
type replica struct {
	*scene
	*nameserver.Server
	args []string
	down func() // ends what keepRunning began

	mu sync.Mutex
	op *testoperator.Process // nil: it has not run yet
}

// replicas prepares operators with more flags. None of them runs yet.
func (s *scene) replicas(n int, args ...string) []*replica {
	s.t.Helper()
	s.secret(testoperator.Namespace, s.prefix+"key", key.Secret, nil)
	all := make([]*replica, n)
	for i := range all {
		number, release, err := nameserver.ClaimPort()
		if err != nil {
			s.t.Fatal(err)
		}
		listen := fmt.Sprintf("--dns-bind-address=127.0.0.1:%d", number)
		all[i] = &replica{scene: s, Server: nameserver.At(number, key), args: append([]string{listen}, args...)}
		s.t.Cleanup(func() {
			if op := all[i].process(); op != nil {
				op.Kill()
			}
			release()
		})
	}
	s.bind = all[0].Server
	return all
}

// run starts the replica.
func (r *replica) run() {
	r.t.Helper()
	if err := r.launch(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *replica) launch() error {
	op, err := r.scene.launch(testoperator.Options{Args: r.args})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.op = op
	return nil
}

func (r *replica) process() *testoperator.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.op
}

// opens waits until the replicas have everything.
func (s *scene) opens(all ...*replica) {
	s.t.Helper()
	for _, r := range all {
		s.eventually(r.Addr(), func() string {
			if !r.process().Ready() {
				return "it is not ready"
			}
			return ""
		})
	}
}

// leader returns the replica that holds the Lease, nil if none of these does.
func (s *scene) leader(all []*replica) *replica {
	var lease coordinationv1.Lease
	err := s.client.Get(s.ctx, client.ObjectKey{Namespace: testoperator.Namespace, Name: "zonefold-operator"}, &lease)
	if err != nil || lease.Spec.HolderIdentity == nil {
		return nil
	}
	for _, r := range all {
		if strings.HasPrefix(*lease.Spec.HolderIdentity, r.Addr()+"_") {
			return r
		}
	}
	return nil
}

// leads waits until one of the replicas holds the Lease, and returns it.
func (s *scene) leads(all ...*replica) (leader *replica) {
	s.t.Helper()
	s.eventually("a leader", func() string {
		if leader = s.leader(all); leader == nil {
			return "there is none"
		}
		return ""
	})
	return leader
}

// alike waits until all replicas give the same zone under the same serial, and returns that.
func (s *scene) alike(zone string, all ...*replica) (serial uint32) {
	s.t.Helper()
	s.eventually(zone+" at all replicas", func() string {
		var contents []string
		for _, r := range all {
			sets, err := r.Transfer(s.ctx, name(s.text(zone)))
			if err != nil {
				return err.Error()
			}
			contents, serial = append(contents, fmt.Sprint(sets)), serialOf(sets)
		}
		for i := range contents {
			if contents[i] != contents[0] {
				return fmt.Sprintf("%s has\n%s\nand %s has\n%s", all[0].Addr(), contents[0], all[i].Addr(), contents[i])
			}
		}
		return ""
	})
	return serial
}

// serialOf returns the serial of a zone, 0 if it has none.
func serialOf(sets []rr.Set) uint32 {
	for _, set := range sets {
		if set.Type == rr.TypeSOA {
			if soa, err := rr.ParseSOA(set.Data[0]); err == nil {
				return soa.Serial
			}
		}
	}
	return 0
}

// shown waits until all replicas answer a question with the same data.
func (s *scene) shown(all []*replica, question string, want ...string) {
	s.t.Helper()
	for _, r := range all {
		s.answersAt(r.Server, question, slices.Clone(want)...)
	}
}

// kept is what one who follows a server has of the zone.
type kept struct {
	soa  rr.SOA
	sets rr.Sets
}

// watchServer follows the server at an address, by whole transfers and by increments in turn. Before each it asks a
// question, if it is a replica.
func (s *scene) watchServer(ctx context.Context, h *history, at string, replica bool) {
	c, err := rfc2136.New(rfc2136.Config{Server: at, Key: rfc2136.Key{Name: key.Name, Algorithm: key.Algorithm, Secret: key.Secret}, Now: time.Now})
	if err != nil {
		h.lie(err.Error())
		return
	}
	defer func() { _ = c.Close() }()
	var have kept
	for i := 0; ctx.Err() == nil; i++ {
		pause(ctx, 10*time.Millisecond) // the others need the processor too
		if replica {
			s.askForSerial(ctx, at, h)
		}
		known := &have.soa
		if i%4 == 0 || have.soa == (rr.SOA{}) {
			known = nil
		}
		pulling, cancel := context.WithTimeout(ctx, 5*time.Second)
		got, err := c.Pull(pulling, name(s.text("example.org.")), known)
		cancel()
		if err != nil {
			pause(ctx, 20*time.Millisecond) // the server is away, or has nothing yet
			continue
		}
		if err := have.take(got); err != nil {
			h.lie(at + ": " + err.Error())
			return
		}
		h.noteVersion(at, got.SOA.Serial, have.text())
	}
}

// take makes it what a server has sent.
func (k *kept) take(got rfc2136.Pulled) error {
	switch {
	case got.Same && got.SOA != k.soa:
		return fmt.Errorf("to an IXFR from serial %d it answers that %d is not newer", k.soa.Serial, got.SOA.Serial)
	case got.Same:
		return nil
	case got.Steps == nil:
		k.sets = got.Sets
	}
	for _, step := range got.Steps {
		next, fits := step.Over(k.sets)
		if !fits {
			return fmt.Errorf("the increment from serial %d to %d does not fit what it was given before", k.soa.Serial, step.SOA.Serial)
		}
		k.sets, k.soa = next, step.SOA
	}
	k.soa = got.SOA
	return nil
}

func (k *kept) text() string {
	var b strings.Builder
	soa := k.soa
	soa.Serial = 0
	fmt.Fprintln(&b, soa)
	for set := range k.sets.All() {
		fmt.Fprintln(&b, set.Name, set.TTL, set.Type, set.Data)
	}
	return b.String()
}

// askForSerial asks for the SOA. A server that does not have everything says SERVFAIL, and nothing else.
func (s *scene) askForSerial(ctx context.Context, at string, h *history) {
	m := new(dns.Msg)
	m.SetQuestion(s.text("example.org."), dns.TypeSOA)
	c := dns.Client{Timeout: time.Second}
	resp, _, err := c.ExchangeContext(ctx, m, at)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if resp.Rcode == dns.RcodeServerFailure {
		h.closed++
		return
	}
	for _, record := range resp.Answer {
		if soa, ok := record.(*dns.SOA); ok && resp.Authoritative && resp.Rcode == dns.RcodeSuccess {
			h.answered(at, soa.Serial)
			return
		}
	}
	h.lies = append(h.lies, fmt.Sprintf("%s answers a question for the SOA with %s:\n%s", at, dns.RcodeToString[resp.Rcode], resp))
}

// answered takes in an answer to a question. mu is held.
func (h *history) answered(at string, serial uint32) {
	now := time.Now()
	if !h.heard.IsZero() {
		h.silence = max(h.silence, now.Sub(h.heard))
	}
	h.heard = now
	h.noteSerial(at, serial)
}

func (h *history) lie(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lies = append(h.lies, text)
}

// honest reports what no server should have shown.
func (h *history) honest(s *scene) {
	s.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lie := range h.lies[:min(len(h.lies), 10)] {
		s.t.Error(lie)
	}
	h.lies = nil
}

// watchAll watches replicas and other servers until calm is called.
func (s *scene) watchAll(h *history, all []*replica, others ...*nameserver.Server) (calm func()) {
	ctx, stop := context.WithCancel(s.ctx)
	var parts sync.WaitGroup
	for _, r := range all {
		parts.Go(func() { s.watchServer(ctx, h, r.Addr(), true) })
	}
	for _, other := range others {
		parts.Go(func() { s.watchServer(ctx, h, other.Addr(), false) })
	}
	calm = func() { stop(); parts.Wait() }
	s.t.Cleanup(calm)
	return calm
}

// knotOf starts a Knot that follows replicas, and is told by all of them.
func (s *scene) knotOf(all ...*replica) (*nameserver.Server, error) {
	opts := s.serverOptions(nil)
	opts.Follow = &nameserver.Follow{Key: &key, Zones: []dnsname.Name{name(s.text("example.org."))}}
	for i, r := range all {
		at, err := netip.ParseAddrPort(r.Addr())
		if err != nil {
			return nil, err
		}
		if i == 0 {
			opts.Follow.Primary = at
		} else {
			opts.Follow.Others = append(opts.Follow.Others, at)
		}
	}
	return nameserver.StartKnot(s.ctx, opts)
}

// unanswered says what is wrong unless nobody gets anything from a server that does not have everything.
func (s *scene) unanswered(r *replica) string {
	if trouble := s.rcodeAt(r.Server, "www.example.org. A", "SERVFAIL"); trouble != "" {
		return trouble
	}
	if sets, err := r.Transfer(s.ctx, name(s.text("example.org."))); err == nil {
		return fmt.Sprintf("it gives %d sets", len(sets))
	}
	return ""
}

// signal sends a signal to the process.
func (r *replica) signal(sig syscall.Signal) {
	r.t.Helper()
	if err := syscall.Kill(r.process().PID(), sig); err != nil {
		r.t.Fatal(err)
	}
}

// keepRunning starts the replica now and whenever it ends, as kubelet does, until stayDown.
func (r *replica) keepRunning() {
	r.t.Helper()
	r.run()
	ctx, stop := context.WithCancel(r.ctx)
	var watch sync.WaitGroup
	r.down = func() {
		stop()
		r.process().Kill()
		watch.Wait()
		r.process().Kill()
	}
	r.t.Cleanup(func() { stop(); watch.Wait() })
	watch.Go(func() {
		for {
			select {
			case <-r.process().Done():
			case <-ctx.Done():
				return
			}
			pause(ctx, rand.N(300*time.Millisecond))
			if ctx.Err() != nil {
				return
			}
			if err := r.launch(); err != nil {
				r.t.Error(err)
				return
			}
		}
	})
}

// kill kills the replica, and reports whether it was running.
func (r *replica) kill() bool {
	op := r.process()
	select {
	case <-op.Done():
		return false
	default:
		op.Kill()
		return true
	}
}

// stayDown kills the replica, for good.
func (r *replica) stayDown() { r.down() }

func without(all []*replica, one *replica) []*replica {
	return slices.DeleteFunc(slices.Clone(all), func(r *replica) bool { return r == one })
}

func unless(right bool, trouble string) string {
	if right {
		return ""
	}
	return trouble
}

// counted waits until the status of a Backend has a number of zones, which it gets a while later.
func (s *scene) counted(ref string, zones int32) {
	s.t.Helper()
	s.eventually(ref, func() string {
		b, _ := s.get(ref).(*zonefold.Backend)
		return unless(b.Status.Zones == zones, fmt.Sprintf("it has %d zones", b.Status.Zones))
	})
}

// listed waits until the catalog zone of all replicas has exactly these members.
func (s *scene) listed(all []*replica, catalog string, members ...string) {
	s.t.Helper()
	var want []string
	for _, m := range members {
		want = append(want, s.text(m))
	}
	for _, r := range all {
		s.eventually(s.text(catalog)+" at "+r.Addr(), func() string {
			sets, err := r.Transfer(s.ctx, name(s.text(catalog)))
			if err != nil {
				return err.Error()
			}
			var got []string
			for _, set := range sets {
				if set.Type == rr.TypePTR {
					got = append(got, set.Data...)
				}
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				return fmt.Sprintf("it has %q, not %q", got, want)
			}
			return ""
		})
	}
}
