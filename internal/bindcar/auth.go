package bindcar

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// unauthorized is the text of every 401: nobody learns from it how near a guess was.
const unauthorized = "Unauthorized"

// maxToken bounds a token, in octets; those of Kubernetes have one or two thousand.
const maxToken = 16 << 10

// An authenticator says who may call. The reason of a refusal is for the log; it never has a token in it.
type authenticator interface {
	check(ctx context.Context, token, peer string) error
}

// sharedToken is BIND_API_TOKEN. Digests are compared, in constant time, so that not even its length shows.
type sharedToken [sha256.Size]byte

func newSharedToken(token string) sharedToken { return sha256.Sum256([]byte(token)) }

func (s sharedToken) check(_ context.Context, token, _ string) error {
	given := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(given[:], s[:]) != 1 {
		return errRefused("the token is not the shared one")
	}
	return nil
}

// A refusal is why a token is refused, for the log.
type refusal string

func (r refusal) Error() string { return string(r) }

func errRefused(why string) error { return refusal(why) }

// authenticated lets requests with an accepted bearer token in. Where no authenticator is, authentication is disabled.
func (s *Server) authenticated(next http.Handler) http.Handler {
	if s.auth == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := errRefused("there is no bearer token")
		if token, ok := bearer(r); ok {
			err = s.auth.check(r.Context(), token, r.RemoteAddr)
		}
		if err != nil {
			s.log.Warn("refusing a request", "method", r.Method, "route", r.Pattern, "peer", r.RemoteAddr, "reason", err)
			w.Header().Set("Www-Authenticate", "Bearer")
			writeJSON(w, http.StatusUnauthorized, AuthError{Error: unauthorized})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bearer returns the token of a request (RFC 6750 §2.1).
func bearer(r *http.Request) (string, bool) {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(headers[0], " ")
	token = strings.TrimSpace(token)
	if !found || !strings.EqualFold(scheme, "bearer") || token == "" || len(token) > maxToken ||
		strings.ContainsAny(token, " \t") {
		return "", false
	}
	return token, true
}
