package zones

import (
	"errors"
	"testing"
	"time"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestMain(m *testing.M) { bindytest.Main(m, "../../../..") }

// A term is what an operator does about ceilings in one term of leadership.
type term struct {
	*bindytest.Stage
	id zone.ID
	*zoneStore
}

// terms makes operators of which each believes to be the leader, and a zone.
func terms(t *testing.T) func() term {
	t.Helper()
	s := bindytest.NewStage(t)
	namespace := s.Namespace("ceilings")
	s.Apply(`{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {namespace: %s, name: example}, spec: {
		zoneName: example.com, clusterRef: dns,
		soa: {primaryNameServer: ns1.example.net., adminEmail: hostmaster.example.com.}}}`, namespace)
	return func() term {
		metrics := controller.NewMetrics()
		z := New(Config{DNS: DNS{Clock: backend.SystemClock{}}, Client: s.Live, Live: s.Live, Metrics: metrics,
			Objects: &objects.Writer{Client: s.Live, Wrote: metrics.Wrote, Now: time.Now}})
		return term{s, dialect.ZoneID(namespace, "example"), (*zoneStore)(z)}
	}
}

func (o term) load() uint32 {
	o.Helper()
	stored, ok := o.Load(o.id)
	if !ok {
		o.Fatal("there is no zone")
	}
	return stored.Ceiling
}

func (o term) raises(ceiling uint32) {
	o.Helper()
	if err := o.Raise(o.Ctx, o.id, ceiling); err != nil {
		o.Fatal(err)
	}
	o.stores(ceiling)
}

func (o term) stores(ceiling uint32) {
	o.Helper()
	z := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(o.id.Namespace, o.id.Name)}
	if o.Get(z); numberOf(z.Status.SerialCeiling) != ceiling {
		o.Errorf("the stored ceiling is %d, want %d", numberOf(z.Status.SerialCeiling), ceiling)
	}
}

// TestACeilingTakesThePlaceOfTheKnownOneOnly has an operator paused until its term is over: what its successor has
// stored meanwhile is not its own, whether it looks at the zone before it stores the next one or not.
func TestACeilingTakesThePlaceOfTheKnownOneOnly(t *testing.T) {
	next := terms(t)
	first := next()
	first.raises(100) // the object has no status yet
	first.raises(132)
	unused, old := next(), next()
	if unused.load() != 132 || old.load() != 132 {
		t.Fatal("an operator begins below what was used")
	}
	old.raises(164)
	successor := next()
	successor.load()
	successor.raises(200)
	for _, o := range []term{first, unused, old} {
		if o.load() != 200 {
			t.Error("a feed that is made now would begin below what was used")
		}
		var overtaken *engine.Overtaken
		for _, asked := range []uint32{4096, 180} {
			if err := o.Raise(o.Ctx, o.id, asked); !errors.As(err, &overtaken) || overtaken.Ceiling != 200 ||
				backend.Class(err) != backend.ErrConflict {
				t.Errorf("when it asks for %d it is told %v", asked, err)
			}
		}
		o.stores(200)
	}
	old.raises(216) // above what was used it may go on
}

// TestAnOperatorWhoseTermIsOverStoresNoCeiling has it know that.
func TestAnOperatorWhoseTermIsOverStoresNoCeiling(t *testing.T) {
	o := terms(t)()
	o.ceilings.Objects.Leads = func() bool { return false }
	if err := o.Raise(o.Ctx, o.id, 100); backend.Class(err) != backend.ErrConflict {
		t.Errorf("it is told %v", err)
	}
	o.stores(0)
}

// TestACeilingThatSomebodyRemovesIsStoredAgain has it come back with the next one.
func TestACeilingThatSomebodyRemovesIsStoredAgain(t *testing.T) {
	o := terms(t)()
	o.raises(100)
	z := &v1beta1.DNSZone{ObjectMeta: bindytest.Named(o.id.Namespace, o.id.Name)}
	for i, less := range []string{"null", "50"} {
		o.PatchStatus(z, `{"status":{"serialCeiling":`+less+`}}`)
		if err := o.Raise(o.Ctx, o.id, 60); err != nil {
			t.Fatal(err)
		}
		o.stores(101 + uint32(i)) // each time another one, also where the known one would do
	}
}
