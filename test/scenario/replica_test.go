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

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
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
