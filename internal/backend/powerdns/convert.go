package powerdns

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// zone is the API's Zone, as far as it is needed.
type zone struct {
	Name       string  `json:"name,omitempty"`
	Kind       string  `json:"kind,omitempty"`
	Serial     uint32  `json:"serial,omitempty"`
	SOAEditAPI *string `json:"soa_edit_api,omitempty"`
	RRsets     []rrset `json:"rrsets,omitempty"`
}

// rrset is the API's RRSet.
type rrset struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	TTL        uint32   `json:"ttl"`
	ChangeType string   `json:"changetype,omitempty"`
	Records    []record `json:"records,omitempty"`
}

// record is the API's Record. One that is disabled is stored and not served.
type record struct {
	Content  string `json:"content"`
	Disabled bool   `json:"disabled"`
}

// Types that PowerDNS has for itself, by numbers of the private range (RFC 6895 §3.1). Their content is no rdata.
var ownTypes = map[string]rr.Type{"ALIAS": 65401, "LUA": 65402}

// refuses says which types cannot be stored.
func refuses(t rr.Type) string {
	for name, own := range ownTypes {
		if t == own {
			return fmt.Sprintf("keeps its own %s records under the number %d", name, t)
		}
	}
	return ""
}

// toRRset is a change as the API takes it.
func toRRset(change plan.Change) (rrset, error) {
	if change.Deletes() {
		return rrset{Name: change.Key.Name.String(), Type: typeName(change.Key.Type), ChangeType: "DELETE"}, nil
	}
	return replacement(change.Want)
}

// replacement is a whole set.
func replacement(set rr.Set) (rrset, error) {
	out := rrset{
		Name: set.Name.String(), Type: typeName(set.Type), TTL: set.TTL, ChangeType: "REPLACE",
		Records: make([]record, len(set.Data)),
	}
	for i, data := range set.Data {
		content, err := say(set.Type, data)
		if err != nil {
			return rrset{}, fmt.Errorf("writing %s in PowerDNS's form: %w", set.Key(), err)
		}
		out.Records[i].Content = content
	}
	return out, nil
}

func typeName(t rr.Type) string {
	for name, own := range ownTypes {
		if t == own {
			return name
		}
	}
	if generic[t] {
		return "TYPE" + strconv.Itoa(int(t))
	}
	return t.String()
}

func typeOf(name string) (rr.Type, error) {
	if t, ok := ownTypes[name]; ok {
		return t, nil
	}
	if t, err := rr.ParseType(name); err == nil {
		return t, nil
	}
	if t, ok := dns.StringToType[name]; ok {
		return rr.Type(t), nil
	}
	return 0, fmt.Errorf("the server has records of type %q, which zonefold does not know", name)
}

// fromRRset reads a set; false when nothing of it is served.
func fromRRset(in rrset) (rr.Set, bool, error) {
	name, err := parseName(in.Name)
	if err != nil {
		return rr.Set{}, false, err
	}
	t, err := typeOf(in.Type)
	if err != nil {
		return rr.Set{}, false, fmt.Errorf("%s: %w", name, err)
	}
	var data []string
	for _, r := range in.Records {
		if !r.Disabled {
			data = append(data, canonical(t, r.Content))
		}
	}
	if len(data) == 0 {
		return rr.Set{}, false, nil
	}
	return rr.NewSet(rr.Key{Name: name, Type: t}, in.TTL, data...), true, nil
}

// canonical returns the canonical form of content. What is not valid, which the server's database may hold all the
// same, or no rdata at all (LUA), is there and equals nothing that is ever wanted.
func canonical(t rr.Type, content string) string {
	if refuses(t) == "" {
		if data, ok := hear(t, content); ok {
			return data
		}
	}
	return fmt.Sprintf(`\# %d %s`, len(content), hex.EncodeToString([]byte(content)))
}

// parseName reads a name as PowerDNS writes it, which escapes fewer characters than dnsname.Parse wants escaped.
func parseName(text string) (dnsname.Name, error) {
	var wire [256]byte
	n, err := dns.PackDomainName(dns.Fqdn(text), wire[:], 0, nil, false)
	if err != nil {
		return dnsname.Name{}, fmt.Errorf("the server's name %q: %w", text, err)
	}
	name, _, err := dnsname.FromWire(wire[:n])
	return name, err
}

// fromZone reads the SOA and the sets of a zone.
func fromZone(z zone) (backend.Observed, error) {
	found := backend.Observed{}
	txn := rr.Sets{}.Txn()
	for _, in := range z.RRsets {
		set, ok, err := fromRRset(in)
		if err != nil {
			return backend.Observed{}, &backend.Error{Class: backend.ErrUnavailable, Err: err}
		}
		switch {
		case !ok || set.Type.Refused() != "" && set.Type != rr.TypeSOA:
		case set.Type == rr.TypeSOA:
			if found.SOA, err = rr.ParseSOA(set.Data[0]); err != nil {
				return backend.Observed{}, &backend.Error{Class: backend.ErrUnavailable, Err: err}
			}
			found.SOA.TTL = set.TTL
		default:
			txn.Put(set)
		}
	}
	found.Sets = txn.Sets()
	return found, nil
}

// soaSet is the SOA as the set that the API wants.
func soaSet(name dnsname.Name, soa rr.SOA) rr.Set {
	return rr.NewSet(rr.Key{Name: name, Type: rr.TypeSOA}, soa.TTL, soa.Data())
}

// size is an upper bound of what a change takes in a PATCH.
func size(change plan.Change) int {
	const set, one = 100, 40 // the words around a set and a record
	n := set + quotedLength(change.Key.Name.String())
	for _, data := range change.Want.Data {
		if said, err := say(change.Key.Type, data); err == nil {
			data = said
		}
		n += one + quotedLength(data)
	}
	return n
}

// quotedLength is the length of a JSON string that holds printable ASCII.
func quotedLength(s string) int { return len(s) + strings.Count(s, `"`) + strings.Count(s, `\`) }
