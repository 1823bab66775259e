package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"slices"

	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"

	"github.com/zonefold/zonefold/internal/backend/embedded/sockets"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// An Update is a message that wants to change a zone (RFC 2136). Its signature holds, and is of somebody who may update
// the zones of a group that has this one.
type Update struct {
	Member
	For     string // see Updater
	Message []byte // as it came; nobody else keeps it
}

// Updated is what came of an update.
type Updated struct {
	Rcode   int
	Text    string // for people; "": nothing
	Message []byte // another server's answer, which is passed on as it is; nil: there is none
}

// maxUpdates is how many updates over UDP are carried out at a time. Clients repeat what is not answered.
const maxUpdates = 256

// isUpdate reports whether a message that came is an UPDATE.
func isUpdate(msg []byte) bool {
	return len(msg) >= headerSize && binary.BigEndian.Uint16(msg[2:])&(flagResponse|opcodeMask) == dns.OpcodeUpdate<<11
}

// updateFrom answers an UPDATE that came over UDP once it is carried out, and does not wait for that. Of those that
// nobody has signed, whose sender may be forged, some get no answer: a truncated one would say that all is well.
func (s *Server) updateFrom(to sockets.BatchConn, q *ipv4.Message) {
	from := sockets.SenderOf(q)
	if !answerable(from) {
		return
	}
	select {
	case s.turns <- struct{}{}:
	default:
		return
	}
	msg := bytes.Clone(q.Buffers[0][:q.N])
	out := ipv4.Message{OOB: sockets.SourceOf(bytes.Clone(q.OOB[:q.NN])), Addr: q.Addr}
	s.running.Go(func() {
		defer func() { <-s.turns }()
		r := responder{client: from.Addr().Unmap()}
		answer := s.respond(&r, msg, nil, false)
		limited := s.limiter != nil && r.signature.valid() == nil
		if answer != nil && (!limited || s.limiter.allows(from.Addr(), &r, s.opts.Clock.Now())) {
			out.Buffers = [][]byte{answer}
			_, _ = to.WriteBatch([]ipv4.Message{out}, 0) // nobody waits to hear that it failed
		}
	})
}

// update has an UPDATE carried out.
func (r *responder) update() (rcode int) {
	if r.server == nil || r.server.opts.Update == nil {
		return dns.RcodeNotImplemented
	}
	switch { // RFC 2136 §3.1.1
	case r.request.typ != rr.TypeSOA:
		return dns.RcodeFormatError
	case r.request.class != dns.ClassINET:
		return dns.RcodeNotAuth
	}
	zone, _, err := dnsname.FromWire(r.request.name.wire)
	if err != nil {
		return dns.RcodeFormatError
	}
	u, rcode := r.server.updater(zone, r)
	if rcode != dns.RcodeSuccess {
		if r.signature.valid() != nil { // strangers cannot fill the log
			r.server.opts.Log.Info("An update was refused.", slog.String("client", r.client.String()),
				slog.String("key", r.signature.valid().Name()), slog.String("reason", r.explanation))
		}
		return rcode
	}
	u.Message = bytes.Clone(r.received)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.server.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	done := r.server.opts.Update(ctx, u)
	r.passed, r.explanation = done.Message, done.Text
	return done.Rcode
}

// updater finds out for whom a request updates a zone, and says why for nobody.
func (s *Server) updater(zone dnsname.Name, r *responder) (u Update, rcode int) {
	key := r.signature.valid()
	st, unlock := s.state.Lock()
	defer unlock()
	served := false
	for _, g := range st.groups {
		if g.zones[zone] == nil {
			continue
		}
		served = true
		if key == nil {
			continue
		}
		i := slices.IndexFunc(g.policy.updaters, func(u updater) bool { return u.key.Equal(key) })
		if i >= 0 && (u.Group == "" || g.name < u.Group) { // the same group whenever the message comes again
			u = Update{Member: Member{g.name, zone}, For: g.policy.updaters[i].who}
		}
	}
	switch {
	case u.Group != "":
		return u, dns.RcodeSuccess
	case !served:
		r.explanation = "This server has no zone " + zone.String()
		return Update{}, dns.RcodeNotAuth
	}
	r.explanation = "No rule lets this client update zone " + zone.String()
	return Update{}, dns.RcodeRefused
}
