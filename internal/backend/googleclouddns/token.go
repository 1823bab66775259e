package googleclouddns

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"
	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/webcall"
	"github.com/zonefold/zonefold/internal/guarded"
)

// authorised sends requests with a token. It does what oauth2.Transport does, whose callers wait for a token that
// another one gets for as long as that takes.
type authorised struct {
	base   http.RoundTripper
	tokens *tokens
}

// RoundTrip makes one call.
func (a *authorised) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := a.tokens.get(req.Context())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("getting a token of Google for the service account: %w", err)
	}
	req = req.Clone(req.Context())
	token.SetAuthHeader(req)
	return a.base.RoundTrip(req)
}

// tokens gets tokens, one at a time, and keeps the last one for as long as it is valid.
type tokens struct {
	base    http.RoundTripper
	account jwt.Config
	last    guarded.InTurn[*oauth2.Token]
}

func newTokens(account serviceAccount, cfg Config) (*tokens, error) {
	h, err := webcall.NewClient(webcall.Config{MaxAnswer: 1 << 20, Judge: judgeToken, HTTP: cfg.HTTP})
	if err != nil {
		return nil, err
	}
	return &tokens{base: h.Transport, account: jwt.Config{
		Email: account.ClientEmail, PrivateKey: []byte(account.PrivateKey), PrivateKeyID: account.PrivateKeyID,
		Scopes: []string{dns.NdevClouddnsReadwriteScope}, TokenURL: cfg.TokenEndpoint,
	}}, nil
}

// get returns a token that is valid.
func (t *tokens) get(ctx context.Context) (*oauth2.Token, error) {
	last, unlock, err := t.last.Lock(ctx)
	if err != nil {
		return nil, &backend.Error{Class: backend.ErrUnavailable, Err: err}
	}
	defer unlock()
	if (*last).Valid() {
		return *last, nil
	}
	q := &question{base: t.base, ctx: ctx}
	token, err := t.account.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: q})).Token()
	switch {
	case err == nil:
		*last = token
		return token, nil
	case q.err != nil:
		return nil, q.err
	}
	return nil, err
}

// A question is one for a token. Package jwt takes neither the context into its request nor the class of an error out
// of it.
type question struct {
	base http.RoundTripper
	ctx  context.Context
	err  error
}

// RoundTrip asks it.
func (q *question) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := q.base.RoundTrip(req.WithContext(q.ctx))
	q.err = err
	return resp, err
}
