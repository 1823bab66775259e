package zone

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestWhatIsKeptIsAsItWasPublished forgets some claims of a World, as an operator does that cannot read them when it
// starts. With what is kept nothing is lost, and when they are known again all is as it was, however the others have
// changed meanwhile.
func TestWhatIsKeptIsAsItWasPublished(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		former, now, never := New(Options{}), New(Options{}), New(Options{})
		ids := []ID{{KindZone, "p", "z0"}, {KindZone, "p", "z1"}}
		for i, name := range []string{"org.", "2.0.192.in-addr.arpa."} {
			z := Zone{ID: ids[i], Where: Where{Name: must(dnsname.Parse(name))}, TTL: 300, Rules: openRules()}
			if i == 1 {
				z.Reverse = drawReverse(t)
			}
			for _, w := range []*World{former, now, never} {
				w.PutZone(z)
			}
		}
		var unread []Claim
		for i := range 1 + upTo(t, 9, "claims") {
			c := drawAsked(t, i)
			former.PutClaim(c)
			never.PutClaim(c)
			if upTo(t, 2, "unread") == 0 {
				unread = append(unread, c)
			} else {
				now.PutClaim(c)
			}
		}
		former.Settle()
		now.Settle()
		var kept []Claim
		for _, id := range ids {
			published, _ := former.Snapshot(id)
			kept = append(kept, now.Kept(id, published.Sets, func(rr.Type) bool { return true })...)
		}
		for _, c := range kept {
			now.PutClaim(c)
		}
		now.Settle()
		for _, id := range ids {
			published, _ := former.Snapshot(id)
			checkHas(t, now, id, slices.Collect(published.Sets.All()))
		}
		later := drawAsked(t, 10)
		now.PutClaim(later)
		never.PutClaim(later)
		now.Settle()
		checkKept(t, now, kept)
		for _, c := range unread {
			now.PutClaim(c)
		}
		if upTo(t, 2, "between") == 0 {
			now.Settle()
			checkKept(t, now, kept)
		}
		for _, c := range kept {
			now.DeleteClaim(c.ID)
		}
		now.Settle()
		never.Settle()
		if diff := cmp.Diff(image(never), image(now)); diff != "" {
			t.Fatalf("when all is known (-never unread +read again):\n%s", diff)
		}
		checkNoLeftovers(t, now)
	})
}

// drawAsked draws what a source may ask for.
func drawAsked(t *rapid.T, i int) Claim {
	kind := pick(t, []rr.Type{rr.TypeA, rr.TypeA, rr.TypeAAAA, rr.TypeCNAME, rr.TypeTXT}, "type")
	return Claim{
		ID: ID{"Service", pick(t, someNamespaces, "namespace"), fmt.Sprint("c", i)}, Created: drawTime(t),
		Where: Where{Name: must(dnsname.Parse(pick(t, []string{"a.org.", "b.a.org.", "org.", "*.a.org."}, "name")))},
		Type:  kind, Data: []string{pick(t, someData[kind], "data")},
	}
}

// checkKept complains of what a World lacks of what is kept.
func checkKept(t *rapid.T, w *World, kept []Claim) {
	for _, c := range kept {
		checkHas(t, w, c.Where.Ref, []rr.Set{rr.NewSet(rr.Key{Name: c.Where.Name, Type: c.Type}, *c.TTL, c.Data...)})
	}
}

// checkHas complains of what a Zone lacks of some sets.
func checkHas(t *rapid.T, w *World, id ID, sets []rr.Set) {
	now, _ := w.Snapshot(id)
	for _, set := range sets {
		has, _ := now.Sets.Get(set.Key())
		if slices.ContainsFunc(set.Data, func(d string) bool { return !slices.Contains(has.Data, d) }) {
			t.Fatalf("%s has %q of %s, which was %q", id, has.Data, set.Key(), set.Data)
		}
	}
}

// TestNothingHidesWhatIsKept: who may not hide the names of others may not hide those of whom nobody knows.
func TestNothingHidesWhatIsKept(t *testing.T) {
	id := ID{KindZone, "p", "z"}
	org, www := must(dnsname.Parse("org.")), must(dnsname.Parse("www.team.org."))
	w := New(Options{})
	w.PutZone(Zone{ID: id, Where: Where{Name: org}, TTL: 300, Rules: openRules()})
	w.Settle()
	txn := rr.Sets{}.Txn()
	txn.Put(rr.NewSet(rr.Key{Name: www, Type: rr.TypeA}, 60, "192.0.2.1"))
	for _, c := range w.Kept(id, txn.Sets(), func(t rr.Type) bool { return t == rr.TypeA }) {
		w.PutClaim(c)
	}
	cut := ID{KindRecord, "q", "cut"}
	w.PutClaim(Claim{ID: cut, Created: time.Unix(1, 0), Where: Where{Name: must(dnsname.Parse("team.org."))},
		Type: rr.TypeNS, Data: []string{"ns.example.net."}})
	alias := ID{KindRecord, "q", "alias"}
	w.PutClaim(Claim{ID: alias, Where: Where{Name: www}, Type: rr.TypeCNAME, Data: []string{"x.org."}})
	w.Settle()
	for id, want := range map[ID]Reason{cut: HidesNames, alias: Conflict} {
		if v, _ := w.Verdict(id); v.Reason != want {
			t.Errorf("%s: %s, not %s: %s", id, v.Reason, want, v.Message)
		}
	}
}
