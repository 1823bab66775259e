package bindcar

import (
	"context"
	"strings"

	"github.com/miekg/dns"
)

// What a query tells about a zone.
type sighting int

const (
	unclear sighting = iota // BIND has no such zone, or does not let us query, or does not answer
	seenLoaded
	seenNotLoaded
)

// see asks BIND for the zone's SOA, which costs it next to nothing. SERVFAIL is its answer for a zone that it has and
// that is not loaded.
func (b *bind) see(ctx context.Context, zone zoneName) sighting {
	m := new(dns.Msg)
	m.SetQuestion(zone.name.String(), dns.TypeSOA)
	m.RecursionDesired = false
	answer, _, err := new(dns.Client).ExchangeContext(ctx, m, b.settings.DNS)
	switch {
	case err != nil:
		return unclear
	case answer.Rcode == dns.RcodeServerFailure:
		return seenNotLoaded
	case answer.Rcode == dns.RcodeSuccess && answer.Authoritative && len(answer.Answer) > 0 &&
		strings.EqualFold(answer.Answer[0].Header().Name, zone.name.String()):
		return seenLoaded
	}
	return unclear
}

// isLoaded looks at a zone. Where a query does not tell, BIND is asked over the control channel.
func (b *bind) isLoaded(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeOne)
	defer cancel()
	zone, err := parseZone(name)
	if err != nil {
		return false
	}
	switch b.see(ctx, zone) {
	case seenLoaded:
		return true
	case seenNotLoaded:
		return false
	}
	if found, err := b.control.show(ctx, zone); err != nil || held(found) {
		return false
	}
	_, err = b.control.zone(ctx, "zonestatus", zone)
	return err == nil
}
