package bind9

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Signatures asks for what the server shows of the signing of a zone. BIND ends with the denial of existence at the
// zone's own name, and shows a CDS set when resolvers everywhere can have the signatures.
func (c *Client) Signatures(ctx context.Context, zone dnsname.Name) (backend.Signatures, error) {
	at := func(t uint16) rr.Key { return rr.Key{Name: zone, Type: rr.Type(t)} }
	keys := []rr.Key{at(dns.TypeDNSKEY), at(dns.TypeCDS), at(dns.TypeNSEC), at(dns.TypeNSEC3PARAM)}
	found, err := c.dns.Read(ctx, zone, backend.Ask{Keys: keys})
	if err != nil {
		return backend.Signatures{}, c.stillThere(ctx, err)
	}
	var out backend.Signatures
	for _, key := range keys {
		set, there := found.Sets.Get(key)
		if !there {
			continue
		}
		records, err := set.RRs()
		if err != nil {
			return backend.Signatures{}, fmt.Errorf("reading the %s records of zone %s from %s: %w", key.Type, zone, c.title(),
				err)
		}
		out.Whole = out.Whole || uint16(key.Type) == dns.TypeNSEC || uint16(key.Type) == dns.TypeNSEC3PARAM
		for _, record := range records {
			take(&out, record)
		}
	}
	out.Whole = out.Whole && out.Keys
	slices.Sort(out.DS)
	return out, nil
}

func take(s *backend.Signatures, record dns.RR) {
	switch r := record.(type) {
	case *dns.DNSKEY:
		s.Keys = true
		if r.Flags&dns.SEP != 0 && r.Flags&dns.REVOKE == 0 && (s.KeyTag == 0 || r.KeyTag() < s.KeyTag) {
			s.KeyTag, s.Algorithm = r.KeyTag(), dns.AlgorithmToString[r.Algorithm]
		}
	case *dns.CDS:
		if r.Algorithm != 0 { // 0 asks the parent to remove what it has (RFC 8078 §4)
			s.DS = append(s.DS, fmt.Sprintf("%d %d %d %s", r.KeyTag, r.Algorithm, r.DigestType, strings.ToUpper(r.Digest)))
		}
	}
}
