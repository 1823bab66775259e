package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// deaf is a Backend that something happens to when it is read.
type deaf struct {
	backend.Backend
	read func() error
}

func (d *deaf) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if d.read != nil {
		if err := d.read(); err != nil {
			return backend.Observed{}, err
		}
	}
	return d.Backend.Read(ctx, zone, ask)
}

func TestAChangeThatAServerLosesBeforeItIsReadBackIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zone := mustParse(zoneName)
		m, s := serverWith(backendtest.Profile{}, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		d := &deaf{Backend: s}
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: d, Audit: -1})
		b.pass(time.Minute)
		before := m.Copy(zone)
		d.read = func() error { // it goes, and comes back as it was before
			d.read = nil
			m.Lose(zone, before)
			return backend.ErrUnavailable
		}
		f.Publish(version(1), wwwKey)
		b.pass(10 * time.Minute)
		_, sets, _ := m.Truth(zone)
		got, _ := sets.Get(wwwKey[0])
		if want, _ := version(1).Sets.Get(wwwKey[0]); !got.Equal(want) {
			t.Errorf("content %d is confirmed, and the server has %v, not %v", b.last("0").Seq, got, want)
		}
	})
}

func TestAnAuditThatIsAskedForAfterARunHasReadIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true}}, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		asked := false
		s.setApply(func(backend.Batch) error {
			if !asked {
				asked = true
				b.engine.Audit(target("s", zoneName))
			}
			return nil
		})
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Audit: -1})
		b.pass(time.Minute)
		if s.reads < 2 {
			t.Errorf("the server was read %d times", s.reads)
		}
	})
}
