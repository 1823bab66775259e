package externaldns

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/controller/updates"
	"github.com/zonefold/zonefold/internal/endpoint"
)

func TestTokens(t *testing.T) {
	tokens := &Tokens{}
	tokens.Set("one", []Token{{"token-of-team-a", "a"}, {"token-of-team-b", "b"}})
	tokens.Set("two", []Token{{"token-of-team-b", "c"}, {"token-of-team-a", "a"}})
	for _, c := range []struct{ token, namespace, refusal string }{
		{"token-of-team-a", "a", ""},
		{"", "", "No Backend"},
		{"token-of-team", "", "No Backend"},
		{"token-of-team-ab", "", "No Backend"},
	} {
		namespace, refusal := tokens.namespace(c.token)
		if namespace != c.namespace || !strings.HasPrefix(refusal, c.refusal) || (refusal == "") != (c.refusal == "") {
			t.Errorf("%q stands for %q: %s", c.token, namespace, refusal)
		}
	}
	if _, refusal := tokens.namespace("token-of-team-b"); !strings.Contains(refusal, "Several namespaces") {
		t.Errorf("a token of two namespaces is taken: %s", refusal)
	}
	tokens.Set("two", nil)
	if namespace, refusal := tokens.namespace("token-of-team-b"); namespace != "b" || refusal != "" {
		t.Errorf("it stands for %q: %s", namespace, refusal)
	}
}

func TestWhoAsksAndHow(t *testing.T) {
	tokens := &Tokens{}
	tokens.Set("b", []Token{{"a token of team a", "a"}})
	passed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		http.Error(w, "passed "+string(body), http.StatusTeapot)
	})
	h := Handler(Config{Tokens: tokens, Leader: func() *updates.Updates { return nil }, Pass: passed,
		Bodies: budget.NewPool(64 << 10), Log: slog.New(slog.DiscardHandler)})
	for _, c := range []struct {
		name, request, authorization, accept, body string
		status                                     int
		says                                       string
	}{
		{"a probe needs no token", "GET /healthz", "", "", "", 200, ""},
		{"anything else does", "GET /", "", "", "", 401, "No Backend has this token"},
		{"a wrong one does not do", "POST /records", "Bearer a token of team b", "", "{}", 401, "No Backend has this token"},
		{"a token of a header", "POST /records", "Bearer a token of team a", "", "{}", 418, "passed {}"},
		{"a token of a URL", "GET /records", "Basic eDphIHRva2VuIG9mIHRlYW0gYQ==", endpoint.MediaType, "", 418, "passed"},
		{"another version", "GET /", "Bearer a token of team a", "application/external.dns.webhook+json;version=2", "", 406,
			"version=1"},
		{"another method", "DELETE /records", "Bearer a token of team a", "", "", 405, ""},
		{"another path", "GET /metrics", "Bearer a token of team a", "", "", 404, ""},
		{"who does not lead adjusts as well", "POST /adjustendpoints", "Bearer a token of team a", "",
			`[{"dnsName":"A.example","recordType":"A","targets":["192.0.2.1"]}]`, 200,
			`[{"dnsName":"a.example","targets":["192.0.2.1"],"recordType":"A"}]`},
		{"nothing to adjust", "POST /adjustendpoints", "Bearer a token of team a", "", `[]`, 200, `[]`},
		{"half a body", "POST /adjustendpoints", "Bearer a token of team a", "", `[{`, 400, "cannot be read"},
		{"a body that becomes large", "POST /adjustendpoints", "Bearer a token of team a", "",
			"[" + strings.Repeat("{},", 100_000) + "{}]", 413, "more than"},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(c.body))
		r.Header.Set("Authorization", c.authorization)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
		if asks := w.Header().Get("WWW-Authenticate") != ""; asks != (c.status == http.StatusUnauthorized) {
			t.Errorf("%s: the header says that a token is needed: %t", c.name, asks)
		}
	}
}
