package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// awaitServed waits until every server has every record: of each zone it asks for the last one until that is there, and
// then transfers all.
func (b *bench) awaitServed(ctx context.Context, l load, began time.Time) (primary, all time.Duration, err error) {
	const each = 4 // at the same time, of a server
	errs, took := make([]error, each*len(b.servers)), make([]time.Duration, each*len(b.servers))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-b.Operator.Done():
			cancel(figures.ErrEnded)
		case <-ctx.Done():
		}
	}()
	var asking sync.WaitGroup
	for n := range errs {
		asking.Go(func() {
			a, err := b.servers[n/each].asker()
			if err != nil {
				errs[n] = err
				return
			}
			defer a.Close()
			for zone := n % each; zone < l.zones && errs[n] == nil; zone += each {
				errs[n] = b.awaitZone(ctx, a, l, zone)
			}
			took[n] = time.Since(began)
		})
	}
	asking.Wait()
	for n := range took {
		all = max(all, took[n])
		if b.servers[n/each].primary {
			primary = max(primary, took[n])
		}
	}
	if ended := context.Cause(ctx); ended != nil {
		return 0, 0, ended
	}
	return primary, all, errors.Join(errs...)
}

// awaitZone waits until a server has all of a zone.
func (b *bench) awaitZone(ctx context.Context, a *asker, l load, zone int) error {
	last := (zone+1)*l.records - 1
	if err := a.Await(ctx, l.fqdn(last), figures.Address(last)); err != nil {
		return err
	}
	for began := time.Now(); ; {
		missing, err := b.missing(a.at, l, zone)
		if missing == 0 && err == nil {
			return nil
		}
		if time.Since(began) > 3*time.Minute {
			return fmt.Errorf("%s still lacks %d records of %s: %w", a.at.instance, missing, l.zoneName(zone), err)
		}
		if err := figures.Pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// missing transfers a zone and counts the records that a server does not have.
func (b *bench) missing(s *server, l load, zone int) (int, error) {
	k := b.keys.transfer[s.instance]
	m := new(dns.Msg).SetAxfr(l.zoneName(zone) + ".")
	m.SetTsig(k.Name+".", string(k.Algorithm)+".", 300, time.Now().Unix())
	t := &dns.Transfer{TsigSecret: map[string]string{k.Name + ".": k.Secret}}
	envelopes, err := t.In(m, s.dns())
	if err != nil {
		return l.records, err
	}
	found := map[string]string{}
	for e := range envelopes {
		err = errors.Join(err, e.Error)
		for _, record := range e.RR {
			if a, ok := record.(*dns.A); ok {
				found[a.Hdr.Name] = a.A.String()
			}
		}
	}
	missing := 0
	for i := zone * l.records; i < (zone+1)*l.records; i++ {
		if found[l.fqdn(i)] != figures.Address(i) {
			missing++
		}
	}
	return missing, err
}
