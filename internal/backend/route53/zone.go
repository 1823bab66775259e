package route53

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Zone is one hosted zone.
type Zone struct {
	client *Client
	id     string
	name   dnsname.Name
}

var _ backend.Backend = (*Zone)(nil)

// concurrency is how many calls an account gets at the same time.
const concurrency = 4

// Limits are those of the service.
func (z *Zone) Limits() backend.Limits {
	return backend.Limits{
		Atomic: backend.AtomicBatch, Read: backend.ReadZone, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer,
		Confirms: true, Refuses: refuses, MaxTTL: 1<<31 - 1, MaxSetSize: maxSetSize,
		MaxChanges: maxRecords, MaxBytes: maxCharacters, Size: size, Concurrency: concurrency,
	}
}

// Zones returns the name of the one zone.
func (z *Zone) Zones(context.Context) ([]dnsname.Name, error) { return []dnsname.Name{z.name}, nil }

// fewKeys is up to how many sets are asked for one by one: a page of a listing holds 300.
const fewKeys = 4

// Read lists the zone, or some sets of it.
func (z *Zone) Read(ctx context.Context, name dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	found, err := z.read(ctx, name, ask)
	if err != nil {
		return backend.Observed{}, fmt.Errorf("reading hosted zone %s (%s) of Route 53: %w", z.id, z.name, err)
	}
	return found, nil
}

func (z *Zone) read(ctx context.Context, name dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if err := z.holds(name); err != nil {
		return backend.Observed{}, err
	}
	l := listing{txn: rr.Sets{}.Txn(), zone: z.name}
	if ask.Keys == nil || len(ask.Keys) > fewKeys {
		err := z.list(ctx, nil, l.take)
		l.found.Sets = l.txn.Sets()
		if ask.Keys != nil {
			l.found.Sets = l.found.Sets.Only(ask.Keys)
		}
		return l.found, err
	}
	for _, key := range append([]rr.Key{{Name: z.name, Type: rr.TypeSOA}}, ask.Keys...) {
		sets, err := z.look(ctx, key)
		if err != nil {
			return backend.Observed{}, err
		}
		for i := range sets {
			if err := l.take(&sets[i]); err != nil {
				return backend.Observed{}, err
			}
		}
	}
	l.found.Sets = l.txn.Sets()
	return l.found, nil
}

// holds makes sure that it is the one zone that is meant.
func (z *Zone) holds(name dnsname.Name) error {
	if name != z.name {
		return &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
			"hosted zone %s is %s instead of %s", z.id, z.name, name)}
	}
	return nil
}

// A listing gathers what is read.
type listing struct {
	zone  dnsname.Name
	found backend.Observed
	txn   *rr.SetsTxn
}

func (l *listing) take(in *types.ResourceRecordSet) error {
	set, ok, err := fromSet(in)
	switch {
	case err != nil:
		return broken("a set that cannot be read: %w", err)
	case !ok:
	case set.Type == rr.TypeSOA && set.Name == l.zone:
		soa, err := rr.ParseSOA(set.Data[0])
		if err != nil {
			return broken("an SOA that cannot be read: %w", err)
		}
		soa.TTL = set.TTL
		l.found.SOA = soa
	default:
		l.txn.Put(set)
	}
	return nil
}

var errEnough = errors.New("that is all")

// look returns everything that the zone has under a key: one set, or those of a routing policy. Without a type it is
// everything at the name.
func (z *Zone) look(ctx context.Context, key rr.Key) (sets []types.ResourceRecordSet, err error) {
	err = z.list(ctx, &at{key.Name, key.Type}, func(in *types.ResourceRecordSet) error {
		name, err := parseName(aws.ToString(in.Name))
		if err != nil {
			return broken("a set that cannot be read: %w", err)
		}
		if name != key.Name || key.Type != 0 && in.Type != typeName(key.Type) {
			return errEnough
		}
		sets = append(sets, *in)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return sets, err
}

// list calls take with the sets of the zone, from a place in their order on; nil is the beginning.
func (z *Zone) list(ctx context.Context, from *at, take func(*types.ResourceRecordSet) error) error {
	ask := &route53.ListResourceRecordSetsInput{HostedZoneId: &z.id}
	if from != nil {
		ask.StartRecordName, ask.MaxItems = aws.String(say(from.name.String())), aws.Int32(10)
		if from.t != 0 {
			ask.StartRecordType, ask.MaxItems = typeName(from.t), aws.Int32(2)
		}
	}
	for {
		page, err := call(ctx, z.client, ask, z.client.api.ListResourceRecordSets)
		if err != nil {
			return err
		}
		for i := range page.ResourceRecordSets {
			if err := take(&page.ResourceRecordSets[i]); err != nil {
				return err
			}
		}
		if !page.IsTruncated {
			return nil
		}
		next := &route53.ListResourceRecordSetsInput{
			HostedZoneId: &z.id, StartRecordName: page.NextRecordName, StartRecordType: page.NextRecordType,
			StartRecordIdentifier: page.NextRecordIdentifier,
		}
		if next.StartRecordName == nil || same(ask, next) {
			return broken("a page of the zone announces more sets, but not where they start")
		}
		ask = next
	}
}

// same reports whether two questions begin at the same place.
func same(a, b *route53.ListResourceRecordSetsInput) bool {
	return aws.ToString(a.StartRecordName) == aws.ToString(b.StartRecordName) && a.StartRecordType == b.StartRecordType &&
		aws.ToString(a.StartRecordIdentifier) == aws.ToString(b.StartRecordIdentifier)
}

// where names a set as people do.
func where(set *types.ResourceRecordSet) string {
	return strings.TrimSuffix(aws.ToString(set.Name), ".") + " " + string(set.Type)
}
