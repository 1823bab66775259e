package embedded

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/tsig"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// A notifier tells followers of changes (RFC 1996). Of each zone there is one message at a time under way to each of
// them, which is repeated until it is answered; what changes meanwhile needs one more, whatever its number. A zone of
// which there is nothing to tell costs nothing.
type notifier struct {
	server *Server

	mu      sync.Mutex
	sockets map[bool]*net.UDPConn // by whether addresses are of IPv4; opened when there is something to tell
	notices map[subjectOf]*notice
	open    map[awaited]*notice // those that wait for an answer
	closed  bool
}

// A subjectOf a notice is a zone and who is told of it.
type subjectOf struct {
	zone dnsname.Name
	to   netip.AddrPort
}

// An awaited answer is known by its sender and ID.
type awaited struct {
	from netip.AddrPort
	id   uint16
}

// A notice is what one follower is being told of one zone.
type notice struct {
	subjectOf
	key    *tsig.Signer
	id     uint16
	mac    []byte // of what was sent
	sent   time.Time
	tries  int  // without an answer
	asking bool // what was sent last is not answered
	again  bool // the zone changed since
	due    time.Time
	timer  backend.Timer
	turn   int // counts the timers, to know those that were stopped too late
}

// The pace of notices. An answered one may be followed by the next after a short rest; an unanswered one is repeated
// after pauses that double, but earlier if the zone changes.
const (
	notifyRest   = 100 * time.Millisecond
	notifyPause  = time.Second
	longestPause = time.Minute
	notifyTries  = 8
)

// enqueue has a destination notified that a zone has changed.
func (o *notifier) enqueue(zone dnsname.Name, d destination) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	subject := subjectOf{zone, d.addr}
	n := o.notices[subject]
	if n != nil {
		n.key, n.again = d.key, true
		if n.asking {
			o.arm(n, earliest(n.due, n.sent.Add(notifyPause)))
		}
		return
	}
	if o.notices == nil {
		o.notices, o.open = map[subjectOf]*notice{}, map[awaited]*notice{}
	}
	n = &notice{subjectOf: subject, key: d.key}
	o.notices[subject] = n
	o.send(n)
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// arm has a notice looked at again. mu is held, as for all below.
func (o *notifier) arm(n *notice, due time.Time) {
	if n.timer != nil {
		n.timer.Stop()
	}
	n.turn++
	turn, clock := n.turn, o.server.opts.Clock
	n.due = due
	n.timer = clock.AfterFunc(due.Sub(clock.Now()), func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if n.turn == turn && !o.closed {
			o.proceed(n)
		}
	})
}

// proceed is what happens to a notice when its time has come.
func (o *notifier) proceed(n *notice) {
	switch {
	case n.again || n.asking && n.tries < notifyTries:
		o.send(n)
	case n.asking:
		o.server.opts.Observer.Notified(NotifyUnanswered)
		o.server.opts.Log.Warn("A follower does not answer. It will be told of the next change, or ask by itself.",
			slog.String("zone", n.zone.String()), slog.String("follower", n.to.String()))
		o.forget(n)
	default:
		o.forget(n)
	}
}

func (o *notifier) forget(n *notice) {
	delete(o.open, awaited{n.to, n.id})
	delete(o.notices, n.subjectOf)
	if n.timer != nil {
		n.timer.Stop()
	}
	n.turn++
}

// send tells of the zone as it is served now.
func (o *notifier) send(n *notice) {
	z := o.server.catalogue.Load().Zone(n.zone)
	if z == nil {
		o.forget(n)
		return
	}
	delete(o.open, awaited{n.to, n.id})
	n.id = uint16(rand.Uint32())
	n.asking, n.again, n.sent = true, false, o.server.opts.Clock.Now()
	n.tries++
	o.open[awaited{n.to, n.id}] = n
	msg := n.message(z)
	if c, err := o.socket(n.to.Addr()); err != nil {
		o.server.opts.Log.Warn("Followers cannot be told of changes.", slog.String("error", err.Error()))
	} else if _, err := c.WriteToUDPAddrPort(msg, n.to); err != nil {
		o.server.opts.Log.Info("A follower cannot be told of a change; it will be tried again.",
			slog.String("follower", n.to.String()), slog.String("error", err.Error()))
	}
	o.arm(n, n.sent.Add(backend.Doubled{First: notifyPause, Most: longestPause}.After(n.tries)))
}

// answered takes an answer.
func (o *notifier) answered(n *notice, outcome string) {
	delete(o.open, awaited{n.to, n.id})
	n.asking, n.tries = false, 0
	o.arm(n, n.sent.Add(notifyRest))
	o.server.opts.Observer.Notified(outcome)
}

// socket returns the socket for a family of addresses.
func (o *notifier) socket(to netip.Addr) (*net.UDPConn, error) {
	v4 := to.Is4()
	if c := o.sockets[v4]; c != nil {
		return c, nil
	}
	network := "udp6"
	if v4 {
		network = "udp4"
	}
	c, err := net.ListenUDP(network, o.source(v4))
	if err != nil {
		return nil, fmt.Errorf("opening a socket for NOTIFY: %w", err)
	}
	if o.sockets == nil {
		o.sockets = map[bool]*net.UDPConn{}
	}
	o.sockets[v4] = c
	o.server.running.Go(func() { o.listen(c) })
	return c, nil
}

// source returns an address to send from: one that the server listens on, for followers may ask who tells them. Nil
// leaves it to the system.
func (o *notifier) source(v4 bool) *net.UDPAddr {
	for _, a := range o.server.opts.Listen {
		if addr := a.Addr().Unmap(); addr.Is4() == v4 && !addr.IsUnspecified() {
			return net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0))
		}
	}
	return nil
}

// close ends all notices.
func (o *notifier) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, n := range o.notices {
		o.forget(n)
	}
	for _, c := range o.sockets {
		_ = c.Close()
	}
}
