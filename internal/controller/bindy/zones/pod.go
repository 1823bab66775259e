package zones

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/guarded"
)

// A Pod is a server that runs, for who makes its client. What may change while it runs is asked for each call.
type Pod struct {
	UID     types.UID
	DNS     string // host and port of named
	Sidecar string // the base URL of bindcar

	zones    *Zones
	key      client.ObjectKey
	instance client.ObjectKey
	address  netip.AddrPort // DNS
	primary  bool
	starts   int32 // of named; of Look
	ready    bool  // of Look

	server   delivery.Server // of a primary
	follower Follower        // of a secondary, and of a primary in zones that another one signs

	state guarded.Value[podState]
}

// podState is what changes while a pod runs.
type podState struct {
	update, transfer bind9.Key
	gate             gate
}

// Title is the pod for people.
func (p *Pod) Title() string { return "Pod " + p.key.String() }

// Keys are those to sign with now: updates, and transfers.
func (p *Pod) Keys() (update, transfer bind9.Key, err error) {
	s, unlock := p.state.Lock()
	defer unlock()
	return s.update, s.transfer, nil
}

// setKeys reports whether the keys have changed.
func (p *Pod) setKeys(update, transfer bind9.Key) bool {
	s, unlock := p.state.Lock()
	defer unlock()
	changed := s.update != update || s.transfer != transfer
	s.update, s.transfer = update, transfer
	return changed
}

// Token is what the sidecar knows the operator by.
func (p *Pod) Token() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), servers.CallTime)
	defer cancel()
	return p.zones.Servers.TokenFor(ctx, p.key.Namespace)
}

// Holds tells why the address is not the pod's any more, nil if it is.
func (p *Pod) Holds(ctx context.Context) error {
	var now corev1.Pod
	err := p.zones.Live.Get(ctx, p.key, &now)
	switch {
	case apierrors.IsNotFound(err) || err == nil && now.UID != p.UID:
		return fmt.Errorf("pod %s is gone", p.key)
	case err != nil:
		return fmt.Errorf("reading pod %s: %w", p.key, err)
	case now.Status.PodIP != p.address.Addr().String():
		return fmt.Errorf("pod %s has another address now", p.key)
	}
	p.zones.Servers.Refused(p.key.Namespace)
	return nil
}

func (p *Pod) connected() bool { return p.follower != nil }

func (p *Pod) same(o *Pod) bool {
	return p.UID == o.UID && p.DNS == o.DNS && p.Sidecar == o.Sidecar
}

// connect makes the clients of the pod, if they have not been made.
func (p *Pod) connect() (err error) {
	if p.connected() {
		return nil
	}
	if p.primary {
		p.server, err = p.zones.Primary(p)
		p.server.Title = p.Title()
	}
	if err == nil {
		p.follower, err = p.zones.Secondary(p)
	}
	if err != nil {
		return fmt.Errorf("making the client of pod %s: %w", p.key, err)
	}
	return nil
}

// pod is a pod that can be called, ready or not; nil if it cannot. One that is to go may serve for as long as it is
// there: kubelet hears late of it, or cannot start its sidecar again.
func (l *look) pod(p *corev1.Pod, primary bool) *Pod {
	ip, err := netip.ParseAddr(p.Status.PodIP)
	began, _ := dialect.SidecarState(p)
	if err != nil || began.IsZero() && p.DeletionTimestamp.IsZero() || !dialect.IsServer(p) || dialect.IsOver(p) {
		return nil
	}
	dns := netip.AddrPortFrom(ip.Unmap(), portOf(p, dialect.NamedContainer, bind9.DNSPort))
	sidecar := net.JoinHostPort(p.Status.PodIP,
		strconv.Itoa(int(portOf(p, dialect.BindcarContainer, dialect.BindcarPort))))
	return &Pod{
		UID: p.UID, DNS: dns.String(), Sidecar: "http://" + sidecar, zones: l.z, key: client.ObjectKeyFromObject(p),
		instance: client.ObjectKeyFromObject(l.server.Instance), address: dns, primary: primary,
		starts: dialect.RestartsOf(p, dialect.NamedContainer), ready: dialect.WasReady(p),
	}
}

// portOf is the first port of a container of a pod: the spec of the instance may be newer.
func portOf(p *corev1.Pod, container string, otherwise uint16) uint16 {
	for _, c := range p.Spec.Containers {
		if c.Name == container && len(c.Ports) > 0 {
			return uint16(c.Ports[0].ContainerPort)
		}
	}
	return otherwise
}

// Bounds of the calls about zones to one pod. A pod whose node is lost keeps whoever calls it waiting, and would have
// all workers wait if each of its zones called it.
const (
	callsAtOnce = 3
	slowFailure = time.Second
	callAgain   = 100 * time.Millisecond
)

// A gate lets few calls to a pod through, and for a while none after one has failed slowly.
type gate struct {
	calls int
	fails int
	until time.Time
}

// call makes a call to the pod, or asks for it later.
func (p *Pod) call(clock func() time.Time, do func() error) error {
	began := clock()
	if wait := p.enter(began); wait > 0 {
		return &controller.Later{After: wait}
	}
	err := do()
	p.leave(began, clock(), err)
	return err
}

// enter says how long to wait; 0: leave has to follow.
func (p *Pod) enter(now time.Time) time.Duration {
	s, unlock := p.state.Lock()
	defer unlock()
	switch {
	case now.Before(s.gate.until):
		return s.gate.until.Sub(now)
	case s.gate.calls >= callsAtOnce, s.gate.calls > 0 && s.gate.fails > 0:
		return callAgain
	}
	s.gate.calls++
	return 0
}

func (p *Pod) leave(began, now time.Time, err error) {
	s, unlock := p.state.Lock()
	defer unlock()
	s.gate.calls--
	var later *controller.Later
	if errors.As(err, &later) {
		err = later.Err
	}
	if err == nil || now.Sub(began) < slowFailure {
		s.gate.fails = 0
		return
	}
	s.gate.fails++
	s.gate.until = now.Add(backend.Doubled{First: time.Second, Most: 3 * lastAgain}.After(s.gate.fails))
}
