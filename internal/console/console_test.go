package console_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/console"
)

// hostile is what a tenant may write who wants others to run something, or to see something else than there is.
var hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>{{.}}` + "\u202egro.elpmaxe\n\x1b[31m" +
	strings.Repeat("A", 64<<10)

// hostileName is what files may call an object.
var hostileName = hostile[:100]

// values are a Source that has these values.
type values struct {
	mu      sync.Mutex
	world   console.World
	changed chan struct{}
	records []console.Record
	plans   map[console.Verb]string // IDs
	done    []console.Action
}

func (v *values) World() (*console.World, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.world
	return &w, v.changed
}

func (v *values) change() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.world.Version++
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *values) Records(zone console.Object) ([]console.Record, bool) {
	return v.records, zone == v.world.Zones[0].Object
}

func (v *values) Explain(_ context.Context, q console.Question) (*explained.Explanation, error) {
	if q.Name == "error.example." {
		return nil, errors.New("the name says " + hostile)
	}
	serial := uint32(7)
	o := v.world.Zones[0].Object
	return &explained.Explanation{Name: hostile, Type: hostile, FQDN: hostile, Message: hostile, Subject: &o, Holder: &o,
		TTL: &serial, Data: []string{hostile}, Notes: []explained.Note{{Reason: "Word", Message: hostile}},
		Steps:  []explained.Step{{Rule: hostile, Message: hostile}},
		Beside: []explained.Beside{{Object: o, Type: hostile, Message: hostile}},
		Servers: []explained.Server{{Backend: hostile, Server: hostile, Has: []string{hostile}, Answers: []string{hostile},
			Error: hostile}},
		Status: &explained.Status{Reason: hostile, Message: hostile}, Advice: hostile, Manifest: hostile,
		Unseen: []string{hostile}}, nil
}

func (v *values) Differences(context.Context, console.Object) ([]console.Difference, error) {
	return []console.Difference{{Title: hostile, Lines: []console.Line{{Sign: "+", Text: hostile}},
		Foreign: []string{hostile}}}, nil
}

func (v *values) History(context.Context, console.Object) (*console.History, error) {
	return &console.History{Serial: "8", Revisions: []console.Revision{{Serial: "8", Previous: "7", Time: time.Unix(0, 0),
		Causes: hostile, Lines: []console.Line{{Sign: "-", Text: hostile}}}}}, nil
}

func (v *values) Plan(_ context.Context, a console.Action) (*console.Plan, error) {
	return &console.Plan{Sentence: hostile, Lines: []console.Line{{Sign: "-", Text: hostile}}, ID: v.plans[a.Verb],
		Verdict: &console.Verdict{Reason: hostile, Message: hostile, Notes: []string{hostile}}, Others: []string{hostile},
		YAML: hostile, Warnings: []string{hostile}}, nil
}

func (v *values) Do(_ context.Context, a console.Action, plan string) (string, error) {
	if plan != v.plans[a.Verb] {
		return "", errors.New("it is another plan")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done = append(v.done, a)
	return "It is so: " + hostile, nil
}

func (v *values) Draft(_ context.Context, o console.Object) (console.Draft, error) {
	switch o.Name {
	case "shown":
		return console.Draft{FQDN: "<script>.example.", Type: "TXT", TTL: "60", Data: `"</textarea><script>"`}, nil
	case "forbidden":
		return console.Draft{}, errors.New("you may not")
	}
	return console.Draft{FQDN: hostile, Type: hostile, TTL: hostile, Data: hostile}, nil
}

func (v *values) MayCreate(_ context.Context, namespace string) error {
	if namespace == "forbidden" {
		return errors.New("you may not")
	}
	return nil
}

// hostileValues have hostile text wherever somebody else chooses it.
func hostileValues() *values {
	o := console.Object{Kind: "Zone", Namespace: hostileName, Name: hostileName}
	v := &values{changed: make(chan struct{}), plans: map[console.Verb]string{console.Rollback: "plan"},
		records: []console.Record{{Name: hostile, Unicode: hostile, Type: "TXT", TTL: 60, Data: []string{hostile},
			Objects: []console.Object{o}}}}
	v.world = console.World{Where: hostile, Cluster: true, Unseen: []string{hostile},
		Zones: []console.Zone{{Object: o, FQDN: hostile, Parent: hostile, Accepted: true, Message: hostile,
			Health: console.Health{State: console.Bad, Reason: hostile, Message: hostile}, Serial: hostile, Frozen: hostile,
			Rules: []console.Rule{{Who: []string{hostile}, Records: []string{hostile}, Zones: []string{hostile}},
				{Text: hostile}},
			Owners:  []console.Owner{{Namespace: hostile, Records: 3}},
			Servers: []console.ZoneServer{{Name: hostile, Serial: hostile, Message: hostile}},
			Held:    &console.Held{Sets: 2, Examples: []string{hostile}, Plan: "held"}}},
		Backends: []console.Backend{{Name: hostile, Type: hostile, Servers: []string{hostile}, Mode: hostile, Default: true}},
		Refused:  []console.Refusal{{Object: o, FQDN: hostile, Type: hostile, Reason: hostile, Message: hostile}}}
	return v
}

// A visit is a console with somebody who looks at it.
type visit struct {
	t       *testing.T
	console *console.Linked
	server  *httptest.Server
	cookies []*http.Cookie
}

func open(t *testing.T, source console.Source, edit bool) *visit {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	addr := netip.MustParseAddrPort(server.Listener.Addr().String())
	c, err := console.New(console.Options{Source: source, Addr: addr, Edit: edit, Random: rand.Reader, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = c
	server.Start()
	t.Cleanup(server.Close)
	return &visit{t: t, console: c, server: server}
}

// do makes a request with the cookies of the visit.
func (v *visit) do(method, path string, form url.Values, change func(*http.Request)) *answer {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	if change != nil {
		change(r)
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { got.Body.Close() })
	return &answer{got}
}

// An answer is closed when the test ends.
type answer struct{ *http.Response }

// get returns the status and the text of a page.
func (v *visit) get(path string) (int, string) {
	v.t.Helper()
	got := v.do(http.MethodGet, path, nil, nil)
	return got.StatusCode, text(v.t, got)
}

func text(t *testing.T, got *answer) string {
	t.Helper()
	all, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// login opens the link.
func (v *visit) login() *visit {
	v.t.Helper()
	got := v.do(http.MethodGet, strings.TrimPrefix(v.console.Link(), v.server.URL), nil, nil)
	if v.cookies = got.Cookies(); got.StatusCode != http.StatusOK || len(v.cookies) != 1 {
		v.t.Fatalf("the link answers %s, with the cookies %v", got.Status, v.cookies)
	}
	return v
}

func ofZone(o console.Object) string {
	return url.Values{"kind": {o.Kind}, "namespace": {o.Namespace}, "object": {o.Name}}.Encode()
}

// allPages are the addresses of one page of each kind.
func allPages(zone console.Object) []string {
	of := ofZone(zone)
	return []string{"/", "/zone?" + of, "/zone?q=%3Cscript%3E&type=%3Cscript%3E&" + of, "/explain",
		"/explain?name=www.example.org",
		"/explain?name=error.example.", "/explain?" + of, "/delegation", "/servers", "/differences", "/differences?" + of,
		"/history?" + of, "/refused", "/act?verb=freeze&" + of, "/act?verb=rollback&serial=%22%3E%3Cscript%3E&" + of,
		"/act?verb=approve&" + of, "/act?verb=delete&" + of, "/edit", "/edit?namespace=dns&object=shown",
		"/edit?namespace=dns&object=hostile", "/edit?in=%3Cscript%3E.example.", "/no-such-page", "/zone?object=%3Cscript%3E"}
}

func TestHostileValuesStayText(t *testing.T) {
	source := hostileValues()
	v := open(t, source, true).login()
	tags := regexp.MustCompile(`(?i)<(script|img|style|iframe|svg)[^>]*>`)
	mine := regexp.MustCompile(`^<script src="/assets/(htmx|sse)\.min\.js" defer>$`)
	hidden := regexp.MustCompile(`<input type="hidden" [^>]*>`) // which go back as they came
	for _, path := range allPages(v.zone()) {
		status, page := v.get(path)
		page = hidden.ReplaceAllString(page, "")
		for _, tag := range tags.FindAllString(page, -1) {
			if !mine.MatchString(tag) {
				t.Errorf("%.60s has the tag %s", path, tag)
			}
		}
		for _, bad := range []string{"\u202e", "\x1b", "onerror=alert(2)>", " style=", "javascript:", "<no value>"} {
			if strings.Contains(page, bad) {
				t.Errorf("%.60s (%d) has %q", path, status, bad)
			}
		}
	}
}

func TestTheLinkOpensOneSession(t *testing.T) {
	v := open(t, hostileValues(), false)
	link := strings.TrimPrefix(v.console.Link(), v.server.URL)
	for _, path := range allPages(v.zone()) {
		if status, page := v.get(path); status != http.StatusUnauthorized || strings.Contains(page, "Zone") {
			t.Errorf("a stranger gets %.60s: %d:\n%.300s", path, status, page)
		}
	}
	for path, want := range map[string]int{"/login": 403, "/login?token=": 403, "/login?token=x": 403, "/events": 401} {
		if status, _ := v.get(path); status != want {
			t.Errorf("a stranger gets %s: %d, want %d", path, status, want)
		}
	}
	got := v.do(http.MethodGet, link, nil, nil)
	cookie := got.Cookies()
	if len(cookie) != 1 || !cookie[0].HttpOnly || cookie[0].SameSite != http.SameSiteStrictMode || cookie[0].Path != "/" ||
		cookie[0].Domain != "" || len(cookie[0].Value) < 43 || strings.Contains(v.console.Link(), cookie[0].Value) {
		t.Errorf("the link gives the cookie %v", cookie)
	}
	if got := v.do(http.MethodGet, link, nil, nil); got.StatusCode != http.StatusForbidden || len(got.Cookies()) > 0 {
		t.Errorf("the link works twice: %s, %v", got.Status, got.Cookies())
	}
	v.cookies = cookie
	if got := v.do(http.MethodGet, link, nil, nil); got.StatusCode != http.StatusOK || len(got.Cookies()) > 0 {
		t.Errorf("who has the session, and opens the link again, gets %s, %v", got.Status, got.Cookies())
	}
	if status, _ := v.get("/"); status != http.StatusOK {
		t.Errorf("the session gets %d", status)
	}
	v.cookies = []*http.Cookie{{Name: cookie[0].Name, Value: cookie[0].Value + "A"}}
	if status, _ := v.get("/"); status != http.StatusUnauthorized {
		t.Errorf("another cookie gets %d", status)
	}
}

func (v *visit) zone() console.Object {
	return console.Object{Kind: "Zone", Namespace: hostileName, Name: hostileName}
}

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	v := open(t, hostileValues(), true).login()
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		what   string
		change func(*http.Request)
		want   int
	}{
		{"the address that was listened on", nil, 200},
		{"a name that leads to the loopback", func(r *http.Request) { r.Host = "evil.example" }, 421},
		{"that name with the port", func(r *http.Request) { r.Host = "evil.example:" + r.URL.Port() }, 421},
		{"localhost", func(r *http.Request) { r.Host = "localhost:" + r.URL.Port() }, 200},
		{"the address without its port", func(r *http.Request) { r.Host = "127.0.0.1" }, 421},
		{"a link on a page of another site", header("Sec-Fetch-Site", "cross-site"), 403},
		{"a page at another port", header("Sec-Fetch-Site", "same-site"), 403},
		{"an own page", header("Sec-Fetch-Site", "same-origin"), 200},
		{"an address that was typed", header("Sec-Fetch-Site", "none"), 200},
	} {
		if got := v.do(http.MethodGet, "/", nil, c.change); got.StatusCode != c.want {
			t.Errorf("%s is answered %d, want %d", c.what, got.StatusCode, c.want)
		}
	}
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
		"form-action 'self'", "base-uri 'none'"} {
		policy := v.do(http.MethodGet, "/", nil, nil).Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, want) ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
}

var formSecret = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func TestFormsAreThoseOfTheSession(t *testing.T) {
	source := hostileValues()
	v := open(t, source, true).login()
	_, page := v.get("/act?verb=rollback&serial=7&" + ofZone(v.zone()))
	m := formSecret.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("there is no form:\n%.2000s", page)
	}
	form := func(csrf, plan string) url.Values {
		return url.Values{"csrf": {csrf}, "plan": {plan}, "verb": {"rollback"}, "serial": {"7"}, "kind": {"Zone"},
			"namespace": {hostileName}, "object": {hostileName}}
	}
	evil := func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }
	for _, c := range []struct {
		what   string
		form   url.Values
		change func(*http.Request)
		want   int
	}{
		{"a form without the secret", form("", "plan"), nil, 403},
		{"a form with another secret", form(m[1]+"A", "plan"), nil, 403},
		{"a form of another site", form(m[1], "plan"), evil, 403},
		{"a form of a sandbox", form(m[1], "plan"), func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"a form of a page at another port", form(m[1], "plan"),
			func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		{"a form for another plan than was shown", form(m[1], "other"), nil, 409},
		{"a form with a reason that is too long", url.Values{"csrf": {m[1]}, "verb": {"freeze"}, "reason": {hostile}},
			nil, 400},
		{"a form that is too long", url.Values{"csrf": {m[1]}, "reason": {strings.Repeat(hostile, 20)}}, nil, 400},
	} {
		if got := v.do(http.MethodPost, "/act", c.form, c.change); got.StatusCode != c.want {
			t.Errorf("%s is answered %d, want %d", c.what, got.StatusCode, c.want)
		}
	}
	if got := v.do(http.MethodPost, "/act?csrf="+m[1], form("", "plan"), nil); got.StatusCode != http.StatusForbidden {
		t.Errorf("a form with the secret in the address is answered %s", got.Status)
	}
	if got := v.do(http.MethodGet, "/act?"+form(m[1], "plan").Encode(), nil, nil); got.StatusCode != http.StatusOK ||
		len(source.done) > 0 {
		t.Errorf("a link acts: %s, %v", got.Status, source.done)
	}
	got := v.do(http.MethodPost, "/act", form(m[1], "plan"), nil)
	want := console.Action{Verb: console.Rollback, Serial: "7", Of: v.zone()}
	if page := text(t, got); got.StatusCode != http.StatusOK || !strings.Contains(page, "It is so") ||
		len(source.done) != 1 || source.done[0] != want {
		t.Errorf("the form is answered %s, and does %v:\n%.300s", got.Status, source.done, page)
	}
}

func TestWithoutEditNothingCanBeDone(t *testing.T) {
	source := hostileValues()
	v := open(t, source, false).login()
	for _, path := range allPages(v.zone()) {
		if status, page := v.get(path); strings.Contains(page, `method="post"`) || strings.Contains(page, `href="/act`) ||
			strings.Contains(page, `href="/edit`) ||
			(strings.HasPrefix(path, "/act") || strings.HasPrefix(path, "/edit")) && status != http.StatusForbidden {
			t.Errorf("%.60s (%d) has forms", path, status)
		}
	}
	for _, verb := range []console.Verb{console.Approve, console.Freeze, console.Thaw, console.Rollback,
		console.Create, console.Change, console.Delete} {
		form := url.Values{"verb": {string(verb)}, "plan": {source.plans[verb]}, "object": {"x"}}
		if got := v.do(http.MethodPost, "/act", form, nil); got.StatusCode != http.StatusForbidden || len(source.done) > 0 {
			t.Errorf("%s is answered %s, and does %v", verb, got.Status, source.done)
		}
	}
}

func TestRecordsAreSearchedAndPaged(t *testing.T) {
	source := hostileValues()
	source.records = nil
	zone := v1("Zone", "dns", "example")
	source.world.Zones[0].Object = zone
	for i := range 100_000 {
		source.records = append(source.records, console.Record{Name: fmt.Sprintf("n%05d.example.org.", i), Type: "A", TTL: 60,
			Data:    []string{fmt.Sprintf("192.0.%d.%d", i/256%256, i%256)},
			Objects: []console.Object{v1("Record", "team-"+string(rune('a'+i%3)), fmt.Sprintf("object-%d", i))}})
	}
	source.records[70_000].Type = "AAAA"
	v := open(t, source, false).login()
	for query, want := range map[string][]string{
		"":                               {"1 to 100 of 100000", "n00000.example.org.", "n00099.example.org.", "page=2"},
		"page=1000":                      {"99901 to 100000 of 100000", "n99999.example.org.", "page=999"},
		"page=7777":                      {"99901 to 100000 of 100000"},
		"page=-1":                        {"1 to 100 of 100000"},
		"q=N12345":                       {"1 to 1 of 1", "n12345.example.org."},
		"q=object-999+team-c":            {"1 to 36 of 36"},
		"q=192.0.0.7&type=A":             {"of 22"},
		"type=AAAA":                      {"1 to 1 of 1", "n70000.example.org."},
		"q=no-such-name":                 {"0 to 0 of 0", "No record is found"},
		"q=" + strings.Repeat("a", 9000): {"No record is found"},
	} {
		status, page := v.get("/zone?" + ofZone(zone) + "&" + query)
		for _, part := range want {
			if status != http.StatusOK || !strings.Contains(page, part) {
				t.Errorf("%.60s is answered %d, without %q", query, status, part)
			}
		}
	}
}

// TestWhatIsFrozenAndHasAHistory shows the forms of kinds that can be frozen, and no others.
func TestWhatIsFrozenAndHasAHistory(t *testing.T) {
	source := hostileValues()
	source.world.Zones[0].Frozen = ""
	v := open(t, source, true).login()
	for kind, can := range map[string]bool{"Zone": true, "DNSZone": true, "DNSClass": false} {
		zone := v1(kind, "dns", "example")
		source.world.Zones[0].Object = zone
		_, page := v.get("/zone?" + ofZone(zone))
		if strings.Contains(page, `id="freeze"`) != can || strings.Contains(page, `id="tab-history"`) != can {
			t.Errorf("a %s can be frozen and has a history: %t, which its page does not say", kind, can)
		}
	}
}

func v1(kind, namespace, name string) console.Object {
	return console.Object{Kind: kind, Namespace: namespace, Name: name}
}

func TestPagesHearOfChanges(t *testing.T) {
	source := hostileValues()
	v := open(t, source, false).login()
	var lines [5]*lineReader
	for i := range lines {
		got := v.do(http.MethodGet, "/events?seen=0", nil, nil)
		if i == len(lines)-1 { // browsers have six connections, and need some for pages
			if got.StatusCode != http.StatusNoContent {
				t.Errorf("a fifth page is kept up to date: %s", got.Status)
			}
			break
		}
		lines[i] = &lineReader{got.Body}
		lines[i].until(t, ": hello")
	}
	source.change()
	for _, l := range lines[:4] {
		l.until(t, "event: changed")
	}
	late := open(t, source, false).login().do(http.MethodGet, "/events?seen=0", nil, nil)
	(&lineReader{late.Body}).until(t, "event: changed") // since the page was made
}

// A lineReader reads lines as they come.
type lineReader struct{ from io.Reader }

func (l *lineReader) until(t *testing.T, want string) {
	t.Helper()
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := l.from.Read(one); err != nil {
			t.Fatalf("waiting for %q: %v", want, err)
		}
		if one[0] != '\n' {
			line = append(line, one[0])
			continue
		}
		if string(line) == want {
			return
		}
		line = line[:0]
	}
}
