package conformance

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/zonefold/zonefold/dnshook"
)

var bad = []int{http.StatusBadRequest}

const (
	invalidRecord = string(dnshook.CodeInvalidRecord)
	invalidDomain = string(dnshook.CodeInvalidDomain)
	invalidValue  = string(dnshook.CodeInvalidValue)
)

// invalid is a check of a record that is not valid.
func invalid(name, sentence string, change func(*dnshook.Record), codes ...string) check {
	return check{name, sentence, false, func(ctx context.Context, p *probe) error {
		r := p.own()
		change(&r)
		got, err := p.send(ctx, p.upsert(r))
		if err != nil {
			return err
		}
		if got.well() == nil {
			p.invalid = append(p.invalid, r.ID())
		}
		return got.refusal(bad, codes...)
	}}
}

// malformed is a check of a body that is no request.
func malformed(name, sentence, body string) check {
	return check{name, sentence, false, func(ctx context.Context, p *probe) error {
		return p.refused(ctx, p.make(http.MethodPost, "/records", []byte(body)), bad, invalidRecord)
	}}
}

var invalidChecks = []check{
	malformed("no JSON", "A body that is not JSON is refused.", `{"record":`),
	malformed("no record", "A body without a record is refused.", `{"operation":"upsert"}`),
	{"unknown operation", "An unknown operation is refused.", false, func(ctx context.Context, p *probe) error {
		body := bytes.Replace(bodyOf(p.own()), []byte(`"upsert"`), []byte(`"rename"`), 1)
		return p.refused(ctx, p.make(http.MethodPost, "/records", body), bad, invalidRecord)
	}},
	invalid("unknown type", "An unknown type is refused.", func(r *dnshook.Record) { r.Type = "BOGUS" },
		invalidRecord),
	invalid("invalid domain", "A domain that is not a name is refused.", func(r *dnshook.Record) {
		r.Domain = "exa mple..com"
	}, invalidDomain, invalidRecord),
	invalid("invalid subdomain", "A subdomain that is not a name is refused.", func(r *dnshook.Record) {
		r.Subdomain = strings.Repeat("x", 64)
	}, invalidDomain, invalidRecord),
	invalid("invalid value", "A value that does not fit its type is refused.", func(r *dnshook.Record) {
		r.Values = []string{"192.0.2.256"}
	}, invalidValue, invalidRecord),
	invalid("no values", "A record without values is refused.", func(r *dnshook.Record) { r.Values = []string{} },
		invalidValue, invalidRecord),
	invalid("two aliases", "A CNAME with two values is refused.", func(r *dnshook.Record) {
		r.Type, r.Values = "CNAME", []string{"a.example.net", "b.example.net"}
	}, invalidValue, invalidRecord),
	invalid("MX without priority", "An MX record without its priority is refused.", func(r *dnshook.Record) {
		r.Type, r.Values = "MX", []string{"mail.example.net"}
	}, invalidRecord, invalidValue),
}

var httpChecks = []check{
	{"unknown path", "An unknown path is answered 404.", false, func(ctx context.Context, p *probe) error {
		got, err := p.send(ctx, p.get("/nothing-is-here"))
		if err == nil && got.status != http.StatusNotFound {
			err = fmt.Errorf("it answers %s; want 404", got)
		}
		return err
	}},
	{"unknown method", "An unknown method is answered 405 with Allow, or 404.", false,
		func(ctx context.Context, p *probe) error {
			got, err := p.send(ctx, p.make(http.MethodPut, "/records", bodyOf(p.own())))
			switch {
			case err != nil:
				return err
			case got.status == http.StatusMethodNotAllowed && got.header.Get("Allow") == "":
				return fmt.Errorf("it answers 405 without the header Allow (RFC 9110 §15.5.6)")
			case got.status != http.StatusMethodNotAllowed && got.status != http.StatusNotFound:
				return fmt.Errorf("it answers %s; want 405", got)
			}
			return nil
		}},
	{"content type", "Answers have the content type of JSON.", false, func(ctx context.Context, p *probe) error {
		got, err := p.send(ctx, p.get("/health"))
		if kind := got.header.Get("Content-Type"); err == nil && !strings.HasPrefix(kind, "application/json") {
			err = fmt.Errorf("its answer to /health has the Content-Type %q; want application/json", kind)
		}
		return err
	}},
	{"large body", "A body of 2 MiB is refused, and the server goes on.", false,
		func(ctx context.Context, p *probe) error {
			body := append(bodyOf(p.own()), bytes.Repeat([]byte{' '}, 2<<20)...)
			got, err := p.send(ctx, p.make(http.MethodPost, "/records", body))
			// A server may close the connection before it has read everything; then there is no answer.
			if err == nil && got.status != http.StatusRequestEntityTooLarge && got.status != http.StatusBadRequest {
				return fmt.Errorf("it answers %s; want 413", got)
			}
			if err := p.taken(ctx, p.upsert(p.own())); err != nil {
				return fmt.Errorf("after that: %w", err)
			}
			return nil
		}},
	{"kept connections", "A connection serves more than one request.", false, func(ctx context.Context, p *probe) error {
		for range 3 {
			got, err := p.send(ctx, p.get("/health"))
			if err != nil || got.reused {
				return err
			}
		}
		return unsupported{"It closes its connections, so each request costs a new one."}
	}},
}
