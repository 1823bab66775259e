package endpoint

import (
	"fmt"
	"math"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Set reads an endpoint that somebody wants. A TTL of 0 stands for none, as in the protocol. The error says what cannot
// be held of it.
func (e Endpoint) Set() (rr.Set, error) {
	name, err := dnsname.Parse(strings.TrimSuffix(e.DNSName, ".") + ".")
	if err != nil {
		return rr.Set{}, fmt.Errorf("the name %q cannot be read: %w", e.DNSName, err)
	}
	t, err := rr.ParseType(e.RecordType)
	if err != nil {
		return rr.Set{}, fmt.Errorf("%s has an invalid type: %w", name, err)
	}
	key := rr.Key{Name: name, Type: t}
	switch why := t.Refused(); {
	case why != "":
		return rr.Set{}, fmt.Errorf("%s cannot be written: %s", key, why)
	case e.SetIdentifier != "":
		return rr.Set{}, fmt.Errorf(
			"%s has the set identifier %q, but weights, regions and the like are not supported; remove it", key, e.SetIdentifier)
	case e.RecordTTL < 0 || e.RecordTTL > math.MaxInt32: // RFC 2181 §8
		return rr.Set{}, fmt.Errorf("%s has the TTL %d; it must be from 0 to %d seconds", key, e.RecordTTL, math.MaxInt32)
	case len(e.Targets) == 0:
		return rr.Set{}, fmt.Errorf("%s has no targets", key)
	}
	data := make([]string, len(e.Targets))
	for i, target := range e.Targets {
		if data[i], err = Data(t, target); err != nil {
			return rr.Set{}, fmt.Errorf("%s has the target %q, which cannot be read: %w", key, target, err)
		}
	}
	return rr.NewSet(key, uint32(e.RecordTTL), data...), nil
}

// Adjusted is an endpoint as it is listed once it is held. What cannot be held stays as it is: who writes it is told
// why.
func (e Endpoint) Adjusted() Endpoint {
	set, err := e.Set()
	if err != nil {
		return e
	}
	out, err := Of(set)
	if err != nil {
		return e
	}
	out.Labels = e.Labels
	return out
}
