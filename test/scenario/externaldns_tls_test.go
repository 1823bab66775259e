package scenario

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// webhookName is what certificates are for: the Service before all replicas, and none of their addresses.
const webhookName = "zonefold-external-dns.zonefold-system.svc"

// A certified folder has a certificate as kubelet mounts a Secret: a link leads to what is valid now.
type certified struct {
	*scene
	folder string
	issued int64
}

func (s *scene) certified() *certified {
	return &certified{scene: s, folder: s.t.TempDir()}
}

// issue has the folder have another certificate from one moment to the next, and returns who trusts that alone.
func (c *certified) issue() *http.Client {
	c.t.Helper()
	c.issued++
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	c.must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(c.issued), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{webhookName}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	c.must(err)
	own, err := x509.MarshalPKCS8PrivateKey(key)
	c.must(err)
	version := fmt.Sprintf("..%d", c.issued)
	c.must(os.Mkdir(filepath.Join(c.folder, version), 0o700))
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: own},
	} {
		c.must(os.WriteFile(filepath.Join(c.folder, version, name), pem.EncodeToMemory(block), 0o600))
		if c.issued == 1 {
			c.must(os.Symlink(filepath.Join("..data", name), filepath.Join(c.folder, name)))
		}
	}
	next := filepath.Join(c.folder, "..next")
	c.must(os.Symlink(version, next))
	c.must(os.Rename(next, filepath.Join(c.folder, "..data")))
	pool := x509.NewCertPool()
	certificate, err := x509.ParseCertificate(der)
	c.must(err)
	pool.AddCert(certificate)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: pool, ServerName: webhookName}}
	return &http.Client{Transport: transport}
}

func (c *certified) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// try makes a request, and says what came of it.
func (h webhook) try(method, path, body string) string {
	r, err := http.NewRequestWithContext(h.ctx, method, "https://"+h.address+path, strings.NewReader(h.text(body)))
	if err != nil {
		return err.Error()
	}
	r.SetBasicAuth("external-dns", h.token)
	got, err := h.secure.Do(r)
	if err != nil {
		return err.Error()
	}
	defer got.Body.Close()
	return got.Status
}

// Replicas that do not lead pass on over TLS, to a leader whose certificate is theirs, and to nobody else.
func TestFollowersPassExternalDNSOnOverTLS(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	port := s.webhookPort()
	all := s.replicas(3, "--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s",
		"--leader-elect-retry-period=500ms")
	s.secret(testoperator.Namespace, s.prefix+"token", externalDNSToken, nil)
	s.apply(`backend b: {embedded: {externalDNS: [{secretRef: {name: ~token}, namespace: ~b}]}}
zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: [{namespace: ~b, records: [{pattern: "*"}]}]}
record b/www: {domainName: www.example.org., type: A, rdata: 192.0.2.80}`)
	shared, other := s.certified(), s.certified()
	folders := []*certified{shared, shared, other}
	trusts, stranger := shared.issue(), other.issue()
	hooks := make([]webhook, len(all))
	for i, r := range all {
		hooks[i] = webhook{scene: s, address: fmt.Sprintf("127.0.0.%d:%d", i+1, port), token: externalDNSToken,
			secure: trusts}
		r.args = append(r.args, "--external-dns-bind-address="+hooks[i].address, "--external-dns-cert-dir="+folders[i].folder)
		r.run()
		s.leads(all[0])
	}
	s.shown(all, "www.example.org. A", "192.0.2.80")
	writes := func(h webhook, label string) {
		t.Helper()
		one := fmt.Sprintf(`{"dnsName":"%s.example.org","recordType":"A","targets":["192.0.2.1"]}`, label)
		h.changes(`{"create":[`+one+`]}`, "")
		s.shown(all, label+".example.org. A", "192.0.2.1")
		h.lists(`[` + one + `]`)
		h.changes(`{"delete":[`+one+`]}`, "")
		h.lists(`[]`)
	}
	s.step("both that have the certificate answer", func() {
		writes(hooks[0], "leader")
		writes(hooks[1], "follower")
	})
	s.step("plain HTTP is refused", func() {
		plain := hooks[1]
		plain.secure = nil
		if status, said := plain.call(http.MethodGet, "/records", ""); status != http.StatusBadRequest {
			t.Errorf("the answer is %d: %s", status, said)
		}
	})
	s.step("one that has another certificate hands the token to nobody", func() {
		hooks[2].secure = stranger
		status, said := hooks[2].call(http.MethodGet, "/records", "")
		if status != http.StatusServiceUnavailable || !strings.Contains(said, "another certificate than this replica") {
			t.Errorf("the answer is %d: %s", status, said)
		}
	})
	s.step("a certificate that is renewed is shown, and passed on to, by both", func() {
		renewed := shared.issue()
		for i := range hooks[:2] {
			hooks[i].secure = renewed
			s.eventually(hooks[i].address, func() string {
				return strings.TrimPrefix(hooks[i].try(http.MethodGet, "/records", ""), "200 OK")
			})
			writes(hooks[i], "renewed")
		}
		hooks[1].secure = trusts
		if said := hooks[1].try(http.MethodGet, "/records", ""); !strings.Contains(said, "certificate") {
			t.Errorf("who trusts the former one alone is answered %q", said)
		}
	})
}
