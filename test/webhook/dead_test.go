package webhook

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// deadSeconds is how long the operator waits for an answer of the dead server.
const deadSeconds = 5

// blackHole accepts connections and never answers.
func blackHole(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return "http://" + l.Addr().String()
}

// arrivals makes some records one after the other, and returns how long each took until it was ready, sorted.
func (s *site) arrivals(word string, n int) []time.Duration {
	s.Helper()
	var took []time.Duration
	for i := range n {
		began := time.Now()
		o := s.record(fmt.Sprintf("%s-%d", word, i), "living", fmt.Sprintf("A %s-%d 192.0.2.%d", word, i, i+1))
		s.must(s.live.Create(s.ctx, o))
		s.eventually("the record of the living class is ready", func() error {
			if err := s.live.Get(s.ctx, client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
			if lack := ready(o); lack != "" {
				return fmt.Errorf("after %s %s", time.Since(began), lack)
			}
			return nil
		})
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took
}

func TestADeadServerDelaysNobodyElse(t *testing.T) {
	s := newSite(t)
	s.class("living", s.hook("--unsigned").URL, 10, nil)
	s.operate()
	const n = 30
	without := s.arrivals("without", n)
	s.class("dead", blackHole(t), deadSeconds, nil)
	for i := range 100 {
		s.must(s.live.Create(s.ctx, s.record(fmt.Sprintf("dead-%d", i), "dead", fmt.Sprintf("A dead-%d 192.0.2.1", i))))
	}
	with := s.arrivals("with", n)
	t.Logf("a record takes %v (p50) and %v at most; beside the dead server %v and %v", without[n/2], without[n-1],
		with[n/2], with[n-1])
	if with[n-1] >= deadSeconds*time.Second {
		t.Errorf("a record has waited for %v, as long as for a call that is not answered", with[n-1])
	}
	if most := 3*without[n/2] + time.Second; with[n/2] > most {
		t.Errorf("beside the dead server a record takes %v (p50), without it %v", with[n/2], without[n/2])
	}
	o := s.record("dead-0", "dead", "A dead-0 192.0.2.1")
	s.eventually("a record of the dead server says so", func() error {
		if err := s.live.Get(s.ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if e := o.Status.Error; e == nil || e.Code != "SERVER_UNREACHABLE" || o.Status.State != v1alpha1.StateError {
			return fmt.Errorf("it says %+v", o.Status)
		}
		return nil
	})
	for i := range 100 { // nothing answers any more: they are let go
		o := s.record(fmt.Sprintf("dead-%d", i), "dead", "A x 192.0.2.1")
		s.must(s.live.Patch(s.ctx, o, client.RawPatch("application/merge-patch+json",
			fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.DeletionPolicyAnnotation,
				v1alpha1.DeletionPolicyOrphan))))
	}
	s.gone()
}
