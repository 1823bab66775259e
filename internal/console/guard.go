package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A guard decides which requests are answered.
type guard struct {
	hosts  []string // that the Host header may say
	cookie string   // its name, which has the port: browsers show the cookies of a host to all of its ports
	mu     sync.Mutex
	token  [sha256.Size]byte // of the link
	used   bool              // the link was opened
	opened [sha256.Size]byte // hash of the session's secret; only with used
	form   string            // the secret that forms of the session carry
	random io.Reader
}

// secret returns a new secret as text for links and headers.
func secret(random io.Reader) (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// The headers of every answer. No page loads anything from elsewhere, runs what stands in it, is shown inside another
// page or kept by the browser.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // so that a form says its Origin
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}

// refusal says why a request is not answered, whoever makes it; "": it may be.
func (g *guard) refusal(r *http.Request) (status int, why string) {
	if !slices.Contains(g.hosts, r.Host) {
		return http.StatusMisdirectedRequest, "This server answers at " + g.hosts[0] + " only. The name in the request is " +
			"another, so its pages get no answer."
	}
	if fromOwnPage(r) || r.URL.Path == loginPath && r.Method == http.MethodGet {
		return 0, "" // the link may stand on a page, such as that of a terminal in the browser
	}
	return http.StatusForbidden, "The request comes from a page of another site. Type the address, or open the link."
}

// fromOwnPage reports whether a request comes from a page of this server, or of nobody's, as far as the browser tells.
func fromOwnPage(r *http.Request) bool {
	return slices.Contains([]string{"", "same-origin", "none"}, r.Header.Get("Sec-Fetch-Site"))
}

// login takes the token of a link once, and returns the secret of the session that it opens.
func (g *guard) login(token string) (session string, err error) {
	given := sha256.Sum256([]byte(token))
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.used || subtle.ConstantTimeCompare(given[:], g.token[:]) != 1 {
		return "", nil
	}
	if session, err = secret(g.random); err != nil {
		return "", err
	}
	if g.form, err = secret(g.random); err != nil {
		return "", err
	}
	g.used, g.opened = true, sha256.Sum256([]byte(session))
	return session, nil
}

// admits reports whether a request is one of the session.
func (g *guard) admits(r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range r.CookiesNamed(g.cookie) {
		given := sha256.Sum256([]byte(c.Value))
		if g.used && subtle.ConstantTimeCompare(given[:], g.opened[:]) == 1 {
			return true
		}
	}
	return false
}

// formSecret implements access.
func (g *guard) formSecret(*http.Request) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.form
}

// visitor implements access: there is one person, who knows who that is.
func (g *guard) visitor(*http.Request) *visitor { return nil }

// takes reports whether a form carries a secret, and comes from an own page. Its body has to be read.
func takes(r *http.Request, want string) bool {
	given := r.PostForm.Get("csrf")
	return want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(given)) == 1 && ofOwnOrigin(r)
}

// ofOwnOrigin reports whether a request comes from this server, if it says from where.
func ofOwnOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	_, host, _ := strings.Cut(origin, "://")
	return origin == "" || host == r.Host
}

// sessionCookie is what the browser keeps until it is closed. Pages cannot read it, and no page of another site makes
// the browser send it.
func (g *guard) sessionCookie(session string) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // without Secure: nothing on the loopback has a certificate
		Name: g.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
}
