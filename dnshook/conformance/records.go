package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/zonefold/zonefold/dnshook"
)

const notFound = string(dnshook.CodeRecordNotFound)

var recordChecks = []check{
	{"upsert", "POST /records is answered 200 with the record in JSON.", false, func(ctx context.Context, p *probe) error {
		r := p.record("A", "", "192.0.2.1", "192.0.2.2")
		got, err := p.succeeds(ctx, p.upsert(r))
		switch {
		case err != nil:
			return err
		case got.Record == nil:
			return fmt.Errorf("it answers %s, which has no record", got)
		case strings.TrimSuffix(got.Record.FQDN, ".") != r.ID().FQDN():
			return fmt.Errorf("it gives the fqdn as %q; want %q", got.Record.FQDN, r.ID().FQDN())
		}
		return same(*got.Record, r)
	}},
	{"upsert again", "The same upsert twice has the same result.", false, func(ctx context.Context, p *probe) error {
		r := p.own()
		for range 2 {
			if err := p.taken(ctx, p.upsert(r)); err != nil {
				return err
			}
		}
		return p.shows(ctx, r)
	}},
	{"upsert replaces", "Another upsert replaces the values and the ttl.", false,
		func(ctx context.Context, p *probe) error {
			first, second := p.record("A", "", "192.0.2.1", "192.0.2.2"), p.record("A", "", "192.0.2.2", "192.0.2.3")
			second.TTL = 600
			for _, r := range []dnshook.Record{first, second} {
				if err := p.taken(ctx, p.upsert(r)); err != nil {
					return err
				}
			}
			return p.shows(ctx, second)
		}},
	{"delete", "DELETE is answered 200 in JSON, and the record is gone.", false,
		func(ctx context.Context, p *probe) error {
			r := p.own()
			if err := p.taken(ctx, p.upsert(r)); err != nil {
				return err
			}
			if _, err := p.succeeds(ctx, p.remove(r.ID())); err != nil {
				return err
			}
			return p.gone(ctx, r.ID())
		}},
	{"delete again", "DELETE of a missing record is answered 404 or 200.", false,
		func(ctx context.Context, p *probe) error {
			got, err := p.send(ctx, p.remove(p.own().ID()))
			if err != nil || got.status == http.StatusOK {
				return err
			}
			return got.refusal([]int{http.StatusNotFound}, notFound)
		}},
	{"delete leaves others", "DELETE of one type leaves the others of the name.", false,
		func(ctx context.Context, p *probe) error {
			a, txt := p.own(), p.record("TXT", "", "stays")
			got, err := p.send(ctx, p.upsert(txt))
			if err != nil {
				return err
			}
			if got.status == http.StatusBadRequest {
				return unsupported{"It has no TXT records, and A and CNAME do not go together."}
			}
			if err := errors.Join(got.well(), p.taken(ctx, p.upsert(a)), p.taken(ctx, p.remove(a.ID()))); err != nil {
				return err
			}
			return p.shows(ctx, txt)
		}},
	{"get", "GET returns a record, or 404 if there is none.", false, func(ctx context.Context, p *probe) error {
		r := p.own()
		got, err := p.send(ctx, p.get(r.ID().Path()))
		if err != nil {
			return err
		}
		if got.status == http.StatusMethodNotAllowed || got.status == http.StatusNotImplemented {
			return unsupported{"It has no GET for records, so it cannot be seen whether they have changed."}
		}
		if err := got.refusal([]int{http.StatusNotFound}, notFound); err != nil {
			return err
		}
		if err := p.taken(ctx, p.upsert(r)); err != nil {
			return err
		}
		if got, err = p.send(ctx, p.get(r.ID().Path())); err != nil {
			return err
		}
		if got.status != http.StatusOK || !got.json || got.Record == nil {
			return fmt.Errorf("it answers %s; want 200 with the record", got)
		}
		return same(*got.Record, r)
	}},
	{"batch", "A batch is answered with one result an operation, in order.", false, batch},
}

// batch sends operations of which one is not valid.
func batch(ctx context.Context, p *probe) error {
	features, err := p.client.Features(ctx)
	if err != nil {
		return err
	}
	announced := false
	for _, f := range features {
		announced = announced || f == dnshook.FeatureBatch
	}
	if !announced {
		return unsupported{"It does not announce batches in /health, so records are sent one by one."}
	}
	a, b, wrong := p.record("A", "a.", "192.0.2.1"), p.record("A", "b.", "192.0.2.2"), p.record("A", "c.", "192.0.2.300")
	errs, err := p.client.Batch(ctx, []dnshook.Operation{
		{Action: dnshook.ActionUpsert, Record: a}, {Action: dnshook.ActionUpsert, Record: wrong},
		{Action: dnshook.ActionUpsert, Record: b},
		{Action: dnshook.ActionDelete, Record: a}, {Action: dnshook.ActionDelete, Record: p.record("A", "d.")},
	})
	switch {
	case err != nil:
		return err
	case errs[1] == nil:
		return errors.New("an operation with the value 192.0.2.300 is answered as success")
	}
	errs[1] = nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("an operation beside one that is not valid fails: %w", err)
	}
	return errors.Join(p.gone(ctx, a.ID()), p.shows(ctx, b))
}

// kindChecks are one check for each type, and for names that are special.
func kindChecks() []check {
	number := func(n uint16) *uint16 { return &n }
	var out []check
	add := func(name, sentence, prefix string, r dnshook.Record) {
		out = append(out, check{name, sentence, false, func(ctx context.Context, p *probe) error {
			own := p.record(r.Type, prefix, r.Values...)
			own.Metadata = r.Metadata
			return p.kept(ctx, own)
		}})
	}
	for _, r := range []dnshook.Record{
		{Type: "A", Values: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3"}},
		{Type: "AAAA", Values: []string{"2001:db8::1", "2001:db8::2"}},
		{Type: "CNAME", Values: []string{"_target.example.net"}},
		{Type: "TXT", Values: []string{`v=spf1 include:"a" \ ;b`, strings.Repeat("long ", 70)}},
		{Type: "MX", Values: []string{"mail.example.net", "mail2.example.net"},
			Metadata: &dnshook.Metadata{Priority: number(10)}},
		{Type: "SRV", Values: []string{"sip.example.net"}, Metadata: &dnshook.Metadata{Priority: number(1), Weight: number(2),
			Port: number(5060)}},
		{Type: "NS", Values: []string{"ns1.example.net", "ns2.example.net"}},
		{Type: "PTR", Values: []string{"host.example.net"}},
		{Type: "CAA", Values: []string{`0 issue "ca.example.net"`}},
	} {
		add("type "+r.Type, r.Type+" records are kept as they were sent.", "", r)
	}
	one := dnshook.Record{Type: "A", Values: []string{"192.0.2.1"}}
	add("wildcard", "A name may start with *.", "*.", one)
	// Some servers take no address at such a name, which is none of a host.
	add("underscore", "A label may start with an underscore.", "_dmarc.",
		dnshook.Record{Type: "TXT", Values: []string{"v=DMARC1"}})
	return append(out, check{"domain itself", "The name of the domain is @.", false, apex})
}

// kept has a record made, looks at it and has it deleted.
func (p *probe) kept(ctx context.Context, r dnshook.Record) error {
	got, err := p.send(ctx, p.upsert(r))
	if err != nil {
		return err
	}
	if invalid := string(dnshook.CodeInvalidRecord); got.refusal([]int{http.StatusBadRequest}, invalid) == nil &&
		r.Type != "A" && r.Type != "CNAME" {
		return unsupported{"It says: " + got.Error.Message}
	}
	if err := errors.Join(got.well(), p.shows(ctx, r)); err != nil {
		return err
	}
	if err := p.client.Delete(ctx, r.ID()); err != nil {
		return err
	}
	return p.gone(ctx, r.ID())
}

// apex makes a TXT record of the domain itself, where that overwrites nothing.
func apex(ctx context.Context, p *probe) error {
	r := p.record("TXT", "", "zonefold conformance "+p.stamp)
	p.made = p.made[:len(p.made)-1]
	r.Subdomain = "@"
	_, there, err := p.client.Get(ctx, r.ID())
	switch {
	case errors.Is(err, dnshook.ErrNoGet):
		return unsupported{"Without GET it is unknown what would be overwritten there, so it was left alone."}
	case err != nil:
		return err
	case there:
		return unsupported{"The domain has a TXT record already, which was left alone."}
	}
	p.made = append(p.made, r.ID())
	return p.kept(ctx, r)
}
