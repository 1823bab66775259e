package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

var unauthorized = []int{http.StatusUnauthorized}

const (
	authFailed = string(dnshook.CodeAuthFailed)
	stale      = string(dnshook.CodeTimestampStale)
	reused     = string(dnshook.CodeNonceReused)
)

// farOff is outside the window, whatever the two clocks say within it.
const farOff = 2*dnshook.Window + time.Minute

// crowd is how many requests are sent at the same time.
const crowd = 16

var healthChecks = []check{
	{"health", "GET /health is answered 200 with the status healthy.", false, func(ctx context.Context, p *probe) error {
		got, err := p.send(ctx, p.get("/health"))
		switch {
		case err != nil:
			return err
		case got.status != http.StatusOK || !got.json:
			return fmt.Errorf("it answers %s; want 200 with JSON", got)
		case got.Status != dnshook.Healthy:
			return fmt.Errorf("it says %q; want %q", got.Status, dnshook.Healthy)
		}
		return nil
	}},
}

// changed is a check of an upsert that is changed after it was signed.
func changed(name, sentence string, change func(*call)) check {
	return check{name, sentence, true, func(ctx context.Context, p *probe) error {
		c := p.upsert(p.own())
		change(&c)
		return p.refused(ctx, c, unauthorized, authFailed)
	}}
}

func without(header string) func(*call) {
	return func(c *call) { c.change = func(r *http.Request) { r.Header.Del(header) } }
}

var signatureChecks = []check{
	changed("unsigned", "A request without a signature is refused.", func(c *call) { c.key = nil }),
	changed("no timestamp", "A request without a timestamp is refused.", without(dnshook.HeaderTimestamp)),
	changed("no nonce", "A request without a nonce is refused.", without(dnshook.HeaderNonce)),
	changed("no signature", "A request without the signature itself is refused.", without(dnshook.HeaderSignature)),
	changed("another secret", "A request that another secret signed is refused.", func(c *call) {
		c.key = &dnshook.Key{Secret: []byte("not-" + string(c.key.Secret)), Algorithm: c.key.Algorithm}
	}),
	changed("changed timestamp", "A timestamp that was not signed is refused.", func(c *call) {
		c.change = func(r *http.Request) {
			r.Header.Set(dnshook.HeaderTimestamp, c.at.Add(2*time.Second).UTC().Format(time.RFC3339))
		}
	}),
	changed("changed nonce", "A nonce that was not signed is refused.", func(c *call) {
		c.change = func(r *http.Request) { r.Header.Set(dnshook.HeaderNonce, dnshook.NewNonce()) }
	}),
	{"changed body", "A body that was not signed is refused.", true, func(ctx context.Context, p *probe) error {
		signed, sent := p.upsert(p.record("A", "", "192.0.2.1")), p.upsert(p.record("A", "", "192.0.2.2"))
		return p.refusedInstead(ctx, signed, sent)
	}},
	{"changed path", "A path that was not signed is refused.", true, func(ctx context.Context, p *probe) error {
		return p.refusedInstead(ctx, p.remove(p.record("A", "a.").ID()), p.remove(p.record("A", "b.").ID()))
	}},
	{"changed method", "A method that was not signed is refused.", true, func(ctx context.Context, p *probe) error {
		id := p.own().ID()
		return p.refusedInstead(ctx, p.get(id.Path()), p.remove(id))
	}},
	{"stale", "A request that was signed long ago is refused.", true, func(ctx context.Context, p *probe) error {
		return p.refusedAt(ctx, -farOff)
	}},
	{"future", "A request that is signed ahead of its time is refused.", true, func(ctx context.Context, p *probe) error {
		return p.refusedAt(ctx, farOff)
	}},
	{"clock skew", "Clocks may differ by some minutes.", true, func(ctx context.Context, p *probe) error {
		for _, off := range []time.Duration{-4 * time.Minute, 4 * time.Minute} {
			c := p.upsert(p.own())
			c.at = c.at.Add(off)
			if err := p.taken(ctx, c); err != nil {
				return fmt.Errorf("signed %s off: %w", off, err)
			}
		}
		return nil
	}},
	{"upper case", "A signature may be written in upper case.", true, func(ctx context.Context, p *probe) error {
		c := p.upsert(p.own())
		c.change = func(r *http.Request) {
			r.Header.Set(dnshook.HeaderSignature, strings.ToUpper(r.Header.Get(dnshook.HeaderSignature)))
		}
		return p.taken(ctx, c)
	}},
	{"octets as sent", "The body is verified as it was sent, with its spaces, order and unknown members.", true,
		func(ctx context.Context, p *probe) error {
			r := p.own()
			body := fmt.Sprintf("{ \"operation\" : \"upsert\",\n  \"record\": {\"values\": [\"192.0.2.1\"], \"ttl\": 300, "+
				"\"note\": \"a > b\", \"subdomain\": %q, \"domain\": %q, \"type\": \"A\"} }",
				r.Subdomain, r.Domain)
			return p.taken(ctx, p.make(http.MethodPost, "/records", []byte(body)))
		}},
}

// refusedInstead sends one request with the signature of another.
func (p *probe) refusedInstead(ctx context.Context, signed, sent call) error {
	sent.change = func(r *http.Request) {
		other, err := signed.key.Sign(dnshook.Message{
			Method: signed.method, Path: strings.TrimSuffix(r.URL.EscapedPath(), sent.path) + signed.path,
			Timestamp: r.Header.Get(dnshook.HeaderTimestamp), Nonce: sent.nonce, Body: signed.body,
		})
		if err == nil {
			r.Header.Set(dnshook.HeaderSignature, other)
		}
	}
	return p.refused(ctx, sent, unauthorized, authFailed)
}

func (p *probe) refusedAt(ctx context.Context, off time.Duration) error {
	c := p.upsert(p.own())
	c.at = c.at.Add(off)
	return p.refused(ctx, c, unauthorized, stale)
}

var nonceChecks = []check{
	{"replay", "A request that was sent before is refused.", true, func(ctx context.Context, p *probe) error {
		c := p.upsert(p.own())
		if err := p.taken(ctx, c); err != nil {
			return err
		}
		return p.refused(ctx, c, unauthorized, reused)
	}},
	{"nonce of another", "A nonce is refused in another request too.", true, func(ctx context.Context, p *probe) error {
		one, other := p.upsert(p.record("A", "", "192.0.2.1")), p.upsert(p.record("A", "", "192.0.2.2"))
		other.nonce = one.nonce
		if err := p.taken(ctx, one); err != nil {
			return err
		}
		return p.refused(ctx, other, unauthorized, reused)
	}},
	{"replay at once", "Of many identical requests at the same time, one is accepted.", true, together},
	{"nonce of a stranger", "A client that cannot sign cannot use up nonces: a server verifies the signature first.", true,
		func(ctx context.Context, p *probe) error {
			right := p.upsert(p.own())
			wrong := right
			wrong.change = func(r *http.Request) {
				r.Header.Set(dnshook.HeaderSignature, strings.Repeat("0", len(r.Header.Get(dnshook.HeaderSignature))))
			}
			if err := p.refused(ctx, wrong, unauthorized, authFailed); err != nil {
				return err
			}
			if err := p.taken(ctx, right); err != nil {
				return fmt.Errorf("after a forged request with its nonce: %w", err)
			}
			return nil
		}},
}

// together sends one request many times at once, some times.
func together(ctx context.Context, p *probe) error {
	for range 5 {
		c := p.upsert(p.own())
		var all sync.WaitGroup
		var mu sync.Mutex
		took := 0
		for range crowd {
			all.Go(func() {
				if got, err := p.send(ctx, c); err == nil && got.well() == nil {
					mu.Lock()
					took++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if took != 1 {
			return fmt.Errorf("of %d identical requests, sent at once, it accepts %d; want 1", crowd, took)
		}
	}
	return nil
}
