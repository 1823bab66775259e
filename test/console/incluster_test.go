package console

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"k8s.io/client-go/util/cert"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// A shared is a run of the console for many, with the rights and the flags that the chart gives it.
type shared struct {
	*site

	base        string
	certificate string // the file
	client      *http.Client
}

// installConsole has the API server take what the chart has for the console, and returns its flags and a kubeconfig
// with its rights.
func (s *site) installConsole() (flags []string, kubeconfig string) {
	s.t.Helper()
	chart, err := testoperator.Template(s.ctx, "console.enabled=true,console.hosts={console.example.org}", "console.yaml")
	s.must(err)
	s.apply(chart)
	s.must(json.Unmarshal([]byte(s.kubectl("get", "deployment", "zonefold-console", "-n", testoperator.Namespace, "-o",
		"jsonpath={.spec.template.spec.containers[0].args}")), &flags))
	kubeconfig, err = s.cluster.KubeconfigFor(s.ctx, testoperator.Namespace, "zonefold-console")
	s.must(err)
	return flags, kubeconfig
}

// openShared starts the console with these flags and more.
func (s *site) openShared(kubeconfig string, flags ...string) *shared {
	s.t.Helper()
	h := &shared{site: s, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
	if !strings.Contains(strings.Join(flags, " "), "--plain-http") {
		dir := s.t.TempDir()
		crt, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
		s.must(err)
		s.must(os.WriteFile(filepath.Join(dir, "tls.crt"), crt, 0o600))
		s.must(os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(crt)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
		s.t.Cleanup(transport.CloseIdleConnections)
		h.client.Transport = transport
		flags, h.certificate = append(flags, "--tls-cert-dir="+dir), filepath.Join(dir, "tls.crt")
	}
	ctx, cancel := context.WithCancel(s.ctx)
	read, write := io.Pipe()
	var complaints testoperator.Journal
	done := make(chan int, 1)
	go func() {
		code := cli.Run(ctx, cli.Env{Args: append(append([]string{"zonefold"}, flags...), "--bind-address=127.0.0.1:0",
			"--kubeconfig="+kubeconfig), Stdin: strings.NewReader(""), Stdout: write, Stderr: &complaints, Now: time.Now(),
			Getenv: func(string) string { return "" }})
		_ = write.Close()
		done <- code
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		s.t.Fatalf("the console ends: %d: %s", <-done, complaints.String())
	}
	s.t.Cleanup(func() {
		cancel()
		if code := <-done; code != 0 {
			s.t.Errorf("the console ends with %d: %s", code, complaints.String())
		}
	})
	if _, h.base, _ = strings.Cut(strings.TrimSpace(line), "is at "); h.base == "" {
		s.t.Fatalf("the console says %q, without an address", line)
	}
	return h
}

// token returns a token of a ServiceAccount.
func (s *site) token(ns, account string, flags ...string) string {
	s.t.Helper()
	return strings.TrimSpace(s.kubectl(append([]string{"create", "token", account, "-n", ns}, flags...)...))
}

// expiredToken returns a token like those of the API server, signed with its key, that was valid until an hour ago.
func (s *site) expiredToken(ns, account string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.cluster.Dir(), "service-account.key"))
	s.must(err)
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		key, err = x509.ParseECPrivateKey(block.Bytes)
	}
	s.must(err)
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(s.token(ns, account), ".")[1])
	s.must(err)
	var claims map[string]any
	s.must(json.Unmarshal(body, &claims))
	now := time.Now()
	claims["iat"], claims["nbf"] = now.Add(-2*time.Hour).Unix(), now.Add(-2*time.Hour).Unix()
	claims["exp"] = now.Add(-time.Hour).Unix()
	token, err := signed(key.(*ecdsa.PrivateKey), claims)
	s.must(err)
	return token
}

// A caller asks the console, with a token in each request or with cookies.
type caller struct {
	*shared

	token   string
	cookies map[string]*http.Cookie
}

func (h *shared) with(token string) *caller {
	return &caller{shared: h, token: token, cookies: map[string]*http.Cookie{}}
}

func (c *caller) do(method, path string, form url.Values, headers ...string) (status int, page string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.ctx, method, c.base+path, strings.NewReader(form.Encode()))
	c.must(err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	got, err := c.client.Do(r)
	c.must(err)
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	c.must(err)
	for _, cookie := range got.Cookies() {
		c.cookies[cookie.Name] = cookie
		if cookie.MaxAge < 0 {
			delete(c.cookies, cookie.Name)
		}
	}
	return got.StatusCode, string(body)
}

func (c *caller) get(path string, headers ...string) (int, string) {
	c.t.Helper()
	return c.do(http.MethodGet, path, nil, headers...)
}

func (c *caller) post(path string, form url.Values, headers ...string) (int, string) {
	c.t.Helper()
	return c.do(http.MethodPost, path, form, headers...)
}

// await asks for a page until it is answered so.
func (c *caller) await(what, path string, status int, part string) {
	c.t.Helper()
	testcluster.Eventually(c.ctx, c.t, what, func() string {
		if got, page := c.get(path); got != status || !strings.Contains(page, part) {
			return fmt.Sprintf("%s (%d) lacks %q:\n%.3000s", path, got, part, page)
		}
		return ""
	})
}

// signIn exchanges a token for a cookie.
func (h *shared) signIn(token string) *caller {
	h.t.Helper()
	c := h.with("")
	if status, page := c.post("/login", url.Values{"token": {token}}); status != http.StatusSeeOther ||
		len(c.cookies) != 1 {
		h.t.Fatalf("signing in is answered %d, with the cookies %v:\n%s", status, c.cookies, page)
	}
	return c
}

// secretIn returns the value of a hidden field of a page's forms.
func (c *caller) secretIn(page, field string) string {
	c.t.Helper()
	m := regexp.MustCompile(`name="` + field + `" value="([^"]+)"`).FindStringSubmatch(page)
	if m == nil {
		c.t.Fatalf("the page has no field %s:\n%s", field, page)
	}
	return m[1]
}

// TestInTheCluster shows the console to tenants who come with tokens of their ServiceAccounts. It runs with the flags
// and the rights of the chart.
func TestInTheCluster(t *testing.T) {
	s := newSite(t)
	flags, kubeconfig := s.installConsole()
	t.Run("its own rights are to ask whose a token is", func(t *testing.T) { s.ownRights(t, kubeconfig) })
	s.apply(`
{apiVersion: v1, kind: ServiceAccount, metadata: {name: reader, namespace: default}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: console-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: reader, namespace: default}]
`)
	h := s.openShared(kubeconfig, append(flags, "--review-interval=1s", "--edit")...)
	a, b := h.signIn(s.token("a", "tenant")), h.with(s.token("b", "tenant"))
	t.Run("each sees what is theirs", func(t *testing.T) { h.tenants(map[string]*caller{"a": a, "b": b}) })
	t.Run("tokens that the API server does not accept", func(t *testing.T) { h.strangers(t) })
	t.Run("requests of other sites", func(t *testing.T) { h.otherSites(t, a, b) })
	t.Run("forms write with the person's rights", func(t *testing.T) { h.forms(t, a) })
	t.Run("namespaces are chosen", func(t *testing.T) { h.chooses(t, a) })
	t.Run("people whom a proxy signs in", func(t *testing.T) { h.proxied(t) })
	t.Run("there is room for so many", func(t *testing.T) { s.crowded(t, flags, kubeconfig) })
	t.Run("objects are held up to a limit", func(t *testing.T) { s.large(t, flags, kubeconfig) })
	t.Run("in a browser", func(t *testing.T) { s.inABrowser(kubeconfig) })
	t.Run("a token that is revoked", func(t *testing.T) { h.revoked(t) })
}

// ownRights asks the API server what the console's ServiceAccount may do, besides what everybody may.
func (s *site) ownRights(t *testing.T, kubeconfig string) {
	rights := func(kubeconfig string) map[string]bool {
		t.Helper()
		out := map[string]bool{}
		for line := range strings.Lines(s.kubectl("--kubeconfig="+kubeconfig, "auth", "can-i", "--list", "--no-headers")) {
			out[strings.Join(strings.Fields(line), " ")] = true
		}
		return out
	}
	s.apply(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: nobody, namespace: default}}`)
	nobody, err := s.cluster.KubeconfigFor(s.ctx, "default", "nobody")
	s.must(err)
	usual := rights(nobody)
	var more []string
	for right := range rights(kubeconfig) {
		if !usual[right] {
			more = append(more, right)
		}
	}
	if len(usual) < 3 || len(more) != 1 || more[0] != "tokenreviews.authentication.k8s.io [] [] [create]" {
		t.Errorf("besides what everybody may, of %d rights, the console may %q", len(usual), more)
	}
}

// tenants looks at all pages as two people at the same time.
func (h *shared) tenants(people map[string]*caller) {
	other := map[string]string{"a": "b", "b": "a"}
	for own, c := range people {
		c.await("its own zone is there", "/", http.StatusOK, "zone-of-"+own)
		c.await("who is shown it is told", "/", http.StatusOK, "system:serviceaccount:"+own+":tenant")
		c.await("what it may not see is told", "/", http.StatusOK, "You may not list zones in namespaces other than "+own)
		c.await("its own record is there", pages(own)["search"], http.StatusOK, "www."+own+".example.")
		c.await("the operator is asked with its rights", pages(own)["explain-name"], http.StatusOK, "Answered last")
		for _, of := range []string{own, other[own]} {
			for what, path := range pages(of) {
				status, page := c.get(path)
				for _, asked := range []string{"zone-of-" + of, "refused-of-" + of, of + ".example."} {
					if of == other[own] { // then it may be on the page because somebody has asked for it
						page = strings.ReplaceAll(page, asked, "")
					}
				}
				for _, hidden := range []string{"zone-of-" + other[own], "www-of-" + other[own], other[own] + ".example.",
					"refused-of-" + other[own], "guests-of-" + other[own]} {
					if strings.Contains(page, hidden) {
						h.t.Errorf("%s sees %s on the page %s of %s (%d):\n%s", own, hidden, what, of, status, page)
					}
				}
			}
		}
	}
	mixed := h.with(people["b"].token)
	mixed.cookies = people["a"].cookies
	if _, page := mixed.get("/"); !strings.Contains(page, "zone-of-b") || strings.Contains(page, "zone-of-a") {
		h.t.Errorf("a token of one with the cookie of another shows:\n%s", page)
	}
	reader := h.with(h.token("default", "reader"))
	reader.await("who may list all sees all", "/", http.StatusOK, "zone-of-a")
	reader.await("who may list all sees all", "/", http.StatusOK, "zone-of-b")
	h.kubectl("patch", "record", "www-of-a", "-n", "a", "--type=merge", "-p", `{"spec":{"rdata":"192.0.2.41"}}`)
	people["a"].await("a change is there", pages("a")["search"], http.StatusOK, "192.0.2.41")
}

// strangers come with tokens that are no good.
func (h *shared) strangers(t *testing.T) {
	valid := h.token("a", "tenant")
	for what, token := range map[string]string{
		"no token":                        "",
		"no token at all":                 "x.y.z",
		"a token for another audience":    h.token("a", "tenant", "--audience=elsewhere"),
		"a token that has expired":        h.expiredToken("a", "tenant"),
		"a token with another signature":  valid[:strings.LastIndex(valid, ".")+1] + strings.Repeat("A", 86),
		"a token with a word too many":    valid + " " + valid,
		"a certificate's or other secret": "-----BEGIN",
	} {
		if status, page := h.with(token).get("/"); status != http.StatusUnauthorized || strings.Contains(page, "zone-of") {
			t.Errorf("%s is answered %d:\n%s", what, status, page)
		}
		c := h.with("")
		if status, page := c.post("/login", url.Values{"token": {token}}); status != http.StatusUnauthorized ||
			len(c.cookies) > 0 || !strings.Contains(page, "The API server does not accept the token") {
			t.Errorf("signing in with %s is answered %d, %v:\n%s", what, status, c.cookies, page)
		}
	}
	if status, page := h.with("").get("/healthz", "Host", "10.0.0.7"); status != http.StatusOK || page != "ok\n" {
		t.Errorf("a probe is answered %d: %s", status, page)
	}
}

// otherSites make requests that a browser of a person would make for them.
func (h *shared) otherSites(t *testing.T, a, b *caller) {
	_, page := a.get("/")
	secret := a.secretIn(page, "csrf")
	do := url.Values{"csrf": {secret}, "verb": {"freeze"}, "plan": {"freeze"}, "kind": {"Zone"}, "namespace": {"b"},
		"object": {"zone-of-b"}}
	for what, c := range map[string]struct {
		who     *caller
		headers []string
		want    int
	}{
		"a name of somebody else":                   {a, []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		"a form of another site":                    {a, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"a form with another origin":                {a, []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		"the form of one in the session of another": {b, nil, http.StatusForbidden},
		"the form of one with another's rights":     {a, nil, http.StatusConflict},
	} {
		if status, page := c.who.post("/act", do, c.headers...); status != c.want {
			t.Errorf("%s is answered %d, want %d:\n%s", what, status, c.want, page)
		}
	}
	frozen := h.kubectl("get", "zones.kubi.zone", "-A", "-o", "jsonpath={.items[*].metadata.annotations}")
	if strings.Contains(frozen, "freeze") {
		t.Errorf("a zone was frozen: %s", frozen)
	}
}

// forms change a record of one's own, and none of another's.
func (h *shared) forms(t *testing.T, a *caller) {
	edit := func(ns string) url.Values {
		_, page := a.get("/")
		return url.Values{"csrf": {a.secretIn(page, "csrf")}, "verb": {"change"}, "namespace": {ns},
			"object": {"www-of-" + ns}, "fqdn": {"www." + ns + ".example."}, "type": {"A"}, "data": {"192.0.2.42"}}
	}
	if status, page := a.post("/review", edit("b")); !strings.Contains(page, "forbidden") {
		t.Errorf("a form for another's record is answered %d:\n%s", status, page)
	}
	form := edit("a")
	status, page := a.post("/review", form)
	if status != http.StatusOK {
		t.Fatalf("a form for an own record is answered %d:\n%s", status, page)
	}
	form.Set("plan", a.secretIn(page, "plan"))
	if status, page := a.post("/act", form); status != http.StatusOK || !strings.Contains(page, "is stored") {
		t.Errorf("the form is answered %d:\n%s", status, page)
	}
	if data := h.kubectl("get", "record", "www-of-a", "-n", "a", "-o", "jsonpath={.spec.rdata}"); data != "192.0.2.42" {
		t.Errorf("the record has %s", data)
	}
}

// chooses looks into two namespaces, of which the second is the person's for a while.
func (h *shared) chooses(t *testing.T, a *caller) {
	_, page := a.get("/")
	form := url.Values{"csrf": {a.secretIn(page, "csrf")}, "namespaces": {"a, b"}}
	if status, page := a.post("/namespaces", form); status != http.StatusSeeOther {
		t.Fatalf("the form is answered %d:\n%s", status, page)
	}
	a.await("its own zone is there", "/", http.StatusOK, "zone-of-a")
	a.await("the other may not be seen", "/", http.StatusOK, "You may not list zones in namespaces other than a.")
	h.apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: guest, namespace: b}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: guest}
subjects: [{kind: ServiceAccount, name: tenant, namespace: a}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: guest, namespace: b}
rules: [{apiGroups: [kubi.zone], resources: [zones, records], verbs: [get, list, watch]}]
`)
	a.await("both zones are there", "/", http.StatusOK, "zone-of-b")
	a.await("both zones are there", "/", http.StatusOK, "zone-of-a")
	h.kubectl("delete", "rolebinding", "guest", "-n", "b")
	a.await("what may not be seen any more is told", "/", http.StatusOK, "may be out of date")
	testcluster.Eventually(a.ctx, t, "what may not be seen any more is gone", func() string {
		if status, page := a.get("/"); status != http.StatusOK || strings.Contains(page, "zone-of-b") {
			return fmt.Sprintf("it is answered %d:\n%.3000s", status, page)
		}
		return ""
	})
}

// crowded fills a console for two.
func (s *site) crowded(t *testing.T, flags []string, kubeconfig string) {
	h := s.openShared(kubeconfig, append(flags, "--people=2")...)
	a, b := h.signIn(s.token("a", "tenant")), h.with(s.token("b", "tenant"))
	reader := h.with(s.token("default", "reader"))
	a.await("the first", "/", http.StatusOK, "zone-of-a")
	b.await("the second", "/", http.StatusOK, "zone-of-b")
	reader.await("one too many", "/", http.StatusServiceUnavailable, "The console has no room for more people")
	for _, path := range []string{"/act?verb=freeze&" + ofZone("a"), "/edit?namespace=a&object=www-of-a"} {
		if status, page := a.get(path); status != http.StatusForbidden {
			t.Errorf("without --edit %s is answered %d:\n%s", path, status, page)
		}
	}
	_, page := a.get("/")
	if status, page := a.post("/logout", url.Values{"csrf": {a.secretIn(page, "csrf")}}); status != http.StatusSeeOther {
		t.Errorf("signing out is answered %d:\n%s", status, page)
	}
	reader.await("when one has left", "/", http.StatusOK, "zone-of-a")
}

// large has more objects than are held.
func (s *site) large(t *testing.T, flags []string, kubeconfig string) {
	text := `{apiVersion: v1, kind: Namespace, metadata: {name: large}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: tenant, namespace: large}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: large}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: tenant, namespace: large}]
`
	data := strings.TrimSpace(strings.Repeat(` "`+strings.Repeat("x", 255)+`"`, 200))
	for i := range 21 {
		text += fmt.Sprintf("---\napiVersion: kubi.zone/v1alpha1\nkind: Record\n"+
			"metadata: {name: large-%d, namespace: large}\nspec: {domainName: l%d.large.example., type: TXT, "+
			"rdata: %q}\n", i, i, data)
	}
	_, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(text), "create", "-f", "-")
	s.must(err)
	h := s.openShared(kubeconfig, append(flags, "--objects=1Mi")...)
	large := h.with(s.token("large", "tenant"))
	if status, page := large.get("/"); status != http.StatusServiceUnavailable ||
		!strings.Contains(page, "more than the 1 MiB that this console holds for one person") {
		t.Errorf("it is answered %d:\n%s", status, page)
	}
	h.with(s.token("a", "tenant")).await("somebody else", "/", http.StatusOK, "zone-of-a")
	s.kubectl("delete", "records", "--all", "-n", "large")
	large.await("what is little enough", "/", http.StatusOK, "No zone is there")
}

// inABrowser signs in and out as people do. The browser takes a cookie for HTTPS from the loopback.
func (s *site) inABrowser(kubeconfig string) {
	h := s.openShared(kubeconfig, "console", "in-cluster", "--plain-http")
	b := s.newBrowser()
	b.do(chromedp.Navigate(h.base + "/"))
	b.await("who comes is asked for a token", "Sign in")
	b.forgive("401")
	b.judge("the page to sign in")
	b.do(chromedp.SetValue("#token", s.token("a", "tenant")), chromedp.Click("#login button"),
		chromedp.WaitVisible("#zone-0"))
	b.await("the zone is there", "a.example.", "system:serviceaccount:a:tenant")
	b.judge("the zones of a tenant")
	b.do(chromedp.Click("#sign-out"))
	b.await("who has left is asked again", "Sign in")
	b.forgive("401")
}

// revoked deletes a ServiceAccount, whose tokens are worthless then.
func (h *shared) revoked(t *testing.T) {
	b := h.signIn(h.token("b", "tenant"))
	b.await("before", "/", http.StatusOK, "zone-of-b")
	h.kubectl("delete", "serviceaccount", "tenant", "-n", "b")
	began := time.Now()
	b.await("afterwards", "/", http.StatusUnauthorized, "Sign in")
	t.Logf("a session ends %s after its ServiceAccount was deleted", time.Since(began).Round(time.Second))
	if status, page := h.with("").get("/"); status != http.StatusUnauthorized || strings.Contains(page, "zone-of") {
		t.Errorf("a stranger is answered %d:\n%s", status, page)
	}
}
