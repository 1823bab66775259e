package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/controller/kubizone"
	"github.com/zonefold/zonefold/internal/controller/updates"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// takeUpdates has updates (RFC 2136) carried out by this replica, which leads until ctx ends.
func (d *dnsServer) takeUpdates(ctx context.Context, m *parts, zones *kubizone.Controller) {
	d.updates.Store(updates.New(ctx, updates.Config{
		Cached: m.GetClient(), Live: m.GetAPIReader(), Objects: zones.Objects(), Core: zones.Core,
		Clock: backend.SystemClock{}, Rand: m.chance, Log: m.log, Await: d.Await, ParentLabel: kubizone.ParentLabel,
		Read: func(ctx context.Context, place string, name dnsname.Name, keys []rr.Key) (backend.Observed, error) {
			return d.Group(place).Read(ctx, name, backend.Ask{Keys: keys})
		},
	}))
}

// takeNoUpdates is for the end of the term.
func (d *dnsServer) takeNoUpdates() {
	if before := d.updates.Swap(nil); before != nil {
		before.End()
	}
}

// update carries an update out, or has the replica that leads do it (RFC 2136 §6).
func (d *dnsServer) update(ctx context.Context, u embedded.Update) embedded.Updated {
	if here := d.updates.Load(); here != nil {
		a := here.Update(ctx, updates.Request{Place: u.Group, Zone: u.Zone, Namespace: u.For, Message: u.Message})
		return embedded.Updated{Rcode: a.Rcode, Text: a.Text}
	}
	answer, err := d.forward(ctx, u.Message)
	if err != nil {
		return embedded.Updated{Rcode: dns.RcodeServerFailure, Text: fmt.Sprintf("The leader cannot be reached: %v", err)}
	}
	return embedded.Updated{Message: answer, Rcode: int(answer[3] & 15)}
}

// forwardPatience is how long the leader may take: as long as an update, and a little.
const forwardPatience = 12 * time.Second

// forward asks the leader. The signature of the message holds there, and that of the answer here.
func (d *dnsServer) forward(ctx context.Context, msg []byte) (answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, forwardPatience)
	defer cancel()
	at, err := d.leading(ctx)
	if err != nil {
		return nil, err
	}
	dial := d.streams.dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	conn, err := dial(ctx, "tcp", at.String())
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	link := dns.Conn{Conn: conn}
	if _, err := link.Write(msg); err != nil {
		return nil, err
	}
	return link.ReadMsgHeader(nil)
}

// leading returns where the name server of another replica, which leads, answers.
func (d *dnsServer) leading(ctx context.Context) (netip.AddrPort, error) {
	leader := d.leader.Load()
	if leader == nil || d.key == nil {
		return netip.AddrPort{}, errNobodyLeads
	}
	return another(ctx, d.at, *leader)
}
