package console

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/cli/plain"
)

// The names of cookies. Their prefix has browsers refuse them from anywhere else (RFC 6265bis §4.1.3).
const (
	sessionCookie    = "__Host-zonefold"
	namespacesCookie = "__Host-zonefold-namespaces"
)

// What is taken of who signs in, and how long it is kept which namespaces were chosen.
const (
	maxToken      = 16 << 10
	maxNamespaces = 16
	choiceLasts   = 90 * 24 * time.Hour
)

// login exchanges a token for a cookie.
func (s *Shared) login(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, &statusError{http.StatusBadRequest, sentence(err)})
		return
	}
	if !ofOwnOrigin(r) {
		s.fail(w, &statusError{http.StatusForbidden, "The form belongs to another site. Type the address."})
		return
	}
	token := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r.PostForm.Get("token")), "Bearer "))
	ctx, cancel := context.WithTimeout(r.Context(), reviewTakes)
	defer cancel()
	person, err := s.viewers.review(ctx, token)
	if err == nil {
		if old, _, known := s.viewers.sessionOf(r); known {
			s.viewers.signOut(&visit{cookie: old})
		}
		var value string
		if value, err = s.viewers.signIn(token, person); err == nil {
			s.viewers.opts.Say(plain.Line(person.Name) + " has signed in")
			http.SetCookie(w, cookieOf(sessionCookie, value, 0))
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
	}
	if errors.Is(err, ErrStranger) {
		s.strangers(w, r, sentence(err))
		return
	}
	s.fail(w, err)
}

// cookieOf returns a cookie that pages cannot read, and that no page of another site makes the browser send. With no
// time it is kept until the browser is closed.
func cookieOf(name, value string, lasts time.Duration) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, Secure: true,
		SameSite: http.SameSiteStrictMode, MaxAge: int(lasts / time.Second)}
}

// ownForm reads a form of the visit's own pages.
func (s *Shared) ownForm(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return &statusError{http.StatusBadRequest, sentence(err)}
	}
	if !takes(r, visitIn(r).form) {
		return errOtherForm
	}
	return nil
}

// logout ends a session.
func (s *Shared) logout(w http.ResponseWriter, r *http.Request) {
	if err := s.ownForm(r); err != nil {
		s.fail(w, err)
		return
	}
	v := visitIn(r)
	if v.cookie != nil {
		s.viewers.signOut(v)
	}
	http.SetCookie(w, cookieOf(sessionCookie, "", -time.Second))
	http.Redirect(w, r, loginPath, http.StatusSeeOther)
}

// label is a name of a namespace (RFC 1123 §2.1, as Kubernetes has it).
var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// choose keeps in a cookie which namespaces are looked into.
func (s *Shared) choose(w http.ResponseWriter, r *http.Request) {
	if err := s.ownForm(r); err != nil {
		s.fail(w, err)
		return
	}
	names := strings.FieldsFunc(r.PostForm.Get("namespaces"), func(c rune) bool { return c == ',' || c == ' ' })
	wrong := slices.IndexFunc(names, func(name string) bool { return !label.MatchString(name) })
	switch {
	case len(names) > maxNamespaces:
		s.fail(w, &statusError{http.StatusBadRequest, "At most 16 namespaces can be shown."})
	case wrong >= 0:
		s.fail(w, &statusError{http.StatusBadRequest, names[wrong] + " is not the name of a namespace."})
	default:
		lasts := choiceLasts
		if len(names) == 0 {
			lasts = -time.Second
		}
		http.SetCookie(w, cookieOf(namespacesCookie, strings.Join(names, "."), lasts))
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}
}

// said returns which namespaces a request wants to look into, as a person writes them.
func said(r *http.Request) string { return strings.Join(chosen(r), " ") }

// chosen returns which namespaces a request wants to look into; none: it does not say.
func chosen(r *http.Request) []string {
	c, err := r.Cookie(namespacesCookie)
	if err != nil {
		return nil
	}
	names := strings.Split(c.Value, ".")
	wrong := func(name string) bool { return !label.MatchString(name) }
	if len(names) > maxNamespaces || slices.ContainsFunc(names, wrong) {
		return nil
	}
	return names
}
