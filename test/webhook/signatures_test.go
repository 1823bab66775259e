package webhook

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// recorded are the operator's own requests that made a record and that removed it.
func (s *site) recorded(p *proxy) (post, remove exchange) {
	s.Helper()
	s.must(s.live.Create(s.ctx, s.record("stays", "hook", "A stays 192.0.2.1")))
	s.must(s.live.Create(s.ctx, s.record("goes", "hook", "A goes 192.0.2.2")))
	s.settled()
	s.must(s.live.Delete(s.ctx, s.record("goes", "hook", "A goes 192.0.2.2")))
	s.serves(map[string]string{"stays.example.com. A": "300 192.0.2.1"})
	s.eventually("both requests are answered", func() error { // BIND has it before the server has answered
		for _, x := range p.take() {
			switch {
			case x.status == http.StatusOK && x.method == http.MethodPost && bytes.Contains(x.body, []byte(`"goes"`)):
				post = x
			case x.status == http.StatusOK && (x.method == http.MethodDelete || bytes.Contains(x.body, []byte(`"delete"`))):
				remove = x
			}
		}
		if post.method == "" || remove.method == "" {
			return fmt.Errorf("the operator sent no POST or no DELETE: %q, %q", post.method, remove.method)
		}
		return nil
	})
	return post, remove
}

// tampered are changes of a request that was signed.
var tampered = []struct {
	sentence string
	change   func(x *exchange)
	want     dnshook.Code
}{
	{"it comes once more", func(*exchange) {}, dnshook.CodeNonceReused},
	{"another body", func(x *exchange) {
		x.body = bytes.Replace(x.body, []byte("192.0.2.2"), []byte("192.0.2.6"), 1)
	}, dnshook.CodeAuthFailed},
	{"a longer body", func(x *exchange) { x.body = append(x.body, '\n') }, dnshook.CodeAuthFailed},
	{"another path", func(x *exchange) {
		x.method, x.path, x.body = "DELETE", "/records/A/example.com/stays", nil
	}, dnshook.CodeAuthFailed},
	{"another method", func(x *exchange) { x.method, x.path = "GET", "/health" }, dnshook.CodeAuthFailed},
	{"a new nonce", func(x *exchange) { x.header.Set(dnshook.HeaderNonce, dnshook.NewNonce()) }, dnshook.CodeAuthFailed},
	{"a new time", func(x *exchange) {
		x.header.Set(dnshook.HeaderTimestamp, time.Now().Add(time.Minute).UTC().Format(time.RFC3339))
	}, dnshook.CodeAuthFailed},
	{"a signature with one other digit", func(x *exchange) {
		digits := []byte(x.header.Get(dnshook.HeaderSignature))
		if digits[0]++; digits[0] > '8' {
			digits[0] = '0'
		}
		x.header.Set(dnshook.HeaderSignature, string(digits))
	}, dnshook.CodeAuthFailed},
	{"it is not signed", func(x *exchange) { unsign(x) }, dnshook.CodeAuthFailed},
	{"it has no nonce", func(x *exchange) { x.header.Del(dnshook.HeaderNonce) }, dnshook.CodeAuthFailed},
	{"it was signed six minutes ago", func(x *exchange) { resign(x, "a secret of sixteen", -6*time.Minute) },
		dnshook.CodeTimestampStale},
	{"it is signed six minutes ahead", func(x *exchange) { resign(x, "a secret of sixteen", 6*time.Minute) },
		dnshook.CodeTimestampStale},
	{"it is signed with another secret", func(x *exchange) { resign(x, "A secret of sixteen", 0) },
		dnshook.CodeAuthFailed},
}

func unsign(x *exchange) {
	for _, name := range []string{dnshook.HeaderNonce, dnshook.HeaderTimestamp, dnshook.HeaderSignature} {
		x.header.Del(name)
	}
}

// resign signs a request anew, as at another time.
func resign(x *exchange, secret string, off time.Duration) {
	r, err := http.NewRequest(x.method, "http://server"+x.path, http.NoBody)
	if err == nil {
		err = dnshook.Key{Secret: []byte(secret)}.SignRequest(r, x.body, time.Now().Add(off), dnshook.NewNonce())
	}
	if err != nil {
		panic(err)
	}
	for _, name := range []string{dnshook.HeaderNonce, dnshook.HeaderTimestamp, dnshook.HeaderSignature} {
		x.header.Set(name, r.Header.Get(name))
	}
}

func TestRequestsOfOthersAreRefused(t *testing.T) {
	s := newSite(t)
	s.secret("hmac", "a secret of sixteen")
	h := s.hook("--secret-file", s.file("hmac", "a secret of sixteen"))
	p := newProxy(t, h.URL)
	s.class("hook", p.URL, 10, s.signed("hmac", "SHA256"))
	s.operate()
	post, remove := s.recorded(p)
	before, err := s.bind.Serial(s.ctx, parseName(zone))
	s.must(err)
	for _, c := range tampered {
		for _, original := range []exchange{post, remove} {
			x := original
			x.header, x.body = original.header.Clone(), bytes.Clone(original.body)
			if c.change(&x); c.sentence == "another body" && len(x.body) == 0 {
				continue
			}
			answer, err := x.send(s.ctx, h.URL)
			s.must(err)
			if answer.status != http.StatusUnauthorized || !strings.Contains(string(answer.text), fmt.Sprintf("%q", c.want)) {
				t.Errorf("%s: a recorded %s is answered %d %s", c.sentence, original.method, answer.status, answer.text)
			}
		}
	}
	x := post
	x.header = post.header.Clone()
	resign(&x, "a secret of sixteen", 0)
	if after, err := s.bind.Serial(s.ctx, parseName(zone)); err != nil || after != before {
		t.Errorf("BIND's zone has changed: serial %d, it was %d: %v", after, before, err)
	}
	if answer, err := x.send(s.ctx, h.URL); err != nil || answer.status != http.StatusOK {
		t.Errorf("the same request with a signature of now is refused, so that the others prove nothing: %v %s", err,
			answer.text)
	}
}

func TestSecretsRotateWhileChangesFlow(t *testing.T) {
	s := newSite(t)
	s.secret("hmac", "secret of sixteen 0")
	file := s.file("hmac", "secret of sixteen 0")
	p := newProxy(t, s.hook("--secret-file", file).URL)
	s.class("hook", p.URL, 10, s.signed("hmac", "SHA256"))
	s.operate()
	f := s.stream("hook", 8)
	flow := func() {
		for range 20 {
			f.step()
		}
		s.settled()
	}
	flow()
	for n := 1; n <= 3; n++ { // the server first: it knows both for a while
		s.file("hmac", fmt.Sprint("secret of sixteen ", n))
		flow()
		s.secret("hmac", fmt.Sprint("secret of sixteen ", n))
		flow()
	}
	refused := func() (n int) {
		for _, x := range p.take() {
			if x.status == http.StatusUnauthorized {
				n++
			}
		}
		return n
	}
	if n := refused(); n != 0 {
		t.Errorf("%d requests were refused, although the server knew both secrets", n)
	}
	s.secret("hmac", "secret of sixteen 4") // the operator first: it is refused until the server knows
	for range 20 {
		f.step()
	}
	s.eventually("the server refuses what is signed with a secret that it does not know", func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, x := range p.seen {
			if x.status == http.StatusUnauthorized && x.path != "/health" {
				return nil
			}
		}
		return fmt.Errorf("none of %d requests", len(p.seen))
	})
	s.file("hmac", "secret of sixteen 4")
	s.settled()
	s.serves(f.zone())
	s.gone()
}
