package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/nameserver"
)

// A bindPod is what a pod has, without the pod: a named with the key files of Secrets, and a bindcar beside it.
type bindPod struct {
	t            testing.TB
	conf         string
	dns, control uint16
	port         int
	calls        atomic.Int64 // to the sidecar
	version      int          // of the files
	pod          corev1.Pod
	named        *nameserver.Named
}

// newBindPod starts both with the Secrets as they are.
func newBindPod(t testing.TB, name string, secrets ...*corev1.Secret) *bindPod {
	t.Helper()
	root := t.TempDir()
	p := &bindPod{t: t, conf: filepath.Join(root, "conf")}
	zones := filepath.Join(root, "zones")
	for _, dir := range []string{p.conf, zones} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, port := range []*uint16{&p.dns, &p.control} {
		number, release, err := nameserver.ClaimPort()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		*port = number
	}
	p.project(secrets...)
	p.write(filepath.Join(zones, "a.test.zone"),
		"$TTL 60\n@ SOA ns.other.test. admin.other.test. 1 3600 600 86400 60\n@ NS ns.other.test.\n")
	p.write(filepath.Join(p.conf, "named.conf"), fmt.Sprintf(`include "%[1]s/keys/rndc.key"; include "%[1]s/keys/named.conf.keys"; include "%[1]s/keys/transfer.key"; include "%[1]s/keys/named.conf.transfer";
options { directory "%[2]s"; pid-file none; session-keyfile none; lock-file none; listen-on port %[3]d { 127.0.0.1; }; listen-on-v6 { none; };
	allow-new-zones yes; recursion no; dnssec-validation no; empty-zones-enable no; allow-transfer { "bindy-transfer"; }; };
zone "a.test" { type primary; file "a.test.zone"; allow-update { "bindy-update"; }; };
`, p.conf, zones, p.dns))
	p.start(zones, name)
	p.pod = corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: types.UID(name), Labels: ownLabels(),
			OwnerReferences: ownOwner()},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{
			{Name: dialect.NamedContainer}, {Name: dialect.BindcarContainer,
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: int32(p.port)}}},
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "127.0.0.1", ContainerStatuses: []corev1.ContainerStatus{
			{Name: dialect.BindcarContainer,
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}},
		}},
	}
	return p
}

func (p *bindPod) start(zones, name string) {
	p.t.Helper()
	keyFile := filepath.Join(p.conf, "keys", "rndc.key")
	control := fmt.Sprintf("127.0.0.1:%d", p.control)
	file, err := os.ReadFile(keyFile)
	if err != nil {
		p.t.Fatal(err)
	}
	rndc := bind9.Client{Address: control, Keys: func() ([]bind9.Key, error) {
		return bind9.ParseKeys(string(file))
	}, Now: time.Now}
	status, err := bind9.ServerCommand("status")
	if err != nil {
		p.t.Fatal(err)
	}
	ready := func(ctx context.Context) error { _, err := rndc.Do(ctx, status); return err }
	if p.named, err = nameserver.StartNamed(context.Background(), p.conf, filepath.Join(p.conf, "named.conf"), nil,
		ready); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(p.named.Kill)
	sidecar, err := bindcar.New(bindcar.Options{Version: "test", Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Settings: bindcar.Settings{
			ZoneDir: zones, RNDC: control, DNS: fmt.Sprintf("127.0.0.1:%d", p.dns), Keys: bindcar.Keys{File: keyFile},
			UpdateACL: bind9.UpdateList, Token: bindytest.SidecarToken, Limit: bindcar.DefaultLimit(), RequireContent: true,
			Pod: name,
		}})
	if err != nil {
		p.t.Fatal(err)
	}
	// Serve follows the keys; the calls come through a server that counts them.
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { _ = sidecar.Serve(ctx, inner); close(done) }()
	counting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.calls.Add(1)
		sidecar.Handler().ServeHTTP(w, r)
	}))
	p.port = counting.Listener.Addr().(*net.TCPAddr).Port
	p.t.Cleanup(func() { counting.Close(); cancel(); <-done })
}

// project puts the items of Secrets where the pod has them, all at once, as the kubelet does.
func (p *bindPod) project(secrets ...*corev1.Secret) {
	p.t.Helper()
	p.version++
	next := fmt.Sprintf("..%d", p.version)
	for _, s := range secrets {
		for item, text := range s.Data {
			// The control channel is at another port than in a pod, for there are more servers here.
			text = bytes.ReplaceAll(text, fmt.Appendf(nil, "port %d", bind9.ControlPort), fmt.Appendf(nil, "port %d", p.control))
			p.write(filepath.Join(p.conf, next, "keys", item), string(text))
		}
	}
	data := filepath.Join(p.conf, "..data")
	for _, err := range []error{os.Symlink(next, data+"_tmp"), os.Rename(data+"_tmp", data)} {
		if err != nil {
			p.t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join("..data", "keys"), filepath.Join(p.conf, "keys")); err != nil &&
		!errors.Is(err, os.ErrExist) {
		p.t.Fatal(err)
	}
}

func (p *bindPod) write(path, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// takes says what keeps the server from obeying who signs with the key of a Secret: rndc, and an UPDATE of its zone.
func (p *bindPod) takes(secret *corev1.Secret) string {
	key, err := bind9.KeyFromItems(secret.Data, bind9.ItemFields{})
	if err != nil {
		return err.Error()
	}
	rndc := bind9.Client{Address: fmt.Sprintf("127.0.0.1:%d", p.control), Keys: func() ([]bind9.Key, error) {
		return []bind9.Key{key}, nil
	}, Now: time.Now}
	status, err := bind9.ServerCommand("status")
	if err != nil {
		return err.Error()
	}
	if _, err := rndc.Do(context.Background(), status); err != nil {
		return err.Error()
	}
	record, err := dns.NewRR("www.a.test. 60 TXT works")
	if err != nil {
		return err.Error()
	}
	m := new(dns.Msg)
	m.SetUpdate("a.test.")
	m.Insert([]dns.RR{record})
	name := dns.CanonicalName(key.Name)
	m.SetTsig(name, dns.Fqdn(string(key.Algorithm)), 300, time.Now().Unix())
	answer, _, err := (&dns.Client{Net: "tcp", TsigSecret: map[string]string{name: key.Secret}}).Exchange(m, fmt.Sprintf(
		"127.0.0.1:%d", p.dns))
	switch {
	case err != nil:
		return "updating: " + err.Error()
	case answer.Rcode != dns.RcodeSuccess:
		return "updating: " + dns.RcodeToString[answer.Rcode]
	}
	return ""
}

// sidecar is the pod's API as the operator may call it.
func (p *bindPod) sidecar() *bindcar.Client {
	return &bindcar.Client{BaseURL: fmt.Sprintf("http://127.0.0.1:%d", p.port), Token: func() (string, error) {
		return bindytest.SidecarToken, nil
	}}
}

// says reports whether the sidecar says that BIND takes all these keys.
func (p *bindPod) says(names ...string) bool {
	list, err := p.sidecar().Keys(context.Background())
	if err != nil || len(list.Keys) != len(names) {
		return false
	}
	for i, k := range list.Keys {
		if k.Name != names[i] || !k.Control || !k.DNS {
			return false
		}
	}
	return true
}

// shows is an operator's Token that is the same everywhere; "" is that it gets none.
func shows(token string) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) {
		if token == "" {
			return "", fmt.Errorf("%w: it is forbidden", servers.ErrToken)
		}
		return token, nil
	}
}

// told is what events have said since it was last asked, and starts with.
func saying(all []string, what string) bool {
	for _, e := range all {
		if strings.Contains(e, what) {
			return true
		}
	}
	return false
}
