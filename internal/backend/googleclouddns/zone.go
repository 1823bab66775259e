package googleclouddns

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// The service's limits of one change: its quotas are the same for every project unless somebody has them raised.
const (
	maxChanges = 1000    // additions, and as many deletions
	maxRecords = 100     // in a set
	maxData    = 100_000 // octets of rdata
)

// types are those that the service holds.
var types = []rr.Type{
	rr.TypeA, rr.TypeAAAA, rr.TypeCAA, rr.TypeCNAME, rr.TypeDNSKEY, rr.TypeDS, rr.TypeHTTPS, rr.TypeIPSECKEY, rr.TypeMX,
	rr.TypeNAPTR,
	rr.TypeNS, rr.TypePTR, rr.TypeSRV, rr.TypeSSHFP, rr.TypeSVCB, rr.TypeTLSA, rr.TypeTXT,
}

func refuses(t rr.Type) string {
	if slices.Contains(types, t) {
		return ""
	}
	return fmt.Sprintf("has no %s records: Cloud DNS has %v", t, types)
}

// Zone is one zone.
type Zone struct {
	client      *Client
	project, id string
	name        dnsname.Name

	known *guarded.InTurn[known]
}

// known is what is known of a zone, for one call after the other: what one writes, the next has to know.
type known struct {
	zone *Zone
	book book
}

func newZone(c *Client, project, id string, name dnsname.Name) *Zone {
	z := &Zone{client: c, project: project, id: id, name: name}
	z.known = guarded.NewInTurn(known{zone: z})
	return z
}

var _ backend.Backend = (*Zone)(nil)

// Limits are those of the service.
func (z *Zone) Limits() backend.Limits {
	return backend.Limits{
		Atomic: backend.AtomicBatch, Read: backend.ReadZone, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer,
		Confirms: true, Refuses: refuses, MaxTTL: 1<<31 - 1, MaxSetSize: maxRecords,
		MaxChanges: maxChanges, MaxBytes: maxData, Size: size, Concurrency: 4,
	}
}

// size is the rdata that a change deletes and adds.
func size(c plan.Change) int {
	n := 0
	for _, set := range []rr.Set{c.Have, c.Want} {
		for _, data := range set.Data {
			n += len(data)
		}
	}
	return n
}

// Zones is the one zone.
func (z *Zone) Zones(context.Context) ([]dnsname.Name, error) { return []dnsname.Name{z.name}, nil }

// is refuses to be asked about other zones.
func (z *Zone) is(name dnsname.Name) error {
	if name == z.name {
		return nil
	}
	return &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
		"zone %s was requested but %s was found", name, z.name)}
}

// Read lists the zone, or asks for some sets.
func (z *Zone) Read(ctx context.Context, name dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if err := z.is(name); err != nil {
		return backend.Observed{}, err
	}
	if ask.Keys != nil && len(ask.Keys) == 0 {
		return backend.Observed{}, nil // the SOA is the service's, and its serial tells nothing
	}
	found, err := z.read(ctx, ask.Keys)
	if err != nil {
		return backend.Observed{}, fmt.Errorf("reading zone %s: %w", name, err)
	}
	return backend.Observed{Sets: found}, nil
}

func (z *Zone) read(ctx context.Context, keys []rr.Key) (rr.Sets, error) {
	k, unlock, err := z.known.Lock(ctx)
	if err != nil {
		return rr.Sets{}, err
	}
	defer unlock()
	if err := k.look(ctx, keys); err != nil {
		return rr.Sets{}, err
	}
	txn := rr.Sets{}.Txn()
	if keys == nil {
		for key := range k.book.sets {
			txn.Put(k.book.set(key))
		}
	}
	for _, key := range keys {
		txn.Put(k.book.set(key))
	}
	return txn.Sets(), nil
}

// fewSets is up to how many sets are asked for one by one: a page of all costs no more.
const fewSets = 2

// look reads the zone, or at least some sets, into the book.
func (k *known) look(ctx context.Context, keys []rr.Key) error {
	if keys == nil || len(keys) > fewSets {
		found, err := k.zone.list(k.zone.records(ctx))
		if err == nil {
			k.book = book{complete: true, sets: found}
		}
		return err
	}
	for _, key := range keys {
		found, err := k.zone.list(k.zone.records(ctx).Name(key.Name.String()).Type(key.Type.String()))
		if err != nil {
			return err
		}
		k.book.put(key, found[key])
	}
	return nil
}

const setsPerPage = 1000

func (z *Zone) records(ctx context.Context) *dns.ResourceRecordSetsListCall {
	return z.client.api.ResourceRecordSets.List(z.project, z.id).MaxResults(setsPerPage).Context(ctx)
}

func (z *Zone) list(call *dns.ResourceRecordSetsListCall) (map[rr.Key]*dns.ResourceRecordSet, error) {
	sets := map[rr.Key]*dns.ResourceRecordSet{}
	token := ""
	for {
		page, err := call.PageToken(token).Do()
		if err != nil {
			return nil, classed(err)
		}
		for _, set := range page.Rrsets {
			key, err := keyOf(set)
			if err != nil {
				return nil, unreadable(err)
			}
			if key.Type.Refused() == "" {
				sets[key] = set
			}
		}
		if token = page.NextPageToken; token == "" {
			return sets, nil
		}
	}
}
