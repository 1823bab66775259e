package bindy

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
)

// TestSidecarsOfEachNamespace has real sidecars, with the environment that pods have, ask a real API server about the operator's
// tokens.
func TestSidecarsOfEachNamespace(t *testing.T) {
	s := newStage(t)
	own := s.namespace("operator")
	if err := s.live.Create(s.ctx, &corev1.ServiceAccount{ObjectMeta: named(own, "operator")}); err != nil {
		t.Fatal(err)
	}
	b := s.start(func(*Controller) []part { return nil })
	b.Namespace, b.ServiceAccount, b.Clock = own, "operator", time.Now
	tenant, other := s.reviewing(b, s.namespace("a")), s.reviewing(b, s.namespace("b"))

	s.writes.reset()
	for _, p := range []*corev1.Pod{tenant, other, tenant} {
		c, err := b.sidecar(s.ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Content(s.ctx); err != nil {
			t.Errorf("the sidecar of %s: %v", p.Namespace, err)
		}
	}
	if n := s.writes.total(); n != 2 {
		t.Errorf("for two namespaces there were %s", s.writes)
	}
	shown, err := b.sidecar(s.ctx, tenant)
	if err != nil {
		t.Fatal(err)
	}
	stolen, err := b.sidecar(s.ctx, other)
	if err != nil {
		t.Fatal(err)
	}
	stolen.Token = shown.Token
	if _, err := stolen.Content(s.ctx); !errors.Is(err, bindcar.ErrUnauthorized) {
		t.Errorf("what the sidecar of %s was shown, shown to the one of %s: %v", tenant.Namespace, other.Namespace, err)
	}
	stolen.Pod = string(tenant.UID)
	if _, err := stolen.Content(s.ctx); !errors.Is(err, bindcar.ErrMisdirected) {
		t.Errorf("a call for another pod, with a token for that: %v", err)
	}
}

// reviewing is a pod of a namespace whose sidecar runs, without BIND.
func (s *stage) reviewing(b *Controller, namespace string) *corev1.Pod {
	s.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: named(namespace, serviceAccount)}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{authenticationv1.GroupName}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: serviceAccount}},
	}
	for _, o := range []client.Object{account, role, binding} {
		if err := s.live.Create(s.ctx, o); err != nil {
			s.Fatal(err)
		}
	}
	s.Cleanup(func() { _, _ = s.live.Delete(s.clean(), role), s.live.Delete(s.clean(), binding) })
	request := &authenticationv1.TokenRequest{}
	if err := s.live.SubResource("token").Create(s.ctx, account, request); err != nil {
		s.Fatal(err)
	}
	dir := s.TempDir()
	for name, text := range map[string][]byte{"token": []byte(request.Status.Token), "ca.crt": s.config.CAData} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			s.Fatal(err)
		}
	}
	server := mustServer(s.T, `role: primary`, "")
	server.instance.Namespace = namespace
	env := map[string]string{}
	for _, e := range server.environment(b.Settings) {
		env[e.Name] = e.Value
	}
	env["POD_UID"], env["BIND_ZONE_DIR"] = namespace, dir // the one is of the downward API, the other is a volume
	env["KUBE_API_SERVER"], env["KUBE_TOKEN_PATH"], env["KUBE_CA_CERT_PATH"] = s.config.Host, filepath.Join(dir, "token"), filepath.Join(dir, "ca.crt")
	settings, err := bindcar.ParseSettings(nil, func(name string) string { return env[name] })
	if err != nil {
		s.Fatal(err)
	}
	sidecar, err := bindcar.New(bindcar.Options{Settings: settings, Version: "test", Log: slog.New(slog.DiscardHandler), Now: time.Now})
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
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: bindcarContainer, Ports: []corev1.ContainerPort{{ContainerPort: int32(port)}}}}},
		Status:     corev1.PodStatus{PodIP: host},
	}
}
