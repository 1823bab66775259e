package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudflare/cloudflare-go/v7/dns"
	"github.com/cloudflare/cloudflare-go/v7/option"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// The service's limits.
const (
	maxRecords = 200   // in a batch, of a zone on the smallest plan
	minTTL     = 60    // seconds
	maxTTL     = 86400 // seconds
	autoTTL    = 300   // seconds, what the TTL 1 stands for where records are proxied
	automatic  = 1     // the TTL of records whose TTL the service chooses
)

// Zone is one zone.
type Zone struct {
	client *Client
	id     string
	name   dnsname.Name

	known *guarded.InTurn[known]
}

// known is what is known of a zone, for one call after the other: what one writes, the next has to know.
type known struct {
	zone *Zone
	book book
}

func newZone(c *Client, id string, name dnsname.Name) *Zone {
	z := &Zone{client: c, id: id, name: name}
	z.known = guarded.NewInTurn(known{zone: z})
	return z
}

var _ backend.Backend = (*Zone)(nil)

// Limits are those of the service. Where records are proxied, TTLs are automatic.
func (z *Zone) Limits() backend.Limits {
	l := backend.Limits{
		Atomic: backend.AtomicBatch, Read: backend.ReadZone, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer,
		Confirms: true, Refuses: refuses, MinTTL: minTTL, MaxTTL: maxTTL, MaxSetSize: maxRecords,
		MaxBytes: maxRecords, Size: records, Concurrency: 2,
	}
	if z.client.proxied {
		l.MinTTL, l.MaxTTL = autoTTL, autoTTL
	}
	return l
}

// records is how many records a change touches, which is what the service limits.
func records(c plan.Change) int { return max(len(c.Have.Data), len(c.Want.Data), 1) }

// Zones is the one zone.
func (z *Zone) Zones(context.Context) ([]dnsname.Name, error) { return []dnsname.Name{z.name}, nil }

// fewNames is up to how many names are asked for one by one: a page of all records costs no more.
const fewNames = 2

// Read lists the zone, or the records of some names.
func (z *Zone) Read(ctx context.Context, name dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if err := z.is(name); err != nil {
		return backend.Observed{}, err
	}
	if ask.Keys != nil && len(ask.Keys) == 0 {
		return backend.Observed{}, nil // the service does not show the SOA
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
		for key := range k.book.entries {
			txn.Put(k.set(key))
		}
	}
	for _, key := range keys {
		txn.Put(k.set(key))
	}
	return txn.Sets(), nil
}

// is refuses to be asked about other zones.
func (z *Zone) is(name dnsname.Name) error {
	if name == z.name {
		return nil
	}
	return &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
		"zone %s was requested but %s was found", name, z.name)}
}

// look reads all records of the zone, or at least those of some keys, into the book.
func (k *known) look(ctx context.Context, keys []rr.Key) error {
	var names []dnsname.Name
	for _, key := range keys {
		names = append(names, key.Name)
	}
	slices.SortFunc(names, dnsname.Name.Compare)
	names = slices.Compact(names)
	if keys == nil || len(names) > fewNames {
		found, err := k.zone.list(ctx)
		if err != nil {
			return err
		}
		return k.book.fill(found)
	}
	for _, name := range names {
		found, err := k.zone.list(ctx, option.WithQuery("name.exact", bare(name)))
		if err != nil {
			return err
		}
		if err := k.book.replace(name, found); err != nil {
			return err
		}
	}
	return nil
}

// recordsPerPage is a size of pages that the service gives.
const recordsPerPage = 5000

func (z *Zone) list(ctx context.Context, filter ...option.RequestOption) ([]record, error) {
	return pages[record](ctx, recordsPerPage, func(ctx context.Context, number float64, into option.RequestOption) error {
		var q dns.RecordListParams
		q.ZoneID.Value, q.ZoneID.Present = z.id, true
		q.Page.Value, q.Page.Present = number, true
		q.PerPage.Value, q.PerPage.Present = recordsPerPage, true
		_, err := z.client.records.List(ctx, q, append([]option.RequestOption{into}, filter...)...)
		return err
	})
}

// Apply makes the changes in one transaction of the service. What was known may be outdated, which shows in records
// that are not there any more or are there already: then the zone is read and it is tried with what is there.
func (z *Zone) Apply(ctx context.Context, name dnsname.Name, b backend.Batch) (backend.Result, error) {
	if err := z.is(name); err != nil {
		return backend.Result{}, err
	}
	k, unlock, err := z.known.Lock(ctx)
	if err != nil {
		return backend.Result{}, fmt.Errorf("changing zone %s: %w", name, err)
	}
	defer unlock()
	result, err := k.apply(ctx, b)
	if err != nil {
		return backend.Result{}, fmt.Errorf("changing zone %s: %w", name, err)
	}
	return result, nil
}

func (k *known) apply(ctx context.Context, b backend.Batch) (backend.Result, error) {
	var unknown []rr.Key
	for _, c := range b.Changes {
		if b.Assert || !k.trusts(c) {
			unknown = append(unknown, c.Key)
		}
	}
	if len(unknown) > 0 {
		if err := k.look(ctx, unknown); err != nil {
			return backend.Result{}, err
		}
	}
	result, err := k.send(ctx, b.Changes)
	if !outdated(err) || len(unknown) == len(b.Changes) && !errors.Is(err, codeGone) {
		return result, err
	}
	if err := k.look(ctx, nil); err != nil {
		return backend.Result{}, err
	}
	return k.send(ctx, b.Changes)
}

// trusts reports whether a change may be made by what is known, be it old: a record that was added since does not make
// the service refuse it, so that what is asserted is never trusted. One that changes nothing is there because somebody
// does not trust what is known.
func (k *known) trusts(c plan.Change) bool {
	return k.book.complete && k.set(c.Key).Equal(c.Have) && !c.Have.Equal(c.Want)
}
