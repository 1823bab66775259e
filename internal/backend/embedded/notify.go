package embedded

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/tsig"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
)

// A notifier tells followers of changes (RFC 1996). Of each zone there is one message at a time under way to each of
// them, which is repeated until it is answered; what changes meanwhile needs one more, whatever its number. A zone of
// which there is nothing to tell costs nothing.
type notifier struct {
	server *Server
	state  guarded.Value[notices]
}

// notices are what followers are being told.
type notices struct {
	server  *Server
	sockets map[bool]*net.UDPConn // by whether addresses are of IPv4; opened when there is something to tell
	of      map[subjectOf]*notice
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
	tries  int  // without an answer, of the last change
	silent int  // without an answer, of all changes since the last one
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

// setUp has nobody be told of anything.
func (o *notifier) setUp(s *Server) {
	o.server = s
	all, unlock := o.state.Lock()
	defer unlock()
	*all = notices{server: s, sockets: map[bool]*net.UDPConn{}, of: map[subjectOf]*notice{}, open: map[awaited]*notice{}}
}

// enqueue has a destination notified that a zone has changed.
func (o *notifier) enqueue(zone dnsname.Name, d destination) {
	all, unlock := o.state.Lock()
	defer unlock()
	if all.closed {
		return
	}
	subject := subjectOf{zone, d.addr}
	n := all.of[subject]
	if n != nil {
		n.key, n.again, n.tries = d.key, true, 0
		if n.asking {
			all.arm(n, earliest(n.due, n.sent.Add(notifyPause)))
		}
		return
	}
	n = &notice{subjectOf: subject, key: d.key}
	all.of[subject] = n
	all.send(n)
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// arm has a notice looked at again.
func (all *notices) arm(n *notice, due time.Time) {
	if n.timer != nil {
		n.timer.Stop()
	}
	n.turn++
	turn, server := n.turn, all.server
	n.due = due
	n.timer = server.opts.Clock.AfterFunc(due.Sub(server.opts.Clock.Now()), func() {
		all, unlock := server.notifier.state.Lock()
		defer unlock()
		if n.turn == turn && !all.closed {
			all.proceed(n)
		}
	})
}

// proceed is what happens to a notice when its time has come.
func (all *notices) proceed(n *notice) {
	switch {
	case n.again || n.asking && n.tries < notifyTries:
		all.send(n)
	case n.asking:
		all.server.opts.Observer.Notified(NotifyUnanswered)
		all.server.opts.Log.Warn("A follower does not answer. It is notified of the next change, or asks by itself.",
			slog.String("zone", n.zone.String()), slog.String("follower", n.to.String()))
		all.forget(n)
	default:
		all.forget(n)
	}
}

func (all *notices) forget(n *notice) {
	all.unawait(n)
	delete(all.of, n.subjectOf)
	if n.timer != nil {
		n.timer.Stop()
	}
	n.turn++
}

// send tells of the zone as it is served now.
func (all *notices) send(n *notice) {
	z := all.server.catalogue.Load().Zone(n.zone)
	if z == nil {
		all.forget(n)
		return
	}
	all.unawait(n)
	n.id = all.unusedID(n.to)
	n.asking, n.again, n.sent = true, false, all.server.opts.Clock.Now()
	if n.tries == 0 && n.silent >= notifyTries { // changes keep the tries from ending
		all.server.opts.Observer.Notified(NotifyUnanswered)
		n.silent = 0
	}
	n.tries, n.silent = n.tries+1, n.silent+1
	all.open[awaited{n.to, n.id}] = n
	msg := n.message(z)
	if c, err := all.socket(n.to.Addr()); err != nil {
		all.server.opts.Log.Warn("Followers cannot be notified of changes.", slog.String("error", err.Error()))
	} else if _, err := c.WriteToUDPAddrPort(msg, n.to); err != nil {
		all.server.opts.Log.Info("A follower cannot be notified of a change; the server tries again.",
			slog.String("follower", n.to.String()), slog.String("error", err.Error()))
	}
	all.arm(n, n.sent.Add(backend.Doubled{First: notifyPause, Most: longestPause}.After(n.tries)))
}

// unawait ends the wait for an answer. The ID may be another one's by now.
func (all *notices) unawait(n *notice) {
	if a := (awaited{n.to, n.id}); all.open[a] == n {
		delete(all.open, a)
	}
}

// unusedID returns an ID that no answer of a follower is awaited by: of many zones that change at once, an answer for
// one must not be taken for that of another, which may not have heard. Nobody can foresee it: by the ID alone an answer
// that is not signed is told from a forged one.
func (all *notices) unusedID(follower netip.AddrPort) uint16 {
	id := uint16(rand.Uint32())
	for range 1 << 16 { // where all are in use one is used twice
		if all.open[awaited{follower, id}] == nil {
			break
		}
		id++
	}
	return id
}

// answered takes an answer.
func (all *notices) answered(n *notice, outcome string) {
	all.unawait(n)
	n.asking, n.tries, n.silent = false, 0, 0
	all.arm(n, n.sent.Add(notifyRest))
	all.server.opts.Observer.Notified(outcome)
}

// socket returns the socket for a family of addresses.
func (all *notices) socket(to netip.Addr) (*net.UDPConn, error) {
	v4 := to.Is4()
	if c := all.sockets[v4]; c != nil {
		return c, nil
	}
	network := "udp6"
	if v4 {
		network = "udp4"
	}
	c, err := net.ListenUDP(network, all.source(v4))
	if err != nil {
		return nil, fmt.Errorf("opening a socket for NOTIFY: %w", err)
	}
	all.sockets[v4] = c
	all.server.running.Go(func() { all.server.notifier.listen(c) })
	return c, nil
}

// source returns an address to send from: one that the server listens on, for followers may ask who tells them. Nil
// leaves it to the system.
func (all *notices) source(v4 bool) *net.UDPAddr {
	for _, a := range all.server.opts.Listen {
		if addr := a.Addr().Unmap(); addr.Is4() == v4 && !addr.IsUnspecified() {
			return net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 0))
		}
	}
	return nil
}

// close ends all notices.
func (o *notifier) close() {
	all, unlock := o.state.Lock()
	defer unlock()
	all.closed = true
	for _, n := range all.of {
		all.forget(n)
	}
	for _, c := range all.sockets {
		_ = c.Close()
	}
}
