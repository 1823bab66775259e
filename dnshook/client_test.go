package dnshook_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// A scripted server gives one answer to everything, and says what it was asked.
type scripted struct {
	*httptest.Server
	asked []string
}

func serve(t *testing.T, status int, body string, headers ...string) *scripted {
	t.Helper()
	s := &scripted{}
	v := verifier(secret)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err == nil {
			err = v.Verify(r.Context(), r, sent)
		}
		s.asked = append(s.asked, fmt.Sprint(r.Method, " ", r.RequestURI, " ", string(sent)))
		if err != nil {
			t.Errorf("%s: %v", r.RequestURI, err)
		}
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func clientOf(t *testing.T, server string) *dnshook.Client {
	t.Helper()
	c, err := dnshook.NewClient(dnshook.ClientConfig{
		Server: server, Timeout: 5 * time.Second, Now: func() time.Time { return noon },
		Keys: func() (dnshook.Key, error) { return dnshook.Key{Secret: []byte(secret)}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var www = dnshook.Record{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.168.1.100",
	"192.168.1.101"}, TTL: 600}

func TestWhatIsSent(t *testing.T) {
	s := serve(t, 200, `{"success":true}`)
	c := clientOf(t, s.URL+"/base//")
	if _, err := c.Upsert(t.Context(), www); err != nil {
		t.Error(err)
	}
	if err := c.Delete(t.Context(), dnshook.ID{Type: "A", Domain: "example.com", Subdomain: "@"}); err != nil {
		t.Error(err)
	}
	if err := c.Delete(t.Context(), dnshook.ID{Type: "TXT", Domain: "example.com", Subdomain: "*._x"}); err != nil {
		t.Error(err)
	}
	want := "POST /base/records " + example +
		"\nDELETE /base/records/A/example.com/@ \nDELETE /base/records/TXT/example.com/*._x "
	if got := strings.Join(s.asked, "\n"); got != want {
		t.Errorf("it sends\n%s\nwant\n%s", got, want)
	}
}

func TestAnswers(t *testing.T) {
	const no = `{"success":false,"error":{"code":"%s","message":"no"}}`
	for _, c := range []struct {
		sentence             string
		status               int
		body                 string
		upsert, remove, read string // the code of the error; "-": none
	}{
		{"a record", 200,
			`{"success":true,"record":{"type":"A","domain":"example.com","subdomain":"www","values":["192.0.2.9"],"ttl":1}}`,
			"-", "-", "-"},
		{"created", 201, `{"success":true}`, "-", "-", "SERVER_ERROR"},
		{"nothing to say", 204, ``, "-", "-", "SERVER_ERROR"},
		{"nothing to say but a line", 200, "\r\n", "-", "-", "SERVER_ERROR"},
		{"an object of another form", 200, `{"status":"ok"}`, "-", "-", "SERVER_ERROR"},
		{"no JSON", 200, `ok`, "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"a page", 200, `<!DOCTYPE html><title>Welcome to nginx!</title>`, "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"a list", 200, `[]`, "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"null", 200, `null`, "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"an object that breaks off", 200, `{"success":tr`, "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"a no with 200", 200, fmt.Sprintf(no, "QUOTA_EXCEEDED"), "QUOTA_EXCEEDED", "QUOTA_EXCEEDED", "QUOTA_EXCEEDED"},
		{"not there", 404, fmt.Sprintf(no, "RECORD_NOT_FOUND"), "RECORD_NOT_FOUND", "-", "-"},
		{"not there, with 200", 200, fmt.Sprintf(no, "RECORD_NOT_FOUND"), "RECORD_NOT_FOUND", "-", "-"},
		{"another path", 404, fmt.Sprintf(no, "SERVER_ERROR"), "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"not there, with success alone", 404, `{"success":false}`, "SERVER_ERROR", "-", "-"},
		{"not there, in plain text, of a server that is not well", 404, `404 page not found`, "SERVER_ERROR", "SERVER_ERROR",
			"SERVER_ERROR"},
		{"not there, in JSON of a gateway", 404, `{"error":"Not Found","message":"no route"}`, "SERVER_ERROR", "SERVER_ERROR",
			"SERVER_ERROR"},
		{"a value that is none", 400, fmt.Sprintf(no, "INVALID_VALUE"), "INVALID_VALUE", "INVALID_VALUE", "INVALID_VALUE"},
		{"a bad request, in plain text, of a server that is not well", 400, `bad`, "INVALID_RECORD", "SERVER_ERROR",
			"SERVER_ERROR"},
		{"a wrong secret, in plain text", 401, `no`, "AUTH_FAILED", "AUTH_FAILED", "AUTH_FAILED"},
		{"a replay", 401, fmt.Sprintf(no, "NONCE_REUSED"), "NONCE_REUSED", "NONCE_REUSED", "NONCE_REUSED"},
		{"too many", 429, ``, "RATE_LIMITED", "RATE_LIMITED", "RATE_LIMITED"},
		{"a no with details of another form", 400,
			`{"success":false,"error":{"code":"INVALID_VALUE","message":"no","details":[]}}`, "INVALID_VALUE", "INVALID_VALUE",
			"INVALID_VALUE"},
		{"a no in one word", 200, `{"success":false,"error":"broken"}`, "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"a no about a record of another form", 200,
			`{"success":false,"record":"www","error":{"code":"QUOTA_EXCEEDED","message":7}}`, "QUOTA_EXCEEDED", "QUOTA_EXCEEDED",
			"QUOTA_EXCEEDED"},
		{"a yes of another form", 200, `{"success":"true"}`, "-", "-", "SERVER_ERROR"},
		{"a failure", 500, `{`, "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"no GET", 405, ``, "SERVER_ERROR", "SERVER_ERROR", ""},
		{"a redirect, which nobody follows", 307, ``, "SERVER_ERROR", "SERVER_ERROR", "SERVER_ERROR"},
		{"an endless answer", 200, `{"success":true,"message":"` + strings.Repeat("x", 1<<20) + `"}`, "SERVER_ERROR",
			"SERVER_ERROR", "SERVER_ERROR"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			s := serve(t, c.status, c.body, "Retry-After", "7", "Location", "/elsewhere")
			client := clientOf(t, s.URL)
			_, upsert := client.Upsert(t.Context(), www)
			remove := client.Delete(t.Context(), www.ID())
			_, there, read := client.Get(t.Context(), www.ID())
			for _, got := range []struct {
				what string
				err  error
				want string
			}{{"an upsert", upsert, c.upsert}, {"a deletion", remove, c.remove}, {"a look", read, c.read}} {
				if got.want == "-" && got.err == nil ||
					got.want != "-" && got.err != nil && string(dnshook.CodeOf(got.err)) == got.want {
					continue
				}
				t.Errorf("%s comes to %v, want %s", got.what, got.err, got.want)
			}
			if there != (c.sentence == "a record") {
				t.Errorf("a record is there: %t", there)
			}
			if (c.status == 405) != errors.Is(read, dnshook.ErrNoGet) {
				t.Errorf("a look comes to %v", read)
			}
			var e *dnshook.Error
			if c.status == 429 && (!errors.As(upsert, &e) || e.RetryAfter != 7*time.Second) {
				t.Errorf("it is to be tried again: %+v", upsert)
			}
			if records := strings.Count(strings.Join(s.asked, "\n"), "/records"); records != 3 {
				t.Errorf("it was asked %q", s.asked)
			}
		})
	}
}

func TestWhenAServerIsToBeAskedAgain(t *testing.T) {
	for _, c := range []struct {
		sentence, header string
		want             time.Duration
	}{
		{"a number of seconds", "7", 7 * time.Second},
		{"nothing", "", 0},
		{"no number", "soon", 0},
		{"less than nothing", "-99999999999999999999", 0},
		{"more than a day", "86401", 24 * time.Hour},
		{"more than an int has room for", "99999999999999999999", 24 * time.Hour},
	} {
		_, err := clientOf(t, serve(t, 503, "", "Retry-After", c.header).URL).Upsert(t.Context(), www)
		var e *dnshook.Error
		if !errors.As(err, &e) || e.RetryAfter != c.want {
			t.Errorf("of %s it takes %+v, want %s", c.sentence, err, c.want)
		}
	}
}

func TestA404OfAServerThatIsWell(t *testing.T) {
	for _, status := range []int{200, 503} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/health" {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"status":"healthy"}`)
		}))
		t.Cleanup(s.Close)
		c := clientOf(t, s.URL)
		remove := c.Delete(t.Context(), www.ID())
		_, there, read := c.Get(t.Context(), www.ID())
		if well := status == 200; (remove == nil) != well || (read == nil) != well || there {
			t.Errorf("with health %d a deletion comes to %v and a look to %v", status, remove, read)
		}
		if remove != nil && !strings.Contains(remove.Error(), "something else may answer instead") {
			t.Errorf("it says %v", remove)
		}
	}
}

// TestARecordThatIsShownWithoutItsName has a server show what it has, and not what it was asked for.
func TestARecordThatIsShownWithoutItsName(t *testing.T) {
	s := serve(t, 200, `{"success":true,"record":{"values":["192.168.1.100"],"ttl":300}}`)
	got, there, err := clientOf(t, s.URL).Get(t.Context(), www.ID())
	if err != nil || !there || got.ID() != www.ID() {
		t.Errorf("it shows %+v, %v, %v", got, there, err)
	}
}

func TestWordsOfAServerAreKept(t *testing.T) {
	for _, c := range []struct{ sentence, body, want string }{
		{"plain text", "HMAC mismatch:\n\x1b[31mbody", `it answers 401 Unauthorized: "HMAC mismatch: [31mbody"`},
		{"JSON of another form", `{"detail":"Invalid signature"}`,
			`it answers 401 Unauthorized: "{\"detail\":\"Invalid signature\"}"`},
		{"the protocol's", `{"success":false,"error":{"code":"AUTH_FAILED","message":"wrong signature"}}`, "wrong signature"},
		{"a page", "<html>\n<head><title>401 Authorization Required</title></head>",
			`it answers 401 Unauthorized with a page titled "401 Authorization Required"`},
		{"a page without a title", "<html>", "it answers 401 Unauthorized with a page"},
		{"nothing", "", "it answers 401 Unauthorized"},
		{"too many", strings.Repeat("ä", 400), `it answers 401 Unauthorized: "` + strings.Repeat("ä", 250) + `…"`},
	} {
		_, err := clientOf(t, serve(t, 401, c.body).URL).Upsert(t.Context(), www)
		var e *dnshook.Error
		if !errors.As(err, &e) || e.Message != c.want {
			t.Errorf("of %s it keeps %v, want %s", c.sentence, err, c.want)
		}
	}
}

func TestNoControlCharacterOfAServerIsKept(t *testing.T) {
	long := strings.Repeat("ä", 400)
	for _, c := range []struct {
		sentence, body, want string
		status               int
	}{
		{"a code", `{"success":false,"error":{"code":"\u001b[31mNO\nT","message":"no"}}`, "[31mNO T: no", 400},
		{"a long code", `{"success":false,"error":{"code":"` + long + `","message":"no"}}`,
			strings.Repeat("ä", 250) + "…: no", 400},
		{"what an unhealthy server says", `{"status":"unhealthy","message":"\u001b[31mno\ndatabase"}`,
			"SERVER_ERROR: [31mno database", 503},
		{"a status", `{"status":"\u001b[31mill","message":"\u0007no\ndatabase"}`,
			`SERVER_ERROR: it says that it is "[31mill": no database`, 200},
		{"much that an unhealthy server says", `{"status":"unhealthy","message":"` + long + `"}`,
			"SERVER_ERROR: " + strings.Repeat("ä", 250) + "…", 503},
	} {
		client := clientOf(t, serve(t, c.status, c.body).URL)
		_, err := client.Health(t.Context())
		if c.status == 400 {
			_, err = client.Upsert(t.Context(), www)
		}
		var e *dnshook.Error
		if !errors.As(err, &e) || e.Error() != c.want {
			t.Errorf("of %s it keeps %q, want %q", c.sentence, e, c.want)
		}
	}
	well := `{"status":"healthy","message":"\u001b[31mfine\n"}`
	if h, err := clientOf(t, serve(t, 200, well).URL).Health(t.Context()); err != nil || h.Message != "[31mfine" {
		t.Errorf("of what a healthy server says it keeps %q, %v", h.Message, err)
	}
}

func TestHealth(t *testing.T) {
	for _, c := range []struct {
		sentence string
		status   int
		body     string
		well     bool
	}{
		{"healthy", 200, `{"status":"healthy","message":"fine","timestamp":"2025-12-30T10:00:00Z"}`, true},
		{"healthy and nothing else", 200, `{"status":"healthy"}`, true},
		{"healthy, at a time without a zone", 200,
			`{"status":"healthy","message":null,"timestamp":"2025-12-30T10:00:00.123456"}`, true},
		{"healthy, at a number", 200, `{"status":"healthy","timestamp":1767088800.5,"features":"none"}`, true},
		{"something else", 200, `{"status":"degraded"}`, false},
		{"something that is no word", 200, `{"status":true}`, false},
		{"no JSON", 200, `ok`, false},
		{"unhealthy", 503, `{"status":"unhealthy","message":"no database"}`, false},
		{"a failure", 500, ``, false},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			_, err := clientOf(t, serve(t, c.status, c.body).URL).Health(t.Context())
			if (err == nil) != c.well || err != nil && dnshook.CodeOf(err) != dnshook.CodeServerError {
				t.Errorf("it comes to %v", err)
			}
		})
	}
}

func TestServersThatDoNotAnswer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	if err := clientOf(t, s.URL).Delete(t.Context(), www.ID()); !errors.Is(err, dnshook.ErrUnreachable) {
		t.Errorf("a server that is gone: %v", err)
	}
	for _, server := range []string{"", "dns", "ftp://dns", "http://", "http://user@dns", "http://dns?x", "http://dns#x",
		"http://dns?", "http://:80", "https://:", "http://dns:0", "http://dns:65536", "http://dns:99999999999999999999",
		"http://dns/../x", "http://dns/x/..", "http://dns/./x", "http://dns/x/%2e%2E/y", "http://dns/."} {
		if _, err := dnshook.NewClient(dnshook.ClientConfig{Server: server, Now: time.Now}); err == nil {
			t.Errorf("%q is a server", server)
		}
	}
	for _, server := range []string{
		"http://dns:", "http://dns:65535/", "http://[::1]:1/a@b/c", "http://dns/.well-known/...",
	} {
		if _, err := dnshook.NewClient(dnshook.ClientConfig{Server: server, Now: time.Now}); err != nil {
			t.Errorf("%q is no server: %v", server, err)
		}
	}
}

func TestWhoseCertificatesAreTaken(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"healthy"}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of clients that go away
	t.Cleanup(server.Close)
	dial := func(bundle []byte) (*dnshook.Client, error) {
		return dnshook.NewClient(dnshook.ClientConfig{Server: server.URL, Now: time.Now, CABundle: bundle})
	}
	c, err := dial(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Health(t.Context()); err != nil {
		t.Errorf("a server whose authority is in the bundle is not believed: %v", err)
	}
	system, err := dial(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := system.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without a bundle: %v", err)
	}
	if _, err := dial([]byte("text")); err == nil {
		t.Error("a bundle without a certificate is taken")
	}
}

func TestTheWayOutWhereNumbersAreNotVerified(t *testing.T) {
	ten := uint16(10)
	mail := dnshook.Record{Type: "MX", Domain: "example.com", Subdomain: "@", Values: []string{"mail.example.com"},
		TTL: 300, Metadata: &dnshook.Metadata{Priority: &ten}}
	const no = `{"success":false,"error":{"code":%q,"message":"its words"}}`
	for _, c := range []struct {
		sentence string
		record   dnshook.Record
		code     dnshook.Code
		inRDATA  bool
		advised  bool
	}{
		{"a record with numbers", mail, dnshook.CodeAuthFailed, false, true},
		{"a record without", www, dnshook.CodeAuthFailed, false, false},
		{"numbers in front of the values", mail, dnshook.CodeAuthFailed, true, false},
		{"a clock that is wrong", mail, dnshook.CodeTimestampStale, false, false},
	} {
		s := serve(t, 401, fmt.Sprintf(no, c.code))
		client, err := dnshook.NewClient(dnshook.ClientConfig{
			Server: s.URL, Now: func() time.Time { return noon }, InRDATA: c.inRDATA,
			Keys: func() (dnshook.Key, error) { return dnshook.Key{Secret: []byte(secret)}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		_, err = client.Upsert(t.Context(), c.record)
		if err == nil || !strings.Contains(err.Error(), "its words") || strings.Contains(err.Error(),
			"set spec.numbersIn of its DNSClass to Values") != c.advised {
			t.Errorf("%s comes to %v", c.sentence, err)
		}
	}
}
