package servers

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestATokenIsForTheSidecarsOfOneNamespace has a tenant whose sidecar shows what it was shown to the sidecar of another
// one.
func TestATokenIsForTheSidecarsOfOneNamespace(t *testing.T) {
	s := newStage(t)
	own, a, other := s.Namespace("operator"), s.Namespace("a"), s.Namespace("b")
	b := s.servers()
	b.Namespace, b.ServiceAccount = own, "operator"
	if _, err := b.TokenFor(s.Ctx, a); !errors.Is(err, ErrToken) || !strings.Contains(err.Error(), "ServiceAccount "+own+
		"/operator") {
		t.Errorf("without a ServiceAccount: %v", err)
	}
	if err := s.Live.Create(s.Ctx,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "operator"}}); err != nil {
		t.Fatal(err)
	}
	b.Clock = time.Now
	shown, err := b.TokenFor(s.Ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]bool{a: true, other: false} {
		if got := s.accepts(b, namespace, shown); got != want {
			t.Errorf("a sidecar of %s accepts what those of %s are shown: %v", namespace, a, got)
		}
	}
	if again, err := b.TokenFor(s.Ctx, a); again != shown || err != nil {
		t.Errorf("another token is asked for while one is good: %v", err)
	}
	if another, err := b.TokenFor(s.Ctx, other); err != nil || another == shown || !s.accepts(b, other, another) {
		t.Errorf("the sidecars of %s do not accept what they are shown: %v", other, err)
	}
	b.Clock = func() time.Time { return time.Now().Add(50 * time.Minute) }
	if later, err := b.TokenFor(s.Ctx, a); later == shown || err != nil {
		t.Errorf("when little of its time is left, there is no other token: %v", err)
	}
}

// accepts asks the API server what a sidecar of a namespace asks it.
func (s *stage) accepts(b *Servers, namespace, token string) bool {
	s.Helper()
	env := map[string]string{}
	server := aPrimary(s.T)
	server.Instance.Namespace = namespace
	for _, e := range server.Environment(b.Settings) {
		env[e.Name] = e.Value
	}
	audiences := strings.Split(env["BIND_TOKEN_AUDIENCES"], ",")
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences}}
	if err := s.Live.Create(s.Ctx, review); err != nil {
		s.Fatal(err)
	}
	return review.Status.Authenticated && review.Status.User.Username == env["BIND_ALLOWED_SERVICE_ACCOUNTS"] &&
		slices.ContainsFunc(review.Status.Audiences, func(a string) bool { return slices.Contains(audiences, a) })
}

func TestManyAskForATokenOnce(t *testing.T) {
	s := newStage(t)
	own := s.Namespace("operator")
	b := s.servers()
	b.Namespace, b.ServiceAccount, b.Clock = own, "operator", time.Now
	if err := s.Live.Create(s.Ctx,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "operator"}}); err != nil {
		t.Fatal(err)
	}
	s.Writes.Reset()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := b.TokenFor(context.WithoutCancel(s.Ctx), "a"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := s.Writes.Total(); n != 1 {
		t.Errorf("there were %d requests: %s", n, s.Writes)
	}
}

// TestTheOperatorsRightToTokens has the Role that the chart installs.
func TestTheOperatorsRightToTokens(t *testing.T) {
	s := newStage(t)
	b := s.servers()
	b.Clock = time.Now
	text, err := os.ReadFile("../../../../config/rbac/bindy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	for _, document := range strings.Split(string(text), "---\n") {
		if strings.Contains(document, "kind: Role\n") {
			if err := yaml.UnmarshalStrict([]byte(document), &role); err != nil {
				t.Fatal(err)
			}
		}
	}
	subject := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: b.Namespace, Name: b.ServiceAccount}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.Namespace}},
		&corev1.ServiceAccount{ObjectMeta: bindytest.Named(b.Namespace, b.ServiceAccount)},
		&corev1.ServiceAccount{ObjectMeta: bindytest.Named(b.Namespace, "another")}, &role,
		&rbacv1.RoleBinding{ObjectMeta: bindytest.Named(b.Namespace, role.Name),
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects: []rbacv1.Subject{subject}},
	} {
		if err := s.Live.Create(s.Ctx, o); err != nil {
			t.Fatal(err)
		}
		s.Cleanup(func() { _ = s.Live.Delete(s.Clean(), o) })
	}
	config := rest.CopyConfig(s.Config)
	config.Impersonate.UserName = "system:serviceaccount:" + b.Namespace + ":" + b.ServiceAccount
	if b.Client, err = client.New(config, client.Options{Scheme: s.Scheme}); err != nil {
		t.Fatal(err)
	}
	s.Eventually("a token", func() string { // rights are known a moment after they are given
		if _, err := b.TokenFor(s.Ctx, "a"); err != nil {
			return err.Error()
		}
		return ""
	})
	b.ServiceAccount = "another"
	if _, err := b.TokenFor(s.Ctx, "b"); !errors.Is(err, ErrToken) || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("a token of another ServiceAccount: %v", err)
	}
}
