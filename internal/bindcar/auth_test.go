package bindcar

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestMain(m *testing.M) {
	seen.all = map[string]bool{}
	os.Exit(reportUnseen(testcluster.Main(m)))
}

// newAPI starts a Server without BIND.
func newAPI(t testing.TB, settings Settings) *fixture {
	t.Helper()
	root := t.TempDir()
	f := &fixture{t: t, dir: filepath.Join(root, "zones"), conf: filepath.Join(root, "conf")}
	if err := os.Mkdir(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	settings.ZoneDir, settings.RNDC, settings.DNS = f.dir, "127.0.0.1:1", "127.0.0.1:1"
	server, err := New(Options{Settings: settings, Version: "1.2.3", Log: slog.New(slog.NewJSONHandler(&f.log, nil)),
		Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(server.Handler())
	t.Cleanup(h.Close)
	f.server, f.url = server, h.URL
	return f
}

// A reviewed is a cluster with ServiceAccounts, and what bindcar needs to ask it.
type reviewed struct {
	*testcluster.Cluster
	t         *testing.T
	namespace string
	reviewer  Reviewer
}

func newReviewed(t *testing.T) *reviewed {
	c := &reviewed{Cluster: testcluster.ForTest(t), t: t, namespace: "bindcar-test"}
	c.kubectl("create", "namespace", c.namespace)
	for _, name := range []string{"bind9", "operator", "other"} {
		c.kubectl("create", "serviceaccount", name, "-n", c.namespace)
	}
	c.kubectl("create", "clusterrole", "bindcar-test", "--verb=create", "--resource=tokenreviews.authentication.k8s.io")
	c.kubectl("create", "clusterrolebinding", "bindcar-test", "--clusterrole=bindcar-test", "--serviceaccount="+
		c.namespace+":bind9")
	own := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(own, []byte(c.token("bind9")), 0o600); err != nil {
		t.Fatal(err)
	}
	c.reviewer = Reviewer{
		APIServer: c.Server(), TokenFile: own, CAFile: filepath.Join(c.Dir(), "ca.crt"),
		Audiences:       []string{"bindcar", "dns"},
		ServiceAccounts: []string{"system:serviceaccount:" + c.namespace + ":operator"},
	}
	return c
}

func (c *reviewed) kubectl(args ...string) string {
	c.t.Helper()
	text, err := c.RunKubectl(c.t.Context(), args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(text)
}

func (c *reviewed) token(account string, flags ...string) string {
	c.t.Helper()
	return c.kubectl(append([]string{"create", "token", account, "-n", c.namespace}, flags...)...)
}

// sign makes a token of the operator as the API server does, with any end.
func (c *reviewed) sign(expires time.Time) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir(), "service-account.key"))
	if err != nil {
		c.t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		c.t.Fatal(err)
	}
	claims, err := json.Marshal(map[string]any{
		"iss": "https://kubernetes.default.svc", "aud": []string{"bindcar"}, "sub": c.reviewer.ServiceAccounts[0],
		"iat": expires.Add(-time.Hour).Unix(), "nbf": expires.Add(-time.Hour).Unix(), "exp": expires.Unix(),
		"kubernetes.io": map[string]any{"namespace": c.namespace, "serviceaccount": map[string]string{
			"name": "operator", "uid": c.kubectl("get", "serviceaccount", "operator", "-n", c.namespace, "-o",
				"jsonpath={.metadata.uid}"),
		}},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		c.t.Fatal(err)
	}
	return signed + "." + encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

const refused = `{"error":"Unauthorized"}`

// TestB2TokenReview has a real API server judge tokens.
func TestB2TokenReview(t *testing.T) {
	c := newReviewed(t)
	f := newAPI(t, Settings{Review: &c.reviewer, Limit: DefaultLimit()})
	c.remembers()
	good := c.token("operator", "--audience=bindcar")
	unused := c.token("operator", "--audience=dns")
	for _, test := range []struct {
		name, header string
		status       int
	}{
		{"the operator's token for us", "Bearer " + good, 200},
		{"the same again", "bearer " + good, 200},
		{"a token of the operator that ends soon", "Bearer " + c.sign(time.Now().Add(10*time.Minute)), 200},
		{"no header", "", 401},
		{"another scheme", "Basic " + good, 401},
		{"no token", "Bearer ", 401},
		{"two words", "Bearer " + good + " " + good, 401},
		{"the token alone", good, 401},
		{"nonsense", "Bearer nonsense", 401},
		{"a token with another signature", "Bearer " + good[:len(good)-8] + "AAAAAAAA", 401},
		{"a token that has expired", "Bearer " + c.sign(time.Now().Add(-time.Minute)), 401},
		{"a token of the operator for the API server", "Bearer " + c.token("operator"), 401},
		{"a token of the operator for somebody else", "Bearer " + c.token("operator", "--audience=vault"), 401},
		{"a token of somebody else", "Bearer " + c.token("other", "--audience=bindcar"), 401},
		{"a token that is too long", "Bearer " + strings.Repeat("a", maxToken+1), 401},
	} {
		var headers []string
		if test.header != "" {
			headers = []string{"Authorization", test.header}
		}
		status, text := f.send("GET", "/api/v1/zones", "", headers...)
		if status != test.status || status == 401 && text != refused {
			t.Errorf("%s is answered %d %s", test.name, status, text)
		}
	}
	for _, path := range []string{"GET /api/v1/server/status", "POST /api/v1/zones", "GET /api/v1/openapi.json",
		"DELETE /api/delzone/a.test", "PUT /api/v1/server/content", "GET /api/v1/server/keys"} {
		method, path, _ := strings.Cut(path, " ")
		if status, text := f.send(method, path, ""); status != 401 || text != refused {
			t.Errorf("%s %s without a token is answered %d %s", method, path, status, text)
		}
	}
	if err := c.KillAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, text := f.send("GET", "/api/v1/zones", "", "Authorization", "Bearer "+unused); status != 401 ||
		text != refused {
		t.Errorf("while the API server is down, a good token is answered %d %s", status, text)
	}
	if status, _ := f.send("GET", "/api/v1/zones", "", "Authorization", "Bearer "+good); status != 200 {
		t.Errorf("while the API server is down, a token that was reviewed just now is answered %d", status)
	}
	if err := c.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, text := f.send("GET", "/api/v1/zones", "", "Authorization", "Bearer "+unused); status != 200 {
		t.Errorf("when the API server is back, the token is answered %d %s", status, text)
	}
	elsewhere := c.reviewer
	elsewhere.ServiceAccounts, elsewhere.Namespaces = nil, []string{"kube-system"}
	f2 := newAPI(t, Settings{Review: &elsewhere, Limit: DefaultLimit()})
	if status, text := f2.send("GET", "/api/v1/zones", "", "Authorization", "Bearer "+good); status != 401 ||
		text != refused {
		t.Errorf("a token of a namespace that is not allowed is answered %d %s", status, text)
	}
	for _, log := range []string{f.log.String(), f2.log.String()} {
		if strings.Contains(log, good) || strings.Contains(log, unused) ||
			strings.Contains(log, strings.Split(good, ".")[2]) {
			t.Error("a token is in the log")
		}
	}
}

func TestB2SharedToken(t *testing.T) {
	f := newAPI(t, Settings{Token: testToken, Limit: DefaultLimit()})
	for header, status := range map[string]int{
		"Bearer " + testToken: 200, "Bearer " + testToken + "x": 401, "Bearer x": 401, "Bearer": 401,
		"Bearer " + testToken[1:]: 401, testToken: 401,
	} {
		got, text := f.send("GET", "/api/v1/zones", "", "Authorization", header)
		if got != status || got == 401 && text != refused {
			t.Errorf("%q is answered %d %s", header, got, text)
		}
	}
}

// A fakeClock is a clock that tests put forward.
type fakeClock struct{ at atomic.Int64 }

func (c *fakeClock) now() time.Time { return time.Unix(c.at.Load(), 0) }

// remembers counts the questions to the API server while our clock is put forward.
func (c *reviewed) remembers() {
	c.t.Helper()
	var clock fakeClock
	clock.at.Store(time.Now().Unix())
	metrics := newMetrics("", func() float64 { return 0 })
	r := newReviews(c.reviewer, clock.now, metrics)
	asked := func() (all int) {
		families, err := metrics.registry.Gather()
		if err != nil {
			c.t.Fatal(err)
		}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				if family.GetName() == "bindcar_token_reviews_total" {
					all += int(m.GetCounter().GetValue())
				}
			}
		}
		return all
	}
	check := func(name, token string, accepted bool, questions int) {
		c.t.Helper()
		before := asked()
		if err := r.check(c.t.Context(), token, "192.0.2.1:1"); (err == nil) != accepted {
			c.t.Errorf("%s: %v", name, err)
		}
		if got := asked() - before; got != questions {
			c.t.Errorf("%s: %d questions were asked, not %d", name, got, questions)
		}
	}
	good := c.token("operator", "--audience=bindcar")
	check("a good token", good, true, 1)
	check("a bad token", "nonsense", false, 1)
	clock.at.Add(4)
	check("a good token again", good, true, 0)
	check("a bad token again", "nonsense", false, 0)
	clock.at.Add(2)
	check("a bad token after 5 s", "nonsense", false, 1)
	clock.at.Add(53)
	check("a good token after 59 s", good, true, 0)
	clock.at.Add(1)
	check("a good token after 60 s", good, true, 1)
	ends := c.sign(time.Unix(clock.at.Load()+10, 0))
	check("a token that ends in 10 s", ends, true, 1)
	clock.at.Add(9)
	check("a token that ends in 1 s", ends, true, 0)
	clock.at.Add(1)
	check("a token that has ended by our clock", ends, true, 1)

	for i := range guessLimit().Burst {
		_ = r.check(c.t.Context(), fmt.Sprintf("guess-%d", i), "192.0.2.9:1")
	}
	check("a good token of somebody else", c.token("operator", "--audience=bindcar"), true, 1)
	before := asked()
	if err := r.check(c.t.Context(), c.token("operator", "--audience=bindcar"), "192.0.2.9:2"); err == nil ||
		asked() != before {
		c.t.Errorf("after many guesses of a peer: %v, and %d questions", err, asked()-before)
	}
	if err := r.check(c.t.Context(), good, "192.0.2.9:2"); err != nil {
		c.t.Errorf("a token that is remembered, after many guesses: %v", err)
	}
	clock.at.Add(1)
	if err := r.check(c.t.Context(), c.token("operator", "--audience=bindcar"), "192.0.2.9:2"); err != nil {
		c.t.Errorf("a second later: %v", err)
	}

	before, together := asked(), c.token("operator", "--audience=bindcar")
	var many sync.WaitGroup
	for range 20 {
		many.Go(func() {
			if err := r.check(c.t.Context(), together, "192.0.2.1:1"); err != nil {
				c.t.Error(err)
			}
		})
	}
	many.Wait()
	if got := asked() - before; got != 1 {
		c.t.Errorf("20 requests with one token asked %d questions", got)
	}
	for i := range maxReviews + 10 {
		r.remember(sha256.Sum256(fmt.Append(nil, i)), verdict{until: clock.now().Add(time.Minute)})
	}
	if len(r.known) > maxReviews {
		c.t.Errorf("%d answers are remembered", len(r.known))
	}
}
