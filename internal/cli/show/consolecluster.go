package show

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/console"
)

// A sharedCluster asks the API server whose tokens are, with the rights of this process, and reads objects, with those
// of the tokens. It is a console.Cluster.
type sharedCluster struct {
	env     command.Env
	now     func() time.Time
	sharing *sharing
	reviews command.Asker
	server  *rest.Config // without anybody's credentials
	url     *url.URL     // of the API server
	reads   *budget.Pool
	opening chan struct{} // a place for each person whose objects are being read for the first time
}

// How much is asked of the API server.
const (
	reviewsEachSecond = 20
	reviewsAtOnce     = 40
	maxOpening        = 2
)

func newSharedCluster(env command.Env, config *rest.Config, s *sharing) (*sharedCluster, error) {
	own := rest.CopyConfig(config)
	own.QPS, own.Burst = reviewsEachSecond, reviewsAtOnce
	client, err := discovery.NewDiscoveryClientForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	c := &sharedCluster{env: env, now: command.Running(env.Now), sharing: s,
		reviews: command.Asker{Interface: client.RESTClient()},
		server:  rest.AnonymousClientConfig(config), reads: budget.NewPool(readsOfAll),
		opening: make(chan struct{}, maxOpening)}
	c.server.UserAgent = "zonefold-console/" + env.Version.Version
	if c.url, _, err = rest.DefaultServerUrlFor(c.server); err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return c, nil
}

const tokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews"

// Review implements console.Cluster.
func (c *sharedCluster) Review(ctx context.Context, token string) (console.Person, error) {
	review := authenticationv1.TokenReview{TypeMeta: metav1.TypeMeta{Kind: "TokenReview",
		APIVersion: authenticationv1.SchemeGroupVersion.String()},
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: c.sharing.audiences}}
	err := c.reviews.Review(ctx, tokenReviews, &review)
	status := &review.Status
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
		return console.Person{}, errors.New("the console may not check tokens with the API server: its ServiceAccount " +
			"needs the right to create tokenreviews.authentication.k8s.io")
	case err != nil:
		return console.Person{}, fmt.Errorf("asking the API server about the token: %w", err)
	case !status.Authenticated || status.User.Username == "":
		return console.Person{}, console.ErrStranger
	case len(c.sharing.audiences) > 0 && !slices.ContainsFunc(status.Audiences, func(audience string) bool {
		return slices.Contains(c.sharing.audiences, audience)
	}): // which one that knows of no audiences does not compare
		return console.Person{}, console.ErrStranger
	}
	return personOf(&status.User)
}

// credentialID is what a user's extra fields have of the token alone (KEP-4193): no right depends on it.
const credentialID = "authentication.kubernetes.io/credential-id"

// personOf returns who a user is. Tokens whose users differ in anything that a right may depend on are those of
// different persons.
func personOf(u *authenticationv1.UserInfo) (console.Person, error) {
	extra := maps.Clone(u.Extra)
	delete(extra, credentialID)
	text, err := json.Marshal([]any{u.Username, u.UID, slices.Sorted(slices.Values(u.Groups)), extra})
	if err != nil {
		return console.Person{}, err
	}
	sum := sha256.Sum256(text)
	p := console.Person{Name: u.Username, ID: hex.EncodeToString(sum[:]), Party: u.Username}
	if rest, ok := strings.CutPrefix(u.Username, "system:serviceaccount:"); ok {
		p.Own, _, _ = strings.Cut(rest, ":")
		p.Party = "system:serviceaccounts:" + p.Own
	}
	return p, nil
}

// Open implements console.Cluster.
func (c *sharedCluster) Open(
	ctx context.Context, o console.Opening,
) (console.Source, func(context.Context) error, error) {
	select {
	case c.opening <- struct{}{}:
		defer func() { <-c.opening }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	config := rest.CopyConfig(c.server)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &asPerson{next, c.url.Host, o.Token, c.sharing.objects.Value()}
	})
	f := command.ObjectFlags{Sources: c.sharing.sources, Shared: c.shared(o.Namespaces)}
	f.Cluster.Given, f.Namespace = config, metav1.NamespaceDefault
	if len(o.Namespaces) > 0 {
		f.Namespace = o.Namespaces[0]
	}
	env := c.env
	env.Now = c.now()
	w, follow, err := followCluster(ctx, env, command.NewProgress(io.Discard), &f)
	switch {
	case apierrors.IsUnauthorized(err):
		return nil, nil, errors.New("the API server knows the token but does not accept it for itself; the token must also " +
			"have the API server's audience")
	case err != nil:
		return nil, nil, err
	}
	return w, follow, nil
}

// shared returns what is otherwise for a person than on a machine of their own.
func (c *sharedCluster) shared(namespaces []string) *command.Shared {
	var server []netip.Addr // if the URL has its address, as in Pods
	if at, err := netip.ParseAddr(c.url.Hostname()); err == nil {
		server = []netip.Addr{at}
	}
	return &command.Shared{Namespaces: namespaces, Most: c.sharing.objects.Value(), Operator: c.sharing.operator,
		Reads: c.reads, Anew: c.sharing.believe,
		Guard: dialguard.New(dialguard.Config{Own: func() []netip.Addr { return dialguard.Addresses(server...) }})}
}

// asPerson makes requests with a person's token, and reads answers up to a limit.
type asPerson struct {
	next  http.RoundTripper
	host  string // of the API server, which alone is shown tokens
	token func() string
	most  int64 // octets of one answer
}

// RoundTrip implements http.RoundTripper.
func (t *asPerson) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != t.host {
		return nil, fmt.Errorf("the API server has sent a request on to %s, to which the console sends no tokens", r.URL.Host)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.token())
	answer, err := t.next.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") == "" {
		answer.Body = &limited{answer.Body, t.most, t.most}
	}
	return answer, err
}

// A limited body ends with an error where it would have more than it may.
type limited struct {
	io.ReadCloser

	left, most int64
}

// Read reads on.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, command.TooMuch(l.most+1, l.most)
	}
	return n, err
}
