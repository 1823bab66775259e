package dnshook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

const (
	secret  = "my-shared-secret-key"
	nonce   = "550e8400-e29b-41d4-a716-446655440000"
	example = `{"record":{"type":"A","domain":"example.com","subdomain":"www","values":["192.168.1.100","192.168.1.101"],"ttl":600},"operation":"upsert"}`
)

var noon = time.Date(2025, 12, 30, 10, 0, 0, 0, time.UTC)

// TestSignatures are those that the existing operator makes.
func TestSignatures(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		algorithm          dnshook.Algorithm
		want               string
	}{
		{"POST", "/records", example, "", "2e847b2da8eb810f23c595d131cf7bdac83eda1a87c433ff11ca8b1ce10b98ab"},
		{"POST", "/records", example, dnshook.SHA256, "2e847b2da8eb810f23c595d131cf7bdac83eda1a87c433ff11ca8b1ce10b98ab"},
		{"POST", "/records", example, dnshook.SHA512,
			"988f9a8bf48ae95f42f23b8e29174d94fa4b816a806840e9cac6fdff12421a4a" +
				"d79b69e2e3595c932838286a15dd3f3a85d57ced5e08a3b40910ecf273519753"},
		{"DELETE", "/records/A/example.com/www", "", "", "f9ba3580fde4c4829f865b36b2d1b79f0d0b26a4d6b3a76d551336919283e318"},
		{"DELETE", "/records/A/example.com/@", "", "", "c40c99305605d0788e83556006feeb9201231a25b100a13801840c0034e0343a"},
		{"DELETE", "/records/A/example.com/*", "", "", "cd7aae604d6fcd6e61ddc33d5300dbe0c798f513b814b95adb3ff9da46506fb3"},
		{"GET", "/health", "", "", "0257949edf60d44251530f193766b341d9c6c8db186ba7c2cbe27a6846bff5d9"},
	} {
		t.Run(fmt.Sprintf("%s %s with %q", c.method, c.path, c.algorithm), func(t *testing.T) {
			r := httptest.NewRequest(c.method, "http://dns.example"+c.path, strings.NewReader(c.body))
			k := dnshook.Key{Secret: []byte(secret), Algorithm: c.algorithm}
			if err := k.SignRequest(r, []byte(c.body), noon, nonce); err != nil {
				t.Fatal(err)
			}
			if got := r.Header.Get(dnshook.HeaderSignature); got != c.want {
				t.Errorf("it is signed\n%s\nwant\n%s", got, c.want)
			}
			if at, n := r.Header.Get(dnshook.HeaderTimestamp), r.Header.Get(dnshook.HeaderNonce); at != "2025-12-30T10:00:00Z" ||
				n != nonce {
				t.Errorf("the other headers are %q and %q", at, n)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	for _, c := range []struct {
		sentence string
		change   func(*http.Request)
		body     string
		want     dnshook.Code
	}{
		{"as it was signed", func(*http.Request) {}, example, ""},
		{"the signature in upper case", func(r *http.Request) {
			r.Header.Set(dnshook.HeaderSignature, strings.ToUpper(r.Header.Get(dnshook.HeaderSignature)))
		}, example, ""},
		{"another body", func(*http.Request) {}, strings.Replace(example, "100", "200", 1), dnshook.CodeAuthFailed},
		{"no body", func(*http.Request) {}, "", dnshook.CodeAuthFailed},
		{"another path", func(r *http.Request) { r.RequestURI = "/records/" }, example, dnshook.CodeAuthFailed},
		{"a query, which is not signed", func(r *http.Request) { r.RequestURI = "/records?x" }, example, ""},
		{"another method", func(r *http.Request) { r.Method = "PUT" }, example, dnshook.CodeAuthFailed},
		{"another nonce", func(r *http.Request) { r.Header.Set(dnshook.HeaderNonce, "x") }, example, dnshook.CodeAuthFailed},
		{"another time of the window", func(r *http.Request) {
			r.Header.Set(dnshook.HeaderTimestamp, "2025-12-30T10:00:01Z")
		}, example, dnshook.CodeAuthFailed},
		{"the same time in another zone, which is signed as text", func(r *http.Request) {
			r.Header.Set(dnshook.HeaderTimestamp, "2025-12-30T11:00:00+01:00")
		}, example, dnshook.CodeAuthFailed},
		{"a time that is none", func(r *http.Request) { r.Header.Set(dnshook.HeaderTimestamp, "now") }, example,
			dnshook.CodeAuthFailed},
		{"a time long ago", func(r *http.Request) { r.Header.Set(dnshook.HeaderTimestamp, "2025-12-30T09:54:59Z") }, example,
			dnshook.CodeTimestampStale},
		{"a time to come", func(r *http.Request) { r.Header.Set(dnshook.HeaderTimestamp, "2025-12-30T10:05:01Z") }, example,
			dnshook.CodeTimestampStale},
		{"no signature", func(r *http.Request) { r.Header.Del(dnshook.HeaderSignature) }, example, dnshook.CodeAuthFailed},
		{"two signatures", func(r *http.Request) { r.Header.Add(dnshook.HeaderSignature, "00") }, example,
			dnshook.CodeAuthFailed},
		{"a signature that is no number", func(r *http.Request) { r.Header.Set(dnshook.HeaderSignature, "xyz") }, example,
			dnshook.CodeAuthFailed},
		{"half of the signature", func(r *http.Request) {
			r.Header.Set(dnshook.HeaderSignature, r.Header.Get(dnshook.HeaderSignature)[:32])
		}, example, dnshook.CodeAuthFailed},
		{"no nonce", func(r *http.Request) { r.Header.Del(dnshook.HeaderNonce) }, example, dnshook.CodeAuthFailed},
		{"an endless nonce", func(r *http.Request) { r.Header.Set(dnshook.HeaderNonce, strings.Repeat("x", 257)) }, example,
			dnshook.CodeAuthFailed},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			v, r := verifier(secret), signed(t, secret, nonce)
			c.change(r)
			if got := dnshook.CodeOf(v.Verify(t.Context(), r, []byte(c.body))); got != c.want {
				t.Errorf("it is answered with %q, want %q", got, c.want)
			}
			if n := v.Nonces.(*dnshook.MemoryNonces); c.want != "" {
				if fresh, err := n.Use(t.Context(), nonce, noon, noon.Add(time.Hour)); err != nil || !fresh {
					t.Error("the nonce of a request that is refused was noted")
				}
			}
		})
	}
}

// TestALineFeedForNoBody is about the document's words, by which the separator may also stand where no body follows.
func TestALineFeedForNoBody(t *testing.T) {
	for _, c := range []struct {
		sentence, body, after string
		want                  dnshook.Code
	}{
		{"nothing after the nonce", "", "", ""},
		{"a line feed after the nonce", "", "\n", ""},
		{"two line feeds after the nonce", "", "\n\n", dnshook.CodeAuthFailed},
		{"a line feed after a body", "{}", "\n{}\n", dnshook.CodeAuthFailed},
		{"a body that is not there", "", "\n{}", dnshook.CodeAuthFailed},
	} {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = io.WriteString(mac, "GET\n/health\n2025-12-30T10:00:00Z\n"+nonce+c.after)
		r := httptest.NewRequest(http.MethodGet, "/health", nil)
		r.Header.Set(dnshook.HeaderTimestamp, "2025-12-30T10:00:00Z")
		r.Header.Set(dnshook.HeaderNonce, nonce)
		r.Header.Set(dnshook.HeaderSignature, hex.EncodeToString(mac.Sum(nil)))
		if got := dnshook.CodeOf(verifier(secret).Verify(t.Context(), r, []byte(c.body))); got != c.want {
			t.Errorf("%s is answered with %q, want %q", c.sentence, got, c.want)
		}
	}
}

func verifier(secrets ...string) *dnshook.Verifier {
	var keys []dnshook.Key
	for _, s := range secrets {
		keys = append(keys, dnshook.Key{Secret: []byte(s)})
	}
	return &dnshook.Verifier{
		Keys: func() ([]dnshook.Key, error) { return keys, nil }, Nonces: &dnshook.MemoryNonces{}, Now: func() time.Time {
			return noon
		},
	}
}

func signed(t *testing.T, secret, nonce string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/records", strings.NewReader(example))
	if err := (dnshook.Key{Secret: []byte(secret)}).SignRequest(r, []byte(example), noon, nonce); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerifyTakesEachKeyAndNoRequestTwice(t *testing.T) {
	v := verifier("the old secret of all", "the new secret of all")
	for i, k := range []string{"the old secret of all", "the new secret of all"} {
		r := signed(t, k, fmt.Sprint("n", i))
		if err := v.Verify(t.Context(), r, []byte(example)); err != nil {
			t.Errorf("with the %s key: %v", k, err)
		}
		if got := dnshook.CodeOf(v.Verify(t.Context(), r, []byte(example))); got != dnshook.CodeNonceReused {
			t.Errorf("a request that was sent before is answered with %q", got)
		}
	}
	if got := dnshook.CodeOf(v.Verify(t.Context(), signed(t, "a third secret of all", "n"),
		[]byte(example))); got != dnshook.CodeAuthFailed {
		t.Errorf("another key is answered with %q", got)
	}
	v.Keys = func() ([]dnshook.Key, error) { return nil, nil }
	if got := dnshook.CodeOf(v.Verify(t.Context(), signed(t, "", "n"), []byte(example))); got != dnshook.CodeServerError {
		t.Errorf("without a key it is answered with %q", got)
	}
	for _, secret := range []string{"", "guessed at once"} {
		if got := dnshook.CodeOf(verifier(secret).Verify(t.Context(), signed(t, secret, "n"),
			[]byte(example))); got != dnshook.CodeServerError {
			t.Errorf("with the secret %q alone it is answered with %q", secret, got)
		}
		v := verifier(secret, "the new secret of all")
		if got := dnshook.CodeOf(v.Verify(t.Context(), signed(t, secret, "n"),
			[]byte(example))); got != dnshook.CodeAuthFailed {
			t.Errorf("with the secret %q among others it is answered with %q", secret, got)
		}
	}
}

// TestAReplayAtTheEndOfTheWindow has a request that was signed by a clock that is ahead as far as it may be.
func TestAReplayAtTheEndOfTheWindow(t *testing.T) {
	v := verifier(secret)
	now := noon.Add(-dnshook.Window)
	v.Now = func() time.Time { return now }
	if err := v.Verify(t.Context(), signed(t, secret, nonce), []byte(example)); err != nil {
		t.Fatal(err)
	}
	now = noon.Add(dnshook.Window)
	if got := dnshook.CodeOf(v.Verify(t.Context(), signed(t, secret, nonce),
		[]byte(example))); got != dnshook.CodeNonceReused {
		t.Errorf("it is answered with %q", got)
	}
}

func TestMemoryNoncesForgetNoneBeforeItsTime(t *testing.T) {
	n := &dnshook.MemoryNonces{Max: 2}
	use := func(nonce string, at int, want bool, wantErr error) {
		t.Helper()
		now := noon.Add(time.Duration(at) * time.Second)
		fresh, err := n.Use(t.Context(), nonce, now, now.Add(10*time.Second))
		if fresh != want || !errors.Is(err, wantErr) {
			t.Errorf("%s after %d s: %v, %v", nonce, at, fresh, err)
		}
	}
	use("a", 0, true, nil)
	use("b", 5, true, nil)
	use("a", 9, false, nil)
	use("c", 9, false, dnshook.ErrNoncesFull)
	use("c", 10, true, nil)
	use("a", 10, false, dnshook.ErrNoncesFull)
	use("b", 14, false, nil)
	use("a", 15, true, nil)
}

func TestMemoryNoncesTakeOneOfManyAtOnce(t *testing.T) {
	n := &dnshook.MemoryNonces{}
	var wait sync.WaitGroup
	took := make(chan bool, 50)
	for range cap(took) {
		wait.Go(func() {
			fresh, _ := n.Use(context.Background(), nonce, noon, noon.Add(time.Minute))
			took <- fresh
		})
	}
	wait.Wait()
	close(took)
	count := 0
	for fresh := range took {
		if fresh {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d of %d got it", count, cap(took))
	}
}

func TestNoncesAreUUIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		n := dnshook.NewNonce()
		if len(n) != 36 || n[14] != '4' || !strings.ContainsRune("89ab", rune(n[19])) || seen[n] {
			t.Fatalf("%q", n)
		}
		seen[n] = true
	}
}
