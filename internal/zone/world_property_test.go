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

// The properties work on a universe that is small enough for collisions to be common.
var (
	someNames = []string{"a.org.", "b.a.org.", "org.", "c.b.a.org.", "x.org.", "b.x.org.", "*.a.org.", "d.c.b.a.org.",
		".", "a.com."}
	someRelatives  = []string{"b", "c", "c.b", "d", "@", "*"}
	somePatterns   = []string{"*", "@", "b", "*.b", "c.@", "*.org.", "a.org.", "b.a.org.", "*.c", "x*"}
	someNamespaces = []string{"p", "q", "r"}
	someReverse    = []string{"2.0.192.in-addr.arpa.", "192.in-addr.arpa.", "0-30.2.0.192.in-addr.arpa.",
		"2/31.2.0.192.in-addr.arpa.", "2.2.0.192.in-addr.arpa.", "8.b.d.0.1.0.0.2.ip6.arpa.", "2.0-30.2.0.192.in-addr.arpa."}
	someData = map[rr.Type][]string{
		rr.TypeA:     {"192.0.2.1", "192.0.2.2", "192.0.2.3"},
		rr.TypeAAAA:  {"2001:db8::1"},
		rr.TypeNS:    {"a.org.", "b.a.org.", "c.b.a.org.", "ns.example.net.", "b.x.org."},
		rr.TypeCNAME: {"a.org.", "x.org."},
		rr.TypeDNAME: {"a.com.", "x.org."},
		rr.TypeDS:    {"1 8 2 ABCD", "2 8 2 ABCD"},
		rr.TypeTXT:   {`"one"`, `"two"`},
		rr.TypePTR:   {"a.org.", "x.org."},
	}
	someTypes = []rr.Type{rr.TypeA, rr.TypeAAAA, rr.TypeNS, rr.TypeNS, rr.TypeCNAME, rr.TypeDNAME, rr.TypeDS, rr.TypeTXT,
		rr.TypePTR, rr.TypeA, rr.TypeAAAA}
)

// upTo draws a number below n. Unlike rapid's own ranges it does not prefer small
// numbers, of which most universes would hardly have an accepted Zone.
func upTo(t *rapid.T, n int, label string) int {
	return int(rapid.Uint64().Draw(t, label) % uint64(n))
}

func pick[V any](t *rapid.T, from []V, label string) V { return from[upTo(t, len(from), label)] }

func several[V any](t *rapid.T, from []V, most int, label string) []V {
	var out []V
	for range upTo(t, most+1, label) {
		out = append(out, pick(t, from, label))
	}
	return out
}

// operation is one Put or Delete, applicable to any World.
type operation struct {
	what  string
	apply func(*World)
}

func drawWhere(t *rapid.T) Where {
	var where Where
	kind := pick(t, []string{"absolute", "absolute", "absolute", "relative", "pinned"}, "where")
	if kind != "relative" {
		names := someNames
		if upTo(t, 4, "reverse name") == 3 {
			names = someReverse
		}
		where.Name = must(dnsname.Parse(pick(t, names, "name")))
	}
	if kind != "absolute" {
		where.Ref = drawZoneID(t, "ref")
	}
	if kind == "relative" {
		where.Relative = must(dnsname.ParseRelative(pick(t, someRelatives, "relative")))
	}
	return where
}

func drawZoneID(t *rapid.T, label string) ID {
	return ID{KindZone, pick(t, someNamespaces, label+" namespace"), fmt.Sprint("z", upTo(t, 3, label))}
}

func drawPatterns(t *rapid.T) []dnsname.Pattern {
	var out []dnsname.Pattern
	for _, p := range several(t, somePatterns, 3, "patterns") {
		out = append(out, must(dnsname.ParsePattern(p)))
	}
	return out
}

func drawZone(t *rapid.T) Zone {
	z := Zone{ID: drawZoneID(t, "zone"), Created: drawTime(t), Where: drawWhere(t),
		TTL: pick(t, []uint32{300, 600}, "ttl")}
	if !z.Where.Name.IsZero() {
		z.Where.Ref = ID{}
	}
	if upTo(t, 31, "invalid") == 30 {
		z.Invalid = &Refusal{InvalidSpec, "The Zone is wrong."}
	}
	if isReverse(z.Where.Name) || upTo(t, 8, "reverse") == 7 {
		z.Reverse = drawReverse(t)
	}
	if z.Policy.Pinned = upTo(t, 4, "pinned") == 3; z.Policy.Pinned {
		if z.Policy.Heap = upTo(t, 2, "heap") == 1; !z.Policy.Heap {
			z.Policy.NoAliases = pick(t, []bool{false, true}, "no aliases")
			drawOwn(t, &z)
		}
	}
	if pick(t, []bool{true, true, false}, "open") {
		z.Rules = drawOpenRules(t)
		return z
	}
	for range upTo(t, 3, "rules") {
		rule := Rule{Namespaces: several(t, someNamespaces, 2, "namespaces"), Zones: drawPatterns(t)}
		for _, p := range drawPatterns(t) {
			rule.Records = append(rule.Records, RecordRule{p, several(t, someTypes, 2, "types")})
		}
		z.Rules = append(z.Rules, rule)
	}
	return z
}

// drawReverse mostly asks for PTR records, of all namespaces or some.
func drawReverse(t *rapid.T) *Reverse {
	return pick(t, []*Reverse{nil, {}, {}, {Namespaces: []string{"p"}}, {Namespaces: []string{"q", "r"}}}, "reverse")
}

// drawOwn gives a Zone name servers, some with addresses, and servers.
func drawOwn(t *rapid.T, z *Zone) {
	if z.Where.Name.IsZero() {
		return
	}
	servers := several(t, someData[rr.TypeNS], 2, "own servers")
	if len(servers) > 0 {
		z.Own = append(z.Own, rr.NewSet(rr.Key{Name: z.Where.Name, Type: rr.TypeNS}, z.TTL, servers...))
	}
	for _, server := range servers {
		if name := must(dnsname.Parse(server)); name.Under(z.Where.Name) && pick(t, []bool{true, false}, "own glue") {
			z.Own = append(z.Own, rr.NewSet(rr.Key{Name: name, Type: rr.TypeA}, z.TTL,
				pick(t, someData[rr.TypeA], "own address")))
		}
	}
	for _, data := range several(t, someData[rr.TypeA], 2, "servers") {
		z.Servers = append(z.Servers, Address{rr.TypeA, data})
	}
}

func drawClaim(t *rapid.T, id ID) Claim {
	c := Claim{ID: id, Created: drawTime(t), Where: drawWhere(t), Type: pick(t, someTypes, "type")}
	c.Data = []string{pick(t, someData[c.Type], "data")}
	if more := pick(t, someData[c.Type], "more data"); !c.Type.Singleton() && more != c.Data[0] &&
		upTo(t, 4, "has more") == 3 {
		c.Data = append(c.Data, more)
	}
	c.Terms = pick(t, []string{"", "one", "two"}, "terms")
	if upTo(t, 4, "has ttl") == 3 {
		ttl := uint32(rapid.IntRange(1, 2).Draw(t, "ttl"))
		c.TTL = &ttl
	}
	if upTo(t, 31, "invalid") == 30 {
		c.Invalid = &Refusal{InvalidData, "The record is wrong."}
	}
	return c
}

func drawTime(t *rapid.T) time.Time {
	if n := upTo(t, 7, "created"); n > 0 {
		return time.Unix(int64(n), 0)
	}
	return time.Time{}
}

func someOptions(t *rapid.T) Options {
	o := Options{MaxSet: 2, MaxTypes: 3, RequireGrants: pick(t, []bool{false, false, true}, "grants required")}
	if pick(t, []bool{false, true}, "public suffixes") {
		o.PublicSuffix = func(n dnsname.Name) bool { return n == dnsname.Root || n.String() == "org." }
	}
	return o
}

func drawOperation(t *rapid.T) operation {
	claim := ID{KindRecord, pick(t, someNamespaces, "namespace"), fmt.Sprint("r", upTo(t, 5, "record"))}
	switch what := pick(t, []string{"claim", "claim", "claim", "claim", "claim", "claim", "claim", "zone", "zone", "zone",
		"delete zone", "delete claim", "grant", "reverse"}, "operation"); what {
	case "delete zone":
		id := drawZoneID(t, "deleted")
		return operation{fmt.Sprint("delete ", id), func(w *World) { w.DeleteZone(id) }}
	case "delete claim":
		return operation{fmt.Sprint("delete ", claim), func(w *World) { w.DeleteClaim(claim) }}
	case "reverse":
		id, reverse := drawZoneID(t, "reversed"), drawReverse(t)
		return operation{fmt.Sprintf("%s has %+v", id, reverse), func(w *World) {
			if old := w.zones[id]; old != nil {
				z := old.Zone
				z.Reverse = reverse
				w.PutZone(z)
			}
		}}
	case "grant":
		backend := pick(t, []string{"one", "two"}, "backend")
		var grants []Grant
		if pick(t, []bool{false, false, true}, "grants") {
			grants = []Grant{{several(t, someNamespaces, 3, "granted"),
				append(drawPatterns(t), must(dnsname.ParsePattern("org.")))}}
		}
		return operation{fmt.Sprint("grant ", backend, grants), func(w *World) { w.PutGrants(backend, grants) }}
	case "zone":
		z := drawZone(t)
		return operation{fmt.Sprintf("put %+v", z), func(w *World) { w.PutZone(z) }}
	default:
		c := drawClaim(t, claim)
		return operation{fmt.Sprintf("put %+v", c), func(w *World) { w.PutClaim(c) }}
	}
}

// drawBase puts some Zones of a usual kind first, so that there is something to take
// claims and to be overtaken, hidden and renamed.
func drawBase(t *rapid.T, w *World) {
	for i, name := range []string{"org.", "a.org.", "b.a.org.", "x.org.", "2.0.192.in-addr.arpa.",
		"0-30.2.0.192.in-addr.arpa."} {
		if pick(t, []bool{true, true, false}, "has "+name) {
			z := Zone{ID: ID{KindZone, pick(t, someNamespaces, "namespace"), fmt.Sprint("z", i%3)}, Created: drawTime(t),
				TTL: 300, Rules: drawOpenRules(t)}
			z.Where.Name = must(dnsname.Parse(name))
			if isReverse(z.Where.Name) {
				z.Reverse = drawReverse(t)
			}
			t.Logf("put %+v", z)
			w.PutZone(z)
		}
	}
}

// drawOpenRules lets everybody in, and some with types that are listed.
func drawOpenRules(t *rapid.T) []Rule {
	rules := openRules()
	for range upTo(t, 3, "lists") {
		rule := Rule{Namespaces: several(t, someNamespaces, 2, "listed namespaces")}
		for _, p := range rules[0].Zones {
			rule.Records = append(rule.Records,
				RecordRule{p, []rr.Type{pick(t, someTypes, "listed"), pick(t, someTypes, "listed")}})
		}
		rules = append(rules, rule)
	}
	return rules
}

func openRules() []Rule {
	every := []dnsname.Pattern{must(dnsname.ParsePattern("*")), must(dnsname.ParsePattern("@"))}
	return []Rule{{Zones: every, Records: []RecordRule{{Pattern: every[0]}, {Pattern: every[1]}}}}
}

func TestIncrementalEqualsComposedFromNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := New(someOptions(t))
		shadow := map[string]string{} // what someone who follows the deltas knows
		drawBase(t, w)
		for range 1 + upTo(t, 40, "operations") {
			for range 1 + upTo(t, 3, "batch") {
				op := drawOperation(t)
				t.Log(op.what)
				op.apply(w)
			}
			follow(w, w.Settle(), shadow)
			if diff := cmp.Diff(image(w), shadow); diff != "" {
				t.Fatalf("who follows the deltas misses something (-world +follower):\n%s", diff)
			}
			again := w.Settle()
			if len(again.Zones)+len(again.Verdicts) > 0 {
				t.Fatalf("a second settle found more: %+v", again)
			}
			if diff := cmp.Diff(image(fresh(w, false)), image(w)); diff != "" {
				t.Fatalf("incremental differs (-from nothing +incremental):\n%s", diff)
			}
			if diff := cmp.Diff(image(fresh(w, true)), image(w)); diff != "" {
				t.Fatalf("the order of objects matters (-reversed +incremental):\n%s", diff)
			}
			checkNoLeftovers(t, w)
		}
	})
}

// fresh folds the objects of w into a new World, one way round or the other.
func fresh(w *World, reversed bool) *World {
	var put []func(*World)
	for _, z := range sortedByID(w.zones) {
		put = append(put, func(n *World) { n.PutZone(z.Zone) })
	}
	for _, c := range sortedByID(w.claims) {
		put = append(put, func(n *World) { n.PutClaim(c.Claim) })
	}
	for id := range w.going {
		put = append(put, func(n *World) { n.WithdrawZone(id) })
	}
	for backend, grants := range w.grants {
		put = append(put, func(n *World) { n.PutGrants(backend, grants) })
	}
	if reversed {
		slices.Reverse(put)
	}
	n := New(w.opts)
	for _, p := range put {
		p(n)
	}
	n.Settle()
	return n
}

func sortedByID[V any](m map[ID]V) func(func(ID, V) bool) {
	return func(yield func(ID, V) bool) {
		ids := make([]ID, 0, len(m))
		for id := range m {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, ID.Compare)
		for _, id := range ids {
			if !yield(id, m[id]) {
				return
			}
		}
	}
}

// image is everything that a World says, as text.
func image(w *World) map[string]string {
	out := map[string]string{}
	for id := range w.zones {
		v, _ := w.Verdict(id)
		out[id.String()] = fmt.Sprintf("%+v", v)
		if s, ok := w.Snapshot(id); ok {
			out[id.String()+" content"] = content(s)
		}
	}
	for id := range w.claims {
		v, _ := w.Verdict(id)
		out[id.String()] = fmt.Sprintf("%+v", v)
	}
	return out
}

func content(s Snapshot) string {
	text := fmt.Sprintf("%s %s %s\n", s.Name, s.Hash, s.SOA.Data())
	for set := range s.Sets.All() {
		text += fmt.Sprintln(set.Name, set.TTL, set.Type, set.Data)
	}
	return text
}

func follow(w *World, d Delta, shadow map[string]string) {
	for _, id := range d.Verdicts {
		if v, ok := w.Verdict(id); ok {
			shadow[id.String()] = fmt.Sprintf("%+v", v)
		} else {
			delete(shadow, id.String())
		}
	}
	for _, z := range d.Zones {
		if s, ok := w.Snapshot(z.ID); ok {
			shadow[z.ID.String()+" content"] = content(s)
		} else {
			delete(shadow, z.ID.String()+" content")
		}
	}
}

// checkNoLeftovers finds nodes and cells that nothing mentions any more.
func checkNoLeftovers(t *rapid.T, w *World) {
	checkTree(t, w, w.tree)
	for _, z := range w.zones {
		if z.Policy.Pinned == (z.tree == w.tree) {
			t.Fatalf("%s is in the wrong tree", z.ID)
		}
		checkTree(t, w, z.tree)
	}
	for _, c := range w.claims {
		if c.node != nil && c.node.tree != w.treeOf(c.Where.Ref) {
			t.Fatalf("%s is in the wrong tree", c.ID)
		}
	}
	for id := range w.refs {
		if r := w.refs[id]; len(r.zones)+len(r.claims) == 0 {
			t.Fatalf("referrers of %s are left over", id)
		}
	}
}

func checkTree(t *rapid.T, w *World, in *tree) {
	for name, n := range in.nodes {
		forks := n.child != nil && n.child.next != nil
		if n.idle() && !forks && n.parent != nil {
			t.Fatalf("node %s is left over", n.name)
		}
		if n.tree != in || in.nodes[n.name] != n || n.parent != nil && in.nodes[n.gate(n.parent)] != n ||
			n.name != name && n.gate(n.parent) != name {
			t.Fatalf("node %s is not where it belongs, but at %s", n.name, name)
		}
		zones := 0
		n.walkZones(func(below *node) { zones += len(below.zones()) })
		if zones != n.below {
			t.Fatalf("node %s has %d Zones below, and counts %d", n.name, zones, n.below)
		}
		for _, c := range n.cells {
			if c.zone.dead || w.zones[c.zone.ID] != c.zone {
				t.Fatalf("cell of dead %s at %s is left over", c.zone.ID, name)
			}
		}
		for p := range n.needed {
			if p.dead {
				t.Fatalf("need of dead %s at %s is left over", p.ID, name)
			}
		}
		if n.owner != nil && n.owner.dead {
			t.Fatalf("dead %s is accepted at %s", n.owner.ID, name)
		}
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
