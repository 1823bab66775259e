package bindy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	backendbind9 "github.com/zonefold/zonefold/internal/backend/bind9"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
)

// podAccess is what a backend asks of a Pod, as the operator has it.
type podAccess struct {
	*Pod
	node *bindNode
}

func (a podAccess) Holds(ctx context.Context, _ backendbind9.Endpoint) error { return a.Pod.Holds(ctx) }

func (a podAccess) Settings(zone dnsname.Name) backendbind9.Settings {
	s := a.Pod.Settings(zone)
	out := backendbind9.Settings{AlsoNotify: a.node.wires(s.AlsoNotify), DNSSECPolicy: s.DNSSECPolicy, Sole: s.Sole}
	for _, at := range a.node.wires(s.Unsigned) {
		out.AllowTransfer = append(out.AllowTransfer, at.Addr().String())
	}
	return out
}

// A wiredFollower is a secondary that is told of primaries where they really are.
type wiredFollower struct {
	*backendbind9.Secondary
	node *bindNode
}

func (f wiredFollower) Follow(ctx context.Context, zone dnsname.Name, primaries []netip.AddrPort, key string,
	anew bool) (bool, error) {
	return f.Secondary.Follow(ctx, zone, f.node.wires(primaries), key, anew)
}

// realDNS makes the clients that the operator has.
func (n *bindNode) realDNS() *DNS {
	pool := all.NewPool(time.Now, nil)
	place := func(p *Pod) backendbind9.Endpoint {
		return backendbind9.Endpoint{ID: string(p.UID), Name: p.Title(),
			DNS: n.wire(netip.MustParseAddrPort(p.DNS)).String(), Sidecar: p.Sidecar}
	}
	return &DNS{
		Clock: backend.SystemClock{},
		Primary: func(p *Pod) (delivery.Server, error) {
			servers, err := pool.Connect(
				all.Config{BIND9: &all.BIND9{Primaries: []all.Primary{{Endpoint: place(p), Access: podAccess{p, n}}}}})
			if err != nil {
				return delivery.Server{}, err
			}
			return delivery.Server{Name: servers[0].Name, Backend: servers[0].Backend}, nil
		},
		Secondary: func(p *Pod) (Follower, error) {
			c, err := backendbind9.NewSecondary(backendbind9.Config{Endpoint: place(p), Access: podAccess{p, n}, Now: time.Now})
			return wiredFollower{c, n}, err
		},
	}
}

// wire is where BIND really listens: on a port of its own, for it takes no address that no interface has.
func (n *bindNode) wire(at netip.AddrPort) netip.AddrPort {
	port, ok := n.ports.Load(at.Addr().String())
	if !ok {
		return at
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port.(uint16))
}

func (n *bindNode) wires(all []netip.AddrPort) (out []netip.AddrPort) {
	for _, at := range all {
		out = append(out, n.wire(at))
	}
	return out
}

// zoneStage is a stage on which the whole dialect works, with a node that runs a real BIND and a real sidecar for each
// pod.
func zoneStage(t *testing.T, namespace string, changes ...func(*DNS)) (*stage, *bindNode) {
	t.Helper()
	s := &stage{Stage: bindytest.NewStage(t)}
	s.Install()
	n := &bindNode{stage: s, namespace: s.Namespace(namespace), pods: map[types.UID]*runningPod{}, away: map[string]bool{}}
	s.dns, s.Real = n.realDNS(), true
	for _, change := range changes {
		change(s.dns)
	}
	n.run()
	n.operator = s.start()
	return s, n
}

// A bindNode runs the pods of a namespace.
type bindNode struct {
	*stage
	namespace string
	operator  *Controller
	mu        sync.Mutex
	pods      map[types.UID]*runningPod
	ports     sync.Map          // of BIND, by the address of the pod
	volumes   map[string]string // by the UID of the claim, else by instance; nil: what a pod has ends with it
	away      map[string]bool   // instances whose pods have no node to run on
	lingers   bool              // pods that are to go serve on
}

type runningPod struct {
	name, instance, address string
	dns                     string // where BIND really listens
	conf                    string // the folder of its configuration
	control                 uint16
	statistics              string // where BIND tells what it has done
	named                   *nameserver.Named
	again                   func() (*nameserver.Named, error) // starts BIND
	restarts, told          int32                             // of BIND
	end                     func()
	ready, hangs            bool
	why                     string // not
}

// addresses are those of pods of this process: no other one has a network of them that this one has.
var addresses struct {
	once    sync.Once
	network int
	last    atomic.Int32
	claim   net.Listener
}

func nextAddress(t *testing.T) string {
	a := &addresses
	a.once.Do(func() {
		for a.network = 64; a.claim == nil && a.network < 192; {
			a.network++
			a.claim, _ = new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("127.%d.255.254:8080", a.network))
		}
	})
	if a.claim == nil {
		t.Fatal("no network of loopback addresses is free")
	}
	number := a.last.Add(1)
	return fmt.Sprintf("127.%d.%d.%d", a.network, number>>8, number&255+1)
}

func (n *bindNode) run() {
	n.TempDir() // which has the volumes: what ends pods is to come before its removal
	ctx, cancel := context.WithCancel(n.Ctx)
	var done sync.WaitGroup
	n.Cleanup(func() {
		cancel()
		done.Wait()
		for _, p := range n.pods {
			p.end()
		}
	})
	done.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			n.step(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(testcluster.Pace(time.Since(began))):
			}
		}
	})
}

// step starts pods that are new, ends those that are gone, and tells who is ready.
func (n *bindNode) step(ctx context.Context) {
	var list corev1.PodList
	if err := n.Live.List(ctx, &list, client.InNamespace(n.namespace)); err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	there := map[types.UID]bool{}
	for i := range list.Items {
		p := &list.Items[i]
		there[p.UID] = p.DeletionTimestamp.IsZero() || n.lingers
		if !p.DeletionTimestamp.IsZero() {
			if !n.lingers {
				_ = n.Live.Delete(ctx, p, client.GracePeriodSeconds(0))
			}
			continue
		}
		running := n.pods[p.UID]
		if running == nil {
			var err error
			if running, err = n.start(ctx, p); err != nil {
				continue // its Secrets are not there yet
			}
			n.pods[p.UID] = running
		}
		ready := running.isReady(ctx)
		if ready == running.ready && running.told == running.restarts && p.Status.PodIP != "" {
			continue
		}
		condition := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}
		if ready {
			condition.Status = corev1.ConditionTrue
		}
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: running.address,
			PodIPs:     []corev1.PodIP{{IP: running.address}},
			Conditions: []corev1.PodCondition{condition}, ContainerStatuses: []corev1.ContainerStatus{
				{Name: dialect.BindcarContainer,
					State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}},
				{Name: dialect.NamedContainer, RestartCount: running.restarts},
			}}
		if err := n.Live.Status().Update(ctx, p); err == nil { // else somebody else has written it, and it is told again
			running.ready, running.told = ready, running.restarts
		}
	}
	for uid, p := range n.pods {
		if !there[uid] {
			p.end()
			delete(n.pods, uid)
		}
	}
}

// isReady asks the sidecar, as kubelet does.
func (p *runningPod) isReady(ctx context.Context) bool {
	c := bindcar.Client{BaseURL: "http://" + net.JoinHostPort(p.address, "8080")}
	r, err := c.Ready(ctx)
	p.why = fmt.Sprintf("%+v, %v", r, err)
	return err == nil && r.Ready
}

func (n *bindNode) start(ctx context.Context, p *corev1.Pod) (*runningPod, error) {
	instance := p.Labels[v1beta1.InstanceLabel]
	for _, other := range n.pods {
		if n.volumes != nil && other.instance == instance {
			return nil, fmt.Errorf("the volume is in use by %s", other.name)
		}
	}
	if n.away[instance] {
		return nil, errors.New("there is no node")
	}
	root, err := os.MkdirTemp("", "zonefold-node-")
	if err != nil {
		return nil, err
	}
	out := &runningPod{name: p.Name, instance: instance, address: nextAddress(n.T)}
	conf, data := filepath.Join(root, "conf"), filepath.Join(root, "data")
	if n.volumes != nil {
		volume := cmp.Or(n.claimOf(ctx, p), instance)
		if n.volumes[volume] == "" {
			n.volumes[volume] = n.TempDir()
		}
		data = n.volumes[volume]
	}
	fail := func(err error) (*runningPod, error) {
		os.RemoveAll(root)
		return nil, err
	}
	control, releaseControl, err := nameserver.ClaimPort()
	if err != nil {
		return fail(err)
	}
	port, releasePort, err := nameserver.ClaimPort()
	if err != nil {
		return fail(err)
	}
	statistics, releaseStatistics, err := nameserver.ClaimPort()
	if err != nil {
		return fail(err)
	}
	release := func() { releaseControl(); releasePort(); releaseStatistics() }
	n.ports.Store(out.address, port)
	out.dns = fmt.Sprintf("127.0.0.1:%d", port)
	files, err := bind9.Configuration(bind9.Options{
		Role: bind9.ZoneType(p.Labels[v1beta1.RoleLabel]), ConfigDir: conf, DataDir: data, DNSPort: port,
		ControlPort: control,
		ListenOn:    []string{"127.0.0.1"}, ListenOnV6: []string{"none"},
	})
	if err != nil {
		return fail(err)
	}
	for _, name := range []string{dialect.KeySecret(instance), new(dialect.Server).TransferSecretAt(p)} {
		secret := &corev1.Secret{}
		if err := n.Live.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: name}, secret); err != nil {
			release()
			return fail(err)
		}
		maps.Copy(files, keyFiles(secret, control))
	}
	out.conf, out.control, out.statistics = conf, control, fmt.Sprintf("http://127.0.0.1:%d", statistics)
	files[bind9.FileMain] += fmt.Sprintf("statistics-channels { inet 127.0.0.1 port %d allow { 127.0.0.1; }; };\n",
		statistics)
	for name, text := range files {
		path := filepath.Join(conf, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fail(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fail(err)
		}
	}
	if err := os.MkdirAll(data, 0o755); err != nil {
		return fail(err)
	}
	keys := filepath.Join(conf, bind9.FileKeys)
	rndc := bind9.Client{Address: fmt.Sprintf("127.0.0.1:%d", control), Now: time.Now, Keys: func() ([]bind9.Key, error) {
		text, err := os.ReadFile(keys)
		if err != nil {
			return nil, err
		}
		return bind9.ParseKeys(string(text))
	}}
	status, err := bind9.ServerCommand("status")
	if err != nil {
		return fail(err)
	}
	out.again = func() (*nameserver.Named, error) {
		return nameserver.StartNamed(ctx, conf, filepath.Join(conf, bind9.FileMain), nil, func(ctx context.Context) error {
			_, err := rndc.Do(ctx, status)
			return err
		})
	}
	if out.named, err = out.again(); err != nil {
		n.Errorf("starting BIND for pod %s: %v", p.Name, err)
		return fail(err)
	}
	sidecar, err := bindcar.New(bindcar.Options{Version: "test", Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Settings: bindcar.Settings{
			ZoneDir: data, RNDC: rndc.Address, DNS: out.dns, Keys: bindcar.Keys{File: keys},
			UpdateACL: bind9.UpdateList, Token: bindytest.SidecarToken, Limit: bindcar.DefaultLimit(), RequireContent: true,
			Pod: string(p.UID),
		}})
	if err != nil {
		return fail(err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(out.address, "8080"))
	if err != nil {
		n.Errorf("pod %s: %v", p.Name, err)
		return fail(err)
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := sidecar.Serve(serving, listener); err != nil && serving.Err() == nil {
			n.Errorf("the sidecar of pod %s: %v", p.Name, err)
		}
	}()
	out.end = func() {
		cancel()
		<-done
		if out.hangs {
			out.named.Kill()
		}
		_ = out.named.Stop() // as kubelet does: BIND writes what it has transferred
		release()
		os.RemoveAll(root)
	}
	return out, nil
}

// claimOf is the UID of the claim that a pod has its zones on; "": it has none.
func (n *bindNode) claimOf(ctx context.Context, p *corev1.Pod) string {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		key := client.ObjectKey{Namespace: p.Namespace, Name: v.PersistentVolumeClaim.ClaimName}
		if err := n.Live.Get(ctx, key, claim); err == nil {
			return string(claim.UID)
		}
	}
	return ""
}

// keyFiles are the files that a pod has of a Secret, with its own port for commands.
func keyFiles(secret *corev1.Secret, control uint16) map[string]string {
	files := map[string]string{}
	for item, text := range secret.Data {
		files["keys/"+item] = string(bytes.ReplaceAll(text, fmt.Appendf(nil, "port %d", bind9.ControlPort), fmt.Appendf(nil,
			"port %d", control)))
	}
	return files
}
