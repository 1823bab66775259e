package fleet

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// How soon a sidecar that did not answer is asked again.
const leastRetry, mostRetry = 500 * time.Millisecond, 30 * time.Second

// ownSecrets are Secrets as an instance has them, with no API server.
func ownSecrets(t testing.TB) []*corev1.Secret {
	t.Helper()
	var out []*corev1.Secret
	for _, p := range []bind9.Purpose{bind9.ForOperator, bind9.ForTransfer} {
		k := bind9.Key{Name: "bindy-" + string(p), Algorithm: bind9.SHA256, Secret: bindytest.OctetsA}
		data, err := bind9.Ring{Keys: []bind9.Key{k}, InUse: k.Name}.Data(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &corev1.Secret{Data: data})
	}
	return out
}

// caller is an operator that only calls sidecars.
func caller(t testing.TB, token string) (*instances, client.ObjectKey) {
	t.Helper()
	settings := dialect.Settings{Namespace: "zonefold-system", ServiceAccount: "zonefold-operator"}
	b := New(Config{Settings: settings, Clock: time.Now, Servers: servers.New(servers.Config{
		Settings: settings, Token: shows(token), Log: slog.New(slog.DiscardHandler), Clock: time.Now,
	})})
	return b.instances, client.ObjectKey{Namespace: "n", Name: "dns"}
}

func TestSidecarsAreToldOnceWhatTheyAreToHave(t *testing.T) {
	p := newBindPod(t, "one", ownSecrets(t)...)
	b, s := caller(t, bindytest.SidecarToken)
	ready := func() bool {
		r, err := p.sidecar().Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r.Ready
	}
	declare := func() (calls int64) {
		t.Helper()
		before := p.calls.Load()
		if after, troubles := b.declared.declare(t.Context(), s, []corev1.Pod{p.pod}); after != 0 || len(troubles) > 0 {
			t.Fatal(after, troubles)
		}
		return p.calls.Load() - before
	}
	if ready() {
		t.Fatal("it is ready before anybody has said what it is to have")
	}
	declare()
	if !ready() {
		t.Error("it is not ready after it was told")
	}
	if n := declare(); n != 0 {
		t.Errorf("it was told already, and got %d calls", n)
	}

	// A restart of the sidecar: it knows its content, which is left as it is.
	if err := p.sidecar().Declare(t.Context(), []string{"later.test"}); err != nil {
		t.Fatal(err)
	}
	p.pod.Status.ContainerStatuses[0].RestartCount++
	if n := declare(); n == 0 {
		t.Error("it was started again, and nobody looked")
	}
	content, err := p.sidecar().Content(t.Context())
	if err != nil || len(content.Zones) != 1 || content.Zones[0] != "later.test" {
		t.Errorf("its content is %v, %v", content, err)
	}
}

func TestSidecarsKeepTheZonesThatTheyHave(t *testing.T) {
	p := newBindPod(t, "one", ownSecrets(t)...)
	zone := bindcar.CreateZone{ZoneName: "kept.test", ZoneType: bindcar.Primary, ZoneConfig: bindcar.ZoneConfig{
		TTL: 60, SOA: bindcar.SOA{PrimaryNS: "ns.other.test.", AdminEmail: "admin.other.test."}, NameServers: []string{
			"ns.other.test."},
	}}
	if created, err := p.sidecar().Create(t.Context(), zone); !created || err != nil {
		t.Fatal(created, err)
	}
	b, s := caller(t, bindytest.SidecarToken)
	if after, troubles := b.declared.declare(t.Context(), s, []corev1.Pod{p.pod}); after != 0 || len(troubles) > 0 {
		t.Fatal(after, troubles)
	}
	content, err := p.sidecar().Content(t.Context())
	if all := strings.Join(content.Zones, " "); err != nil || !content.Declared || all != "a.test kept.test" {
		t.Errorf("its content is %+v, %v", content, err)
	}
}

func TestPodsThatAreNotToldYet(t *testing.T) {
	b, s := caller(t, bindytest.SidecarToken)
	running := corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "127.0.0.1", ContainerStatuses: []corev1.ContainerStatus{
		{Name: dialect.BindcarContainer,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}},
	}}
	for _, tt := range []struct {
		name   string
		change func(*corev1.Pod)
	}{
		{"it has no address", func(p *corev1.Pod) { p.Status.PodIP = "" }},
		{"its sidecar does not run", func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }},
		{"it is on its way out", func(p *corev1.Pod) {
			p.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(time.Minute)}
		}},
		{"it is over", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }},
	} {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "one", UID: "one", Labels: ownLabels(),
			OwnerReferences: ownOwner()}, Status: *running.DeepCopy()}
		tt.change(&p)
		if after, troubles := b.declared.declare(t.Context(), s, []corev1.Pod{p}); after != 0 || len(troubles) > 0 {
			t.Errorf("%s: look again in %s, and %v", tt.name, after, troubles)
		}
	}
}

// TestWhatIsWrongWithASidecar has each way in which calls fail, while it starts and later.
func TestWhatIsWrongWithASidecar(t *testing.T) {
	genuine := newBindPod(t, "genuine", ownSecrets(t)...)
	at := func(h http.HandlerFunc) int {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.Listener.Addr().(*net.TCPAddr).Port
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().(*net.TCPAddr).Port
	closed.Close()
	for _, tt := range []struct {
		name  string
		port  int
		token string
		says  []string // after a while; none: never
	}{
		{"it does not know our token", genuine.port, "another", []string{"refuses the operator's token",
			"system:serviceaccount:zonefold-system:zonefold-operator", "ClusterRoleBinding zonefold-bindcar",
			"ServiceAccount bind9 of namespace n"}},
		{"nobody listens", nobody, bindytest.SidecarToken, []string{"does not answer the operator at 127.0.0.1",
			"NetworkPolicy"}},
		{"it is another program", at(http.NotFound), bindytest.SidecarToken, []string{"does not support the call",
			"its image mirror.example/sidecar:1 is not", "Remove bindcarConfig.image"}},
		{"it fails", at(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }),
			bindytest.SidecarToken, []string{"HTTP 502"}},
		{"it is asked too often", at(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "40")
			w.WriteHeader(http.StatusTooManyRequests)
		}), bindytest.SidecarToken, nil},
		{"we have no token", genuine.port, "", []string{"the operator has no token", "it is forbidden"}},
	} {
		b, s := caller(t, tt.token)
		p := genuine.pod.DeepCopy()
		p.Spec.Containers[1].Ports[0].ContainerPort = int32(tt.port)
		p.Spec.Containers[1].Image = "mirror.example/sidecar:1"
		look := func(age time.Duration) (time.Duration, []dialect.Trouble) {
			b.declared.clock = func() time.Time { return p.Status.ContainerStatuses[0].State.Running.StartedAt.Add(age) }
			return b.declared.declare(t.Context(), s, []corev1.Pod{*p})
		}
		after, troubles := look(time.Second)
		if after < leastRetry || after > time.Minute || len(troubles) > 0 {
			t.Errorf("%s, while it starts: look again in %s, and %v", tt.name, after, troubles)
		}
		after, troubles = look(time.Hour)
		if after < mostRetry || after > time.Minute {
			t.Errorf("%s: look again in %s", tt.name, after)
		}
		if tt.says == nil {
			if len(troubles) > 0 {
				t.Errorf("%s: %v", tt.name, troubles)
			}
			continue
		}
		if len(troubles) != 1 || troubles[0].Reason != v1beta1.ReasonReconcileFailed {
			t.Errorf("%s: the troubles are %v", tt.name, troubles)
			continue
		}
		for _, text := range append(tt.says, "Pod n/genuine") {
			if !strings.Contains(troubles[0].Message, text) {
				t.Errorf("%s: %q does not hold %q", tt.name, troubles[0].Message, text)
			}
		}
		if _, again := look(2 * time.Hour); len(again) != 1 || again[0] != troubles[0] {
			t.Errorf("%s: the same cause is told as %v and then as %v", tt.name, troubles, again)
		}
	}
}
