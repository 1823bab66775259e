package rfc2136

import (
	"context"
	"errors"
	"fmt"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Pulled is what a server sent of a zone, for those who keep it step by step.
type Pulled struct {
	SOA   rr.SOA  // the newest
	Same  bool    // the server has nothing newer than what was known
	Steps []Step  // from what was known to the newest; nil: Sets is the whole zone
	Sets  rr.Sets // without the SOA
}

// A Step leads from one version of a zone to the next.
type Step struct {
	SOA        rr.SOA   // afterwards
	Gone, Come []rr.Set // records, as sets; not all of those that the zone has need be in one
}

// Pull asks for the steps from what is known to the newest version of a zone, or for all of it where nothing is known
// or the server has no such steps. An error says that nothing came in full.
func (c *Client) Pull(ctx context.Context, zone dnsname.Name, known *rr.SOA) (Pulled, error) {
	var t *transfer
	read := func(link *conn) error {
		m := new(dns.Msg)
		if t = newTransfer(zone, nil); known == nil {
			m.SetAxfr(zone.String())
		} else {
			t.known = &backend.Known{SOA: *known}
			m.SetIxfr(zone.String(), known.Serial, known.MName.String(), known.RName.String())
		}
		return c.receiveTransfer(link, m, t)
	}
	err := c.talk(ctx, reading, read)
	if errors.Is(err, errNoIncrement) {
		known = nil
		err = c.talk(ctx, reading, read)
	}
	var p Pulled
	if err == nil {
		p, err = t.pulled()
	}
	if err != nil {
		return Pulled{}, fmt.Errorf("transferring zone %s from %s: %w", zone, c.server, err)
	}
	return p, nil
}

// pulled returns what the transfer says of the zone.
func (t *transfer) pulled() (p Pulled, err error) {
	if p.SOA, err = soaFrom(t.soa); err != nil {
		return Pulled{}, err
	}
	switch {
	case t.same:
		p.Same = true
	case t.diffs != nil:
		for _, d := range t.diffs {
			step, err := d.step()
			if err != nil {
				return Pulled{}, err
			}
			p.Steps = append(p.Steps, step)
		}
	default:
		p.Sets, err = t.whole()
	}
	return p, err
}

// soaFrom reads an SOA record.
func soaFrom(record *dns.SOA) (rr.SOA, error) {
	sets, err := rr.FromRRs([]dns.RR{record})
	if err != nil {
		return rr.SOA{}, unavailable(err)
	}
	return soaOf(sets[0])
}

// step reads the records of a difference.
func (d *difference) step() (s Step, err error) {
	if s.SOA, err = soaFrom(d.to); err != nil {
		return Step{}, err
	}
	if s.Gone, err = fromStep(d.gone); err != nil {
		return Step{}, err
	}
	s.Come, err = fromStep(d.come)
	return s, err
}

// Over lays the step over the sets of a zone, or those that it touches. It returns false if it does not fit them: it
// removes what is not there, or adds what is.
func (s Step) Over(sets rr.Sets) (rr.Sets, bool) {
	txn := sets.Txn()
	for _, set := range s.Gone {
		if !remove(txn, set) {
			return rr.Sets{}, false
		}
	}
	for _, set := range s.Come {
		if !add(txn, set) {
			return rr.Sets{}, false
		}
	}
	return txn.Sets(), true
}
