package admission

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"reflect"
	"testing"
	"time"
)

// TestARingServesWhatIsTrusted follows a Secret through years, with API servers that hear of each step late.
func TestARingServesWhatIsTrusted(t *testing.T) {
	p := Policy{Names: []string{"zonefold-admission.dns.svc", "127.0.0.1"}, Lifetime: 90 * 24 * time.Hour,
		Rand: rand.Reader}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var data map[string][]byte
	bundle, served := []byte(nil), map[string]bool{}
	for range 20 {
		next, again, err := p.Advance(data, now)
		if err != nil {
			t.Fatal(err)
		}
		if data != nil { // what was written last is what API servers know, and this is served at once
			verify(t, p, next[keyCertificate], bundle, now)
		}
		verify(t, p, next[keyCertificate], next[keyTrusted], now)
		if !again.After(now) {
			t.Fatalf("at %s the next look is at %s", now, again)
		}
		same, later, err := p.Advance(next, now)
		if err != nil || !reflect.DeepEqual(same, next) || !later.Equal(again) {
			t.Fatalf("a second look at %s finds something else: %v", now, err)
		}
		if n := bytes.Count(next[keyTrusted], []byte("BEGIN")); n > 3 {
			t.Fatalf("%d certificates are trusted", n)
		}
		served[string(next[keyCertificate])] = true
		data, bundle, now = next, next[keyTrusted], again
	}
	if len(served) != 10 {
		t.Errorf("in twenty steps there were %d certificates", len(served))
	}
}

func verify(t *testing.T, p Policy, cert, bundle []byte, now time.Time) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	block, _ := pem.Decode(cert)
	pair, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range p.Names {
		if _, err := pair.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}); err != nil {
			t.Fatalf("at %s: %v", now, err)
		}
	}
}

func TestASpoiltRingIsMadeAnew(t *testing.T) {
	p := Policy{Names: []string{"a.svc"}, Lifetime: time.Hour, Rand: rand.Reader}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	good, _, err := p.Advance(nil, now)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data  map[string][]byte
		after time.Duration
		names []string
	}{
		"nothing is there": {data: map[string][]byte{}},
		"the certificate is no certificate": {data: map[string][]byte{keyCertificate: []byte("x"),
			keyPrivate: good[keyPrivate]}},
		"the key is another one's": {data: map[string][]byte{keyCertificate: good[keyCertificate],
			keyPrivate: []byte("x")}},
		"nobody renewed it":           {data: good, after: 2 * time.Hour},
		"the server has another name": {data: good, names: []string{"b.svc"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := p
			if c.names != nil {
				q.Names = c.names
			}
			at := now.Add(c.after)
			next, _, err := q.Advance(c.data, at)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(next[keyCertificate], good[keyCertificate]) {
				t.Error("the certificate is the same")
			}
			if _, err := tls.X509KeyPair(next[keyCertificate], next[keyPrivate]); err != nil {
				t.Error(err)
			}
			verify(t, q, next[keyCertificate], next[keyTrusted], at)
		})
	}
}
