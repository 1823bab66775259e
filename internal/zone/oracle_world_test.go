package zone

import (
	"fmt"
	"maps"
	"net/netip"
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

// "A claim that a rule with an explicit `types` list lets in holds its (name, type) only; a claim that only a rule
// without `types` lets in holds the name, and keeps others out except where a rule lists their type; CNAME, DNAME and
// cuts stay exclusive." It says why a claim cannot be taken beside one of another namespace.
func (o *oracle) beside(p place, c, other Claim) Reason {
	if c.ID.Namespace == other.ID.Namespace {
		return ""
	}
	child, has := o.ownerAt(p)
	within := has && child != p.zone && o.descends(child, p.zone)
	alone := func(t rr.Type) bool {
		inside := p.name != o.name[p.zone]
		return t == rr.TypeCNAME || t == rr.TypeDNAME && inside || t == rr.TypeNS && inside && !within
	}
	switch {
	case c.Type == other.Type || !o.listed(p.zone, c) && !o.listed(p.zone, other):
		return NameHeld
	case alone(c.Type) || alone(other.Type):
		return Conflict
	}
	return ""
}

// listed reports whether a `records` rule that lists the claim's type lets it in.
func (o *oracle) listed(zone ID, c Claim) bool {
	for _, rule := range o.zones[zone].Rules {
		for _, rec := range rule.Records {
			if (len(rule.Namespaces) == 0 || slices.Contains(rule.Namespaces, c.ID.Namespace)) &&
				slices.Contains(rec.Types, c.Type) && rec.Pattern.Match(o.name[c.ID], o.name[zone]) {
				return true
			}
		}
	}
	return false
}

// stranger reports whether a sub-zone gives the records of the claim's type, to which only its people and those of the
// Zone may add.
func (o *oracle) stranger(given map[rr.Type]ID, p place, c Claim) bool {
	from, ok := given[c.Type]
	return ok && c.ID.Namespace != from.Namespace && c.ID.Namespace != p.zone.Namespace
}

// theAddresses are those of someData, and others of the blocks, with their names and the names that they have in the
// blocks of the universe, the smaller block first.
var theAddresses = []struct {
	address, name string
	inBlocks      []string
}{
	{"192.0.2.0", "0.2.0.192.in-addr.arpa.", []string{"0.0-30.2.0.192.in-addr.arpa."}},
	{"192.0.2.1", "1.2.0.192.in-addr.arpa.", []string{"1.0-30.2.0.192.in-addr.arpa."}},
	{"192.0.2.2", "2.2.0.192.in-addr.arpa.", []string{"2.2/31.2.0.192.in-addr.arpa.", "2.0-30.2.0.192.in-addr.arpa."}},
	{"192.0.2.3", "3.2.0.192.in-addr.arpa.", []string{"3.2/31.2.0.192.in-addr.arpa.", "3.0-30.2.0.192.in-addr.arpa."}},
	{"2001:db8::1", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.", nil},
}

// "The most specific Zone has the PTR of the oldest claim, of those from its namespaces, where no claim says otherwise;
// the Zone that delegates to a block's has a CNAME to every name in that."
func (o *oracle) point(out map[string]string) {
	for _, a := range theAddresses {
		at, name := must(dnsname.Parse(a.name)), must(dnsname.Parse(a.name))
		above := o.enclosing(name)
		var zone ID
		if len(above) > 0 {
			zone = above[0]
		}
		for _, text := range a.inBlocks {
			inside := must(dnsname.Parse(text))
			block, _ := inside.Parent()
			id, accepted := o.owner[block]
			if !accepted || o.zones[id].Reverse == nil || zone != (ID{}) && o.name[zone] == name {
				continue
			}
			if zone != (ID{}) && o.parent[id] == zone && len(o.everything(place{zone, name})) == 0 {
				out[fmt.Sprint(zone, " ", name, " CNAME")] = fmt.Sprint([]string{text})
			}
			at, zone = inside, id
			break
		}
		if z := o.zones[zone]; zone != (ID{}) && z.Reverse != nil && strings.HasSuffix(o.name[zone].String(), ".arpa.") {
			o.pointTo(out, place{zone, at}, netip.MustParseAddr(a.address))
		}
	}
}

// everything is what a Zone has at a name, before addresses are asked.
func (o *oracle) everything(p place) map[rr.Type][]string {
	have := map[rr.Type][]string{}
	for t, data := range o.at(p).data {
		if t != rr.TypeDS || p.name != o.name[p.zone] {
			have[t] = data
		}
	}
	for _, a := range o.equipped(p) {
		have[a.Type] = append(have[a.Type], a.Data)
	}
	return have
}

func (o *oracle) pointTo(out map[string]string, p place, address netip.Addr) {
	var from []ID
	for id, c := range o.claims {
		has := slices.ContainsFunc(c.Data, func(data string) bool {
			a, err := netip.ParseAddr(data)
			return err == nil && a == address && (c.Type == rr.TypeA || c.Type == rr.TypeAAAA)
		})
		of := o.zones[p.zone].Reverse.Namespaces
		if has && o.reason[id] == Accepted && !o.name[id].IsWildcard() && (of == nil || slices.Contains(of, id.Namespace)) {
			from = append(from, id)
		}
	}
	have := o.everything(p)
	cut := have[rr.TypeNS] != nil && p.name != o.name[p.zone]
	taken := have[rr.TypePTR] != nil || have[rr.TypeCNAME] != nil || cut
	if len(from) == 0 || taken || len(o.at(p).data) >= o.most.MaxTypes {
		return
	}
	slices.SortFunc(from, o.oldest)
	out[fmt.Sprint(p.zone, " ", p.name, " PTR")] = fmt.Sprint([]string{o.name[from[0]].String()})
}
