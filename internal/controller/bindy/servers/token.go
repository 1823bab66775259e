package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"golang.org/x/sync/singleflight"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/guarded"
)

// +kubebuilder:rbac:groups="",namespace=zonefold-system,resources=serviceaccounts/token,resourceNames=zonefold-operator,verbs=create

// tokenLife is for how long a token is asked for; another one follows when a fifth of it is left.
const tokenLife = time.Hour

// ErrToken says that there is no token to show to sidecars.
var ErrToken = errors.New("the operator has no token")

// staleAfter is how old a token has to be for another one to be asked for when it is refused: the ServiceAccount may
// have been made anew. A sidecar that refuses everything is no reason to ask all the time.
const staleAfter = time.Minute

// tokens are those that sidecars know the operator by: of its ServiceAccount, another one for each namespace. The zero
// value is ready for use.
type tokens struct {
	of     guarded.Value[map[string]token] // by namespace
	asking singleflight.Group
}

type token struct {
	text        string
	from, until time.Time
}

// get returns the token of a namespace while it is good.
func (t *tokens) get(namespace string, now time.Time) (string, bool) {
	all, unlock := t.of.Lock()
	defer unlock()
	one, ok := (*all)[namespace]
	return one.text, ok && now.Before(one.until)
}

// put keeps a token, and forgets those that are not good any more.
func (t *tokens) put(namespace string, one token) {
	all, unlock := t.of.Lock()
	defer unlock()
	maps.DeleteFunc(*all, func(_ string, other token) bool { return !one.from.Before(other.until) })
	if *all == nil {
		*all = map[string]token{}
	}
	(*all)[namespace] = one
}

// refused has the token of a namespace replaced, unless it is new.
func (t *tokens) refused(namespace string, now time.Time) {
	all, unlock := t.of.Lock()
	defer unlock()
	if now.Sub((*all)[namespace].from) >= staleAfter {
		delete(*all, namespace)
	}
}

// TokenFor returns what the sidecars of a namespace are shown.
func (s *Servers) TokenFor(ctx context.Context, namespace string) (string, error) {
	if s.Token != nil {
		return s.Token(ctx, namespace)
	}
	if text, ok := s.tokens.get(namespace, s.Clock()); ok {
		return text, nil
	}
	asked := s.tokens.asking.DoChan(namespace, func() (any, error) {
		if text, ok := s.tokens.get(namespace, s.Clock()); ok { // since we looked
			return text, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CallTime) // others wait for it too
		defer cancel()
		return s.newToken(ctx, namespace)
	})
	select {
	case r := <-asked:
		text, _ := r.Val.(string)
		return text, r.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Refused has the token of a namespace replaced, unless it is new: a sidecar, or another pod at its address, has
// refused it.
func (s *Servers) Refused(namespace string) { s.tokens.refused(namespace, s.Clock()) }

func (s *Servers) newToken(ctx context.Context, namespace string) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{dialect.Audience(namespace)}, ExpirationSeconds: ptr.To(int64(tokenLife / time.Second)),
	}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.ServiceAccount}}
	now := s.Clock()
	if err := s.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("%w: asking for one of %s: %w; see --namespace and --service-account", ErrToken,
			dialect.Describe("ServiceAccount", client.ObjectKeyFromObject(account)), err)
	}
	// the answer's; the time of its end is by another clock
	life := time.Duration(ptr.Deref(request.Spec.ExpirationSeconds, 0)) * time.Second
	s.tokens.put(namespace, token{text: request.Status.Token, from: now, until: now.Add(life * 4 / 5)})
	return request.Status.Token, nil
}
