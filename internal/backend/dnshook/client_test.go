package dnshook_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	hookbackend "github.com/zonefold/zonefold/internal/backend/dnshook"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func set(t *testing.T, owner string, typ rr.Type, data ...string) rr.Set {
	t.Helper()
	for i, d := range data {
		var err error
		if data[i], err = rr.ParseData(typ, d); err != nil {
			t.Fatal(err)
		}
	}
	return rr.NewSet(rr.Key{Name: parse(t, owner), Type: typ}, 300, data...)
}

func TestSetsAsRecords(t *testing.T) {
	long := strings.Repeat("x", 255)
	for _, c := range []struct {
		sentence string
		set      rr.Set
		want     string // its values, or a part of why there is no record
	}{
		{"addresses", set(t, "www.example.org.", rr.TypeA, "192.0.2.1", "192.0.2.2"), `www [192.0.2.1 192.0.2.2]`},
		{"the zone itself", set(t, "example.org.", rr.TypeAAAA, "2001:db8::1"), `@ [2001:db8::1]`},
		{"a wildcard", set(t, "*.x.example.org.", rr.TypeCNAME, "a.example.net."), `*.x [a.example.net]`},
		{"text with everything in it", set(t, "x.example.org.", rr.TypeTXT, `"a\"b\\ ;\195\164"`), `x [a"b\ ;ä]`},
		{"long text", set(t, "x.example.org.", rr.TypeTXT, `"`+long+`" "y"`), `x [` + long + `y]`},
		{"mail servers of one priority", set(t, "x.example.org.", rr.TypeMX, "10 a.example.net.", "10 b.example.net."),
			`x [a.example.net b.example.net]`},
		{"no mail", set(t, "x.example.org.", rr.TypeMX, "0 ."), `x [.]`},
		{"a service", set(t, "_sip._tcp.example.org.", rr.TypeSRV, "1 2 3 a.example.net."), `_sip._tcp [a.example.net]`},
		{"who may certify", set(t, "example.org.", rr.TypeCAA, `0 issue "ca.example.net"`), `@ [0 issue "ca.example.net"]`},

		{"mail servers of several priorities", set(t, "x.example.org.", rr.TypeMX, "10 a.example.net.", "20 b.example.net."),
			"give all values of the name the same priority"},
		{"services with other ports", set(t, "x.example.org.", rr.TypeSRV, "1 2 3 a.example.net.", "1 2 4 a.example.net."),
			"the same priority, weight and port"},
		{"text in two strings", set(t, "x.example.org.", rr.TypeTXT, `"one" "two"`), `it would arrive as "onetwo"`},
		{"octets that are no text", set(t, "x.example.org.", rr.TypeTXT, `"\255"`), "not UTF-8"},
		{"a name with a slash", set(t, "0/25.example.org.", rr.TypePTR, "a.example.net."), "has no name for"},
		{"an alias to a name with a space", set(t, "x.example.org.", rr.TypeCNAME, `a\032b.example.net.`), "cannot carry"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			r, err := hookbackend.RecordOf(parse(t, "example.org."), c.set)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("there is no record: %v", err)
				}
				return
			}
			if got := fmt.Sprint(r.Subdomain, " ", r.Values); got != c.want || r.TTL != 300 || r.Domain != "example.org" {
				t.Errorf("it is %s in %+v", got, r)
			}
			if back, err := hookbackend.SetOf(r, c.set.Key()); err != nil || !back.Equal(c.set) {
				t.Errorf("it comes back as %v, %v", back, err)
			}
		})
	}
}

// scripted answers each method and path as it is told, and anything else with success.
type scripted struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func script(t *testing.T, answers map[string]string) *scripted {
	t.Helper()
	s := &scripted{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := r.Method + " " + r.URL.Path
		s.mu.Lock()
		s.asked = append(s.asked, what)
		s.mu.Unlock()
		answer, known := answers[what]
		if !known {
			answer = `200 {"success":true,"status":"healthy"}`
		}
		var status int
		_, _ = fmt.Sscan(answer, &status)
		w.Header().Set("Retry-After", map[int]string{429: "7", 503: answers["Retry-After"]}[status])
		w.WriteHeader(status)
		_, _ = w.Write([]byte(strings.TrimLeft(answer[3:], " ")))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestErrorsOfTheServer(t *testing.T) {
	no := func(status int, code string) string {
		return fmt.Sprintf(`%d {"success":false,"error":{"code":%q,"message":"its words"}}`, status, code)
	}
	for _, c := range []struct {
		sentence string
		answers  map[string]string
		class    backend.ErrorClass
		rejected int
		changes  int
	}{
		{"all is well", nil, "", 0, 1},
		{"a value that it refuses", map[string]string{"POST /records": no(400, "INVALID_VALUE")}, "", 1, 1},
		{"no room", map[string]string{"POST /records": no(403, "QUOTA_EXCEEDED")}, "", 1, 1},
		{"no zone of its own", map[string]string{"POST /records": no(400, "INVALID_DOMAIN")}, backend.ErrNoZone, 0, 2},
		{"another secret", map[string]string{"POST /records": no(401, "AUTH_FAILED")}, backend.ErrNotAuthorised, 0, 1},
		{"no rights", map[string]string{"POST /records": "403 forbidden"}, backend.ErrNotAuthorised, 0, 1},
		{"too much at once", map[string]string{"POST /records": "429"}, backend.ErrThrottled, 0, 1},
		{"not now", map[string]string{"POST /records": "503", "Retry-After": "7"}, backend.ErrThrottled, 0, 1},
		{"a failure of a server that is well", map[string]string{"POST /records": "500"}, "", 1, 1},
		{"a failure of a server that is not", map[string]string{"POST /records": "500", "GET /health": "503"},
			backend.ErrUnavailable, 0, 1},
		{"failures in a row", map[string]string{"POST /records": "500"}, backend.ErrUnavailable, 0, 20},
		{"a redirect", map[string]string{"POST /records": "307"}, backend.ErrUnavailable, 0, 1},
		{"one result in a batch is no", map[string]string{
			"GET /health":         `200 {"status":"healthy","features":["batch"]}`,
			"POST /records/batch": `200 {"success":false,"results":[{"success":true},{"success":false,"error":{"code":"INVALID_VALUE","message":"its words"}}]}`,
		}, "", 1, 2},
		{"a batch is too much at once", map[string]string{"GET /health": `200 {"status":"healthy","features":["batch"]}`,
			"POST /records/batch": "429"}, backend.ErrThrottled, 0, 2},
		{"a batch is too long", map[string]string{"GET /health": `200 {"status":"healthy","features":["batch"]}`,
			"POST /records/batch": "413"}, backend.ErrRejected, 0, 2},
		{"batches are not taken any more", map[string]string{"GET /health": `200 {"status":"healthy","features":["batch"]}`,
			"POST /records/batch": "404"}, backend.ErrUnavailable, 0, 2},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			s := script(t, c.answers)
			var b backend.Batch
			for i := range c.changes {
				one := set(t, fmt.Sprintf("n%d.example.org.", i), rr.TypeA, "192.0.2.1")
				b.Changes = append(b.Changes, plan.Change{Key: one.Key(), Want: one})
			}
			result, err := client(t, hookbackend.Config{Server: s.URL}).Apply(t.Context(), parse(t, "example.org."), b)
			if backend.Class(err) != c.class || len(result.Rejected) != c.rejected {
				t.Errorf("it comes to %v, %v after %v", result, err, s.asked)
			}
			if len(s.asked) > 10 {
				t.Errorf("it is asked %d times", len(s.asked))
			}
			if detail, ok := errors.AsType[*backend.Error](err); ok && detail.Class == backend.ErrThrottled &&
				detail.After != 7*time.Second {
				t.Errorf("it is to wait for %s", detail.After)
			}
		})
	}
}

func TestWhatCannotBeSaidIsNotSent(t *testing.T) {
	s := script(t, nil)
	odd := set(t, "x.example.org.", rr.TypeMX, "10 a.example.net.", "20 b.example.net.")
	gone := rr.Key{Name: parse(t, "0/25.example.org."), Type: rr.TypePTR}
	result, err := client(t, hookbackend.Config{Server: s.URL}).Apply(t.Context(), parse(t, "example.org."), backend.Batch{
		Changes: []plan.Change{{Key: odd.Key(), Want: odd}, {Key: gone}},
	})
	if err != nil || len(result.Rejected) != 1 || result.Rejected[0].Key != odd.Key() || len(s.asked) != 0 {
		t.Errorf("it comes to %v, %v after %v", result, err, s.asked)
	}
}

func TestWhatIsRead(t *testing.T) {
	zone := parse(t, "example.org.")
	keys := []rr.Key{set(t, "a.example.org.", rr.TypeA, "192.0.2.1").Key(), set(t, "b.example.org.", rr.TypeMX,
		"1 x.example.").Key()}
	for _, c := range []struct {
		sentence string
		a, b     string
		class    backend.ErrorClass
		sets     int
	}{
		{"one is there", `200 {"success":true,"record":{"values":["192.0.2.1"],"ttl":300}}`, "404", "", 1},
		{"one cannot be said", `404`, `200 {"success":true,"record":{"values":["1 x.example.","2 y.example."],"ttl":300}}`,
			"", 1},
		{"one has no values", `404`, `200 {"success":true,"record":{"values":[],"ttl":300}}`, backend.ErrUnavailable, 0},
		{"one fails", `404`, `500`, backend.ErrUnavailable, 0},
		{"there is no GET", "405", "405", backend.ErrUnavailable, 0},
		{"the names are others'", `400 {"success":false,"error":{"code":"INVALID_DOMAIN","message":"no"}}`, "404",
			backend.ErrNoZone, 0},
	} {
		s := script(t, map[string]string{"GET /records/A/example.org/a": c.a, "GET /records/MX/example.org/b": c.b})
		found, err := client(t, hookbackend.Config{Server: s.URL}).Read(t.Context(), zone, backend.Ask{Keys: keys})
		if backend.Class(err) != c.class || found.Sets.Len() != c.sets {
			t.Errorf("%s: %d sets, %v", c.sentence, found.Sets.Len(), err)
		}
	}
}

func TestSees(t *testing.T) {
	for status, want := range map[string]bool{"404": true, "405": false, "501": false} {
		s := script(t, map[string]string{"GET /records/TXT/example.org/_zonefold": status})
		if got, err := client(t, hookbackend.Config{Server: s.URL}).Sees(t.Context(),
			parse(t, "example.org.")); got != want || err != nil {
			t.Errorf("with %s it sees: %t, %v", status, got, err)
		}
	}
	s := script(t, map[string]string{"GET /records/TXT/example.org/_zonefold": "401"})
	if _, err := client(t, hookbackend.Config{Server: s.URL}).Sees(t.Context(), parse(t, "example.org.")); !errors.Is(err,
		backend.ErrNotAuthorised) {
		t.Errorf("without rights: %v", err)
	}
	if refused := client(t, hookbackend.Config{Server: s.URL}).Limits().Refuses(rr.TypeDS); !strings.Contains(refused,
		"DS") {
		t.Errorf("DS is refused with %q", refused)
	}
	if got := dnshook.Types(); len(got) != 9 {
		t.Errorf("there are the types %v", got)
	}
}
