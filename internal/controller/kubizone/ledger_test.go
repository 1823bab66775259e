package kubizone

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A meanwhile is a cluster that holds nothing, and in which something happens during each write.
type meanwhile struct {
	client.Client
	happens func()
}

func (m meanwhile) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{}, "")
}

func (m meanwhile) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	m.happens()
	return nil
}

// TestTheLedgerIsWholeWhileMoreIsWritten: what is in it must be there in every moment, or a set of ours counts as
// somebody else's.
func TestTheLedgerIsWholeWhileMoreIsWritten(t *testing.T) {
	id, writes := dialect.ZoneID("a", "org"), 0
	gone := apexOf(t, rr.TypeA, "192.0.2.1")
	k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: backend.SystemClock{},
		Rand: rand.Float64})
	api := meanwhile{happens: func() {
		writes++
		if _, known := k.ledgers.of(id).base.Get(gone.Key()); !known { // the ledger is locked: by who writes
			t.Errorf("during a write the ledger does not know %s", gone.Key())
		}
	}}
	k.ledgers.client, k.objects.Client = api, api
	k.ledgers.of(id).base = setsFor(t, gone, apexOf(t, rr.TypeMX, "10 mail.example.org."))
	z := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "org"}}
	out := outcome{ZoneOutcome: delivery.ZoneOutcome{Keeping: true, Confirmed: true, Lingering: []rr.Key{gone.Key()}}}
	if err := k.keepGone(t.Context(), id, z, out, zone.Snapshot{Name: parse(t, "example.org.")}); err != nil {
		t.Fatal(err)
	}
	if written := k.ledgers.of(id).journal; writes != 1 || len(written) != 1 || written[0].sets.Len() != 1 {
		t.Errorf("%d writes, and the journal is %+v", writes, written)
	}
}

// An unanswered cluster does what is asked, and nobody hears of what was deleted.
type unanswered struct{ meanwhile }

func (unanswered) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	return zonefold.GroupVersion.WithKind("ZoneSlice"), nil
}

func (unanswered) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return apierrors.NewTimeoutError("deleting", 0)
}

func TestAPageThatMayBeGoneSaysNothing(t *testing.T) {
	id, writes := dialect.ZoneID("a", "org"), 0
	again := apexOf(t, rr.TypeA, "192.0.2.1")
	k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: backend.SystemClock{},
		Rand: rand.Float64})
	api := unanswered{meanwhile{happens: func() { writes++ }}}
	k.ledgers.client, k.ledgers.live, k.objects.Client = api, api, api
	z := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "org"}}
	if err := k.ledgers.record(t.Context(), id, z, []rr.Set{again}); err != nil || writes != 1 {
		t.Fatalf("%d writes: %v", writes, err)
	}
	out := outcome{ZoneOutcome: delivery.ZoneOutcome{Confirmed: true}, entries: 1}
	if err := k.flushed(t.Context(), id, z, zone.Snapshot{}, out); err == nil {
		t.Fatal("the page was deleted, and somebody has answered")
	}
	if !k.ledgers.of(id).cluttered() {
		t.Error("nobody tries again to delete the page")
	}
	if err := k.ledgers.record(t.Context(), id, z, []rr.Set{again}); err != nil || writes != 2 {
		t.Errorf("a set that comes again is not written down: %d writes: %v", writes, err)
	}
}

func TestASetThatTheStatusIsAboutToLoseIsWrittenDownAnew(t *testing.T) {
	id, writes := dialect.ZoneID("a", "org"), 0
	set, other := apexOf(t, rr.TypeA, "192.0.2.1"), apexOf(t, rr.TypeMX, "10 mail.example.org.")
	k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: backend.SystemClock{},
		Rand: rand.Float64})
	api := meanwhile{happens: func() { writes++ }}
	k.ledgers.client, k.objects.Client = api, api
	z := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "org"}}
	l := k.ledgers.of(id)
	l.base = setsFor(t, set, other)
	recorded := func(after string, set rr.Set, want int) {
		t.Helper()
		before := writes
		if err := k.ledgers.record(t.Context(), id, z, []rr.Set{set}); err != nil || writes-before != want {
			t.Errorf("%s: %d writes, want %d: %v", after, writes-before, want, err)
		}
	}
	was := l.comes(setsFor(t, other))
	entered := k.ledgers.entered(id)
	recorded("while a status without the set is written", set, 1)
	recorded("while a status with the set is written", other, 0)
	recorded("when the journal has it already", set, 0)
	if k.ledgers.entered(id) != entered+2 { // also when it was there: who writes the status would delete the page
		t.Errorf("%d entries, want 2 more than %d", k.ledgers.entered(id), entered)
	}
	l.stays(was)
	l.journal = nil
	recorded("after a write that was refused", set, 0)
	l.comes(setsFor(t, other))
	l.comes(setsFor(t, set, other))
	recorded("after a write without an answer", other, 1)
	if !l.cluttered() {
		t.Error("nobody finds out what the status has")
	}
}

func setsFor(t *testing.T, sets ...rr.Set) rr.Sets {
	t.Helper()
	txn := rr.Sets{}.Txn()
	for _, s := range sets {
		txn.Put(s)
	}
	return txn.Sets()
}

func apexOf(t *testing.T, typ rr.Type, data ...string) rr.Set {
	t.Helper()
	return rr.NewSet(rr.Key{Name: parse(t, "example.org."), Type: typ}, 300, data...)
}

func parse(t *testing.T, text string) dnsname.Name {
	t.Helper()
	name, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWhatTheLedgerKnowsOfASet(t *testing.T) {
	one, two := "ns1.example.org.", "ns2.example.org."
	for _, c := range []struct {
		name    string
		base    rr.Sets
		journal rr.Sets
		set     rr.Set
		known   bool // nothing of the set has to be written down
		all     []string
	}{
		{
			name: "a set of which nothing is known", set: apexOf(t, rr.TypeA, "192.0.2.1"),
		}, {
			name: "other data of a known set are no news: the key says whose it is",
			base: setsFor(t, apexOf(t, rr.TypeA, "192.0.2.1")),
			set:  apexOf(t, rr.TypeA, "192.0.2.2"), known: true, all: []string{"192.0.2.1"},
		}, {
			name: "of other data the newer ones count", base: setsFor(t, apexOf(t, rr.TypeA, "192.0.2.1")),
			journal: setsFor(t, apexOf(t, rr.TypeA, "192.0.2.2")),
			set:     apexOf(t, rr.TypeA, "192.0.2.3"), known: true, all: []string{"192.0.2.2"},
		}, {
			name: "a name server that came to a known set is news", base: setsFor(t, apexOf(t, rr.TypeNS, one)),
			set: apexOf(t, rr.TypeNS, one, two), all: []string{one},
		}, {
			name: "a name server that left is still known", base: setsFor(t, apexOf(t, rr.TypeNS, one, two)),
			set: apexOf(t, rr.TypeNS, one), known: true, all: []string{one, two},
		}, {
			name:    "name servers of the status and of the journal are known together",
			base:    setsFor(t, apexOf(t, rr.TypeNS, one)),
			journal: setsFor(t, apexOf(t, rr.TypeNS, two)),
			set:     apexOf(t, rr.TypeNS, one, two), known: true, all: []string{one, two},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := ledger{base: c.base, journal: []page{{sets: c.journal}}}
			value, ok := valueOf(c.set.Key(), l.base, l.journal)
			if known := ok && covers(value, c.set); known != c.known {
				t.Errorf("known: %v, want %v", known, c.known)
			}
			if got, _ := l.all().Get(c.set.Key()); !slices.Equal(got.Data, c.all) {
				t.Errorf("the ledger holds %q, want %q", got.Data, c.all)
			}
		})
	}
}

func TestAPageIsOnlySuperfluousWhenItSaysNothingMore(t *testing.T) {
	status := setsFor(t, apexOf(t, rr.TypeNS, "ns1.example.org."), apexOf(t, rr.TypeA, "192.0.2.1"))
	for _, c := range []struct {
		name string
		page rr.Sets
		want bool
	}{
		{"an empty page", rr.Sets{}, true},
		{"a page with older data of a set", setsFor(t, apexOf(t, rr.TypeA, "192.0.2.9")), true},
		{"a page with a set that is gone", setsFor(t, apexOf(t, rr.TypeMX, "10 mail.example.org.")), false},
		{"a page with a name server that is gone", setsFor(t, apexOf(t, rr.TypeNS, "ns1.example.org.", "ns9.example.org.")),
			false},
	} {
		if got := contained(c.page, status); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhatIsClutterBesideAContentThatIsWrittenDown(t *testing.T) {
	www := rr.NewSet(rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}, 60, "192.0.2.1")
	gone := rr.NewSet(rr.Key{Name: parse(t, "gone.example.org."), Type: rr.TypeA}, 60, "192.0.2.2")
	for _, tt := range []struct {
		what  string
		pages []rr.Sets
		want  bool
	}{
		{"an empty journal is none", nil, false},
		{"a page that says what the content says is left for the next change", []rr.Sets{setsFor(t, www)}, false},
		{"a page with a set that is withdrawn is", []rr.Sets{setsFor(t, www, gone)}, true},
		{"several pages are", []rr.Sets{setsFor(t, www), setsFor(t, www)}, true},
	} {
		l := ledger{base: setsFor(t, www)}
		for _, p := range tt.pages {
			l.journal = append(l.journal, page{sets: p})
		}
		if got := l.cluttered(); got != tt.want {
			t.Errorf("%s: clutter is %v", tt.what, got)
		}
	}
}
