package console

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testcluster"
)

func ofZone(ns string) string {
	return url.Values{"kind": {"Zone"}, "namespace": {ns}, "object": {"zone-of-" + ns}}.Encode()
}

// pages are one of each kind, of the zone of a namespace.
func pages(ns string) map[string]string {
	return map[string]string{
		"zones": "/", "zone": "/zone?" + ofZone(ns), "search": "/zone?q=www&type=A&" + ofZone(ns),
		"explain-name":   "/explain?name=www." + ns + ".example.&type=A",
		"explain-free":   "/explain?name=free." + ns + ".example.",
		"explain-object": "/explain?kind=Record&namespace=" + ns + "&object=refused-of-" + ns,
		"explain-zone":   "/explain?" + ofZone(ns), "delegation": "/delegation", "servers": "/servers",
		"differences": "/differences", "differences-of": "/differences?" + ofZone(ns), "history": "/history?" + ofZone(ns),
		"refused": "/refused", "freeze": "/act?verb=freeze&" + ofZone(ns),
	}
}

// A visitor asks a console without a browser.
type visitor struct {
	*site
	base   string
	cookie *http.Cookie
}

// visit opens the link of a console, and finds that it does not work again.
func (s *site) visit(link string) *visitor {
	s.t.Helper()
	at, err := url.Parse(link)
	s.must(err)
	v := &visitor{site: s, base: "http://" + at.Host}
	if status, cookies, _ := v.do(at.RequestURI()); status != http.StatusOK || len(cookies) != 1 {
		s.t.Fatalf("the link answers %d, with the cookies %v", status, cookies)
	} else if again, more, _ := v.do(at.RequestURI()); again != http.StatusForbidden || len(more) > 0 {
		s.t.Errorf("the link works twice: %d", again)
	} else {
		v.cookie = cookies[0]
	}
	return v
}

func (v *visitor) do(path string) (status int, cookies []*http.Cookie, text string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.ctx, http.MethodGet, v.base+path, nil)
	v.must(err)
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	got, err := http.DefaultClient.Do(r)
	v.must(err)
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	v.must(err)
	return got.StatusCode, got.Cookies(), string(body)
}

func (v *visitor) get(path string) (status int, page string) {
	v.t.Helper()
	status, _, page = v.do(path)
	return status, page
}

// await asks for a page until it has a text.
func (v *visitor) await(what, path, part string) {
	v.t.Helper()
	testcluster.Eventually(v.ctx, v.t, what, func() string {
		status, page := v.get(path)
		if !strings.Contains(page, part) {
			return fmt.Sprintf("%s (%d) lacks %q:\n%s", path, status, part, page)
		}
		return ""
	})
}

// TestTenantsSeeWhatIsTheirs looks at all pages with the rights of two tenants, of whom one may watch, and the other
// may list alone.
func TestTenantsSeeWhatIsTheirs(t *testing.T) {
	s := newSite(t)
	for _, tenant := range []struct{ own, other, address string }{{"a", "b", "192.0.2.1"}, {"b", "a", "192.0.2.2"}} {
		v := s.visit(s.console(tenant.own, "-n", tenant.own, "--edit").link)
		v.await("its own zone is there", "/", "zone-of-"+tenant.own)
		v.await("its own record is there", pages(tenant.own)["search"], tenant.address)
		for _, of := range []string{tenant.own, tenant.other} {
			for what, path := range pages(of) {
				status, page := v.get(path)
				for _, asked := range []string{"zone-of-" + of, "refused-of-" + of, of + ".example."} {
					if of == tenant.other { // then it may be on the page because somebody has asked for it
						page = strings.ReplaceAll(page, asked, "")
					}
				}
				// The operator tells them the servers of their own.
				if of == tenant.own && (strings.HasPrefix(what, "explain") || what == "differences-of") {
					page = strings.ReplaceAll(page, s.bind.Addr(), "")
				}
				for _, hidden := range []string{"zone-of-" + tenant.other, "www-of-" + tenant.other, tenant.other + ".example.",
					"refused-of-" + tenant.other, "guests-of-" + tenant.other, s.bind.Addr()} {
					if strings.Contains(page, hidden) {
						t.Errorf("tenant %s sees %s on the page %s of %s (%d):\n%s", tenant.own, hidden, what, of, status,
							page)
					}
				}
			}
		}
		v.await("what it may not see is told", "/", "You may not list zones in namespaces other than "+tenant.own)
		v.await("the Backends are not told", "/servers", "You may not list backends")
		change := fmt.Sprintf(`{"spec":{"rdata":"192.0.2.4%s"}}`, strings.TrimPrefix(tenant.address, "192.0.2."))
		s.kubectl("patch", "record", "www-of-"+tenant.own, "-n", tenant.own, "--type=merge", "-p", change)
		v.await("a change is there", pages(tenant.own)["search"], "192.0.2.4")
		_, page := v.get("/edit?namespace=" + tenant.own + "&object=www-of-" + tenant.own)
		if form := strings.Contains(page, `action="/review"`); form != (tenant.own == "a") ||
			form == strings.Contains(page, "You may not patch records.kubi.zone www-of-"+tenant.own) {
			t.Errorf("tenant %s has this form for its record:\n%s", tenant.own, page)
		}
		if _, page := v.get("/edit?in=" + tenant.own + ".example."); strings.Contains(page, `action="/review"`) ||
			!strings.Contains(page, "You may not create records.kubi.zone in namespace "+tenant.own) {
			t.Errorf("tenant %s, who may create nothing, has this form:\n%s", tenant.own, page)
		}
		frozen := v.may(tenant.own)
		if want := tenant.own == "a"; frozen != want {
			t.Errorf("tenant %s may freeze its zone: %v", tenant.own, frozen)
		}
		if tenant.own == "b" { // whose console lists again and again
			s.kubectl("delete", "rolebinding", "tenant", "-n", tenant.own)
			v.await("what it may not see any more is gone", "/", "No zone is there, as far as you may see")
			v.await("why is told", "/", "may be out of date")
		}
	}
}

// may reports whether the page that asks has a form, and not a word on rights.
func (v *visitor) may(ns string) bool {
	v.t.Helper()
	_, page := v.get(pages(ns)["freeze"])
	form, refused := strings.Contains(page, `method="post"`), strings.Contains(page, "You may not do this")
	if form == refused {
		v.t.Errorf("the page asks so:\n%s", page)
	}
	return form
}
