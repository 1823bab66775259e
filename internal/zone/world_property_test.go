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
	someNames      = []string{".", "org.", "a.org.", "b.a.org.", "c.b.a.org.", "*.a.org.", "d.c.b.a.org.", "x.org.", "b.x.org.", "a.com."}
	someRelatives  = []string{"b", "c", "c.b", "d", "@", "*"}
	somePatterns   = []string{"*", "@", "b", "*.b", "c.@", "*.org.", "a.org.", "b.a.org.", "*.c", "x*"}
	someNamespaces = []string{"p", "q", "r"}
	someData       = map[rr.Type][]string{
		rr.TypeA:     {"192.0.2.1", "192.0.2.2", "192.0.2.3"},
		rr.TypeAAAA:  {"2001:db8::1"},
		rr.TypeNS:    {"a.org.", "b.a.org.", "c.b.a.org.", "ns.example.net.", "b.x.org."},
		rr.TypeCNAME: {"a.org.", "x.org."},
		rr.TypeDNAME: {"a.com.", "x.org."},
		rr.TypeDS:    {"1 8 2 ABCD", "2 8 2 ABCD"},
		rr.TypeTXT:   {`"one"`, `"two"`},
	}
	someTypes = []rr.Type{rr.TypeA, rr.TypeAAAA, rr.TypeNS, rr.TypeNS, rr.TypeCNAME, rr.TypeDNAME, rr.TypeDS, rr.TypeTXT}
)

// operation is one Put or Delete, applicable to any World.
type operation struct {
	what  string
	apply func(*World)
}

func drawWhere(t *rapid.T) Where {
	var where Where
	if rapid.IntRange(0, 2).Draw(t, "absolute") > 0 {
		where.Name = must(dnsname.Parse(rapid.SampledFrom(someNames).Draw(t, "name")))
		if rapid.IntRange(0, 4).Draw(t, "pinned") > 0 {
			return where
		}
	} else {
		where.Relative = must(dnsname.ParseRelative(rapid.SampledFrom(someRelatives).Draw(t, "relative")))
	}
	where.Ref = drawZoneID(t, "ref")
	return where
}

func drawZoneID(t *rapid.T, label string) ID {
	return ID{KindZone, rapid.SampledFrom(someNamespaces).Draw(t, label+" namespace"), fmt.Sprint("z", rapid.IntRange(0, 3).Draw(t, label))}
}

func drawPatterns(t *rapid.T) []dnsname.Pattern {
	var out []dnsname.Pattern
	for _, p := range rapid.SliceOfN(rapid.SampledFrom(somePatterns), 0, 3).Draw(t, "patterns") {
		out = append(out, must(dnsname.ParsePattern(p)))
	}
	return out
}

func drawZone(t *rapid.T) Zone {
	z := Zone{ID: drawZoneID(t, "zone"), Created: drawTime(t), Where: drawWhere(t), TTL: uint32(rapid.SampledFrom([]int{300, 600}).Draw(t, "ttl"))}
	if z.Where.Name.IsZero() == z.Where.Ref.IsZero() || z.Where.Relative.IsOrigin() {
		z.Invalid = &Refusal{InvalidSpec, "The Zone is wrong."}
	}
	if rapid.IntRange(0, 2).Draw(t, "open") > 0 {
		every := []dnsname.Pattern{must(dnsname.ParsePattern("*")), must(dnsname.ParsePattern("@"))}
		z.Rules = []Rule{{Zones: every, Records: []RecordRule{{Pattern: every[0]}, {Pattern: every[1]}}}}
		return z
	}
	for range rapid.IntRange(0, 2).Draw(t, "rules") {
		rule := Rule{Namespaces: rapid.SliceOfN(rapid.SampledFrom(someNamespaces), 0, 2).Draw(t, "namespaces"), Zones: drawPatterns(t)}
		for _, p := range drawPatterns(t) {
			rule.Records = append(rule.Records, RecordRule{p, rapid.SliceOfN(rapid.SampledFrom(someTypes), 0, 2).Draw(t, "types")})
		}
		z.Rules = append(z.Rules, rule)
	}
	return z
}

func drawClaim(t *rapid.T, id ID) Claim {
	c := Claim{ID: id, Created: drawTime(t), Where: drawWhere(t), Type: rapid.SampledFrom(someTypes).Draw(t, "type")}
	c.Data = rapid.SampledFrom(someData[c.Type]).Draw(t, "data")
	if rapid.IntRange(0, 3).Draw(t, "has ttl") == 0 {
		ttl := uint32(rapid.IntRange(1, 2).Draw(t, "ttl"))
		c.TTL = &ttl
	}
	if rapid.IntRange(0, 20).Draw(t, "invalid") == 0 {
		c.Invalid = &Refusal{InvalidData, "The record is wrong."}
	}
	return c
}

func drawTime(t *rapid.T) time.Time {
	if n := rapid.IntRange(0, 6).Draw(t, "created"); n > 0 {
		return time.Unix(int64(n), 0)
	}
	return time.Time{}
}

func drawOperation(t *rapid.T) operation {
	claim := ID{KindRecord, rapid.SampledFrom(someNamespaces).Draw(t, "namespace"), fmt.Sprint("r", rapid.IntRange(0, 7).Draw(t, "record"))}
	switch rapid.IntRange(0, 11).Draw(t, "operation") {
	case 0:
		id := drawZoneID(t, "deleted")
		return operation{fmt.Sprint("delete ", id), func(w *World) { w.DeleteZone(id) }}
	case 1:
		return operation{fmt.Sprint("delete ", claim), func(w *World) { w.DeleteClaim(claim) }}
	case 2:
		backend := rapid.SampledFrom([]string{"one", "two"}).Draw(t, "backend")
		var grants []Grant
		if rapid.IntRange(0, 2).Draw(t, "grants") == 0 {
			grants = []Grant{{rapid.SliceOf(rapid.SampledFrom(someNamespaces)).Draw(t, "granted"), drawPatterns(t)}}
		}
		return operation{fmt.Sprint("grant ", backend, grants), func(w *World) { w.PutGrants(backend, grants) }}
	case 3, 4, 5:
		z := drawZone(t)
		return operation{fmt.Sprintf("put %+v", z), func(w *World) { w.PutZone(z) }}
	default:
		c := drawClaim(t, claim)
		return operation{fmt.Sprintf("put %+v", c), func(w *World) { w.PutClaim(c) }}
	}
}

func TestIncrementalEqualsComposedFromNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := New(Options{MaxSet: 2})
		shadow := map[string]string{} // what someone who follows the deltas knows
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			for range rapid.IntRange(1, 3).Draw(t, "batch") {
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
	for name, n := range w.nodes {
		if len(n.zones)+len(n.claims)+len(n.cells)+len(n.needed)+len(n.children) == 0 {
			t.Fatalf("node %s is left over", name)
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
		if n.accepted != nil && n.accepted.dead {
			t.Fatalf("dead %s is accepted at %s", n.accepted.ID, name)
		}
	}
	for id := range w.refs {
		if r := w.refs[id]; len(r.zones)+len(r.claims) == 0 {
			t.Fatalf("referrers of %s are left over", id)
		}
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
