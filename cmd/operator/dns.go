package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/embedded/follow"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/backends"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/externaldns"
	"github.com/zonefold/zonefold/internal/controller/updates"
)

// everywhere runs in every replica, whether it leads or not.
type everywhere struct{ manager.RunnableFunc }

func (everywhere) NeedLeaderElection() bool { return false }

// A dnsServer is the operator's own name server: that of the leader has what the engine
// delivers to it, those of the others what the leader's has.
type dnsServer struct {
	*embedded.Server
	at       netip.AddrPort // where other replicas reach it; zero: there are none
	key      *embedded.Key  // of the replicas; nil: there are none
	streams  streams
	chance   func() float64
	followed chan struct{} // closed when this replica follows nobody any more

	mu     sync.Mutex
	groups []string
	leads  bool // and has everything

	tokens  externaldns.Tokens
	updates atomic.Pointer[updates.Updates] // nil: another replica carries updates out
	leader  atomic.Pointer[findLeader]      // nil: not yet
}

// A findLeader returns where the name server of the replica that leads answers; false when nobody is known to lead.
type findLeader func(context.Context) (netip.AddrPort, bool, error)

// streams are how replicas reach each other; the zero streams are TCP.
type streams struct {
	listen func(context.Context, netip.AddrPort) (net.Listener, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// serveDNS starts the operator's own name server, nil if it is to be none.
func serveDNS(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, o options,
	from process) (*dnsServer, error) {
	listen, err := addresses(o.dns)
	if err != nil || listen == nil {
		return nil, err
	}
	d := &dnsServer{followed: make(chan struct{}), streams: from.streams, chance: from.chance}
	if o.election {
		c, err := client.New(config, client.Options{Scheme: scheme})
		if err != nil {
			return nil, fmt.Errorf("reaching the cluster: %w", err)
		}
		if d.key, err = replicaKey(ctx, c, o.namespace); err != nil {
			return nil, err
		}
	}
	counters := controller.NewDNSMetrics()
	if err := counters.Register(from.registry); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	d.Server, err = embedded.Serve(ctx, embedded.Options{
		Listen: listen, Streams: from.streams.listen, Clock: backend.SystemClock{}, Log: from.log, Observer: counters,
		Closed: true, Replicas: embedded.ReplicaOptions{Key: d.key},
		Update: d.update,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the name server: %w", err)
	}
	for _, addr := range d.Addrs() {
		from.log.Info("the name server listens", "address", addr.String())
	}
	if o.election {
		if d.at, err = advertised(o.advertise, o.podIP, d.Addrs()[0]); err != nil {
			d.end(ctx)
			return nil, err
		}
	}
	return d, nil
}

// end closes a server whose manager has not: it failed before it began to run. There need be none.
func (d *dnsServer) end(ctx context.Context) {
	if d == nil {
		return
	}
	over, cancel := context.WithCancel(ctx)
	cancel() // nobody has been answered yet
	_ = d.Close(over)
}

// binds reports whether the flag of an address says that there is to be a server.
func binds(text string) bool { return text != "" && text != "0" }

// bindAddress reads one address to listen at; without a host it is every address, of both families.
func bindAddress(text string) (netip.AddrPort, error) {
	if strings.HasPrefix(text, ":") {
		text = "[::]" + text
	}
	return netip.ParseAddrPort(text)
}

// addresses reads what --dns-bind-address says: nothing for none.
func addresses(text string) ([]netip.AddrPort, error) {
	if !binds(text) {
		return nil, nil
	}
	var out []netip.AddrPort
	for one := range strings.SplitSeq(text, ",") {
		addr, err := bindAddress(strings.TrimSpace(one))
		if err != nil {
			return nil, fmt.Errorf(
				"--dns-bind-address: %w; write addresses with ports, such as :5353 or 192.0.2.1:53,[2001:db8::1]:53, or 0", err)
		}
		out = append(out, addr)
	}
	return out, nil
}

// addTo has the manager keep the server's policies, follow the leader while another
// replica leads, and close the server in the end.
func (d *dnsServer) addTo(m ctrl.Manager, source backends.Source) error {
	leader := findLeader(func(ctx context.Context) (netip.AddrPort, bool, error) {
		return leaderAddress(ctx, m.GetAPIReader(), source.Namespace)
	})
	d.leader.Store(&leader)
	policies := &backends.Policies{Source: source, Set: d.set, Drop: d.drop}
	closing := func(ctx context.Context) error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return d.Close(grace)
	}
	following := func(ctx context.Context) error { return d.follow(ctx, m, leader, source.Log) }
	for _, run := range []manager.RunnableFunc{policies.Run, following, closing} {
		if err := m.Add(everywhere{run}); err != nil {
			return err
		}
	}
	return m.AddReadyzCheck("dns", func(*http.Request) error {
		if !d.Opened() {
			return errors.New("the name server does not yet have all zones")
		}
		return nil
	})
}

// follow copies what the leader has until this replica leads.
func (d *dnsServer) follow(ctx context.Context, m ctrl.Manager, leader findLeader, log *slog.Logger) error {
	defer close(d.followed)
	if d.key == nil {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-m.Elected():
			stop()
		case <-ctx.Done():
		}
	}()
	f, err := follow.New(follow.Options{
		Server: d.Server, Key: *d.key, Dial: d.streams.dial, Clock: backend.SystemClock{}, Rand: d.chance,
		Log: log, Leader: leader,
	})
	if err != nil {
		return fmt.Errorf("preparing to follow the leader: %w", err)
	}
	return f.Run(ctx)
}

// set takes over the settings of a Backend.
func (d *dnsServer) set(s backends.EmbeddedSettings) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.groups, s.Name) {
		d.groups = append(d.groups, s.Name)
	}
	var tokens []externaldns.Token
	for _, t := range s.ExternalDNS {
		tokens = append(tokens, externaldns.Token{Secret: t.Token, Namespace: t.Namespace})
	}
	d.tokens.Set(s.Name, tokens)
	err := d.SetPolicy(s.Name, policyOf(s))
	if d.leads {
		d.Group(s.Name).Complete()
	}
	return err
}

// drop is for a Backend that is gone.
func (d *dnsServer) drop(name string) {
	d.tokens.Set(name, nil)
	d.DropPolicy(name)
}

// open has the server of the leader answer, and be followed: it has been delivered
// everything.
func (d *dnsServer) open(delivered map[delivery.Delivered]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Retain(func(m embedded.Member) bool { return delivered[delivery.Delivered{Place: m.Group, Zone: m.Zone}] })
	d.leads = true
	for _, name := range d.groups {
		d.Group(name).Complete()
	}
	d.Open()
}

// policyOf says who may follow the zones of one Backend.
func policyOf(s backends.EmbeddedSettings) embedded.Policy {
	p := embedded.Policy{Catalog: s.Catalog}
	for _, t := range s.Transfer {
		p.Transfer = append(p.Transfer, embedded.Rule{Prefixes: t.Addresses, Key: keyOf(t.Key)})
	}
	for _, n := range s.Notify {
		p.Notify = append(p.Notify, embedded.Destination{Addr: n.Address, Key: keyOf(n.Key)})
	}
	for _, u := range s.Update {
		p.Update = append(p.Update, embedded.Updater{Key: *keyOf(u.Key), For: u.Namespace})
	}
	return p
}

// keyOf returns a key, nil if there is none.
func keyOf(k backends.Key) *embedded.Key {
	if k.KeyName.IsZero() {
		return nil
	}
	return &embedded.Key{Name: k.KeyName, Algorithm: k.Algorithm, Secret: k.Secret}
}
