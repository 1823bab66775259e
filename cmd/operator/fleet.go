package main

import (
	"context"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/bind9"
	"github.com/zonefold/zonefold/internal/controller/bindy"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// podAccess is what a backend asks of a Pod.
type podAccess struct{ *bindy.Pod }

var _ bind9.Access = podAccess{}

// Holds implements bind9.Access.
func (a podAccess) Holds(ctx context.Context, _ bind9.Endpoint) error { return a.Pod.Holds(ctx) }

// Settings implements bind9.Access.
func (a podAccess) Settings(zone dnsname.Name) bind9.Settings {
	s := a.Pod.Settings(zone)
	out := bind9.Settings{AlsoNotify: s.AlsoNotify, DNSSECPolicy: s.DNSSECPolicy, Sole: s.Sole}
	for _, at := range s.Unsigned {
		out.AllowTransfer = append(out.AllowTransfer, at.Addr().String())
	}
	out.AllowTransfer = append(out.AllowTransfer, s.AllowTransfer...)
	return out
}

func placeOf(p *bindy.Pod) bind9.Endpoint {
	return bind9.Endpoint{ID: string(p.UID), Name: p.Title(), DNS: p.DNS, Sidecar: p.Sidecar}
}

// fleetDNS makes the clients of the pods of fleets.
func fleetDNS(pool *all.Pool, m *parts) *bindy.DNS {
	pods := m.pods
	pods.Leads = m.leads()
	return &bindy.DNS{
		Clock: backend.SystemClock{}, MaxSet: m.maxSet, Engine: m.engine,
		Primary: func(p *bindy.Pod) (delivery.Server, error) {
			servers, err := pool.Connect(
				all.Config{BIND9: &all.BIND9{Primaries: []all.Primary{{Endpoint: placeOf(p), Access: podAccess{p}}}, Net: pods}})
			if err != nil {
				return delivery.Server{}, err
			}
			return delivery.Server{Name: servers[0].Name, View: servers[0].View, Backend: servers[0].Backend}, nil
		},
		Secondary: func(p *bindy.Pod) (bindy.Follower, error) {
			return bind9.NewSecondary(bind9.Config{Endpoint: placeOf(p), Access: podAccess{p}, Now: time.Now, Net: pods})
		},
	}
}
