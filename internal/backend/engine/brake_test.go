package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// limits are a protection as Backends have by default.
var limits = plan.Protection{Limited: true, MaxDeletedPercent: 20, MinDeleted: 10}

// A heldZone is a zone whose deletions are limited, on one server.
type heldZone struct {
	*bench
	memory *backendtest.Memory
	server *spy
	name   string // of the server
	feed   *engine.Feed
	a      engine.Attachment
}

func holdZone(t *testing.T, p backendtest.Profile, protection plan.Protection) *heldZone {
	m, s := serverWith(p, zoneName)
	z := &heldZone{bench: newBench(t, func(c *engine.Config) { c.Audit = 0 }), memory: m, server: s, name: "s"}
	z.begin(protection)
	return z
}

func (z *heldZone) begin(p plan.Protection) {
	z.feed = z.bench.feed(zoneName)
	z.a = engine.Attachment{Name: "b", Feed: z.feed, Backend: z.server, Protection: p}
	z.engine.Attach(target(z.name, zoneName), z.a)
}

// change attaches again.
func (z *heldZone) change(f func(*engine.Attachment)) {
	f(&z.a)
	z.engine.Attach(target(z.name, zoneName), z.a)
	z.pass(time.Minute)
}

// hosts are addresses h0 to h(n-1).
func hosts(from, to int) []rr.Set {
	var sets []rr.Set
	for i := from; i < to; i++ {
		sets = append(sets, set(fmt.Sprintf("h%03d.example.org.", i), rr.TypeA, 300, "192.0.2.1"))
	}
	return sets
}

// want publishes sets.
func (z *heldZone) want(sets ...rr.Set) {
	z.feed.Publish(contentOf(mustParse(zoneName),
		append(sets, set(zoneName, rr.TypeNS, 300, "server.example.net."))...), nil)
	z.pass(time.Minute)
}

// has says how many hosts there are, and which other sets.
func (z *heldZone) has() string {
	_, sets, ok := z.memory.Truth(mustParse(zoneName))
	if !ok {
		return "no zone"
	}
	n, others := 0, []string{}
	for s := range sets.All() {
		switch name := s.Name.In(mustParse(zoneName)); {
		case strings.HasPrefix(name, "h") && s.Type == rr.TypeA:
			n++
		case s.Type != rr.TypeNS:
			others = append(others, name+" "+s.Type.String())
		}
	}
	return strings.Join(append([]string{fmt.Sprint(n)}, others...), ", ")
}

func (z *heldZone) are(what, want string, held int) {
	z.Helper()
	if got := z.has(); got != want {
		z.Errorf("%s: the server has %s, want %s", what, got, want)
	}
	n := 0
	if h := z.last("b").Held; h != nil {
		n = h.Deletions + h.Changes
	}
	if n != held {
		z.Errorf("%s: %d sets are held, want %d", what, n, held)
	}
}

// TestASetThatComesAgainCountsOnce: it is both there and among the deletions of late. 26 sets make room for 8.
func TestASetThatComesAgainCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := holdZone(t, bindLike, plan.Protection{Limited: true, MaxDeletedPercent: 34, MinDeleted: 2})
		z.want(hosts(2, 4)...)
		z.want(hosts(6, 27)...)
		z.want(hosts(3, 27)...)
		z.are("after two have gone, and one came again", "24", 0)
		z.want(hosts(7, 23)...)
		z.are("when 9 would be deleted within an hour", "24", 8)
	})
}

func TestManyDeletionsAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := holdZone(t, bindLike, limits)
		z.want(hosts(0, 100)...)
		z.are("at first", "100", 0)
		z.want(hosts(20, 100)...)
		z.are("after as many as may go", "80", 0)
		z.want(append(hosts(50, 100), set("new.example.org.", rr.TypeTXT, 300, `"x"`))...)
		z.are("after more within the hour", "80, new TXT", 30)
		r := z.last("b")
		if r.Seq == 0 || r.Err != nil || len(r.Lingering) != 30 {
			t.Errorf("the report is %+v", r)
		}
		if h := r.Held; h.Room != 20 || h.Recent != 20 || h.Of != 101 || h.Examples[0] != hosts(20, 21)[0].Key() {
			t.Errorf("held is %+v", h)
		}
		first := r.Held.Plan
		z.want(hosts(51, 100)...)
		z.are("after one more", "80, new TXT", 32)
		if second := z.last("b").Held.Plan; second == first {
			t.Error("another plan has the same name")
		}
		z.change(func(a *engine.Attachment) { a.Approved = []string{first} })
		z.are("with an approval of what it was before", "80, new TXT", 32)
		z.change(func(a *engine.Attachment) { a.Approved = []string{first, z.last("b").Held.Plan} })
		z.are("with an approval", "49", 0)
		z.want(hosts(51, 100)[:20]...)
		z.are("another plan is not approved", "49", 29)
		z.want(hosts(51, 100)...)
		z.are("what is wanted again is not held", "49", 0)
	})
}

func TestHeldDeletionsGoWhenTheyAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := holdZone(t, bindLike, limits)
		z.want(hosts(0, 100)...)
		z.want(hosts(40, 100)...)
		z.are("too many", "100", 40)
		z.want(append(hosts(0, 25), hosts(40, 100)...)...)
		z.are("most are wanted again", "85", 0)
		z.want(hosts(40, 100)...)
		z.are("the others too, within the hour", "85", 25)
		z.pass(2 * time.Hour)
		z.are("25 are more than a fifth of 85 at any time", "85", 25)
		z.want(append(hosts(10, 25), hosts(40, 100)...)...)
		z.are("10 are not", "75", 0)
		z.want(append(hosts(15, 25), hosts(40, 100)...)...)
		z.are("5 more are", "70", 0)
		z.want(append(hosts(24, 25), hosts(40, 100)...)...)
		z.are("nine more are too many", "70", 9)
		z.pass(2 * time.Hour)
		z.are("not when the hour is over", "61", 0)
	})
}

func TestAWholeZoneIsHeld(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile backendtest.Profile
		gone    string
	}{
		{"a server that is emptied", bindLike, "0"},
		{"a server that removes zones", backendtest.Profile{Limits: backend.Limits{Removes: true, Creates: true}}, "no zone"},
	} {
		synctest.Test(t, func(t *testing.T) {
			z := holdZone(t, c.profile, limits)
			z.want(hosts(0, 100)...)
			z.engine.Withdraw(target("s", zoneName), "b")
			z.pass(time.Hour)
			z.engine.Audit(target("s", zoneName))
			z.pass(3 * time.Hour)
			z.are(c.name, "100", 100)
			if z.last("b").Withdrawn {
				t.Fatal("it counts as withdrawn")
			}
			z.change(func(a *engine.Attachment) { a.Withdraw, a.Approved = true, []string{z.last("b").Held.Plan} })
			if got := z.has(); got != c.gone || !z.last("b").Withdrawn {
				t.Errorf("%s: with an approval the server has %s: %+v", c.name, got, z.last("b"))
			}
		})
	}
}

func TestASmallZoneIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := holdZone(t, backendtest.Profile{Limits: backend.Limits{Removes: true, Creates: true}}, limits)
		z.want(hosts(0, 5)...)
		z.engine.Withdraw(target("s", zoneName), "b")
		z.pass(time.Minute)
		if got := z.has(); got != "no zone" || !z.last("b").Withdrawn {
			t.Errorf("the server has %s: %+v", got, z.last("b"))
		}
	})
}

func TestPoliciesHold(t *testing.T) {
	other := set("h000.example.org.", rr.TypeA, 300, "192.0.2.2")
	alias := set("h001.example.org.", rr.TypeCNAME, 300, "h003.example.org.")
	fresh := set("new.example.org.", rr.TypeTXT, 300, `"x"`)
	for _, c := range []struct {
		policy plan.Policy
		want   string
		held   int
		data   string
	}{
		{plan.PolicySync, "3, h001 CNAME, new TXT", 0, "192.0.2.2"},
		{plan.PolicyUpsertOnly, "4, h001 CNAME, new TXT", 1, "192.0.2.2"},
		{plan.PolicyCreateOnly, "5, new TXT", 4, "192.0.2.1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			z := holdZone(t, bindLike, plan.Protection{Policy: c.policy, Limited: true, MaxDeletedPercent: 100})
			z.want(hosts(0, 5)...)
			z.want(append(hosts(3, 5), other, alias, fresh)...) // h002 goes
			z.are(fmt.Sprint("policy ", c.policy), c.want, c.held)
			_, sets, _ := z.memory.Truth(mustParse(zoneName))
			if got, _ := sets.Get(other.Key()); !slices.Equal(got.Data, []string{c.data}) {
				t.Errorf("policy %d: h000 is %v", c.policy, got.Data)
			}
			if h := z.last("b").Held; h != nil && h.Plan != "" {
				t.Error("a policy can be approved")
			}
			z.engine.Withdraw(target("s", zoneName), "b")
			z.pass(time.Minute)
			left := z.has()
			if want := map[bool]string{true: "0", false: c.want}[c.policy == plan.PolicySync]; left != want {
				t.Errorf("policy %d: after the zone is withdrawn the server has %s, want %s", c.policy, left, want)
			}
			if !z.last("b").Withdrawn {
				t.Errorf("policy %d: it is not withdrawn", c.policy)
			}
		})
	}
}

// TestAHeldNameBecomesAnAlias has a name whose deletion is held be wanted with a CNAME, which stands alone, and the
// reverse.
func TestAHeldNameBecomesAnAlias(t *testing.T) {
	alias := func(n int) rr.Set {
		return set(fmt.Sprintf("h%03d.example.org.", n), rr.TypeCNAME, 300, "h099.example.org.")
	}
	synctest.Test(t, func(t *testing.T) {
		z := holdZone(t, bindLike, limits)
		z.want(hosts(0, 100)...)
		z.want(hosts(40, 100)...)
		z.want(append(hosts(40, 100), alias(0))...)
		z.are("the name is an alias", "99, h000 CNAME", 39)
		z.want(hosts(40, 100)...)
		z.are("the alias is held too", "99, h000 CNAME", 40)
		z.want(append(hosts(40, 100), hosts(0, 1)...)...)
		z.are("the name has its address again", "100", 39)
	})
}

// TestWhatIsApprovedStaysSo has the server fail in the middle of what was approved.
func TestWhatIsApprovedStaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := holdZone(t, backendtest.Profile{Limits: backend.Limits{ApexNS: backend.ApexNSRequired, MaxChanges: 10}}, limits)
		z.want(hosts(0, 100)...)
		z.want(hosts(60, 100)...)
		z.are("held", "100", 60)
		n := 0
		z.server.setApply(func(backend.Batch) error {
			if n++; n > 2 {
				return &backend.Error{Class: backend.ErrUnavailable}
			}
			return nil
		})
		z.change(func(a *engine.Attachment) { a.Approved = []string{z.last("b").Held.Plan} })
		if got := z.has(); got != "80" {
			t.Fatalf("the server has %s, want 80", got)
		}
		z.server.setApply(nil)
		z.pass(time.Hour)
		z.are("after the failure", "40", 0)
	})
}

// TestWhatCreateOnlyLeavesStaysForeign has a set of somebody else stay so, also when the policy is another one.
func TestWhatCreateOnlyLeavesStaysForeign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := holdZone(t, bindLike, plan.Protection{})
		z.memory.Foreign(mustParse(zoneName), hosts(0, 1), nil)
		z.change(func(a *engine.Attachment) {
			a.Keep, a.Protection = true, plan.Protection{Policy: plan.PolicyCreateOnly}
		})
		z.want(set("h000.example.org.", rr.TypeA, 300, "192.0.2.9"))
		z.are("it is not changed", "1", 1)
		z.want()
		z.change(func(a *engine.Attachment) { a.Protection = plan.Protection{} })
		z.are("it is not deleted", "1", 0)
	})
}

// TestNoHourDeletesMoreThanAllowed has a zone change at random, on a server that fails now and then: unless somebody
// approves it, no more sets are deleted within an hour than the limits allow. What is wanted is always there.
func TestNoHourDeletesMoreThanAllowed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &watched{gone: map[rr.Key]time.Time{}, protection: plan.Protection{Limited: true,
			MaxDeletedPercent: rapid.IntRange(0, 60).Draw(rt, "percent"), MinDeleted: rapid.IntRange(0, 8).Draw(rt, "least")}}
		profile := bindLike
		profile.Limits.MaxChanges = rapid.IntRange(0, 5).Draw(rt, "batch")
		profile.Seen = w.see
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 12).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) { w.play(holdZone(t, profile, w.protection), steps) })
		for _, problem := range w.problems {
			rt.Error(problem)
		}
	})
}

// A step is a content, and how it fares.
type step struct {
	from, to int
	fails    bool
	after    time.Duration
}

func drawStep(rt *rapid.T) step {
	from := rapid.IntRange(0, 40).Draw(rt, "from")
	return step{from, rapid.IntRange(from, 40).Draw(rt, "to"), rapid.IntRange(0, 4).Draw(rt, "fails") == 0,
		time.Duration(rapid.IntRange(1, 50).Draw(rt, "minutes")) * time.Minute}
}

func (w *watched) play(z *heldZone, steps []step) {
	w.now = z.Now
	for _, s := range steps {
		sets := hosts(s.from, s.to)
		z.memory.SetHalving(s.fails)
		z.want(sets...)
		z.memory.SetHalving(false)
		z.pass(s.after)
		_, has, _ := z.memory.Truth(mustParse(zoneName))
		for _, set := range sets {
			if _, ok := has.Get(set.Key()); !ok && !s.fails {
				w.problems = append(w.problems, fmt.Sprintf("%s is wanted and not there", set.Key()))
			}
		}
	}
}

// watched counts what a server loses.
type watched struct {
	protection plan.Protection
	now        func() time.Time
	gone       map[rr.Key]time.Time
	problems   []string
}

func (w *watched) see(m backendtest.Message) {
	if w.now == nil || m.Zone.IsZero() {
		return
	}
	now := w.now()
	for s := range m.Before.All() {
		if _, still := m.After.Get(s.Key()); !still {
			w.gone[s.Key()] = now
		}
	}
	n := 0
	for _, at := range w.gone {
		if now.Sub(at) < plan.Window {
			n++
		}
	}
	if most := w.protection.Room(m.Before.Len() + n); n > most {
		w.problems = append(w.problems, fmt.Sprintf("within an hour %d sets were deleted, %d are allowed", n, most))
	}
}

// TestWithoutAProtectionNothingIsHeld compares what is sent to two servers: limits that nothing reaches change nothing.
func TestWithoutAProtectionNothingIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent [2][]backend.Batch
		for i, p := range []plan.Protection{{}, {Limited: true, MaxDeletedPercent: 100}} {
			z := holdZone(t, bindLike, p)
			z.want(hosts(0, 50)...)
			z.want(hosts(25, 75)...)
			z.want(hosts(74, 80)...)
			z.want()
			if z.last("b").Held != nil {
				t.Error("something is held")
			}
			sent[i] = z.server.batches
		}
		if len(sent[0]) != len(sent[1]) {
			t.Fatalf("%d batches without a protection, %d with one that holds nothing", len(sent[0]), len(sent[1]))
		}
		for i := range sent[0] {
			if a, b := fmt.Sprint(sent[0][i].Changes), fmt.Sprint(sent[1][i].Changes); a != b {
				t.Errorf("batch %d is\n%s\nwithout a protection, and\n%s\nwith one that holds nothing", i, a, b)
			}
		}
	})
}
