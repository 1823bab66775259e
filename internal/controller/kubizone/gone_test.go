package kubizone

import (
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestWhatHasLeftTheContentIsKnownUntilThatIsConfirmed(t *testing.T) {
	id, key := dialect.ZoneID("a", "org"), rr.Key{Name: parse(t, "x.example.org."), Type: rr.TypeA}
	all, err := dnsname.ParsePattern("*")
	if err != nil {
		t.Fatal(err)
	}
	org := zone.Zone{
		ID: id, Created: noon, Where: zone.Where{Name: parse(t, "example.org.")}, TTL: 60,
		Rules: []zone.Rule{{Zones: []dnsname.Pattern{all}, Records: []zone.RecordRule{{Pattern: all}}}},
	}
	x := zone.Claim{ID: dialect.RecordID("a", "x"), Where: zone.Where{Name: key.Name}, Type: rr.TypeA, Data: []string{
		"192.0.2.1"}}
	for _, c := range []struct {
		name   string
		change func(w *zone.World, step func())
	}{
		{"it is deleted", func(w *zone.World, step func()) {
			w.DeleteClaim(x.ID)
			step()
		}},
		{"it is deleted while its zone is away for a moment", func(w *zone.World, step func()) {
			w.DeleteZone(id)
			step()
			w.DeleteClaim(x.ID)
			w.PutZone(org)
			step()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: backend.SystemClock{},
				Rand: rand.Float64})
			w := zone.New(zone.Options{})
			step := func() { k.follow(core.Settlement{Delta: w.Settle(), View: w, At: noon}) }
			known := func() *zoneState {
				m, unlock := k.memory.Lock()
				defer unlock()
				return m.zoneState(id)
			}
			flushed := func(s zone.Snapshot, out outcome) {
				t.Helper()
				out.Confirmed, out.Keeping = true, true
				if err := k.flushed(t.Context(), id, &v1alpha1.Zone{}, s, out); err != nil {
					t.Fatal(err)
				}
			}
			w.PutZone(org)
			w.PutClaim(x)
			step()
			with, out := known().content, k.before(id)
			if _, there := with.Sets.Get(key); !there {
				t.Fatalf("%s is not in the content", key)
			}
			c.change(w, step) // while the status is written that tells of the content with it
			flushed(with, out)
			if !known().gone[key] {
				t.Error("it is forgotten before any server has confirmed that it has gone")
			}
			flushed(known().content, k.before(id))
			if len(known().gone) > 0 {
				t.Error("it is remembered although every server has confirmed that it has gone")
			}
		})
	}
}
