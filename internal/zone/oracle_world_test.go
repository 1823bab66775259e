package zone

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// verdicts says what became of every object, in the words that both sides share.
func (o *oracle) verdicts() map[string]string {
	out := map[string]string{}
	for id, reason := range o.reason {
		zone := o.parent[id]
		if _, claim := o.claims[id]; claim && reason == Accepted {
			zone = o.home[id]
		}
		out[id.String()] = fmt.Sprint(o.name[id], " ", reason, " ", zone)
	}
	return out
}

func verdicts(w *World) map[string]string {
	out := map[string]string{}
	say := func(id ID) {
		v, _ := w.Verdict(id)
		out[id.String()] = fmt.Sprint(v.Name, " ", v.Reason, " ", v.Zone)
	}
	for id := range w.zones {
		say(id)
	}
	for id := range w.claims {
		say(id)
	}
	return out
}

// nameServer reports whether the Zone itself says that a name is a name server of it, or, where no aliases may be, a
// record does; an alias cannot be one (RFC 2181 §10.3).
func (o *oracle) nameServer(p place) bool {
	if o.zones[p.zone].Policy.NoAliases && slices.Contains(o.at(place{p.zone, o.name[p.zone]}).data[rr.TypeNS],
		p.name.String()) {
		return true
	}
	for _, set := range o.zones[p.zone].Own {
		if set.Type == rr.TypeNS && set.Name == o.name[p.zone] && slices.Contains(set.Data, p.name.String()) {
			return true
		}
	}
	return false
}

// "The oldest claim of a type has its set whole, except claims of its own namespace with
// equal Terms"; CNAME stands alone.
func (o *oracle) divide(p place, h *holdingsAt) {
	var claims []ID
	for id, home := range o.home {
		if home == p.zone && o.name[id] == p.name {
			claims = append(claims, id)
		}
	}
	slices.SortFunc(claims, o.oldest)
	first := map[rr.Type]Claim{}
	for _, id := range claims {
		c := o.claims[id]
		h.reasons[id] = Accepted
		owner, taken := first[c.Type]
		_, alias := first[rr.TypeCNAME]
		all := united(h.data[c.Type], c.Data)
		switch {
		case taken && (owner.ID.Namespace != id.Namespace || owner.Terms == "" || owner.Terms != c.Terms),
			!taken && len(first) > 0 && (alias || c.Type == rr.TypeCNAME),
			taken && c.Type.Singleton() && len(all) > len(h.data[c.Type]):
			h.reasons[id] = Conflict
		case len(all) > o.most.MaxSet, !taken && len(first) >= o.most.MaxTypes:
			h.reasons[id] = SetFull
		default:
			h.data[c.Type] = all
			if !taken {
				first[c.Type] = c
			}
		}
	}
}

// ownerAt returns the accepted Zone of a name, as the Zone of the place sees it: a pinned
// Zone sees only itself.
func (o *oracle) ownerAt(p place) (ID, bool) {
	if o.zones[p.zone].Policy.Pinned {
		return p.zone, p.name == o.name[p.zone]
	}
	id, ok := o.owner[p.name]
	return id, ok
}

// united returns what is in a or b, each once.
func united(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// contents says what every accepted Zone holds, without TTLs.
func (o *oracle) contents() map[string]string {
	out := map[string]string{}
	names := map[dnsname.Name]bool{}
	for _, name := range o.name {
		names[name] = true
	}
	for _, data := range someData[rr.TypeNS] {
		names[must(dnsname.Parse(data))] = true
	}
	for id := range o.zones {
		for name := range names {
			if o.reason[id] != Accepted || name.IsZero() || !name.Under(o.name[id]) {
				continue
			}
			p := place{id, name}
			for t, data := range o.at(p).data {
				if t != rr.TypeDS || name != o.name[id] || o.zones[id].Policy.Heap { // which belongs into the parent
					out[fmt.Sprint(id, " ", name, " ", t)] = fmt.Sprint(united(data, nil))
				}
			}
			for _, a := range o.equipped(p) {
				key := fmt.Sprint(id, " ", name, " ", a.Type)
				out[key] = fmt.Sprint(united(strings.Fields(strings.Trim(out[key], "[]")), []string{a.Data}))
			}
		}
	}
	o.point(out)
	return out
}

// equipped returns the addresses that a Zone gives to a name: "name servers of its apex that
// are in it, and have none, get them".
func (o *oracle) equipped(p place) []Address {
	if o.zones[p.zone].Policy.Heap {
		return nil
	}
	have := o.at(p).data
	if !slices.Contains(o.at(place{p.zone, o.name[p.zone]}).data[rr.TypeNS], p.name.String()) ||
		have[rr.TypeA] != nil || have[rr.TypeAAAA] != nil || have[rr.TypeCNAME] != nil {
		return nil
	}
	return o.zones[p.zone].Servers
}

func contents(w *World) map[string]string {
	out := map[string]string{}
	for id := range w.zones {
		s, _ := w.Snapshot(id)
		for set := range s.Sets.All() {
			out[fmt.Sprint(id, " ", set.Name, " ", set.Type)] = fmt.Sprint(set.Data)
		}
	}
	return out
}

func TestWorldAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := New(someOptions(t))
		drawBase(t, w)
		for range 1 + upTo(t, 60, "operations") {
			op := drawOperation(t)
			t.Log(op.what)
			op.apply(w)
		}
		w.Settle()
		o := consult(w)
		if diff := cmp.Diff(o.contents(), contents(w)); diff != "" {
			t.Errorf("the oracle finds other contents (-oracle +World):\n%s", diff)
		}
		want, got := o.verdicts(), verdicts(w)
		for _, id := range slices.Sorted(maps.Keys(want)) {
			if want[id] != got[id] {
				t.Errorf("%s: the oracle says %q, the World %q", id, want[id], got[id])
			}
		}
	})
}
