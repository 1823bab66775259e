package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestOnlySoManyReviewsAreUnderWay(t *testing.T) {
	var under, most atomic.Int64
	gate, entered := make(chan struct{}), make(chan struct{}, 3*concurrency)
	s := httptest.NewServer(bound(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		n := under.Add(1)
		defer under.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		entered <- struct{}{}
		<-gate
	}), time.Now))
	defer s.Close()
	answers := make(chan int, 3*concurrency)
	for range 3 * concurrency {
		go func() {
			resp, err := http.Post(s.URL, "application/json", strings.NewReader("{}"))
			if err != nil {
				answers <- 0
				return
			}
			_ = resp.Body.Close()
			answers <- resp.StatusCode
		}()
	}
	for range concurrency {
		<-entered
	}
	for range 2 * concurrency { // who does not get a turn is told so while the others are under way
		if got := <-answers; got != http.StatusServiceUnavailable {
			t.Errorf("a review too many is answered %d", got)
		}
	}
	close(gate)
	for range concurrency {
		if got := <-answers; got != http.StatusOK {
			t.Errorf("a review is answered %d", got)
		}
	}
	if most.Load() != concurrency {
		t.Errorf("%d reviews were under way at a time", most.Load())
	}
}

func TestAReviewIsBounded(t *testing.T) {
	read := make(chan error, 1)
	s := httptest.NewServer(bound(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		read <- err
	}), time.Now))
	defer s.Close()
	resp, err := http.Post(s.URL, "application/json", strings.NewReader(strings.Repeat("x", maxReview+1)))
	if err == nil {
		_ = resp.Body.Close()
	}
	if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("one that says that it is too large: %v, %v", resp, err)
	}
	// says no length
	resp, err = http.Post(s.URL, "application/json", io.MultiReader(strings.NewReader(strings.Repeat("x", maxReview+1))))
	if err == nil {
		_ = resp.Body.Close()
	}
	if err := <-read; err == nil {
		t.Error("one that is too large, and does not say so, is read")
	}

	late := httptest.NewServer(bound(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		read <- err
	}), func() time.Time { return time.Now().Add(-2 * arrival) })) // its time is over when it comes
	defer late.Close()
	slow, w := io.Pipe()
	defer w.Close()
	go func() {
		if resp, err := http.Post(late.URL, "application/json", slow); err == nil {
			_ = resp.Body.Close()
		}
	}()
	if err := <-read; err == nil {
		t.Error("one that is sent slowly is waited for")
	}
}

// certificate makes one with a name, signed by another or by itself.
func certificate(t *testing.T, name string, by *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     by == nil, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestWhoMayAskForReviews(t *testing.T) {
	authority, another := certificate(t, "authority", nil), certificate(t, "another authority", nil)
	server, kubelet := certificate(t, "kube-apiserver", &authority), certificate(t, "kubelet", &authority)
	forged := certificate(t, "kube-apiserver", &another)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate[0]})
	for _, c := range []struct {
		name  string
		names []string
		shows []tls.Certificate
		may   bool
	}{
		{"the API server", []string{"kube-apiserver"}, []tls.Certificate{server}, true},
		{"any certificate of the authority, if no names are said", nil, []tls.Certificate{kubelet}, true},
		{"another certificate of the authority", []string{"kube-apiserver"}, []tls.Certificate{kubelet}, false},
		{"a certificate of another authority", []string{"kube-apiserver"}, []tls.Certificate{forged}, false},
		{"a Pod without a certificate", nil, nil, false},
	} {
		clients, err := NewClients(text, c.names)
		if err != nil {
			t.Fatal(err)
		}
		asked := false
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		clients.Require(s.TLS)
		s.Config.ErrorLog = nil
		s.StartTLS()
		web := s.Client()
		web.Transport.(*http.Transport).TLSClientConfig.Certificates = c.shows
		resp, err := web.Get(s.URL)
		if err == nil {
			_ = resp.Body.Close()
		}
		if (err == nil) != c.may || asked != c.may {
			t.Errorf("%s: %v", c.name, err)
		}
		s.Close()
	}
	if _, err := NewClients([]byte("x"), nil); err == nil {
		t.Error("a file without certificates is taken")
	}
}
