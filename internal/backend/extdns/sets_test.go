package extdns

import (
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/extdns/extdnstest"
	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func apply(t testing.TB, z *Zone, all ...plan.Change) backend.Result {
	t.Helper()
	result, err := z.Apply(t.Context(), z.name, backend.Batch{Changes: all})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func read(t testing.TB, z *Zone, keys ...rr.Key) rr.Sets {
	t.Helper()
	found, err := z.Read(t.Context(), z.name, backend.Ask{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return found.Sets
}

// TestOneListForAll: what several zones of a server read one after the other, and what is read back, is one list.
func TestOneListForAll(t *testing.T) {
	f := extdnstest.Start(t, "example.org", "sub.example.org")
	foreign(t, f, []rr.Set{set(t, "www.example.org.", rr.TypeA, 300, "192.0.2.1"),
		set(t, "www.sub.example.org.", rr.TypeA, 300, "192.0.2.2")}, nil)
	z, now := zoneOf(t, f, Config{})
	sub := z.client.Backend(backend.HostedZone{Name: parse(t, "sub.example.org.")}).(*Zone)
	for zone, want := range map[*Zone]string{z: "www.example.org.", sub: "www.sub.example.org."} {
		if sets := read(t, zone); sets.Len() != 1 {
			t.Errorf("zone %s has %d sets", zone.name, sets.Len())
		} else {
			for s := range sets.All() {
				if s.Name.String() != want {
					t.Errorf("zone %s has %v", zone.name, s)
				}
			}
		}
	}
	lists := func(want int) {
		t.Helper()
		if n := strings.Count(strings.Join(f.Calls, "\n")+"\n", "GET /p/records\n"); n != want {
			t.Errorf("the list was got %d times, want %d: %v", n, want, f.Calls)
		}
	}
	lists(1)
	fresh := set(t, "new.example.org.", rr.TypeA, 300, "192.0.2.3")
	now.pass(old / 2)
	apply(t, z, put(fresh)) // there was nothing at its name
	lists(1)
	read(t, z, fresh.Key()) // was it stored?
	lists(2)
	apply(t, z, plan.Change{Key: fresh.Key(), Have: fresh}) // the list is young
	lists(2)
	now.pass(young + 1)
	apply(t, z, plan.Change{Key: set(t, "www.example.org.", rr.TypeA, 300, "192.0.2.1").Key()})
	lists(3)
	if f.Truth(t, parse(t, "example.org.")).Len() != 1 {
		t.Error("not all was deleted")
	}
}

// TestAssertions: whoever asserts a set does not say what is there.
func TestAssertions(t *testing.T) {
	f := extdnstest.Start(t, "example.org")
	z, now := zoneOf(t, f, Config{})
	want := set(t, "www.example.org.", rr.TypeA, 300, "192.0.2.1")
	for _, have := range []rr.Set{{}, want, want} {
		foreign(t, f, []rr.Set{set(t, "www.example.org.", rr.TypeA, 60, "203.0.113.1", "203.0.113.2")}, nil)
		now.pass(young + 1)
		apply(t, z, plan.Change{Key: want.Key(), Have: have, Want: want})
		if got, _ := f.Truth(t, z.name).Get(want.Key()); !got.Equal(want) {
			t.Errorf("the server has %v", got)
		}
	}
}

func TestTypesThatAreDropped(t *testing.T) {
	f := extdnstest.Start(t, "example.org")
	f.Drops = []string{"CAA"}
	z, _ := zoneOf(t, f, Config{})
	caa := set(t, "example.org.", rr.TypeCAA, 300, `0 issue "ca.example.net"`)
	if r := apply(t, z, put(caa)); len(r.Rejected) != 0 || z.Limits().Confirms {
		t.Errorf("%+v: the server's word is taken for true", r)
	}
	if read(t, z, caa.Key()).Len() != 0 {
		t.Error("what the server has dropped is read")
	}
}

func TestAdjustments(t *testing.T) {
	a := set(t, "www.example.org.", rr.TypeA, 60, "192.0.2.1")
	text := set(t, "www.example.org.", rr.TypeTXT, 60, `"one; two" "three"`)
	for _, c := range []struct {
		name    string
		adjust  func(extdnstest.Endpoint) []extdnstest.Endpoint
		refused bool
	}{
		{"a higher TTL", func(e extdnstest.Endpoint) []extdnstest.Endpoint {
			e.RecordTTL = 3600
			return []extdnstest.Endpoint{e}
		}, false},
		{"no TTL", func(e extdnstest.Endpoint) []extdnstest.Endpoint {
			e.RecordTTL = 0
			return []extdnstest.Endpoint{e}
		}, false},
		{"texts without quotation marks", func(e extdnstest.Endpoint) []extdnstest.Endpoint {
			if e.RecordType == "TXT" {
				e.Targets = []string{"one; twothree"}
			}
			return []extdnstest.Endpoint{e}
		}, false},
		{"nothing left", func(extdnstest.Endpoint) []extdnstest.Endpoint { return nil }, true},
		{"two of one", func(e extdnstest.Endpoint) []extdnstest.Endpoint {
			o := e
			o.SetIdentifier = "x"
			return []extdnstest.Endpoint{e, o}
		}, true},
		{"another name", func(e extdnstest.Endpoint) []extdnstest.Endpoint {
			e.DNSName = "x.example.org"
			return []extdnstest.Endpoint{e}
		}, true},
	} {
		f := extdnstest.Start(t, "example.org")
		f.Adjust = c.adjust
		z, now := zoneOf(t, f, Config{})
		for range 2 {
			result := apply(t, z, put(a), put(text))
			if (len(result.Rejected) == 2) != c.refused || len(result.Rejected) == 1 {
				t.Fatalf("%s: refused are %v", c.name, result.Rejected)
			}
			now.pass(old + 1)
			for _, want := range []rr.Set{a, text} {
				if got, _ := read(t, z).Get(want.Key()); !c.refused && !got.Equal(want) {
					t.Errorf("%s: %v is read as %v", c.name, want, got)
				}
			}
		}
		if n := strings.Count(strings.Join(f.Calls, "\n"), "POST /p/records"); n > 1 || n > 0 && c.refused {
			t.Errorf("%s: %d change sets were sent", c.name, n)
		}
	}
}

// TestWhatIsAssertedIsReadFirst has somebody write right after the list was got.
func TestWhatIsAssertedIsReadFirst(t *testing.T) {
	theirs, ours := set(t, "www.example.org.", rr.TypeA, 300, "203.0.113.1"), set(t, "www.example.org.", rr.TypeA, 300,
		"192.0.2.1")
	for _, c := range []struct {
		name   string
		change plan.Change
		want   int // sets that are left
	}{
		{"a set is put at a name that was free", put(ours), 1},
		{"a set is removed that was not there", plan.Change{Key: ours.Key()}, 0},
		{"a set is removed that was ours", plan.Change{Key: ours.Key(), Have: ours}, 0},
	} {
		f := extdnstest.Start(t, "example.org")
		z, _ := zoneOf(t, f, Config{})
		read(t, z)
		foreign(t, f, []rr.Set{theirs}, nil)
		result, err := z.Apply(t.Context(), z.name, backend.Batch{Changes: []plan.Change{c.change}, Assert: true})
		if err != nil || len(result.Rejected) > 0 {
			t.Errorf("%s: refused are %v, error %v", c.name, result.Rejected, err)
		}
		truth := f.Truth(t, z.name)
		if got, _ := truth.Get(ours.Key()); truth.Len() != c.want || c.want > 0 && !got.Equal(ours) {
			t.Errorf("%s: the server has %v", c.name, f.Sets)
		}
	}
}

// TestSetsThatTakeTurns are replaced as a whole, and never taken for a plain set.
func TestSetsThatTakeTurns(t *testing.T) {
	f := extdnstest.Start(t, "example.org")
	for _, id := range []string{"blue", "green"} {
		f.Sets = append(f.Sets, extdnstest.Endpoint{DNSName: "www.example.org", RecordType: "A",
			Targets: []string{"192.0.2.1"}, RecordTTL: 300, SetIdentifier: id})
	}
	z, _ := zoneOf(t, f, Config{})
	want := set(t, "www.example.org.", rr.TypeA, 300, "192.0.2.1")
	if got, _ := read(t, z).Get(want.Key()); got.Equal(want) || len(got.Data) != 2 {
		t.Errorf("two sets that take turns are read as %v", got)
	}
	apply(t, z, put(want))
	if len(f.Sets) != 1 || f.Sets[0].SetIdentifier != "" {
		t.Errorf("the server has %v", f.Sets)
	}
}

func TestNamesThatTheFilterLeavesOut(t *testing.T) {
	f := extdnstest.Start(t, "example.org")
	f.Filter["exclude"] = []string{"theirs.example.org"}
	foreign(t, f, []rr.Set{set(t, "a.theirs.example.org.", rr.TypeA, 300, "192.0.2.1")}, nil)
	z, _ := zoneOf(t, f, Config{})
	if read(t, z).Len() != 0 {
		t.Error("what is not for us is read")
	}
	r := apply(t, z, put(set(t, "b.theirs.example.org.", rr.TypeA, 300, "192.0.2.1")),
		put(set(t, "b.example.org.", rr.TypeA, 300, "192.0.2.1")),
		plan.Change{Key: set(t, "a.theirs.example.org.", rr.TypeA, 300, "192.0.2.1").Key()})
	if len(r.Rejected) != 1 || !strings.Contains(r.Rejected[0].Reason, "filter") || f.Truth(t, z.name).Len() != 2 {
		t.Errorf("refused are %v, and the server has %v", r.Rejected, f.Sets)
	}
}

func FuzzEndpoints(f *testing.F) {
	f.Add("www.example.org", "A", "192.0.2.1", int64(300))
	f.Add("www.example.org.", "TXT", `v=spf1 "x" \`, int64(0))
	f.Add("*.example.org", "MX", "10 mail.example.org", int64(-1))
	f.Add("_a._tcp.example.org", "SRV", "1 2 3 x.example.org.", int64(1<<40))
	f.Add("example.org", "CAA", `0 issue "ca"`, int64(1))
	f.Add("example.org", "MX", `0 .`, int64(1))
	f.Add("example.org", "NOPE", ``, int64(1))
	f.Fuzz(func(t *testing.T, owner, typ, target string, ttl int64) {
		in := endpoint.Endpoint{DNSName: owner, RecordType: typ, Targets: []string{target}, RecordTTL: ttl}
		key, err := in.Key()
		if err != nil {
			return
		}
		s := setOf(key, []endpoint.Endpoint{in})
		out, err := endpoint.Of(s)
		if err != nil {
			return
		}
		again, err := out.Key()
		if err != nil || again != key || !setOf(again, []endpoint.Endpoint{out}).Equal(s) {
			t.Errorf("%+v is %v, which is written as %+v and read as %v (%v)", in, s, out,
				setOf(again, []endpoint.Endpoint{out}), err)
		}
	})
}
