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
	"time"

	"github.com/zonefold/zonefold/internal/guarded"
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

	state guarded.Value[kept]
}

// kept is what is kept of viewers. Who has it may use the token of each, and the time when it was used.
type kept struct {
	opts     *SharedOptions
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

	token string    // see kept
	used  time.Time // see kept

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

// keepNothing has nothing be kept.
func (vs *viewers) keepNothing() {
	k, unlock := vs.state.Lock()
	defer unlock()
	*k = kept{opts: &vs.opts, heard: map[digest]hearing{}, sessions: map[digest]*session{}, byID: map[string]*viewer{}}
}

// review says whose a token is. What was heard is believed for a time.
func (vs *viewers) review(ctx context.Context, token string) (Person, error) {
	if len(token) > maxToken || !tokenText.MatchString(token) {
		return Person{}, ErrStranger
	}
	key := digest(sha256.Sum256([]byte(token)))
	k, unlock := vs.state.Lock()
	known, ok := k.heard[key]
	unlock()
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
	k, unlock = vs.state.Lock()
	defer unlock()
	switch {
	case err != nil:
		delete(k.heard, key)
	case ok || len(k.heard) < maxHeard: // else it is asked for each time
		k.heard[key] = hearing{person, asked.Add(vs.opts.Believe)}
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
	k, unlock := vs.state.Lock()
	defer unlock()
	for _, c := range r.CookiesNamed(sessionCookie) {
		key := digest(sha256.Sum256([]byte(c.Value)))
		if s := k.sessions[key]; s != nil && vs.opts.Now().Sub(s.used) < vs.opts.Idle {
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
	k, unlock := vs.state.Lock()
	defer unlock()
	oldest, own := digest{}, 0
	for key, s := range k.sessions {
		if s.person != p.ID {
			continue
		}
		if own++; own == 1 || s.used.Before(k.sessions[oldest].used) {
			oldest = key
		}
	}
	switch {
	case own >= sessionsEach:
		delete(k.sessions, oldest)
	case len(k.sessions) >= vs.opts.People*sessionsEach:
		return "", errFull
	}
	k.sessions[sha256.Sum256([]byte(value))] = &session{token, p.ID, vs.opts.Now()}
	return value, nil
}

// signOut ends the session of a visit, and what the person sees if that was read with the session's token.
func (vs *viewers) signOut(v *visit) {
	k, unlock := vs.state.Lock()
	defer unlock()
	s := k.sessions[*v.cookie]
	if s == nil {
		return
	}
	delete(k.sessions, *v.cookie)
	if one := k.byID[s.person]; one != nil && one.token == s.token {
		k.drop(one)
	}
	delete(k.heard, sha256.Sum256([]byte(s.token)))
}

// admit returns the viewer that a visit is of, who comes in if there is room.
func (vs *viewers) admit(v *visit, namespaces []string) (*viewer, error) {
	k, unlock := vs.state.Lock()
	defer unlock()
	one := k.byID[v.person.ID]
	if one != nil && !slices.Equal(one.namespaces, namespaces) { // who looks at others sees something else
		k.drop(one)
		one = nil
	}
	if one == nil {
		if err := k.refusal(v.person); err != nil {
			return nil, err
		}
		one = &viewer{person: v.person, namespaces: namespaces, requests: make(chan struct{}, requestsEach),
			ready: make(chan struct{}), gone: make(chan struct{})}
		k.byID[v.person.ID] = one
		one.end = vs.spawn(func(ctx context.Context) { vs.follow(ctx, one) })
	}
	one.token, one.used = v.token, vs.opts.Now()
	return one, nil
}

// refusal says why a person cannot come in.
func (k *kept) refusal(p Person) error {
	k.dropIdle()
	same := 0
	for _, one := range k.byID {
		if one.person.Party == p.Party {
			same++
		}
	}
	switch {
	case same >= max(1, k.opts.People/sharePeople):
		return errParty
	case len(k.byID) >= k.opts.People:
		return errFull
	}
	return nil
}

// follow reads what a viewer sees, and keeps it up to date until the viewer leaves.
func (vs *viewers) follow(ctx context.Context, one *viewer) {
	source, follow, err := vs.opts.Cluster.Open(ctx, Opening{Person: one.person, Namespaces: one.namespaces,
		Token: func() string { _, unlock := vs.state.Lock(); defer unlock(); return one.token }})
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
		vs.opts.Say(one.person.Name + " is signed out: " + err.Error())
	}
	k, unlock := vs.state.Lock()
	defer unlock()
	k.drop(one)
}

// drop ends what a viewer sees.
func (k *kept) drop(one *viewer) {
	if k.byID[one.person.ID] == one {
		delete(k.byID, one.person.ID)
		close(one.gone)
		one.end()
	}
}

// dropIdle ends what nobody has used for long.
func (k *kept) dropIdle() {
	now := k.opts.Now()
	for key, s := range k.sessions {
		if now.Sub(s.used) >= k.opts.Idle {
			delete(k.sessions, key)
		}
	}
	for _, one := range k.byID {
		if now.Sub(one.used) >= k.opts.Idle {
			k.drop(one)
		}
	}
	for key, heard := range k.heard {
		if !now.Before(heard.until) {
			delete(k.heard, key)
		}
	}
}

// sweep ends what nobody has used for long, and what was read with tokens that are not accepted any more.
func (vs *viewers) sweep(ctx context.Context) {
	k, unlock := vs.state.Lock()
	k.dropIdle()
	tokens := map[*viewer]string{}
	for _, one := range k.byID {
		tokens[one] = one.token
	}
	unlock()
	for one, token := range tokens {
		_, err := vs.review(ctx, token)
		k, unlock := vs.state.Lock()
		if errors.Is(err, ErrStranger) && one.token == token {
			k.drop(one)
		}
		unlock()
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
	k, unlock := a.viewers.state.Lock()
	defer unlock()
	one := k.byID[a.id]
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
