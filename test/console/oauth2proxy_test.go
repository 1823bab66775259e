//go:build acceptance

package console

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// codes are those that the issuer has given to a client for the person who signs in, anna (OpenID Connect Core 1.0,
// §3.1).
type codes struct {
	mu     sync.Mutex
	nonces map[string]string // by code
}

func (c *codes) answer(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path == "/authorize" {
		code, query := rand.Text(), r.URL.Query()
		c.nonces[code] = query.Get("nonce")
		back := url.Values{"code": {code}, "state": {query.Get("state")}}
		http.Redirect(w, r, query.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
		return
	}
	nonce, known := c.nonces[r.FormValue("code")]
	if delete(c.nonces, r.FormValue("code")); !known {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	now := time.Now()
	token, err := signed(login.key, map[string]any{"iss": login.server.URL, "aud": "kubernetes", "sub": "subject of anna",
		"preferred_username": "anna", "email": "anna@example.org", "email_verified": true, "groups": []string{"team-a"},
		"nonce": nonce, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 300,
		"refresh_token": rand.Text(), "id_token": token})
}

// TestBehindOAuth2Proxy has oauth2-proxy sign a person in, with the arguments that docs/console.md gives it.
func TestBehindOAuth2Proxy(t *testing.T) {
	signIn := http.HandlerFunc((&codes{nonces: map[string]string{}}).answer)
	login.signIn.Store(&signIn)
	s := newSite(t)
	flags, kubeconfig := s.installConsole()
	h := s.openShared(kubeconfig, flags...)
	s.apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: people, namespace: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{kind: Group, name: "oidc:team-a", apiGroup: rbac.authorization.k8s.io}]
`)
	browser := h.behindProxy()
	get := func(path string) (int, string) {
		t.Helper()
		got, err := browser.Get("https://console.example.org" + path)
		s.must(err)
		defer got.Body.Close()
		page, err := io.ReadAll(got.Body)
		s.must(err)
		return got.StatusCode, string(page)
	}
	if status, page := get("/"); status != http.StatusForbidden || !strings.Contains(page, "Sign in with") {
		t.Fatalf("who has not signed in is answered %d:\n%s", status, page)
	}
	status, page := get("/oauth2/start?rd=%2F")
	if status != http.StatusOK || !strings.Contains(page, "oidc:anna") {
		t.Fatalf("who has signed in is answered %d:\n%s", status, page)
	}
	form := url.Values{"csrf": {h.with("").secretIn(page, "csrf")}, "namespaces": {"a"}}
	got, err := browser.PostForm("https://console.example.org/namespaces", form)
	s.must(err)
	defer got.Body.Close()
	if text, err := io.ReadAll(got.Body); err != nil || got.StatusCode != http.StatusOK ||
		!strings.Contains(string(text), "zone-of-a") || strings.Contains(string(text), "zone-of-b") {
		t.Errorf("a member of the group is answered %d, %v:\n%s", got.StatusCode, err, text)
	}
	if _, err := browser.Get("https://console.example.org/oauth2/sign_out"); err != nil {
		t.Error(err)
	}
	if status, page := get("/"); status != http.StatusForbidden || strings.Contains(page, "oidc:anna") {
		t.Errorf("who has signed out is answered %d:\n%s", status, page)
	}
}

// behindProxy starts an oauth2-proxy in front of the console, and returns a browser that finds it at the name that
// people see.
func (h *shared) behindProxy() *http.Client {
	h.t.Helper()
	dir := h.t.TempDir()
	roots := x509.NewCertPool()
	file := func(name string, text []byte) string {
		h.must(os.WriteFile(filepath.Join(dir, name), text, 0o600))
		roots.AppendCertsFromPEM(text)
		return filepath.Join(dir, name)
	}
	crt, key, err := cert.GenerateSelfSignedCertKey("console.example.org", nil, nil)
	h.must(err)
	crtFile := file("tls.crt", crt)
	keyFile := file("tls.key", key)
	at := fmt.Sprintf("127.0.0.1:%d", h.claim())
	args := h.documented(map[string]string{
		"https://login.example.org": login.server.URL, "https://zonefold-console.zonefold-system.svc": h.base})
	issuer, err := cert.EncodeCertificates(login.server.Certificate())
	h.must(err)
	console, err := os.ReadFile(h.certificate)
	h.must(err)
	args = append(args, "--client-secret=secret", "--cookie-secret="+rand.Text()[:16]+rand.Text()[:16],
		"--http-address=", "--https-address="+at, "--tls-cert-file="+crtFile, "--tls-key-file="+keyFile)
	var log testoperator.Journal
	ctx, end := context.WithCancel(context.WithoutCancel(h.ctx))
	proxy := exec.CommandContext(ctx, h.oauth2Proxy(), args...)
	proxy.Env = []string{"SSL_CERT_FILE=" + file("trusted.crt", append(issuer, console...))}
	proxy.Stdout, proxy.Stderr = &log, &log
	h.must(proxy.Start())
	h.t.Cleanup(func() {
		end()
		_ = proxy.Wait()
		if h.t.Failed() {
			h.t.Logf("oauth2-proxy says:\n%s", log.String())
		}
	})
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "console.example.org:443" {
				address = at
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}}
	h.t.Cleanup(transport.CloseIdleConnections)
	jar, err := cookiejar.New(nil)
	h.must(err)
	browser := &http.Client{Transport: transport, Jar: jar, Timeout: 20 * time.Second}
	testcluster.Eventually(h.ctx, h.t, "oauth2-proxy", func() string {
		got, err := browser.Get("https://console.example.org/ping")
		if err != nil {
			return err.Error()
		}
		return unlessOK(got)
	})
	return browser
}

func unlessOK(r *http.Response) string {
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return r.Status
	}
	return ""
}

// documented returns the arguments that docs/console.md gives oauth2-proxy, with the addresses of this test.
func (s *site) documented(addresses map[string]string) []string {
	s.t.Helper()
	text, err := os.ReadFile("../../docs/console.md")
	s.must(err)
	block := regexp.MustCompile("(?s)```yaml\n# arguments of oauth2-proxy\n(.*?)```").FindStringSubmatch(string(text))
	if block == nil {
		s.t.Fatal("docs/console.md has no arguments of oauth2-proxy")
	}
	var args []string
	s.must(yaml.Unmarshal([]byte(block[1]), &args))
	for from, to := range addresses {
		changed := false
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, from, to)
			changed = changed || args[i] != arg
		}
		if !changed {
			s.t.Fatalf("docs/console.md does not name %s: %q", from, args)
		}
	}
	return args
}

// oauth2Proxy builds the program.
func (s *site) oauth2Proxy() string {
	s.t.Helper()
	tool := exec.CommandContext(s.ctx, "go", "-C", "../acceptance/oauth2proxy", "tool", "-n", "oauth2-proxy")
	tool.Stderr = os.Stderr
	out, err := tool.Output()
	s.must(err)
	return strings.TrimSpace(string(out))
}
