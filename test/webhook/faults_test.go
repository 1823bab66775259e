package webhook

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

const (
	faultSteps = 400
	faultPace  = 50 * time.Millisecond // between two steps: it is a stream, not a burst
)

func TestFaultsOnTheWayLoseNothingAndLeaveNothing(t *testing.T) {
	s := newSite(t)
	s.secret("hmac", "a secret of sixteen")
	p := newProxy(t, s.hook("--secret-file", s.file("hmac", "a secret of sixteen")).URL)
	s.class("hook", p.URL, 1, s.signed("hmac", "SHA256"))
	s.operate()
	f := s.stream("hook", 6)
	p.breaks(6)
	pace := time.NewTicker(faultPace)
	defer pace.Stop()
	for range faultSteps {
		f.step()
		<-pace.C
	}
	p.breaks(0)
	calm := time.Now()
	if n := s.settled(); n != len(f.wanted) {
		t.Errorf("there are %d DNSRecords and not %d", n, len(f.wanted))
	}
	s.serves(f.zone())
	t.Logf("%v; %v after the last fault all was as wanted", f.steps, time.Since(calm))
	for _, one := range faults {
		t.Logf("%4d times %s", p.broken[one.sentence], one.sentence)
		if p.broken[one.sentence] == 0 {
			t.Errorf("it never came to this: %s", one.sentence)
		}
	}
	if p.strays != 0 {
		t.Errorf("%d redirects were followed", p.strays)
	}
	p.take()
	p.breaks(7)
	s.must(s.live.DeleteAllOf(s.ctx, &v1alpha1.DNSRecord{}, client.InNamespace(s.ns)))
	s.eventually("some removals were tried, with faults", func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if n := len(p.seen); n < 5 {
			return fmt.Errorf("%d requests", n)
		}
		return nil
	})
	p.breaks(0)
	s.gone()
}
