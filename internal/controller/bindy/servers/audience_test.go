package servers

import (
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// TestSidecarsOfEachNamespace has real sidecars, with the environment that pods have, ask a real API server about the
// operator's tokens.
func TestSidecarsOfEachNamespace(t *testing.T) {
	s := newStage(t)
	own := s.Namespace("operator")
	if err := s.Live.Create(s.Ctx, &corev1.ServiceAccount{ObjectMeta: bindytest.Named(own, "operator")}); err != nil {
		t.Fatal(err)
	}
	b := s.servers()
	b.Namespace, b.ServiceAccount, b.Clock = own, "operator", time.Now
	tenant, other := s.reviewing(b, s.Namespace("a")), s.reviewing(b, s.Namespace("b"))

	s.Writes.Reset()
	for _, p := range []*corev1.Pod{tenant, other, tenant} {
		c, err := b.Sidecar(s.Ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Content(s.Ctx); err != nil {
			t.Errorf("the sidecar of %s: %v", p.Namespace, err)
		}
	}
	if n := s.Writes.Total(); n != 2 {
		t.Errorf("for two namespaces there were %s", s.Writes)
	}
	shown, err := b.Sidecar(s.Ctx, tenant)
	if err != nil {
		t.Fatal(err)
	}
	stolen, err := b.Sidecar(s.Ctx, other)
	if err != nil {
		t.Fatal(err)
	}
	stolen.Token = shown.Token
	if _, err := stolen.Content(s.Ctx); !errors.Is(err, bindcar.ErrUnauthorized) {
		t.Errorf("what the sidecar of %s was shown, shown to the one of %s: %v", tenant.Namespace, other.Namespace, err)
	}
	stolen.Pod = string(tenant.UID)
	if _, err := stolen.Content(s.Ctx); !errors.Is(err, bindcar.ErrMisdirected) {
		t.Errorf("a call for another pod, with a token for that: %v", err)
	}
}

// TestAServiceAccountThatIsMadeAnew has tokens that are good by their time and are not accepted any more.
func TestAServiceAccountThatIsMadeAnew(t *testing.T) {
	s := newStage(t)
	account := func() *corev1.ServiceAccount {
		return &corev1.ServiceAccount{ObjectMeta: bindytest.Named(s.Word+"-operator", "operator")}
	}
	b := s.servers()
	b.Namespace, b.ServiceAccount = s.Namespace("operator"), "operator"
	var later time.Duration
	b.Clock = func() time.Time { return time.Now().Add(later) }
	if err := s.Live.Create(s.Ctx, account()); err != nil {
		t.Fatal(err)
	}
	p := s.reviewing(b, s.Namespace("a"))
	ask := func() error {
		c, err := b.Sidecar(s.Ctx, p)
		if err == nil {
			_, err = c.Content(s.Ctx)
		}
		if err != nil {
			b.Failing(p, err, b.Clock())
		}
		return err
	}
	first, err := b.TokenFor(s.Ctx, p.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	s.Remove(account())
	if err := s.Live.Create(s.Ctx, account()); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the API server to know the one ServiceAccount, and not the other", func() string {
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{dialect.Audience(p.Namespace)}}}
		if err := s.Live.SubResource("token").Create(s.Ctx, account(), request); err != nil {
			return err.Error()
		}
		if s.accepts(b, p.Namespace, first) || !s.accepts(b, p.Namespace, request.Status.Token) {
			return "it does not"
		}
		return ""
	})
	if err := ask(); !errors.Is(err, bindcar.ErrUnauthorized) {
		t.Fatalf("the token of the one that is gone: %v", err)
	}
	if again, err := b.TokenFor(s.Ctx, p.Namespace); again != first || err != nil {
		t.Errorf("a new token that is refused was replaced at once: %v", err)
	}
	later = staleAfter + time.Second
	if err := ask(); !errors.Is(err, bindcar.ErrUnauthorized) {
		t.Fatalf("the token of the one that is gone, later: %v", err)
	}
	if err := ask(); err != nil {
		t.Errorf("the token after that: %v", err)
	}
}

// TestTokensThatAreForgotten has one that is over, and others.
func TestTokensThatAreForgotten(t *testing.T) {
	var all tokens
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all.put("a", token{text: "a1", from: began, until: began.Add(time.Hour)})
	all.put("b", token{text: "b1", from: began.Add(time.Minute), until: began.Add(2 * time.Hour)})
	for _, step := range []struct {
		name      string
		namespace string
		at        time.Duration
		want      string
	}{
		{"while it is good", "a", 59 * time.Minute, "a1"},
		{"at its end", "a", time.Hour, ""},
		{"of a namespace that was never asked for", "c", 0, ""},
		{"of another one that is good for longer", "b", time.Hour, "b1"},
	} {
		if text, ok := all.get(step.namespace, began.Add(step.at)); ok != (step.want != "") || ok && text != step.want {
			t.Errorf("%s: %q, %v", step.name, text, ok)
		}
	}
	all.put("c", token{text: "c1", from: began.Add(time.Hour), until: began.Add(3 * time.Hour)})
	kept, unlock := all.of.Lock()
	defer unlock()
	if len(*kept) != 2 {
		t.Errorf("what is over is kept: %v", *kept)
	}
}

// reviewing is a pod of a namespace whose sidecar runs, without BIND.
func (s *stage) reviewing(b *Servers, namespace string) *corev1.Pod {
	s.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: bindytest.Named(namespace, dialect.ServiceAccount)}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{authenticationv1.GroupName}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName,
			Kind: "ClusterRole", Name: namespace},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: dialect.ServiceAccount}},
	}
	for _, o := range []client.Object{account, role, binding} {
		if err := s.Live.Create(s.Ctx, o); err != nil {
			s.Fatal(err)
		}
	}
	s.Cleanup(func() { _, _ = s.Live.Delete(s.Clean(), role), s.Live.Delete(s.Clean(), binding) })
	request := &authenticationv1.TokenRequest{}
	if err := s.Live.SubResource("token").Create(s.Ctx, account, request); err != nil {
		s.Fatal(err)
	}
	dir := s.TempDir()
	for name, text := range map[string][]byte{"token": []byte(request.Status.Token), "ca.crt": s.Config.CAData} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			s.Fatal(err)
		}
	}
	server := aPrimary(s.T)
	server.Instance.Namespace = namespace
	env := map[string]string{}
	for _, e := range server.Environment(b.Settings) {
		env[e.Name] = e.Value
	}
	env["POD_UID"], env["BIND_ZONE_DIR"] = namespace, dir // the one is of the downward API, the other is a volume
	env["KUBE_API_SERVER"], env["KUBE_TOKEN_PATH"], env["KUBE_CA_CERT_PATH"] = s.Config.Host, filepath.Join(dir, "token"),
		filepath.Join(dir, "ca.crt")
	settings, err := bindcar.ParseSettings(nil, func(name string) string { return env[name] })
	if err != nil {
		s.Fatal(err)
	}
	sidecar, err := bindcar.New(bindcar.Options{Settings: settings, Version: "test", Log: slog.New(slog.DiscardHandler),
		Now: time.Now})
	if err != nil {
		s.Fatal(err)
	}
	at := httptest.NewServer(sidecar.Handler())
	s.Cleanup(at.Close)
	host, text, err := net.SplitHostPort(at.Listener.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		s.Fatal(err)
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one", UID: types.UID(namespace)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: dialect.BindcarContainer, Ports: []corev1.ContainerPort{{ContainerPort: int32(port)}}}}},
		Status: corev1.PodStatus{PodIP: host},
	}
}
