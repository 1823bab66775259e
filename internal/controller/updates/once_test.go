package updates

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/update"
)

// A clock stands until it is set.
type clock struct {
	backend.SystemClock
	now atomic.Pointer[time.Time]
}

func (c *clock) Now() time.Time { return *c.now.Load() }

func TestAMessageThatComesAgainIsAnsweredAsBefore(t *testing.T) {
	c := &clock{}
	now := time.Unix(1_800_000_000, 0)
	c.now.Store(&now)
	a := &answers{clock: c}
	done := 0
	answer := func(rcode int) func() Answer {
		return func() Answer { done++; return Answer{Rcode: rcode} }
	}
	one, two := [32]byte{1}, [32]byte{2}
	for _, step := range []struct {
		name  string
		id    [32]byte
		gives int
		want  int
		done  int
	}{
		{"the first time it is carried out", one, update.Refused, update.Refused, 1},
		{"the second time it is not", one, update.Success, update.Refused, 1},
		{"another one is", two, update.ServerFailure, update.ServerFailure, 2},
		{"one that failed is carried out again", two, update.Success, update.Success, 3},
		{"and then no more", two, update.Refused, update.Success, 3},
	} {
		if got := a.once(t.Context(), step.id, answer(step.gives)); got.Rcode != step.want || done != step.done {
			t.Errorf("%s: got %v, %d were carried out", step.name, got, done)
		}
	}
	kept := func() int {
		g, unlock := a.given.Lock()
		defer unlock()
		return len(g.order)
	}
	later := now.Add(keep + time.Second)
	c.now.Store(&later)
	if got := a.once(t.Context(), one, answer(update.Success)); got.Rcode != update.Success || kept() != 1 {
		t.Errorf("after a long time it gets %v, and %d are kept", got, kept())
	}
}

func TestAMessageThatComesAgainWaitsForItsAnswer(t *testing.T) {
	a := &answers{clock: backend.SystemClock{}}
	began, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		a.once(context.Background(), [32]byte{}, func() Answer { close(began); <-end; return Answer{Rcode: update.Refused} })
	})
	<-began
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if got := a.once(short, [32]byte{}, nil); got.Rcode != update.ServerFailure {
		t.Errorf("who does not wait is told %v", got)
	}
	all.Go(func() {
		if got := a.once(context.Background(), [32]byte{}, nil); got.Rcode != update.Refused {
			t.Errorf("who waits is told %v", got)
		}
	})
	close(end)
	all.Wait()
}

func TestUpdatesOfOneNameTakeTurns(t *testing.T) {
	n := newNames()
	a, b := mustName(t, "a.example."), mustName(t, "b.example.")
	held, err := n.take(t.Context(), []dnsname.Name{a})
	if err != nil {
		t.Fatal(err)
	}
	other, err := n.take(t.Context(), []dnsname.Name{b})
	if err != nil {
		t.Fatal(err)
	}
	other.free()
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.take(short, []dnsname.Name{b, a}); err == nil {
		t.Error("two are at one name")
	}
	var waits sync.WaitGroup
	waits.Go(func() {
		both, err := n.take(context.Background(), []dnsname.Name{b, a})
		if err != nil {
			t.Error(err)
			return
		}
		both.free()
	})
	held.share()
	held.free()
	if _, err := n.take(short, []dnsname.Name{a}); err == nil {
		t.Error("a name is free though one of two keeps it")
	}
	held.free()
	waits.Wait()
	now, unlock := n.Lock()
	defer unlock()
	if len(now.held) > 0 {
		t.Errorf("%v are held", now.held)
	}
}

func TestNamesThatAreFreeDoNotWaitForOthers(t *testing.T) {
	n := newNames()
	a, b, c := mustName(t, "a.example."), mustName(t, "b.example."), mustName(t, "c.example.")
	held, err := n.take(t.Context(), []dnsname.Name{a})
	if err != nil {
		t.Fatal(err)
	}
	some, busy, err := n.takeFree(t.Context(), []dnsname.Name{a, b, c}, 1)
	if err != nil || !slices.Equal(some.all, []dnsname.Name{b, c}) || !slices.Equal(busy, []dnsname.Name{a}) {
		t.Fatalf("%v are free, and %v are not: %v", some, busy, err)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if _, busy, err := n.takeFree(short, []dnsname.Name{a, b}, 1); err == nil || len(busy) != 2 {
		t.Errorf("there is more to take than %v", busy)
	}
	one := some.of(b)
	one.share()
	some.free()
	got, busy, err := n.takeFree(short, []dnsname.Name{b, c}, 1)
	if err != nil || !slices.Equal(got.all, []dnsname.Name{c}) {
		t.Fatalf("who keeps one name keeps %v: %v", busy, err)
	}
	got.free()
	one.free()
	held.free()
	now, unlock := n.Lock()
	defer unlock()
	if len(now.held) > 0 {
		t.Errorf("%v are held", now.held)
	}
}

// listed has Records, and counts how often they are listed.
type listed struct {
	client.Reader
	all   []v1alpha1.Record
	times int
}

func (l *listed) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	l.times++
	into.(*v1alpha1.RecordList).Items = l.all
	return nil
}

func TestManyRecordsOfOneNameAreListedAtOnce(t *testing.T) {
	live := &listed{}
	for i := range 20_000 {
		ttl := v1alpha1.Number(i % 60)
		live.all = append(live.all, v1alpha1.Record{Spec: v1alpha1.RecordSpec{DomainName: "a.example.", Type: "TXT",
			RData: fmt.Sprintf(`"%05d"`, i), TTL: &ttl}})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := (&Updates{Config: Config{Live: live}}).Endpoints(t.Context(), "a")
	runtime.ReadMemStats(&after)
	if err != nil || len(got) != 1 || len(got[0].Targets) != len(live.all) || got[0].RecordTTL != 59 {
		t.Fatalf("there are %d: %v", len(got), err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 100<<20 {
		t.Errorf("it takes %d octets", n)
	}
}

func TestANameThatIsBusyKeepsNoOtherOneWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &listed{}
		u := &Updates{Config: Config{Live: live, Core: core.New(core.Config{Clock: time.Now})}, names: newNames(),
			undoings: newTestUndoings(t)}
		if _, err := u.names.take(t.Context(), []dnsname.Name{mustName(t, "busy.example.")}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := u.ChangeEndpoints(ctx, "a", endpoint.Changes{Delete: []endpoint.Endpoint{
			{DNSName: "busy.example", RecordType: "A", Targets: []string{"192.0.2.1"}},
			{DNSName: "free.example", RecordType: "A", Targets: []string{"192.0.2.2"}}}})
		if err == nil || !strings.Contains(err.Error(), "of busy.example. and 0 more names") || live.times != 1 {
			t.Errorf("%d are looked at: %v", live.times, err)
		}
	})
}

func TestNamesOfRecords(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{".", "*.example.org.", "_acme-challenge.www.example.org.", `a\.b.-x-.example.org.`, "-.-.-.",
		"a234567890123456789012345678901234567890123456789012345678901234.b.c.d.e.f.g.", "2001.db8.",
		"a23456789012345678901234567890123456789012345678901234567890123.b2345678901234567890123456789012345678901234567890" +
			"1234567890123.c23456789012345678901234567890123456789012345678901234567890123.d.example."} {
		parsed, err := dnsname.Parse(name)
		if err != nil {
			continue
		}
		for range 2 {
			got := nameFor(rr.Key{Name: parsed, Type: rr.Type(65280)}, rand.Float64())
			if wrong := validation.IsDNS1123Subdomain(got); len(wrong) > 0 || seen[got] {
				t.Errorf("%s gets the name %s: %v", name, got, wrong)
			}
			seen[got] = true
		}
	}
}

func mustName(t testing.TB, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
