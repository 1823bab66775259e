package console

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"
)

// ErrStranger says that a token is nobody's: it is none, has expired, was revoked, or is for somebody else.
var ErrStranger = errors.New("the API server does not accept the token: it is not valid, has expired, or is for " +
	"another audience")

// A Person is who a token belongs to, as the API server says.
type Person struct {
	Name  string
	ID    string // the same for tokens with which the same may be done
	Party string // who is behind several that could take all places: a user, or those who have a namespace
	Own   string // the namespace of a ServiceAccount; "": there is none
}

// A Cluster knows tokens, and what may be seen with them.
type Cluster interface {
	// Review says whose a token is, or ErrStranger.
	Review(ctx context.Context, token string) (Person, error)
	// Open reads what a person may see. What it returns follows changes until the context ends, or there is too much.
	Open(ctx context.Context, o Opening) (Source, func(context.Context) error, error)
}

// An Opening says for whom objects are read.
type Opening struct {
	Person     Person
	Namespaces []string      // to look into where the person may not list all
	Token      func() string // the newest one that the person has come with
}

// How much is kept of one person, and of all.
const (
	sessionsEach = 8    // the browsers of one person
	requestsEach = 16   // of one person at a time, pages that are kept up to date included
	maxHeard     = 4096 // tokens
	maxReviews   = 16   // tokens that the API server is asked about at a time
	sharePeople  = 4    // a party has this part of all places, and at least one
)

// A digest stands for a secret that is not kept, or not compared octet by octet.
type digest [sha256.Size]byte

// The viewers are who is shown the console. This is the owner of all that is kept of them.
type viewers struct {
	opts   SharedOptions
	pages  *pages
	key    []byte // of the secrets of forms
	spawn  func(work func(context.Context)) context.CancelFunc
	places chan struct{} // of reviews

	mu       sync.Mutex
	heard    map[digest]hearing  // by token
	sessions map[digest]*session // by cookie
	byID     map[string]*viewer  // by Person.ID
}

// A hearing is what the API server has said of a token that it accepts.
type hearing struct {
	person Person
	until  time.Time
}

// A session is a browser whose cookie stands for a token.
type session struct {
	token  string
	person string // ID
	used   time.Time
}

// A viewer is a person with what that person sees. It is shown to nobody else.
type viewer struct {
	person     Person
	namespaces []string
	requests   chan struct{}
	gone       chan struct{} // closed when the viewer has left
	end        context.CancelFunc

	token string    // vs.mu guards it
	used  time.Time // vs.mu guards it

	ready   chan struct{} // closed when what follows is there
	handler http.Handler
	err     error // why there is nothing to see
}

// A visit is a request of a person.
type visit struct {
	person Person
	token  string
	cookie *digest // of the session; nil: the request has the token itself
	form   string  // the secret of its forms
}

// tokenText is what a token may consist of (RFC 6750 §2.1).
var tokenText = regexp.MustCompile(`^[A-Za-z0-9\-._~+/]+=*$`)

// review says whose a token is. What was heard is believed for a time.
func (vs *viewers) review(ctx context.Context, token string) (Person, error) {
	if len(token) > maxToken || !tokenText.MatchString(token) {
		return Person{}, ErrStranger
	}
	key := digest(sha256.Sum256([]byte(token)))
	vs.mu.Lock()
	known, ok := vs.heard[key]
	vs.mu.Unlock()
	if ok && vs.opts.Now().Before(known.until) {
		return known.person, nil
	}
	select {
	case vs.places <- struct{}{}:
		defer func() { <-vs.places }()
	case <-ctx.Done():
		return Person{}, ctx.Err()
	}
	asked := vs.opts.Now()
	person, err := vs.opts.Cluster.Review(ctx, token)
	vs.mu.Lock()
	defer vs.mu.Unlock()
	switch {
	case err != nil:
		delete(vs.heard, key)
	case ok || len(vs.heard) < maxHeard: // else it is asked for each time
		vs.heard[key] = hearing{person, asked.Add(vs.opts.Believe)}
	}
	return person, err
}

// visitOf says whose a request is: that of the token that it has, else of the session that its cookie stands for.
func (vs *viewers) visitOf(r *http.Request) (*visit, error) {
	v := &visit{token: bearer(r)}
	if v.token == "" {
		var known bool
		if v.cookie, v.token, known = vs.sessionOf(r); !known {
			return nil, errNobody
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), reviewTakes)
	defer cancel()
	var err error
	if v.person, err = vs.review(ctx, v.token); err != nil {
		if v.cookie != nil && errors.Is(err, ErrStranger) {
			vs.signOut(v)
		}
		return nil, err
	}
	seed := "person " + v.person.ID
	if v.cookie != nil {
		seed = "session " + string(v.cookie[:])
	}
	sum := hmac.New(sha256.New, vs.key)
	_, _ = sum.Write([]byte(seed)) // a hash takes everything
	v.form = base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
	return v, nil
}

// sessionOf returns the token that the cookie of a request stands for.
func (vs *viewers) sessionOf(r *http.Request) (cookie *digest, token string, known bool) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for _, c := range r.CookiesNamed(sessionCookie) {
		key := digest(sha256.Sum256([]byte(c.Value)))
		if s := vs.sessions[key]; s != nil && vs.opts.Now().Sub(s.used) < vs.opts.Idle {
			s.used = vs.opts.Now()
			return &key, s.token, true
		}
	}
	return nil, "", false
}

// signIn returns the value of a cookie that stands for a token.
func (vs *viewers) signIn(token string, p Person) (string, error) {
	value, err := secret(vs.opts.Random)
	if err != nil {
		return "", err
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	oldest, own := digest{}, 0
	for key, s := range vs.sessions {
		if s.person != p.ID {
			continue
		}
		if own++; own == 1 || s.used.Before(vs.sessions[oldest].used) {
			oldest = key
		}
	}
	switch {
	case own >= sessionsEach:
		delete(vs.sessions, oldest)
	case len(vs.sessions) >= vs.opts.People*sessionsEach:
		return "", errFull
	}
	vs.sessions[sha256.Sum256([]byte(value))] = &session{token, p.ID, vs.opts.Now()}
	return value, nil
}

// signOut ends the session of a visit, and what the person sees if that was read with the session's token.
func (vs *viewers) signOut(v *visit) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	s := vs.sessions[*v.cookie]
	if s == nil {
		return
	}
	delete(vs.sessions, *v.cookie)
	if one := vs.byID[s.person]; one != nil && one.token == s.token {
		vs.drop(one)
	}
	delete(vs.heard, sha256.Sum256([]byte(s.token)))
}

// admit returns the viewer that a visit is of, who comes in if there is room.
func (vs *viewers) admit(v *visit, namespaces []string) (*viewer, error) {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	one := vs.byID[v.person.ID]
	if one != nil && !slices.Equal(one.namespaces, namespaces) { // who looks at others sees something else
		vs.drop(one)
		one = nil
	}
	if one == nil {
		if err := vs.refusal(v.person); err != nil {
			return nil, err
		}
		one = &viewer{person: v.person, namespaces: namespaces, requests: make(chan struct{}, requestsEach),
			ready: make(chan struct{}), gone: make(chan struct{})}
		vs.byID[v.person.ID] = one
		one.end = vs.spawn(func(ctx context.Context) { vs.follow(ctx, one) })
	}
	one.token, one.used = v.token, vs.opts.Now()
	return one, nil
}

// refusal says why a person cannot come in. vs.mu is held.
func (vs *viewers) refusal(p Person) error {
	vs.dropIdle()
	same := 0
	for _, one := range vs.byID {
		if one.person.Party == p.Party {
			same++
		}
	}
	switch {
	case same >= max(1, vs.opts.People/sharePeople):
		return errParty
	case len(vs.byID) >= vs.opts.People:
		return errFull
	}
	return nil
}

// follow reads what a viewer sees, and keeps it up to date until the viewer leaves.
func (vs *viewers) follow(ctx context.Context, one *viewer) {
	source, follow, err := vs.opts.Cluster.Open(ctx, Opening{Person: one.person, Namespaces: one.namespaces,
		Token: func() string { vs.mu.Lock(); defer vs.mu.Unlock(); return one.token }})
	if one.err = err; err == nil {
		c := newConsole(Options{Source: source, Edit: vs.opts.Edit, Random: vs.opts.Random, Now: vs.opts.Now}, vs.pages,
			&viewerAccess{vs, one.person.ID})
		c.gone = one.gone
		one.handler = c.routes()
	}
	close(one.ready)
	if err == nil {
		err = follow(ctx)
	}
	if err != nil && ctx.Err() == nil {
		vs.opts.Say(one.person.Name + " is shown nothing more: " + err.Error())
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.drop(one)
}

// drop ends what a viewer sees. vs.mu is held.
func (vs *viewers) drop(one *viewer) {
	if vs.byID[one.person.ID] == one {
		delete(vs.byID, one.person.ID)
		close(one.gone)
		one.end()
	}
}

// dropIdle ends what nobody has used for long. vs.mu is held.
func (vs *viewers) dropIdle() {
	now := vs.opts.Now()
	for key, s := range vs.sessions {
		if now.Sub(s.used) >= vs.opts.Idle {
			delete(vs.sessions, key)
		}
	}
	for _, one := range vs.byID {
		if now.Sub(one.used) >= vs.opts.Idle {
			vs.drop(one)
		}
	}
	for key, heard := range vs.heard {
		if !now.Before(heard.until) {
			delete(vs.heard, key)
		}
	}
}

// sweep ends what nobody has used for long, and what was read with tokens that are not accepted any more.
func (vs *viewers) sweep(ctx context.Context) {
	vs.mu.Lock()
	vs.dropIdle()
	tokens := map[*viewer]string{}
	for _, one := range vs.byID {
		tokens[one] = one.token
	}
	vs.mu.Unlock()
	for one, token := range tokens {
		_, err := vs.review(ctx, token)
		vs.mu.Lock()
		if errors.Is(err, ErrStranger) && one.token == token {
			vs.drop(one)
		}
		vs.mu.Unlock()
	}
}

// A viewerAccess admits the requests of one person.
type viewerAccess struct {
	viewers *viewers
	id      string
}

// admits implements access. A page that is kept up to date is in use.
func (a *viewerAccess) admits(r *http.Request) bool {
	v, err := a.viewers.visitOf(r)
	if err != nil || v.person.ID != a.id {
		return false
	}
	a.viewers.mu.Lock()
	defer a.viewers.mu.Unlock()
	one := a.viewers.byID[a.id]
	if one != nil {
		one.used = a.viewers.opts.Now()
	}
	return one != nil
}

// formSecret implements access.
func (a *viewerAccess) formSecret(r *http.Request) string { return visitIn(r).form }

// visitor implements access.
func (a *viewerAccess) visitor(r *http.Request) *visitor {
	v := visitIn(r)
	return &visitor{Name: v.person.Name, Namespaces: said(r), SignOut: v.cookie != nil}
}
