package kubizone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestANewLeaderKnowsWhatTheOldOneWroteDownLast(t *testing.T) {
	c := newCluster(t)
	before, after := c.leader(), c.leader()
	after.watch.close()
	before.publishes(c, "last")
	early, cancel := context.WithTimeout(c.ctx, 200*time.Millisecond)
	defer cancel()
	if err := after.catchUp(early, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it does not wait for its cache: %v", err)
	}
	after.watch.open()
	if err := after.catchUp(c.ctx, c); err != nil {
		t.Fatal(err)
	}
	after.load(c)
	if missing := after.lacks(c, "last"); missing != "" {
		t.Error(missing)
	}
}

func TestAnOldLeaderDoesNotOverwriteWhatTheNewOneHasWrittenDown(t *testing.T) {
	c := newCluster(t)
	before, after := c.leader(), c.leader()
	before.publishes(c, "one")
	c.eventually("the new leader's cache", func() string { after.load(c); return after.lacks(c, "one") })
	after.publishes(c, "two")
	before.publishes(c, "late")
	third := c.leader()
	third.load(c)
	if missing := third.lacks(c, "one", "two", "late"); missing != "" {
		t.Errorf("after a crash %s", missing)
	}
	c.eventually("what the old leader wrote late", func() string { return after.lacks(c, "one", "two", "late") })
}

// TestALateStatusDoesNotEraseWhereAZoneIs has a former leader, whose cache is late, say where a Zone is after its
// successor has.
func TestALateStatusDoesNotEraseWhereAZoneIs(t *testing.T) {
	own := delivery.Delivered{Place: "own", Zone: parse(t, "example.org.")}
	one := delivery.Delivered{Place: "one", Zone: own.Zone}
	for name, late := range map[string]func(*cluster, *leader, *v1alpha1.Zone) error{
		"before it publishes": func(c *cluster, old *leader, _ *v1alpha1.Zone) error {
			return (*store)(old.Controller).Hold(c.ctx, c.id, []delivery.Delivered{one})
		},
		"after it has published": func(c *cluster, old *leader, z *v1alpha1.Zone) error {
			want := v1alpha1.ZoneStatus{Backends: []v1alpha1.ZoneBackend{{Name: "one", FQDN: "example.org."}}}
			_, err := old.objects.ChangeStatus(c.ctx, z, z.Status, want)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			old := c.leader()
			z, err := zoneAt(c.ctx, old.Client, c.id)
			if err != nil {
				t.Fatal(err)
			}
			old.watch.close()
			next := c.leader()
			if err := (*store)(next.Controller).Hold(c.ctx, c.id, []delivery.Delivered{own, one}); err != nil {
				t.Fatal(err)
			}
			if err := late(c, old, z); !apierrors.IsConflict(err) {
				t.Errorf("what it writes is answered with %v", err)
			}
			var now v1alpha1.Zone
			if err := c.live.Get(c.ctx, client.ObjectKey{Namespace: c.id.Namespace, Name: c.id.Name}, &now); err != nil {
				t.Fatal(err)
			}
			if held := deliveredOf(&now); !slices.Contains(held, own) {
				t.Errorf("the third leader knows of %v only", held)
			}
		})
	}
}

// TestWhereAZoneIsStaysWrittenDownUntilThatIsTakenIn has a Zone go while a new leader waits for something else, before
// it looks at where Zones are.
func TestWhereAZoneIsStaysWrittenDownUntilThatIsTakenIn(t *testing.T) {
	c := newCluster(t)
	z := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: c.id.Namespace, Name: c.id.Name}}
	body := `{"metadata":{"finalizers":["` + v1alpha1.Finalizer + `"]}}`
	if err := c.live.Patch(c.ctx, z, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		t.Fatal(err)
	}
	l, own := c.leader(), delivery.Delivered{Place: "own", Zone: parse(t, "example.org.")}
	if err := (*store)(l.Controller).Hold(c.ctx, c.id, []delivery.Delivered{own}); err != nil {
		t.Fatal(err)
	}
	if err := c.live.Delete(c.ctx, z); err != nil {
		t.Fatal(err)
	}
	c.eventually("a status of the Zone that goes", func() string {
		var later *controller.Later
		if err := l.writeZone(c.ctx, c.id); err != nil && !errors.As(err, &later) {
			return err.Error()
		}
		if err := c.live.Get(c.ctx, client.ObjectKeyFromObject(z), z); err != nil {
			t.Fatal(err)
		}
		if !meta.IsStatusConditionFalse(z.Status.Conditions, controller.ConditionAccepted) {
			return "nothing is said"
		}
		return ""
	})
	if held := deliveredOf(z); !slices.Contains(held, own) {
		t.Errorf("who leads next knows of %v only", held)
	}
}

// TestWhoMayNotBeTheLeaderAnyMoreWritesNoStatusOfAZone has one wake up that sees what its successor has written.
func TestWhoMayNotBeTheLeaderAnyMoreWritesNoStatusOfAZone(t *testing.T) {
	k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: backend.SystemClock{},
		Rand:  rand.Float64,
		Leads: func() bool { return false }})
	_, err := k.objects.ChangeStatus(t.Context(), &v1alpha1.Zone{}, v1alpha1.ZoneStatus{}, v1alpha1.ZoneStatus{FQDN: "."})
	if !errors.Is(err, objects.ErrNotLeading) {
		t.Errorf("it writes one: %v", err)
	}
}

func TestWhatSomebodyTakesFromTheJournalIsWrittenAgain(t *testing.T) {
	for name, take := range map[string]func(c *cluster, page *zonefold.ZoneSlice) error{
		"a page that is deleted": func(c *cluster, page *zonefold.ZoneSlice) error { return c.live.Delete(c.ctx, page) },
		"a line that is deleted": func(c *cluster, page *zonefold.ZoneSlice) error {
			return c.live.Patch(c.ctx, page, client.RawPatch(types.MergePatchType, []byte(`{"text":""}`)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			first := c.leader()
			first.publishes(c, "one")
			second := c.leader()
			for _, l := range []*leader{first, second} {
				l.load(c)
				page := c.pages()[0]
				text := page.Text
				if err := take(c, &page); err != nil {
					t.Fatal(err)
				}
				c.eventually("the page", func() string {
					z, err := zoneAt(c.ctx, l.Client, c.id)
					if err == nil {
						err = l.ledgers.restorePages(c.ctx, c.id, z)
					}
					if err != nil {
						return err.Error()
					}
					if pages := c.pages(); len(pages) != 1 || pages[0].Text != text {
						return fmt.Sprintf("there are %+v", pages)
					}
					return ""
				})
				if missing := l.lacks(c, "one"); missing != "" {
					t.Error(missing)
				}
			}
		})
	}
}

func TestTheJournalKeepsWhatCameAfterTheContentThatIsWrittenDown(t *testing.T) {
	c := newCluster(t)
	k := c.leader()
	k.publishes(c, "old")
	z, err := zoneAt(c.ctx, k.Client, c.id)
	if err != nil {
		t.Fatal(err)
	}
	confirmed := func(out outcome) outcome {
		out.Confirmed = true
		return out
	}
	before := confirmed(k.before(c.id))
	k.publishes(c, "new") // while the content without it is being written down
	if err := k.flushed(c.ctx, c.id, z, zone.Snapshot{}, before); err != nil {
		t.Fatal(err)
	}
	next := c.leader()
	next.load(c)
	if missing := next.lacks(c, "new"); missing != "" {
		t.Error(missing)
	}

	if err := k.flushed(c.ctx, c.id, z, zone.Snapshot{}, confirmed(k.before(c.id))); err != nil {
		t.Fatal(err)
	}
	if pages := c.pages(); len(pages) > 0 {
		t.Errorf("when everything is confirmed and written down, there are %+v", pages)
	}
	k.publishes(c, "again")
	c.eventually("the page", func() string {
		last := c.leader()
		last.load(c)
		return last.lacks(c, "again")
	})
	if page := k.ledgers.of(c.id).journal[0]; page.index == 0 {
		t.Errorf("the name %s is used twice", page.name)
	}
}

func TestOnlyWhatLoweredACeilingIsPutRight(t *testing.T) {
	number := func(n int64) *v1alpha1.Number { return (*v1alpha1.Number)(&n) }
	for _, c := range []struct {
		name    string
		stored  *v1alpha1.Number
		ceiling uint32
		want    bool
	}{
		{"this run has stored none", nil, 0, false},
		{"another run has stored one", number(7), 0, false},
		{"it is stored", number(7), 7, false},
		{"a higher one is stored", number(8), 7, false},
		{"a lower one is stored", number(6), 7, true},
		{"it is gone", nil, 7, true},
		{"a lower one is stored that is larger as a number (RFC 1982)", number(4294967295), 1, true},
	} {
		if got := lowered(c.stored, c.ceiling); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
