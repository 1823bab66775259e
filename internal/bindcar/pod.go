package bindcar

import (
	"net/http"
	"slices"
)

// PodHeader says which pod a request is for, by its UID: an address may have gone to another pod since the caller
// learned of it.
const PodHeader = "Bindcar-Pod"

// addressed refuses requests that are for another pod (RFC 9110 §15.5.20), before anybody looks at their tokens: that
// one is not accepted here says nothing about it.
func (s *Server) addressed(next http.Handler) http.Handler {
	if s.settings.Pod == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.ContainsFunc(r.Header.Values(PodHeader), func(uid string) bool { return uid != s.settings.Pod }) {
			writePlain(w, http.StatusMisdirectedRequest, http.StatusText(http.StatusMisdirectedRequest))
			return
		}
		next.ServeHTTP(w, r)
	})
}
