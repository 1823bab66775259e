package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/console"
)

func TestRecordsAreWrittenAsTheyWereShown(t *testing.T) {
	source := hostileValues()
	source.plans[console.Change] = "shown"
	v := open(t, source, true).login()
	_, page := v.get("/edit?namespace=dns&object=shown")
	m := formSecret.FindStringSubmatch(page)
	if m == nil || !strings.Contains(page, `action="/review"`) ||
		!strings.Contains(page, `&#34;&lt;/textarea&gt;&lt;script&gt;&#34;</textarea>`) {
		t.Fatalf("the form is:\n%s", page)
	}
	form := url.Values{"csrf": m[1:], "verb": {"change"}, "namespace": {"dns"}, "object": {"shown"},
		"fqdn": {" www.example. "}, "type": {"a"}, "ttl": {""}, "data": {"192.0.2.1\r\n"}}
	with := func(field, value string) url.Values {
		out := url.Values{}
		for name, values := range form {
			out[name] = values
		}
		out.Set(field, value)
		return out
	}
	for _, c := range []struct {
		what, path string
		form       url.Values
		want       int
	}{
		{"a form", "/review", form, 200},
		{"a form without the secret", "/review", with("csrf", "x"), 403},
		{"data on two lines", "/review", with("data", "192.0.2.1\n192.0.2.2"), 400},
		{"data that is turned around", "/review", with("data", "\"\u202eabc\""), 400},
		{"a name that is too long", "/review", with("fqdn", strings.Repeat("a", 2000)), 400},
		{"data that are too long", "/review", with("data", strings.Repeat("a", 300_000)), 400},
		{"another plan", "/act", with("plan", "other"), 409},
		{"no plan", "/act", form, 409},
		{"the plan that was shown", "/act", with("plan", "shown"), 200},
	} {
		got := v.do(http.MethodPost, c.path, c.form, nil)
		if got.StatusCode != c.want {
			t.Errorf("%s is answered %s, want %d", c.what, got.Status, c.want)
		}
		if page := text(t, got); c.path == "/review" && c.want == 200 && (len(source.done) > 0 ||
			!strings.Contains(page, `<input type="hidden" name="data" value="192.0.2.1">`)) {
			t.Errorf("%s does %v, and shows:\n%s", c.what, source.done, page)
		}
	}
	want := console.Action{Verb: console.Change, Of: v1("Record", "dns", "shown"),
		Draft: console.Draft{FQDN: "www.example.", Type: "A", Data: "192.0.2.1"}}
	if len(source.done) != 1 || source.done[0] != want {
		t.Errorf("the form does %+v", source.done)
	}
}

func TestFormsAreForThoseWhoMay(t *testing.T) {
	v := open(t, hostileValues(), true).login()
	for path, want := range map[string]string{
		"/edit?namespace=dns&object=forbidden": "You may not.", "/edit?namespace=forbidden": "You may not.",
		"/edit?namespace=dns&object=hostile": "characters that a form cannot show",
	} {
		if _, page := v.get(path); strings.Contains(page, `method="post"`) || !strings.Contains(page, want) {
			t.Errorf("%s lacks %q, or has a form:\n%.3000s", path, want, page)
		}
	}
	if _, page := v.get("/edit?in=example."); !strings.Contains(page, `value=".example."`) {
		t.Errorf("a new record begins with:\n%s", page)
	}
}
