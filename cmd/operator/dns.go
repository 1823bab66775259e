package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/backends"
)

// everywhere runs in every replica, whether it leads or not.
type everywhere struct{ manager.RunnableFunc }

func (everywhere) NeedLeaderElection() bool { return false }

// serveDNS starts the operator's own name server, nil if it is to be none.
func serveDNS(ctx context.Context, o options, log *slog.Logger) (*embedded.Server, error) {
	listen, err := addresses(o.dns)
	if err != nil || listen == nil {
		return nil, err
	}
	counters := controller.NewDNSMetrics()
	if err := counters.Register(metrics.Registry); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	server, err := embedded.Serve(ctx, embedded.Options{Listen: listen, Clock: backend.SystemClock{}, Log: log, Observer: counters})
	if err != nil {
		return nil, fmt.Errorf("starting the name server: %w", err)
	}
	for _, addr := range server.Addrs() {
		log.Info("answering questions", "address", addr.String())
	}
	return server, nil
}

// addresses reads what --dns-bind-address says: nothing for none.
func addresses(text string) ([]netip.AddrPort, error) {
	if text == "0" || text == "" {
		return nil, nil
	}
	var out []netip.AddrPort
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		if strings.HasPrefix(one, ":") {
			one = "[::]" + one // every address, of both families
		}
		addr, err := netip.ParseAddrPort(one)
		if err != nil {
			return nil, fmt.Errorf("--dns-bind-address: %w; write addresses with ports, such as :5353 or 192.0.2.1:53,[2001:db8::1]:53, or 0", err)
		}
		out = append(out, addr)
	}
	return out, nil
}

// addServer has the manager keep the name server's policies, and close it in the end.
func addServer(m ctrl.Manager, server *embedded.Server, source backends.Source) error {
	policies := &backends.Policies{
		Source: source,
		Set:    func(s backends.EmbeddedSettings) error { return server.SetPolicy(s.Name, policyOf(s)) },
		Drop:   server.DropPolicy,
	}
	if err := m.Add(everywhere{policies.Run}); err != nil {
		return err
	}
	return m.Add(everywhere{func(ctx context.Context) error {
		<-ctx.Done()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return server.Close(closing)
	}})
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
	return p
}

// keyOf returns a key, nil if there is none.
func keyOf(k backends.Key) *embedded.Key {
	if k.KeyName.IsZero() {
		return nil
	}
	return &embedded.Key{Name: k.KeyName, Algorithm: k.Algorithm, Secret: k.Secret}
}
