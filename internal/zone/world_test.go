package zone

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestAWorldForVerdictsOnlyHasNoContent decides as every other one does.
func TestAWorldForVerdictsOnlyHasNoContent(t *testing.T) {
	for _, only := range []bool{false, true} {
		w := New(Options{VerdictsOnly: only})
		w.PutZone(zoneOf("dns", "example", "example.org.", 1))
		w.PutClaim(claimOf("dns/www", "www.example.org.", 1, "A 192.0.2.1"))
		w.PutClaim(claimOf("dns/other", "www.example.org.", 2, "CNAME example.net."))
		w.Settle()
		www, _ := w.Verdict(ID{KindRecord, "dns", "www"})
		other, _ := w.Verdict(ID{KindRecord, "dns", "other"})
		if !www.Accepted || other.Reason != Conflict {
			t.Errorf("only %t: the verdicts are %v and %v", only, www, other)
		}
		w.DeleteClaim(ID{KindRecord, "dns", "www"})
		w.Settle()
		if other, _ = w.Verdict(ID{KindRecord, "dns", "other"}); !other.Accepted {
			t.Errorf("only %t: who comes next is told %v", only, other)
		}
		s, there := w.Snapshot(ID{KindZone, "dns", "example"})
		if want := map[bool]int{false: 1}[only]; !there || s.Sets.Len() != want {
			t.Errorf("only %t: the Zone is there: %t, and has %d sets", only, there, s.Sets.Len())
		}
	}
}

func TestAdoptedListsTheClaimsOfAZone(t *testing.T) {
	w := New(Options{})
	w.PutZone(zoneOf("dns", "org", "org.", 1))
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	for _, c := range []Claim{
		claimOf("dns/ns", "example.org.", 1, "NS ns.example.net."),
		claimOf("dns/ds", "example.org.", 1, "DS 1 8 2 ABCD"),
		claimOf("dns/www", "www.example.org.", 1, "A 192.0.2.1"),
		claimOf("dns/twice", "www.example.org.", 1, "A 192.0.2.1"),
		claimOf("evil/www", "www.example.org.", 2, "A 192.0.2.2"),
		claimOf("dns/above", "www.org.", 1, "A 192.0.2.3"),
	} {
		w.PutClaim(c)
	}
	w.Settle()
	var got []string
	w.Adopted(ID{KindZone, "dns", "example"}, func(id ID) bool {
		got = append(got, id.Name)
		return true
	})
	slices.Sort(got)
	if want := []string{"ds", "ns", "twice", "www"}; !slices.Equal(got, want) {
		t.Errorf("adopted are %v, not %v", got, want)
	}
	for _, c := range []struct {
		set  string
		kind rr.Type
		want []string
	}{
		{"www.example.org.", rr.TypeA, []string{"twice", "www"}},
		{"www.example.org.", rr.TypeAAAA, nil},
		{"example.org.", rr.TypeNS, []string{"ns"}},
		{"none.example.org.", rr.TypeA, nil},
		{"www.org.", rr.TypeA, nil},
	} {
		var at []string
		w.AdoptedAt(ID{KindZone, "dns", "example"}, rr.Key{Name: parseName(t, c.set), Type: c.kind}, func(id ID) bool {
			at = append(at, id.Name)
			return true
		})
		if slices.Sort(at); !slices.Equal(at, c.want) {
			t.Errorf("adopted into %s are %v, not %v", c.set, at, c.want)
		}
	}
	for name, want := range map[string]string{"www.example.org.": "[evil/www]", "example.org.": "[]", "none.org.": "[]"} {
		at := []string{}
		w.RefusedAt(parseName(t, name), func(id ID) bool { at = append(at, id.Namespace+"/"+id.Name); return true })
		if fmt.Sprint(at) != want {
			t.Errorf("refused at %s are %v, not %s", name, at, want)
		}
	}
	calls := 0
	w.Adopted(ID{KindZone, "dns", "example"}, func(ID) bool { calls++; return false })
	if calls != 1 {
		t.Errorf("after false there were %d calls more", calls-1)
	}
	w.Adopted(ID{KindZone, "dns", "missing"}, func(ID) bool { t.Error("a Zone that does not exist adopts"); return false })
}

func TestServedListsTheClaimsThatTheServersOfAZoneHave(t *testing.T) {
	w := New(Options{})
	w.PutZone(zoneOf("dns", "org", "org.", 1))
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	apex, host := parseName(t, "example.org."), parseName(t, "www.example.org.")
	for _, c := range []Claim{
		claimOf("dns/ds", "example.org.", 1, "DS 1 8 2 ABCD"),
		claimOf("dns/text", "example.org.", 1, "TXT x"),
		claimOf("dns/www", "www.example.org.", 1, "A 192.0.2.1"),
		claimOf("dns/above", "www.org.", 1, "A 192.0.2.3"),
	} {
		w.PutClaim(c)
	}
	for _, step := range []struct {
		sentence       string
		change         func()
		above, below   string // all claims
		dsAbove, dsHas string // those of the DS
	}{
		{"without NS records above, the DS has no place there", func() {}, "above", "ds text www", "", "ds"},
		{"beside them it is above, and they are at both", func() {
			w.PutClaim(claimOf("dns/ns", "example.org.", 1, "NS ns.example.net."))
		}, "above ds", "ns text www", "ds", ""},
		{"without a Zone above there is no DS", func() {
			w.DeleteZone(ID{KindZone, "dns", "org"})
		}, "", "ns text www", "", ""},
	} {
		step.change()
		w.Settle()
		of := func(zone string, key *rr.Key) string {
			var got []string
			yield := func(id ID) bool { got = append(got, id.Name); return true }
			if key == nil {
				w.Served(ID{KindZone, "dns", zone}, yield)
			} else {
				w.ServedAt(ID{KindZone, "dns", zone}, *key, yield)
			}
			slices.Sort(got)
			return strings.Join(got, " ")
		}
		ds, www := rr.Key{Name: apex, Type: rr.TypeDS}, rr.Key{Name: host, Type: rr.TypeA}
		got := []string{of("org", nil), of("example", nil), of("org", &ds), of("example", &ds), of("org", &www),
			of("example", &www)}
		if want := []string{step.above, step.below, step.dsAbove, step.dsHas, "", "www"}; !slices.Equal(got, want) {
			t.Errorf("%s: they have %q, want %q", step.sentence, got, want)
		}
		if s, _ := w.Snapshot(ID{KindZone, "dns", "example"}); (len(s.DS.Data) > 0) != (step.dsAbove+step.dsHas != "") {
			t.Errorf("%s: the DS is %v", step.sentence, s.DS)
		}
	}
}

func TestPuttingTheSameChangesNothing(t *testing.T) {
	w := New(Options{})
	zone, ttl := zoneOf("dns", "example", "example.org.", 1), uint32(60)
	claim := claimOf("dns/www", "www.example.org.", 1, "A 192.0.2.1")
	claim.TTL = &ttl
	grants := []Grant{{[]string{"dns"}, patterns("*")}}
	put := func() Delta {
		same := ttl
		claim.TTL = &same
		w.PutZone(zone)
		w.PutClaim(claim)
		w.PutGrants("main", grants)
		return w.Settle()
	}
	if d := put(); len(d.Zones) != 1 || !d.Zones[0].Fresh || len(d.Verdicts) != 2 {
		t.Errorf("the first time the delta is %+v", d)
	}
	if d := put(); len(d.Zones)+len(d.Verdicts) != 0 {
		t.Errorf("the second time the delta is %+v", d)
	}
	zone.Created = zone.Created.In(time.FixedZone("elsewhere", 3600))
	if d := put(); len(d.Zones)+len(d.Verdicts) != 0 {
		t.Errorf("the same moment elsewhere gives the delta %+v", d)
	}
	w.DeleteClaim(claim.ID)
	if d := put(); len(d.Zones) > 1 || len(d.Zones) == 1 && d.Zones[0].Fresh {
		t.Errorf("a claim that is deleted and put again gives the delta %+v", d)
	}
}

func TestADeltaNamesWhatChanged(t *testing.T) {
	w := New(Options{})
	id := ID{KindZone, "dns", "example"}
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	w.PutClaim(claimOf("dns/www", "www.example.org.", 1, "A 192.0.2.1"))
	w.PutClaim(claimOf("dns/ftp", "ftp.example.org.", 1, "A 192.0.2.1"))
	w.Settle()

	w.PutClaim(claimOf("dns/www", "www.example.org.", 1, "A 192.0.2.2"))
	d := w.Settle()
	key := setOf("www.example.org.", 0, rr.TypeA).Key()
	if len(d.Zones) != 1 || d.Zones[0].ID != id || d.Zones[0].Fresh || !slices.Equal(d.Zones[0].Changed, []rr.Key{key}) ||
		len(d.Verdicts) != 0 {
		t.Errorf("new data give the delta %+v", d)
	}

	w.DeleteZone(id)
	d = w.Settle()
	if _, ok := w.Snapshot(id); ok || len(d.Zones) != 1 || len(d.Verdicts) != 3 {
		t.Errorf("the end of the Zone gives the delta %+v", d)
	}
	if _, ok := w.Verdict(id); ok {
		t.Error("a Zone that is gone has a verdict")
	}
}

// TestADeltaNamesWhoHasAdopted also where the content stays as it is.
func TestADeltaNamesWhoHasAdopted(t *testing.T) {
	w := New(Options{})
	example, other := ID{KindZone, "dns", "example"}, ID{KindZone, "dns", "other"}
	w.PutZone(zoneOf("dns", "example", "example.org.", 1))
	w.PutZone(zoneOf("dns", "other", "other.org.", 1))
	w.PutClaim(claimOf("dns/www", "www.example.org.", 1, "A 192.0.2.1"))
	w.Settle()
	for _, c := range []struct {
		what     string
		do       func()
		zones    int
		adopters []ID
	}{
		{"the same value comes", func() { w.PutClaim(claimOf("dns/same", "www.example.org.", 2, "A 192.0.2.1")) }, 0,
			[]ID{example}},
		{"a claim that is refused comes", func() { w.PutClaim(claimOf("dns/no", "www.example.net.", 2, "A 192.0.2.1")) }, 0,
			nil},
		{"the same value goes elsewhere", func() { w.PutClaim(claimOf("dns/same", "www.other.org.", 2, "A 192.0.2.1")) }, 1,
			[]ID{example, other}},
		{"it goes", func() { w.DeleteClaim(ID{KindRecord, "dns", "same"}) }, 1, []ID{other}},
	} {
		c.do()
		d := w.Settle()
		slices.SortFunc(d.Adopters, ID.Compare)
		if len(d.Zones) != c.zones || !slices.Equal(d.Adopters, c.adopters) {
			t.Errorf("%s: the delta is %+v", c.what, d)
		}
	}
}

// Reading changes nothing: readers may run beside each other, as their owner lets them.
func TestManyMayReadAtOnce(t *testing.T) {
	w := busyWorld(50)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for id := range w.zones {
				w.Verdict(id)
				w.Snapshot(id)
				w.Adopted(id, func(ID) bool { return true })
			}
			for id := range w.claims {
				w.Verdict(id)
			}
		})
	}
	readers.Wait()
}

func TestTheAddressesOfServersAreGlueOnly(t *testing.T) {
	w := pinnedWorld(1)
	address := func(name string) []string {
		s, _ := w.Snapshot(largeZone("example.org.").ID)
		set, _ := s.Sets.Get(rr.Key{Name: must(dnsname.Parse(name)), Type: rr.TypeA})
		return set.Data
	}
	if got := address("ns1.example.org."); len(got) != 1 || got[0] != "192.0.2.1" {
		t.Errorf("a name server with an address has %v", got)
	}
	if got := address("ns2.example.org."); len(got) != 1 || got[0] != "198.51.100.1" {
		t.Errorf("a name server without an address has %v", got)
	}
	w.PutZone(pinnedZone())
	w.Settle()
	if got := address("ns2.example.org."); len(got) != 0 {
		t.Errorf("where no server is known it has %v", got)
	}
}
