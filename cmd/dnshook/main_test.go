package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/dnshook/conformance"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
)

// patience is how long a condition may take.
const patience = 20 * time.Second

const tsigSecret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func parseName(t *testing.T, s string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// site is BIND with the zones example.com and example.net, and a folder for files.
type site struct {
	*testing.T
	dir  string
	bind *nameserver.Server
	dns  string
	args []string // what reaches it
	env  map[string]string
}

func (s *site) getenv(name string) string { return s.env[name] }

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, dir: t.TempDir()}
	var err error
	s.bind, err = nameserver.StartBIND(t.Context(), nameserver.Options{
		Dir: t.TempDir(), Zones: []nameserver.Zone{{Name: parseName(t, "example.com.")},
			{Name: parseName(t, "example.net.")}},
		Keys: []nameserver.TSIG{{Name: parseName(t, "hook."), Algorithm: "hmac-sha256", Secret: tsigSecret}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.bind.Close)
	s.dns = s.bind.Addr()
	s.args = []string{
		"--rfc2136", s.bind.Addr(), "--tsig-name", "hook", "--tsig-secret-file",
		write(t, filepath.Join(s.dir, "tsig"), tsigSecret+"\n"),
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--zone", "example.com", "--zone", "example.net.",
	}
	return s
}

// program is one run of the command.
type program struct {
	*testing.T
	mu             sync.Mutex
	log            bytes.Buffer
	url, admin     string
	dns            string // where it answers questions itself
	end            func()
	ended, started chan struct{}
	err            error
}

// Write takes what is logged.
func (p *program) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var said struct {
		Msg, Address, Admin string
		DNS                 []string
	}
	if json.Unmarshal(line, &said) == nil && said.Msg == "listening" {
		p.url, p.admin = "http://"+said.Address, "http://"+said.Admin
		p.dns = strings.Join(said.DNS, "")
		close(p.started)
	}
	return p.log.Write(line)
}

func (p *program) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// start runs the command until the test, or end, ends it.
func (s *site) start(args ...string) *program {
	s.Helper()
	p := &program{T: s.T, ended: make(chan struct{}), started: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		p.err = run(ctx, append(append([]string{}, s.args...), args...), surroundings{s.getenv, time.Now, p})
		close(p.ended)
	}()
	p.end = func() { cancel(); <-p.ended }
	s.Cleanup(p.end)
	select {
	case <-p.started:
	case <-p.ended:
		s.Fatalf("it ended: %v\n%s", p.err, p.logged())
	case <-time.After(patience):
		s.Fatalf("it did not start:\n%s", p.logged())
	}
	return p
}

func (p *program) client(secret string, transport http.RoundTripper) *dnshook.Client {
	p.Helper()
	cfg := dnshook.ClientConfig{Server: p.url, Now: time.Now, Timeout: patience, Transport: transport}
	if secret != "" {
		cfg.Keys = func() (dnshook.Key, error) { return dnshook.Key{Secret: []byte(secret)}, nil }
	}
	c, err := dnshook.NewClient(cfg)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(c.Close)
	return c
}

// dig returns what the DNS server answers.
func (s *site) dig(name string, kind uint16) string {
	s.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, kind)
	answer, _, err := new(dns.Client).ExchangeContext(s.Context(), m, s.dns)
	if err != nil {
		s.Fatal(err)
	}
	var out []string
	for _, r := range answer.Answer {
		out = append(out, strings.Join(strings.Fields(strings.TrimPrefix(r.String(), r.Header().String())), " "))
	}
	return strings.Join(out, ",")
}

func (p *program) fetch(path string) (int, string) {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.admin+path, nil)
	if err != nil {
		p.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func a(domain, subdomain, value string) dnshook.Record {
	return dnshook.Record{Type: "A", Domain: domain, Subdomain: subdomain, Values: []string{value}, TTL: 60}
}

func TestUnsigned(t *testing.T) {
	s := newSite(t)
	p := s.start("--unsigned")
	c := p.client("", nil)
	for _, r := range []dnshook.Record{a("example.com", "www", "192.0.2.1"), a("example.net", "www", "192.0.2.2")} {
		if _, err := c.Upsert(t.Context(), r); err != nil {
			t.Error(err)
		}
	}
	if got := s.dig("www.example.com.", dns.TypeA) + " " +
		s.dig("www.example.net.", dns.TypeA); got != "192.0.2.1 192.0.2.2" {
		t.Errorf("BIND answers %s", got)
	}
	if _, err := c.Upsert(t.Context(), a("example.org", "www", "192.0.2.1")); dnshook.CodeOf(
		err) != dnshook.CodeInvalidDomain {
		t.Errorf("a zone that is not allowed comes to %v", err)
	}
	if status, _ := p.fetch("/readyz"); status != http.StatusOK {
		t.Errorf("/readyz is answered %d", status)
	}
	if _, text := p.fetch("/metrics"); !strings.Contains(text,
		`dnshook_requests_total{code="",endpoint="records",status="200"} 2`) ||
		!strings.Contains(text, `dnshook_requests_total{code="INVALID_DOMAIN",endpoint="records",status="400"} 1`) {
		t.Errorf("it counts\n%s", text)
	}
	if err := s.bind.Stop(); err != nil {
		t.Fatal(err)
	}
	if status, _ := p.fetch("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("without BIND /readyz is answered %d", status)
	}
	if status, _ := p.fetch("/healthz"); status != http.StatusOK {
		t.Errorf("without BIND /healthz is answered %d", status)
	}
	if _, err := c.Health(t.Context()); err == nil {
		t.Error("without BIND it is well")
	}
}

func TestSecretsAreReplacedAndRestartsLoseNothing(t *testing.T) {
	s := newSite(t)
	const more = " secret of sixteen"
	file := write(t, filepath.Join(s.dir, "secret"), "first"+more)
	p := s.start("--secret-file", file)
	upsert := func(secret string, r dnshook.Record) error {
		_, err := p.client(secret+more, nil).Upsert(t.Context(), r)
		return err
	}
	if err := upsert("first", a("example.com", "one", "192.0.2.1")); err != nil {
		t.Error(err)
	}
	if err := upsert("second", a("example.com", "two", "192.0.2.2")); dnshook.CodeOf(err) != dnshook.CodeAuthFailed {
		t.Errorf("a secret that is to come: %v", err)
	}
	write(t, file, "second"+more)
	for _, secret := range []string{"second", "first"} {
		if err := upsert(secret, a("example.com", secret, "192.0.2.3")); err != nil {
			t.Errorf("with the %s secret: %v", secret, err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := upsert("second", a("example.com", "two", "192.0.2.2")); err != nil {
		t.Errorf("without the file: %v", err)
	}
	write(t, file, "second"+more)
	p.end()
	if p.err != nil {
		t.Errorf("it ended with %v and logged\n%s", p.err, p.logged())
	}
	p = s.start("--secret-file", file, "--secret-grace", "0s")
	if err := p.client("second"+more, nil).Delete(t.Context(), a("example.com", "one", "").ID()); err != nil {
		t.Error(err)
	}
	if err := upsert("first", a("example.com", "one", "192.0.2.1")); dnshook.CodeOf(err) != dnshook.CodeAuthFailed {
		t.Errorf("an old secret after the restart: %v", err)
	}
	got := ""
	for _, name := range []string{"one", "two", "first", "second"} {
		got += name + " " + s.dig(name+".example.com.", dns.TypeA) + "\n"
	}
	if got != "one \ntwo 192.0.2.2\nfirst 192.0.2.3\nsecond 192.0.2.3\n" {
		t.Errorf("BIND answers\n%s", got)
	}
}

// TestEmbedded has this process answer, end, and answer again.
func TestEmbedded(t *testing.T) {
	s := &site{T: t, dir: t.TempDir()}
	s.args = []string{"--embedded", "127.0.0.1:0", "--data", filepath.Join(s.dir, "data"), "--listen", "127.0.0.1:0",
		"--admin", "", "--zone", "example.com", "--unsigned"}
	p := s.start()
	if _, err := p.client("", nil).Upsert(t.Context(), a("example.com", "www", "192.0.2.1")); err != nil {
		t.Error(err)
	}
	for range 2 {
		s.dns = p.dns
		if got := s.dig("www.example.com.", dns.TypeA); got != "192.0.2.1" {
			t.Errorf("it answers %q", got)
		}
		p.end()
		p = s.start("--allow-transfer", "127.0.0.0/8")
	}
	results, err := conformance.Run(t.Context(), conformance.Config{Server: p.url, Domain: "example.com", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Verdict != conformance.Pass {
			t.Errorf("%s: %s: %s", r.Check, r.Verdict, r.Sentence)
		}
	}
}

// certificate writes a new certificate, and returns the pool that trusts it.
func certificate(t *testing.T, dir string, serial int64) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	write(t, filepath.Join(dir, "tls.crt"), cert)
	write(t, filepath.Join(dir, "tls.key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: own})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(cert))
	return pool
}

func TestCertificatesAreReplaced(t *testing.T) {
	s := newSite(t)
	pool := certificate(t, s.dir, 1)
	p := s.start("--unsigned", "--tls-cert", filepath.Join(s.dir, "tls.crt"), "--tls-key", filepath.Join(s.dir, "tls.key"))
	p.url = strings.Replace(p.url, "http:", "https:", 1)
	well := func(pool *x509.CertPool) error {
		_, err := p.client("", &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool,
			MinVersion: tls.VersionTLS12}}).Health(t.Context())
		return err
	}
	if err := well(pool); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(s.dir, "tls.crt"), "half")
	if err := well(pool); err != nil {
		t.Errorf("with a broken file: %v", err)
	}
	other := certificate(t, s.dir, 2)
	if err := well(other); err != nil {
		t.Errorf("with the new certificate: %v", err)
	}
	if err := well(pool); err == nil {
		t.Error("the old certificate is still used")
	}
}

func TestWrongUsage(t *testing.T) {
	dir := t.TempDir()
	empty := write(t, filepath.Join(dir, "empty"), "")
	good := write(t, filepath.Join(dir, "good"), "a secret of sixteen")
	short := write(t, filepath.Join(dir, "short"), "s3cret! s3cret!")
	tsig := write(t, filepath.Join(dir, "tsig"), "czNjcmV0IXMzY3JldCFz")
	for _, c := range []struct{ args, want string }{
		{"", "--provider"},
		{"serve", "--provider"},
		{"--provider cloudflare-dns", "--zone"},
		{"--zone example.com", "one of aws-route53, "},
		{"--zone example.com --provider cloudfare", "cloudflare-dns"},
		{"--zone example.com --rfc2136 127.0.0.1 --powerdns http://x", "--powerdns is not for rfc2136"},
		{"--zone example.com --provider cloudflare-dns --embedded 127.0.0.1:0", "--embedded is not for cloudflare-dns"},
		{"--zone example.com --provider embedded --unsigned", "--data"},
		{"--zone example.com=1 --provider embedded --unsigned --embedded 127.0.0.1:0 --data " + dir, "no IDs"},
		{"--zone example.com --provider embedded --unsigned --embedded 127.0.0.1:0 --data " + dir + " --provider-config a=b",
			"--provider-config"},
		{"--zone example.com --provider cloudflare-dns --unsigned", "CLOUDFLARE_API_TOKEN"},
		{"--zone example.com --provider google-clouddns --unsigned", "GOOGLE_APPLICATION_CREDENTIALS"},
		{"--zone example.com --provider external-dns-webhook --unsigned", "EXTERNAL_DNS_WEBHOOK_PROVIDER_URL"},
		{"--zone example.com --provider external-dns-webhook --unsigned --provider-config url", "name=value"},
		{"--zone example.com --provider aws-route53 --unsigned --provider-config colour=red", "colour"},
		{"--zone example.com --provider rfc2136 --unsigned", "RFC2136_NAMESERVER"},
		{"--zone example.com --rfc2136 127.0.0.1", "--secret-file"},
		{"--zone example.com --rfc2136 127.0.0.1 --unsigned --secret-file x", "--unsigned"},
		{"--zone example.com --rfc2136 127.0.0.1 --secret-file " + dir + "/none", "reading a secret"},
		{"--zone example.com --rfc2136 127.0.0.1 --secret-file " + empty, "is empty"},
		{"--zone example.com --rfc2136 127.0.0.1 --secret-file " + short, "short: the secret has 15 octets, fewer than 16"},
		{"--zone example.com --rfc2136 127.0.0.1 --unsigned --tsig-name x --tsig-secret-file " + tsig,
			"the secret has 15 octets, fewer than 16"},
		{"--zone example.com --rfc2136 127.0.0.1 --algorithm MD5 --secret-file " + good, "MD5"},
		{"--zone example.com --rfc2136 127.0.0.1 --unsigned --tsig-name x", "--tsig-secret-file"},
		{"--zone example.com --rfc2136 127.0.0.1 --unsigned --tls-cert x", "--tls-key"},
		{"--zone example.com --rfc2136 127.0.0.1 --unsigned --tls-cert x --tls-key x", "certificate"},
		{"--zone example.com --powerdns http://127.0.0.1 --unsigned", "--powerdns-key-file"},
		{"--zone a..b --rfc2136 127.0.0.1 --unsigned", "a..b"},
		{"--zone a --embedded 127.0.0.1:0 --unsigned", "--data"},
		{"--zone a --embedded nowhere --unsigned --data " + dir, "nowhere"},
		{"--zone a --embedded 127.0.0.1:0 --unsigned --allow-transfer friends --data " + dir, "friends"},
		{"--zone a --zone a. --rfc2136 127.0.0.1 --unsigned", "twice"},
		{"--zone a --rfc2136 127.0.0.1 --unsigned --listen nowhere", "--listen"},
		{"--zone a --rfc2136 127.0.0.1 --unsigned serve", `"serve"`},
		{"--nothing", "nothing"},
	} {
		err := run(t.Context(), strings.Fields(c.args), surroundings{(&site{}).getenv, time.Now, io.Discard})
		if err == nil || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
}
