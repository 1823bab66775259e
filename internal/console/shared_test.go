package console_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/console"
)

// An authority knows some tokens, and shows each person a world that has the person's name and namespaces. It is a
// console.Cluster.
type authority struct {
	mu     sync.Mutex
	now    time.Time
	tokens map[string]console.Person
	down   bool
	asked  int                      // reviews
	opened map[string]int           // by Person.Name
	reads  map[string]func() string // the newest token, by Person.Name
	follow map[string]chan error
}

func (a *authority) clock() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now
}

// openings are how often objects were read for a person.
func (a *authority) openings(name string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.opened[name]
}

// end has what a person sees end.
func (a *authority) end(name string, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.follow[name] <- why
}

// tokenFor returns the token that is used for a person.
func (a *authority) tokenFor(name string) string {
	a.mu.Lock()
	token := a.reads[name]
	a.mu.Unlock()
	return token()
}

// questions are how often it was asked whose a token is.
func (a *authority) questions() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

// later lets time pass.
func (a *authority) later(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = a.now.Add(d)
}

// know has a token be that of a person; an empty name is nobody.
func (a *authority) know(token, name, party string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if delete(a.tokens, token); name != "" {
		a.tokens[token] = console.Person{Name: name, ID: "id of " + name, Party: party}
	}
}

func (a *authority) Review(_ context.Context, token string) (console.Person, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if a.down {
		return console.Person{}, errors.New("it does not answer")
	}
	p, ok := a.tokens[token]
	if !ok {
		return p, console.ErrStranger
	}
	return p, nil
}

func (a *authority) Open(_ context.Context, o console.Opening) (console.Source, func(context.Context) error, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened[o.Person.Name]++
	a.reads[o.Person.Name] = o.Token
	ended := make(chan error, 1)
	a.follow[o.Person.Name] = ended
	if o.Person.Name == "too much" {
		return nil, nil, errors.New("your objects are too many")
	}
	v := hostileValues()
	v.world.Where = "what " + o.Person.Name + " sees of " + strings.Join(o.Namespaces, ", ")
	return v, func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		}
	}, nil
}

// A shared is a console that many look at.
type shared struct {
	t      *testing.T
	server *httptest.Server
	who    *authority
}

func openShared(t *testing.T, people int, edit bool) *shared {
	t.Helper()
	a := &authority{now: time.Unix(1e9, 0), tokens: map[string]console.Person{}, opened: map[string]int{},
		reads: map[string]func() string{}, follow: map[string]chan error{}}
	ctx, cancel := context.WithCancel(t.Context())
	many, err := console.NewShared(ctx, console.SharedOptions{Cluster: a, Hosts: []string{"console.example.org"},
		Edit: edit, People: people, Idle: 15 * time.Minute, Believe: 30 * time.Second, Random: rand.Reader, Now: a.clock,
		Say: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(many)
	t.Cleanup(func() { cancel(); many.Wait(); server.Close() })
	return &shared{t, server, a}
}

// A caller is somebody who asks it, with a token in each request, or with cookies.
type caller struct {
	*shared

	token   string
	cookies []*http.Cookie
}

func (h *shared) with(token string) *caller { return &caller{shared: h, token: token} }

func (c *caller) do(method, path string, form url.Values, change func(*http.Request)) *answer {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		c.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	if change != nil {
		change(r)
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { got.Body.Close() })
	return &answer{got}
}

// sees checks the status and a part of the first page.
func (c *caller) sees(what string, status int, part string) string {
	c.t.Helper()
	got := c.do(http.MethodGet, "/", nil, nil)
	page := text(c.t, got)
	if got.StatusCode != status || !strings.Contains(page, part) {
		c.t.Errorf("%s: %s, without %q:\n%.1500s", what, got.Status, part, page)
	}
	return page
}

// signIn exchanges a token for a cookie.
func (h *shared) signIn(token string) *caller {
	h.t.Helper()
	c := h.with("")
	got := c.do(http.MethodPost, "/login", url.Values{"token": {token}}, nil)
	if c.cookies = got.Cookies(); got.StatusCode != http.StatusSeeOther || len(c.cookies) != 1 {
		h.t.Fatalf("signing in with %s is answered %s, with the cookies %v", token, got.Status, c.cookies)
	}
	return c
}

// secretOf returns the secret of the forms that somebody is shown.
func (c *caller) secretOf() string {
	c.t.Helper()
	m := formSecret.FindStringSubmatch(text(c.t, c.do(http.MethodGet, "/", nil, nil)))
	if m == nil {
		c.t.Fatal("there is no form on the page")
	}
	return m[1]
}

func TestEachSeesTheirOwn(t *testing.T) {
	h := openShared(t, 8, false)
	h.who.know("token-a", "anna", "anna")
	h.who.know("token-b", "ben", "ben")
	a, b := h.signIn("token-a"), h.with("token-b")
	a.sees("a cookie", 200, "what anna sees")
	b.sees("a token", 200, "what ben sees")
	both := h.with("token-b")
	both.cookies = a.cookies
	both.sees("a token of one with the cookie of another", 200, "what ben sees")
	for what, token := range map[string]string{"no token": "", "another one": "token-c", "one that is none": "<script>",
		"one that is too long": strings.Repeat("a", 20<<10), "two": "token-a token-b"} {
		h.with(token).sees(what, 401, "Sign in")
	}
	forged := h.with("")
	forged.cookies = []*http.Cookie{{Name: a.cookies[0].Name, Value: a.cookies[0].Value + "A"}}
	forged.sees("another cookie", 401, "Sign in")
	asked := h.who.questions()
	b.sees("again", 200, "what ben sees")
	if more, read := h.who.questions()-asked, h.who.openings("ben"); more != 0 || read != 1 {
		t.Errorf("for one page more the API server is asked %d times; objects were read %d times", more, read)
	}
	if c := a.cookies[0]; !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" ||
		c.Domain != "" || !strings.HasPrefix(c.Name, "__Host-") || strings.Contains(c.Value, "token") {
		t.Errorf("the cookie is %v", c)
	}
	got := h.with("").do(http.MethodPost, "/login", url.Values{"token": {"token-c"}}, nil)
	if page := text(t, got); got.StatusCode != http.StatusUnauthorized || len(got.Cookies()) > 0 ||
		!strings.Contains(page, "The API server does not accept the token") {
		t.Errorf("signing in with another token is answered %s:\n%s", got.Status, page)
	}
}

func TestATokenThatIsNotAcceptedAnyMoreShowsNothing(t *testing.T) {
	h := openShared(t, 8, false)
	h.who.know("token-a", "anna", "anna")
	a, direct := h.signIn("token-a"), h.with("token-a")
	a.sees("before", 200, "what anna sees")
	stream := a.do(http.MethodGet, "/events?seen=0", nil, nil)
	(&lineReader{stream.Body}).until(t, ": hello")
	h.who.know("token-a", "", "")
	a.sees("as long as it is believed", 200, "what anna sees")
	h.who.later(31 * time.Second)
	page := a.do(http.MethodGet, "/", nil, func(r *http.Request) { r.Header.Set("HX-Request", "true") })
	if page.StatusCode != http.StatusUnauthorized || page.Header.Get("HX-Refresh") != "true" ||
		page.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("afterwards the page is answered %s, %v", page.Status, page.Header)
	}
	direct.sees("with the token", 401, "does not accept")
	(&lineReader{stream.Body}).until(t, "event: changed") // the page has to ask, and hears it
	h.who.know("token-a", "anna", "anna")
	a.sees("a session that has ended", 401, "Sign in")
	direct.sees("a token that is accepted again", 200, "what anna sees")
	h.who.mu.Lock()
	h.who.down = true
	h.who.mu.Unlock()
	h.who.later(31 * time.Second)
	direct.sees("while nobody can say whose it is", 503, "It does not answer")
}

func TestAWorldIsReadWithTheNewestToken(t *testing.T) {
	h := openShared(t, 8, false)
	h.who.know("token-1", "anna", "anna")
	h.who.know("token-2", "anna", "anna")
	h.with("token-1").sees("the first", 200, "what anna sees")
	secret := h.with("token-1").secretOf()
	h.with("token-2").sees("the second", 200, "what anna sees")
	if got, read := h.who.tokenFor("anna"), h.who.openings("anna"); got != "token-2" || read != 1 {
		t.Errorf("objects are read with %s, and were read %d times", got, read)
	}
	if h.with("token-2").secretOf() != secret {
		t.Error("a form that is filled in while a proxy renews the token is not taken")
	}
}

func TestPeopleAreBounded(t *testing.T) {
	h := openShared(t, 4, false)
	for i := range 4 {
		name := fmt.Sprintf("person-%d", i)
		h.who.know("token-of-"+name, name, name)
		h.with("token-of-"+name).sees(name, 200, "what "+name+" sees")
		h.who.later(time.Minute)
	}
	h.who.know("token-z", "zoe", "zoe")
	zoe := h.signIn("token-z")
	zoe.sees("one too many", 503, "The console has no room for more people")
	if after := zoe.do(http.MethodGet, "/", nil, nil).Header.Get("Retry-After"); after == "" {
		t.Error("it is not said when to try again")
	}
	h.who.later(11*time.Minute + time.Second) // the first has asked for nothing for 15 minutes
	zoe.sees("when one has left", 200, "what zoe sees")
	h.with("token-of-person-1").sees("who is still there", 200, "what person-1 sees")
	h.with("token-of-person-0").sees("who has left", 503, "The console has no room")

	others := openShared(t, 8, false)
	for i, want := range []int{200, 200, 503} {
		name := fmt.Sprintf("account-%d", i)
		others.who.know("token-of-"+name, name, "team-a")
		others.with("token-of-"+name).sees("accounts of one namespace", want, map[int]string{200: "what account",
			503: "another ServiceAccount of your namespace"}[want])
	}
	others.who.know("token-b", "ben", "ben")
	others.with("token-b").sees("somebody else", 200, "what ben sees")
}

func TestSessionsAreBounded(t *testing.T) {
	h := openShared(t, 1, false)
	h.who.know("token-a", "anna", "anna")
	first := h.signIn("token-a")
	h.who.later(time.Second)
	var last *caller
	for range 8 {
		last = h.signIn("token-a")
	}
	first.sees("the oldest of nine browsers", 401, "Sign in")
	last.sees("the newest", 200, "what anna sees")
	h.who.know("token-b", "ben", "ben")
	got := h.with("").do(http.MethodPost, "/login", url.Values{"token": {"token-b"}}, nil)
	if got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("signing in where all sessions are taken is answered %s", got.Status)
	}
}

func TestSigningOutDropsWhatIsShown(t *testing.T) {
	h := openShared(t, 8, false)
	h.who.know("token-a", "anna", "anna")
	h.who.know("token-b", "ben", "ben")
	a, b := h.signIn("token-a"), h.signIn("token-b")
	secret := a.secretOf()
	b.sees("the other", 200, "what ben sees")
	if got := b.do(http.MethodPost, "/logout", url.Values{"csrf": {secret}}, nil); got.StatusCode != http.StatusForbidden {
		t.Errorf("the form of one is taken from another: %s", got.Status)
	}
	stream := a.do(http.MethodGet, "/events?seen=0", nil, nil)
	(&lineReader{stream.Body}).until(t, ": hello")
	if got := a.do(http.MethodPost, "/logout", url.Values{"csrf": {secret}}, nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("signing out is answered %s", got.Status)
	}
	(&lineReader{stream.Body}).until(t, "event: changed")
	a.sees("the cookie afterwards", 401, "Sign in")
	again := h.signIn("token-a")
	again.sees("signed in again", 200, "what anna sees")
	if read := h.who.openings("anna"); read != 2 {
		t.Errorf("what was shown is kept when its person signs out: it was read %d times", read)
	}
	h.who.end("anna", errors.New("there is too much"))
	for h.who.openings("anna") < 3 { // it is read anew, once it is gone
		again.sees("after it has ended", 200, "what anna sees")
	}
	h.who.know("token-m", "too much", "too much")
	h.with("token-m").sees("what cannot be read", 503, "Your objects are too many.")
}

func TestNamespacesAreChosen(t *testing.T) {
	h := openShared(t, 8, false)
	h.who.know("token-a", "anna", "anna")
	a := h.with("token-a")
	secret := a.secretOf()
	for names, want := range map[string]int{"team-a, team-b": 303, "Team": 400, "a.b": 400, "../x": 400,
		strings.Repeat("a ", 17): 400} {
		got := a.do(http.MethodPost, "/namespaces", url.Values{"csrf": {secret}, "namespaces": {names}}, nil)
		if got.StatusCode != want {
			t.Errorf("%q is answered %s, want %d", names, got.Status, want)
		}
		if want == 303 {
			a.cookies = got.Cookies()
		}
	}
	a.sees("some namespaces", 200, "what anna sees of team-a, team-b")
	got := a.do(http.MethodPost, "/namespaces", url.Values{"namespaces": {"x"}}, nil)
	if got.StatusCode != http.StatusForbidden {
		t.Errorf("a form of somebody else is answered %s", got.Status)
	}
	a.cookies[0].Value = "team-a.<script>"
	a.sees("a cookie that nobody has set", 200, "what anna sees of ")
}

func TestASharedConsoleAnswersAtItsNames(t *testing.T) {
	h := openShared(t, 8, true)
	h.who.know("token-a", "anna", "anna")
	a := h.with("token-a")
	port := strings.TrimPrefix(h.server.URL, "http://127.0.0.1")
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	headers := func(pairs ...string) func(*http.Request) {
		return func(r *http.Request) {
			for i := 0; i < len(pairs); i += 2 {
				r.Header.Set(pairs[i], pairs[i+1])
			}
		}
	}
	link := headers("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	for _, c := range []struct {
		what, path string
		change     func(*http.Request)
		want       int
	}{
		{"its name", "/", host("console.example.org"), 200},
		{"its name with a port", "/", host("Console.example.org:8443"), 200},
		{"a port that is forwarded", "/", host("localhost:9999"), 200},
		{"a name of somebody else", "/", host("evil.example"), 421},
		{"a name of somebody else, with its port", "/", host("evil.example" + port), 421},
		{"a probe", "/healthz", host("10.0.0.7:8443"), 200},
		{"a page by its address", "/", host("10.0.0.7:8443"), 421},
		{"a link on a page of another site", "/", link, 200},
		{"what a page of another site loads", "/", headers("Sec-Fetch-Site", "cross-site"), 403},
		{"a frame of another site", "/", headers("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate",
			"Sec-Fetch-Dest", "iframe"), 403},
	} {
		if got := a.do(http.MethodGet, c.path, nil, c.change); got.StatusCode != c.want {
			t.Errorf("%s is answered %s, want %d", c.what, got.Status, c.want)
		}
	}
	for what, change := range map[string]func(*http.Request){"a form of another site": link,
		"a form with another origin": headers("Origin", "https://evil.example"),
		"a form of a sandbox":        headers("Origin", "null")} {
		for path, form := range map[string]url.Values{"/login": {"token": {"token-a"}},
			"/act": {"csrf": {a.secretOf()}, "verb": {"rollback"}, "plan": {"plan"}}} {
			if got := a.do(http.MethodPost, path, form, change); got.StatusCode != http.StatusForbidden ||
				len(got.Cookies()) > 0 {
				t.Errorf("%s for %s is answered %s", what, path, got.Status)
			}
		}
	}
	form := url.Values{"csrf": {a.secretOf()}, "verb": {"rollback"}, "plan": {"plan"}, "serial": {"7"}}
	got := a.do(http.MethodPost, "/act", form, headers("Origin", h.server.URL, "Sec-Fetch-Site", "same-origin"))
	if page := text(t, got); got.StatusCode != http.StatusOK || !strings.Contains(page, "It is so") {
		t.Errorf("an own form is answered %s:\n%.500s", got.Status, page)
	}
}
