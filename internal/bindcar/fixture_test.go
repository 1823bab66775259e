package bindcar

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/nameserver"
)

const testToken = "the-token-of-the-tests"

// A fixture is a named with the configuration of a pod, and a Server beside it.
type fixture struct {
	*nameserver.Named
	t            testing.TB
	dir          string // of zones
	conf         string // of configuration
	dns, control uint16
	server       *Server
	url          string
	log          journal
}

// A journal is what servers log, of which one begins while another ends.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func testKey(name string) bind9.Key {
	return bind9.Key{Name: name, Algorithm: bind9.SHA256, Secret: base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
		"%-32s", name))}
}

// newFixture starts both. change is done to the settings.
func newFixture(t testing.TB, change func(*Settings)) *fixture {
	t.Helper()
	root := t.TempDir()
	f := &fixture{t: t, dir: filepath.Join(root, "zones"), conf: filepath.Join(root, "conf")}
	if err := os.Mkdir(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, port := range []*uint16{&f.dns, &f.control} {
		number, release, err := nameserver.ClaimPort()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		*port = number
	}
	f.keys(testKey("bindy-operator"))
	f.configure(bind9.Options{})
	f.startNamed()
	f.serve(change)
	return f
}

func (f *fixture) settings() Settings {
	return Settings{
		ZoneDir: f.dir, RNDC: fmt.Sprintf("127.0.0.1:%d", f.control), DNS: fmt.Sprintf("127.0.0.1:%d", f.dns),
		Keys: Keys{File: filepath.Join(f.conf, "keys", "rndc.key")}, UpdateACL: "bindy-update", Token: testToken,
		Limit: DefaultLimit(),
	}
}

// configure writes the files that an operator puts into a ConfigMap.
func (f *fixture) configure(o bind9.Options) {
	f.t.Helper()
	o.ConfigDir, o.DataDir, o.DNSPort, o.ControlPort, o.ListenOn, o.ListenOnV6 = f.conf, f.dir, f.dns, f.control, []string{
		"127.0.0.1"}, []string{"none"}
	files, err := bind9.Configuration(o)
	if err != nil {
		f.t.Fatal(err)
	}
	for name, text := range files {
		f.write(filepath.Join(f.conf, name), text)
	}
}

// keys writes the files that an operator puts into Secrets; the first key is the one in use.
func (f *fixture) keys(keys ...bind9.Key) {
	f.t.Helper()
	transfer := testKey("bindy-transfer")
	for purpose, ring := range map[bind9.Purpose]bind9.Ring{
		bind9.ForOperator: {Keys: keys, InUse: keys[0].Name},
		bind9.ForTransfer: {Keys: []bind9.Key{transfer}, InUse: transfer.Name},
	} {
		items, err := ring.Data(purpose, f.control)
		if err != nil {
			f.t.Fatal(err)
		}
		for name, text := range items {
			f.write(filepath.Join(f.conf, "keys", name), string(text))
		}
	}
}

func (f *fixture) write(path, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) startNamed() {
	f.t.Helper()
	client := bind9.Client{Address: fmt.Sprintf("127.0.0.1:%d", f.control),
		Keys: Keys{File: filepath.Join(f.conf, "keys", "rndc.key")}.current, Now: time.Now}
	status, err := bind9.ServerCommand("status")
	if err != nil {
		f.t.Fatal(err)
	}
	f.Named, err = nameserver.StartNamed(context.Background(), f.conf, filepath.Join(f.conf, "named.conf"), nil,
		func(ctx context.Context) error {
			_, err := client.Do(ctx, status)
			return err
		})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(f.Kill)
}

// serve starts a Server, as after a restart of its container.
func (f *fixture) serve(change func(*Settings)) {
	f.t.Helper()
	settings := f.settings()
	if change != nil {
		change(&settings)
	}
	server, err := New(Options{Settings: settings, Version: "1.2.3", Log: slog.New(slog.NewJSONHandler(&f.log, nil)),
		Now: time.Now})
	if err != nil {
		f.t.Fatal(err)
	}
	h := httptest.NewServer(server.Handler())
	f.t.Cleanup(h.Close)
	f.server, f.url = server, h.URL
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() { server.followKeys(ctx); done <- struct{}{} }()
	go func() { server.adopt(ctx); done <- struct{}{} }()
	f.t.Cleanup(func() { cancel(); <-done; <-done })
}

// call sends a request with the token and returns status and body.
func (f *fixture) call(method, path, body string) (int, string) {
	f.t.Helper()
	return f.send(method, path, body, "Authorization", "Bearer "+testToken)
}

// send sends a request with headers, names and values in turn. A body is JSON.
func (f *fixture) send(method, path, body string, headers ...string) (int, string) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	f.documented(req, resp, string(text))
	return resp.StatusCode, string(text)
}

// want makes a call that has to be answered so. %DIR% is the zone directory.
func (f *fixture) want(method, path, body string, status int, answer string) {
	f.t.Helper()
	gotStatus, got := f.call(method, path, body)
	if want := strings.ReplaceAll(answer, "%DIR%", f.dir); gotStatus != status || got != want {
		f.t.Errorf("%s %s\n%s\nis answered %d %s\nand not     %d %s", method, path, body, gotStatus, got, status, want)
	}
}

// ask returns the answer's records in one text, or its code.
func (f *fixture) ask(name, typ string) string {
	f.t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, dns.StringToType[typ])
	answer, _, err := new(dns.Client).Exchange(m, fmt.Sprintf("127.0.0.1:%d", f.dns))
	if err != nil {
		f.t.Fatal(err)
	}
	if len(answer.Answer) == 0 {
		return dns.RcodeToString[answer.Rcode]
	}
	var all []string
	for _, r := range answer.Answer {
		all = append(all, strings.Join(strings.Fields(r.String())[1:], " "))
	}
	return strings.Join(all, "; ")
}

// until waits for a condition.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for !done() {
		if !wait(ctx, 20*time.Millisecond) {
			t.Fatalf("%s did not happen in time", what)
		}
	}
}

// files lists the zone directory and what is around it, with contents.
func (f *fixture) files() string {
	f.t.Helper()
	var all []string
	err := filepath.WalkDir(filepath.Dir(f.dir), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.Contains(path, "_default.nz") && !strings.HasPrefix(path, f.conf) {
			text, _ := os.ReadFile(path)
			all = append(all, strings.TrimPrefix(path, f.dir+"/")+": "+string(text))
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// createBody is the body of a create call for a primary zone of one name server outside it; more is put into
// zoneConfig.
func createBody(name, more string) string {
	return fmt.Sprintf(
		`{"zoneName":%q,"zoneType":"primary","updateKeyName":"bindy-operator","zoneConfig":{"ttl":300,"soa":{"primaryNs":"ns1.other.test.","adminEmail":"admin.other.test.","serial":7},"nameServers":["ns1.other.test."],"nameServerIps":{}%s}}`, name, more)
}
