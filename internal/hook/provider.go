// Package hook puts the protocol of DNSClasses in front of a backend: cmd/dnshook is this and its wiring. It holds
// nothing itself: what a server has is what it shows, so other sets of a zone stay as they are, whoever wrote them, and
// a restart loses nothing.
package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	hookbackend "github.com/zonefold/zonefold/internal/backend/dnshook"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Zone is one that records may be in, and who has it.
type Zone struct {
	Name    dnsname.Name
	Backend backend.Backend
}

// Config says what a Provider writes to.
type Config struct {
	Zones   []Zone // records of other names are refused
	Now     func() time.Time
	Timeout time.Duration // of one change; 0: 20 seconds
}

// A Provider has records served by backends. Records that come at the same time go out in one change.
type Provider struct {
	workers []*zoneWorker // longest zone first
}

var (
	_ dnshook.Provider = (*Provider)(nil)
	_ dnshook.Batcher  = (*Provider)(nil)
)

// New makes a Provider.
func New(cfg Config) (*Provider, error) {
	if len(cfg.Zones) == 0 || cfg.Now == nil {
		return nil, errors.New("hook: Config needs Zones and Now")
	}
	p := &Provider{}
	seen := map[dnsname.Name]bool{}
	for _, z := range cfg.Zones {
		limits := z.Backend.Limits()
		switch {
		case seen[z.Name]:
			return nil, fmt.Errorf("zone %s is given twice", z.Name)
		case limits.Read == backend.ReadNone:
			return nil, fmt.Errorf("zone %s: its server cannot list its records, so changes cannot be verified", z.Name)
		}
		seen[z.Name] = true
		p.workers = append(p.workers, &zoneWorker{
			zone: z.Name, backend: z.Backend, limits: limits, now: cfg.Now, timeout: cmp.Or(cfg.Timeout, 20*time.Second),
		})
	}
	slices.SortFunc(p.workers, func(a, b *zoneWorker) int {
		return cmp.Or(b.zone.NumLabels()-a.zone.NumLabels(), a.zone.Compare(b.zone))
	})
	return p, nil
}

// find returns the worker for a name, and the key of its set.
func (p *Provider) find(id dnshook.ID) (*zoneWorker, rr.Key, error) {
	name, err := dnsname.Parse(id.FQDN() + ".")
	if err != nil {
		return nil, rr.Key{}, &dnshook.Error{Code: dnshook.CodeInvalidDomain, Message: err.Error()}
	}
	t, err := rr.ParseType(id.Type)
	if err != nil {
		return nil, rr.Key{}, &dnshook.Error{Code: dnshook.CodeInvalidRecord, Message: err.Error()}
	}
	for _, d := range p.workers {
		if name.Under(d.zone) {
			return d, rr.Key{Name: name, Type: t}, nil
		}
	}
	var zones []string
	for _, d := range p.workers {
		zones = append(zones, strings.TrimSuffix(d.zone.String(), "."))
	}
	return nil, rr.Key{}, &dnshook.Error{Code: dnshook.CodeInvalidDomain,
		Message: fmt.Sprintf("%s is in no zone of this server, which has %s.", id.FQDN(), strings.Join(zones, ", "))}
}

// Upsert implements dnshook.Provider.
func (p *Provider) Upsert(ctx context.Context, r dnshook.Record) error {
	return p.Batch(ctx, []dnshook.Operation{{Action: dnshook.ActionUpsert, Record: r}})[0]
}

// Delete implements dnshook.Provider.
func (p *Provider) Delete(ctx context.Context, id dnshook.ID) error {
	r := dnshook.Record{Type: id.Type, Domain: id.Domain, Subdomain: id.Subdomain}
	return p.Batch(ctx, []dnshook.Operation{{Action: dnshook.ActionDelete, Record: r}})[0]
}

// Batch implements dnshook.Batcher.
func (p *Provider) Batch(ctx context.Context, operations []dnshook.Operation) []error {
	orders := make([]*order, len(operations))
	errs := make([]error, len(operations))
	parts := map[*zoneWorker][]*order{}
	for i, o := range operations {
		d, key, err := p.find(o.Record.ID())
		one := &order{key: key, done: make(chan error, 1)}
		switch {
		case o.Action == dnshook.ActionDelete:
			err = dnshook.Absent(err)
		case err == nil:
			one.want, err = hookbackend.SetOf(o.Record, key)
		}
		if err == nil {
			err = d.unfit(key, one.want)
		}
		if err != nil {
			errs[i] = err
			continue
		}
		orders[i] = one
		parts[d] = append(parts[d], one)
	}
	for d, some := range parts {
		d.take(some)
	}
	for i, o := range orders {
		if o == nil {
			continue
		}
		select {
		case errs[i] = <-o.done:
		case <-ctx.Done():
			errs[i] = fmt.Errorf("waiting for %s: %w", o.key, ctx.Err())
		}
	}
	return errs
}

// Get implements dnshook.Provider. A set that no record can be is shown as its rdata, one value a line, with no numbers
// beside it.
func (p *Provider) Get(ctx context.Context, id dnshook.ID) (dnshook.Record, error) {
	d, key, err := p.find(id)
	if err != nil {
		return dnshook.Record{}, dnshook.Absent(err)
	}
	found, err := d.backend.Read(ctx, d.zone, backend.Ask{Keys: []rr.Key{key}})
	if err != nil {
		return dnshook.Record{}, answered(err)
	}
	set, there := found.Sets.Get(key)
	if !there {
		return dnshook.Record{}, dnshook.ErrNotFound
	}
	r, err := hookbackend.RecordOf(d.zone, set)
	if err != nil {
		return dnshook.Record{TTL: set.TTL, Values: set.Data}, nil //nolint:nilerr // see above
	}
	return r, nil
}

// Health implements dnshook.Provider: the server of each zone answers for it.
func (p *Provider) Health(ctx context.Context) error {
	for _, d := range p.workers {
		if err := d.health(ctx); err != nil {
			return &dnshook.Error{Status: 503, Code: dnshook.CodeServerError, Err: err,
				Message: fmt.Sprintf("The DNS server of %s does not answer as it should (%s).", d.zone, backend.Class(err))}
		}
	}
	return nil
}

// rcodeRefused is what a DNS server answers to an update for reasons that it keeps to itself. They may lie in other
// records: BIND takes an MX only when the address of its host is there. So it is worth another try.
const rcodeRefused = "REFUSED"

// answered is what the other end is told of an error of a backend.
func answered(err error) error {
	detail, _ := errors.AsType[*backend.Error](err)
	words := string(backend.Class(err))
	switch {
	case detail == nil:
	case detail.Words != "":
		words = detail.Words
	case detail.Class == backend.ErrRejected && detail.Err != nil:
		words = detail.Err.Error()
	}
	switch class := backend.Class(err); {
	case class == backend.ErrRejected && detail != nil && detail.Cause == backend.CauseQuota:
		return &dnshook.Error{Code: dnshook.CodeQuotaExceeded, Message: fmt.Sprintf("The DNS server has no room (%s).",
			words), Err: err}
	case class == backend.ErrRejected && (detail == nil || !detail.Temporary && words != rcodeRefused):
		return &dnshook.Error{Code: dnshook.CodeInvalidValue, Message: fmt.Sprintf("The DNS server refuses the record (%s).",
			words), Err: err}
	case class == backend.ErrRejected:
		return &dnshook.Error{Code: dnshook.CodeServerError, Message: fmt.Sprintf(
			"The DNS server failed to store the record (%s).",
			words), Err: err}
	case class == backend.ErrThrottled:
		return &dnshook.Error{Code: dnshook.CodeRateLimited, Message: "The DNS server is overloaded.", Err: err,
			RetryAfter: cmp.Or(afterOf(detail), 5*time.Second)}
	}
	return &dnshook.Error{Status: 503, Code: dnshook.CodeServerError, Message: fmt.Sprintf(
		"The DNS server is currently unavailable (%s).", words), Err: err}
}

// answered is what the other end is told of an error about the order. What a server refuses since a name is none of a
// host it refuses for good: BIND checks owners and targets by default (check-names).
func (o *order) answered(err error) error {
	out := answered(err)
	detail, _ := errors.AsType[*backend.Error](err)
	if detail == nil || detail.Class != backend.ErrRejected || detail.Words != rcodeRefused {
		return out
	}
	const rule = "the labels of a host's name are letters, digits and hyphens between them (RFC 1123 §2.1)"
	if slices.Contains([]rr.Type{rr.TypeA, rr.TypeAAAA, rr.TypeMX}, o.key.Type) && !isHost(o.key.Name, true) {
		return &dnshook.Error{Code: dnshook.CodeInvalidDomain, Err: err,
			Message: fmt.Sprintf("The DNS server refuses %s: %s.", o.key, rule)}
	}
	for _, data := range o.want.Data {
		for _, target := range rr.Targets(o.key.Type, data) {
			if !isHost(target, false) {
				return &dnshook.Error{Code: dnshook.CodeInvalidValue, Err: err, Message: fmt.Sprintf(
					"The DNS server refuses %s with the target %s: %s.", o.key, target, rule)}
			}
		}
	}
	return out
}

// isHost reports whether a name is one of a host, or of many if it may be a wildcard. Where hyphens are the protocol
// has looked at.
func isHost(name dnsname.Name, wildcard bool) bool {
	for i, label := range name.Labels() {
		odd := strings.ContainsFunc(label, func(c rune) bool {
			return c != '-' && !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z') && !('0' <= c && c <= '9')
		})
		if odd && (!wildcard || i > 0 || label != "*") {
			return false
		}
	}
	return true
}

func afterOf(e *backend.Error) time.Duration {
	if e == nil {
		return 0
	}
	return e.After
}
