package bindy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// +kubebuilder:rbac:groups="",namespace=zonefold-system,resources=serviceaccounts/token,resourceNames=zonefold-operator,verbs=create

// Audience is what a token that is shown to the sidecars of a namespace is good for. Who may write instances there may have any image as their
// sidecar, and so sees the token: the sidecars of other namespaces must not take it.
func Audience(namespace string) string { return "bindcar:" + namespace }

// tokenLife is for how long a token is asked for; another one follows when a fifth of it is left.
const tokenLife = time.Hour

var errToken = errors.New("the operator has no token")

// tokens are those that sidecars know the operator by: of its ServiceAccount, another one for each namespace. The zero value is ready for use.
type tokens struct {
	mu sync.Mutex
	of map[string]*token // by namespace
}

type token struct {
	mu    sync.Mutex // held while it is asked for
	text  string
	until time.Time
}

func (t *tokens) at(namespace string) *token {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]*token{}
	}
	if t.of[namespace] == nil {
		t.of[namespace] = &token{}
	}
	return t.of[namespace]
}

// token returns what the sidecars of a namespace are shown.
func (b *Controller) token(ctx context.Context, namespace string) (string, error) {
	if b.Token != nil {
		return b.Token(ctx, namespace)
	}
	t := b.tokens.at(namespace)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := b.Clock()
	if t.text != "" && now.Before(t.until) {
		return t.text, nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{Audience(namespace)}, ExpirationSeconds: ptr.To(int64(tokenLife / time.Second)),
	}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.ServiceAccount}}
	if err := b.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return "", fmt.Errorf("%w: asking for one of %s: %w; see --namespace and --service-account", errToken, describe("ServiceAccount", client.ObjectKeyFromObject(account)), err)
	}
	t.text, t.until = request.Status.Token, now.Add(request.Status.ExpirationTimestamp.Sub(now)*4/5)
	return t.text, nil
}
