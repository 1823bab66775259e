package zone

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

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
