package console

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An issuer is one of OpenID Connect whose ID tokens the API server accepts, as a proxy before the console gets them.
type issuer struct {
	key    *ecdsa.PrivateKey
	server *httptest.Server
	signIn atomic.Pointer[http.HandlerFunc] // answers at /authorize and /token; nil: nobody asks there
}

// login is the issuer of all tests.
var login issuer

// start has it serve its keys, and returns what tells the API server of it.
func (i *issuer) start() (flags []string, end func(), err error) {
	if i.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "zonefold-issuer")
	if err != nil {
		return nil, nil, err
	}
	i.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any
		switch r.URL.Path {
		case "/.well-known/openid-configuration": // OpenID Connect Discovery 1.0 §3
			answer = map[string]any{"issuer": i.server.URL, "jwks_uri": i.server.URL + "/keys",
				"authorization_endpoint": i.server.URL + "/authorize", "token_endpoint": i.server.URL + "/token",
				"response_types_supported": []string{"code", "id_token"},
				"subject_types_supported":  []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"}}
		case "/keys": // RFC 7517 §5, RFC 7518 §6.2.1
			point, err := i.key.PublicKey.Bytes()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			answer = map[string]any{"keys": []any{map[string]string{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig",
				"x": base64.RawURLEncoding.EncodeToString(point[1:33]),
				"y": base64.RawURLEncoding.EncodeToString(point[33:])}}}
		default:
			if signIn := i.signIn.Load(); signIn != nil {
				(*signIn)(w, r)
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	end = func() {
		i.server.Close()
		_ = os.RemoveAll(dir)
	}
	ca := filepath.Join(dir, "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.server.Certificate().Raw})
	return []string{"--oidc-issuer-url=" + i.server.URL, "--oidc-client-id=kubernetes", "--oidc-ca-file=" + ca,
		"--oidc-username-claim=preferred_username", "--oidc-username-prefix=oidc:", "--oidc-groups-claim=groups",
		"--oidc-groups-prefix=oidc:", "--oidc-signing-algs=ES256"}, end, os.WriteFile(ca, text, 0o600)
}

// idToken returns a token of a person in a group.
func (i *issuer) idToken(audience, name, group string, valid time.Duration) (string, error) {
	now := time.Now()
	return signed(i.key, map[string]any{"iss": i.server.URL, "aud": audience, "sub": "subject of " + name,
		"preferred_username": name, "groups": []string{group}, "iat": now.Add(-time.Hour).Unix(),
		"exp": now.Add(valid).Unix()})
}

// signed returns claims as a JSON Web Token (RFC 7515 §3.1, RFC 7518 §3.4).
func signed(key *ecdsa.PrivateKey, claims map[string]any) (string, error) {
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// proxied come with ID tokens in the header, as a proxy for OpenID Connect sends them, at the name that people see.
func (h *shared) proxied(t *testing.T) {
	h.apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: people, namespace: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{kind: Group, name: "oidc:team-a", apiGroup: rbac.authorization.k8s.io}]
`)
	host := []string{"Host", "console.example.org"}
	with := func(audience, group string, valid time.Duration) *caller {
		token, err := login.idToken(audience, "anna", group, valid)
		h.must(err)
		return h.with(token)
	}
	anna := with("kubernetes", "team-a", 5*time.Minute)
	status, page := anna.get("/", host...)
	if status != http.StatusOK || !strings.Contains(page, "oidc:anna") || strings.Contains(page, "zone-of-") ||
		!strings.Contains(page, "You may not list zones in all namespaces, and have named none") {
		t.Fatalf("who has said no namespace is answered %d:\n%s", status, page)
	}
	form := url.Values{"csrf": {anna.secretIn(page, "csrf")}, "namespaces": {"a"}}
	renewed := with("kubernetes", "team-a", 6*time.Minute)
	if status, page := renewed.post("/namespaces", form, host...); status != http.StatusSeeOther {
		t.Errorf("a form, after the token was renewed, is answered %d:\n%s", status, page)
	}
	if status, page := renewed.get("/", host...); status != http.StatusOK || !strings.Contains(page, "zone-of-a") ||
		strings.Contains(page, "zone-of-b") || strings.Contains(page, `id="sign-out"`) {
		t.Errorf("a member of the group is answered %d:\n%s", status, page)
	}
	other := with("kubernetes", "team-b", 5*time.Minute)
	other.cookies = renewed.cookies
	if status, page := other.get("/", host...); status != http.StatusOK || strings.Contains(page, "zone-of-a") {
		t.Errorf("the same name in another group is answered %d:\n%s", status, page)
	}
	for what, c := range map[string]*caller{"for another client": with("elsewhere", "team-a", time.Minute),
		"that has expired": with("kubernetes", "team-a", -time.Minute)} {
		if status, page := c.get("/", host...); status != http.StatusUnauthorized {
			t.Errorf("an ID token %s is answered %d:\n%s", what, status, fmt.Sprintf("%.500s", page))
		}
	}
}
