package googleclouddns

import (
	"errors"
	"testing"

	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/googleclouddns/clouddnstest"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func apply(t testing.TB, z *Zone, changes ...plan.Change) backend.Result {
	t.Helper()
	result, err := z.Apply(t.Context(), z.name, backend.Batch{Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func holds(t testing.TB, f *clouddnstest.Server, want ...rr.Set) {
	t.Helper()
	truth := f.Truth(t, "example-org")
	for _, w := range want {
		if got, _ := truth.Get(w.Key()); !got.Equal(w) {
			t.Errorf("the service holds %v, want %v", got, w)
		}
	}
	if truth.Len() != len(want)+1 {
		t.Errorf("the service holds %d sets, want %d beside the apex NS", truth.Len(), len(want))
	}
}

// TestWhatIsNotKnownIsLookedUp: whoever asserts a set does not say what is there.
func TestWhatIsNotKnownIsLookedUp(t *testing.T) {
	f := serve(t)
	z := zoneOf(t, f, f.Document)
	gone := rr.Key{Name: parse(t, "gone.example.org."), Type: rr.TypeA}
	for _, have := range []rr.Set{{}, www(t, "192.0.2.1"), www(t, "192.0.2.7")} {
		foreign(t, f, []rr.Set{www(t, "203.0.113.1"), set(t, "gone.example.org.", rr.TypeA, 60, "203.0.113.3")}, nil)
		apply(t, z, plan.Change{Key: gone}, plan.Change{Key: www(t, "192.0.2.1").Key(), Have: have,
			Want: www(t, "192.0.2.1")},
			plan.Change{Key: rr.Key{Name: parse(t, "never.example.org."), Type: rr.TypeTXT}})
		holds(t, f, www(t, "192.0.2.1"))
	}
}

func TestWhatWasKnownIsOutdated(t *testing.T) {
	for name, between := range map[string]func(f *clouddnstest.Server){
		"the set is another": func(f *clouddnstest.Server) { foreign(t, f, []rr.Set{www(t, "203.0.113.1")}, nil) },
		"nothing is there":   func(f *clouddnstest.Server) { foreign(t, f, nil, []rr.Key{www(t, "192.0.2.1").Key()}) },
		"a new one is there": func(f *clouddnstest.Server) {
			foreign(t, f, []rr.Set{set(t, "new.example.org.", rr.TypeA, 60, "203.0.113.1")}, nil)
		},
	} {
		f := serve(t)
		foreign(t, f, []rr.Set{www(t, "192.0.2.1")}, nil)
		z := zoneOf(t, f, f.Document)
		if _, err := z.Read(t.Context(), z.name, backend.Ask{}); err != nil {
			t.Fatal(err)
		}
		between(f)
		fresh := set(t, "new.example.org.", rr.TypeA, 300, "192.0.2.3")
		if r := apply(t, z, plan.Change{Key: www(t, "192.0.2.1").Key(), Have: www(t, "192.0.2.1"), Want: www(t, "192.0.2.2")},
			put(fresh)); len(r.Rejected) > 0 {
			t.Errorf("%s: %v", name, r.Rejected)
		}
		holds(t, f, www(t, "192.0.2.2"), fresh)
	}
}

func TestSteadyStateDoesNotRead(t *testing.T) {
	f := serve(t)
	z := zoneOf(t, f, f.Document)
	if _, err := z.Read(t.Context(), z.name, backend.Ask{}); err != nil {
		t.Fatal(err)
	}
	have := rr.Set{}
	for _, data := range []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"} {
		apply(t, z, plan.Change{Key: www(t, data).Key(), Have: have, Want: www(t, data)})
		have = www(t, data)
	}
	if len(f.Calls) != 5 {
		t.Errorf("a token, one reading and three changes took the calls %q", f.Calls)
	}
}

func TestPendingChanges(t *testing.T) {
	f := serve(t)
	f.Async = 2
	z := zoneOf(t, f, f.Document)
	result := apply(t, z, put(www(t, "192.0.2.1")))
	for i, want := range []bool{false, true} {
		if done, err := result.Pending(t.Context()); err != nil || done != want {
			t.Errorf("asked for the %d. time: %v, %v", i+1, done, err)
		}
	}
	f.Down = true
	if _, err := result.Pending(t.Context()); backend.Class(err) != backend.ErrUnavailable {
		t.Errorf("the service does not answer: %v", err)
	}
}

func TestQuota(t *testing.T) {
	f := serve(t)
	f.Quota = 2 // SOA and NS
	z := zoneOf(t, f, f.Document)
	_, err := z.Apply(t.Context(), z.name, backend.Batch{Changes: []plan.Change{put(www(t, "192.0.2.1"))}})
	if e, ok := errors.AsType[*backend.Error](err); !ok || e.Class != backend.ErrRejected ||
		e.Cause != backend.CauseQuota || !e.Temporary {
		t.Errorf("a set above the quota: %v", err)
	}
}

func TestSetsWithAPolicy(t *testing.T) {
	f := serve(t)
	f.Sets["example-org"]["www.example.org. A"] = &dns.ResourceRecordSet{Name: "www.example.org.", Type: "A", Ttl: 300,
		RoutingPolicy: &dns.RRSetRoutingPolicy{Kind: "x"}}
	z := zoneOf(t, f, f.Document)
	found, err := z.Read(t.Context(), z.name, backend.Ask{})
	if got, ok := found.Sets.Get(www(t, "192.0.2.1").Key()); err != nil || !ok || got.Equal(www(t, "192.0.2.1")) {
		t.Errorf("a set with a policy is read as %v (%v)", got, err)
	}
	apply(t, z, put(www(t, "192.0.2.1")))
	holds(t, f, www(t, "192.0.2.1"))
}

// TestATypeOfTheServicesOwn has a zone with an alias at its apex, of a type that DNS does not have.
func TestATypeOfTheServicesOwn(t *testing.T) {
	f := serve(t)
	alias := &dns.ResourceRecordSet{Name: "example.org.", Type: "ALIAS", Ttl: 300, Rrdatas: []string{"www.example.net."}}
	f.Sets["example-org"]["example.org. ALIAS"] = alias
	z := zoneOf(t, f, f.Document)
	apply(t, z, put(www(t, "192.0.2.1")))
	found, err := z.Read(t.Context(), z.name, backend.Ask{})
	if got, _ := found.Sets.Get(www(t, "192.0.2.1").Key()); err != nil || !got.Equal(www(t, "192.0.2.1")) {
		t.Errorf("the set beside is read as %v (%v)", got, err)
	}
	if found.Sets.Len() != 2 || f.Sets["example-org"]["example.org. ALIAS"] != alias {
		t.Errorf("%d sets are read, want one beside the apex NS; the service holds %v", found.Sets.Len(), f.Sets)
	}
}

func TestATTLOfZero(t *testing.T) {
	f := serve(t)
	z := zoneOf(t, f, f.Document)
	zero := set(t, "zero.example.org.", rr.TypeA, 0, "192.0.2.1")
	apply(t, z, put(zero))
	holds(t, f, zero)
}

func TestEveryTypeIsReadAsItWasWritten(t *testing.T) {
	all := backendtest.Examples(t, refuses)
	if len(all) != len(types) {
		t.Errorf("there are examples of %d types of %d", len(all), len(types))
	}
	for typ, data := range all {
		for _, d := range data {
			want := rr.NewSet(rr.Key{Name: parse(t, "x.example.org."), Type: typ}, 300, d)
			out, err := toSet(want)
			if err != nil {
				t.Errorf("%v: %v", want, err)
				continue
			}
			if key, err := keyOf(out); err != nil || !fromSet(key, out).Equal(want) {
				t.Errorf("%v was written as %+v and read as %v (%v)", want, out, fromSet(key, out), err)
			}
		}
	}
}

func FuzzSets(f *testing.F) {
	f.Add("www.example.org.", "A", "192.0.2.1", int64(300))
	f.Add("www.example.org", "TXT", `unquoted "text`, int64(-1))
	f.Add(`\052.example.org.`, "CAA", `0 issue "ca"`, int64(1<<40))
	f.Add("x.", "NOPE", ``, int64(1))
	for typ, all := range backendtest.Examples(f, refuses) {
		for _, d := range all {
			f.Add("x.example.org.", typ.String(), d, int64(60))
		}
	}
	f.Fuzz(func(t *testing.T, owner, typ, data string, ttl int64) {
		in := &dns.ResourceRecordSet{Name: owner, Type: typ, Ttl: ttl, Rrdatas: []string{data}}
		key, err := keyOf(in)
		if err != nil {
			return
		}
		s := fromSet(key, in)
		out, err := toSet(s)
		if err != nil {
			return
		}
		if again, err := keyOf(out); err != nil || again != key || !fromSet(again, out).Equal(s) {
			t.Errorf("%+v is %v, which is written as %+v and read as %v (%v)", in, s, out, fromSet(again, out), err)
		}
	})
}
