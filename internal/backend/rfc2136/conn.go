package rfc2136

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
)

// concurrency is how many calls one server gets at the same time; as many connections are kept.
const concurrency = 4

// Servers close a connection that is idle: Knot after 10 seconds, BIND after 30. One that has been idle for longer than
// this is not used again.
const maxIdle = 8 * time.Second

// keptPatience is how long an answer on a kept connection may take before it is tried on a new one: a middle box may
// have forgotten the connection without a word.
const keptPatience = 5 * time.Second

// A pool keeps the idle connections to one server.
type pool struct {
	server  string
	now     func() time.Time
	connect func(ctx context.Context, network, address string) (net.Conn, error)

	mu     sync.Mutex
	idle   []*conn // the one used last is last
	closed bool
}

// A conn is one TCP connection. Messages on it are framed here: dns.Conn would remember the MAC of the last request and
// sign the next one with it.
type conn struct {
	net.Conn
	used    time.Time // when it became idle
	patient time.Time // the deadline from the first answer on
	key     *signer   // of the call that uses it
}

// take returns an idle connection, or makes one; kept says which.
func (p *pool) take(ctx context.Context) (c *conn, kept bool, err error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		c = p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if p.now().Sub(c.used) < maxIdle {
			p.mu.Unlock()
			return c, true, nil
		}
		c.Close()
	}
	p.mu.Unlock()
	c, err = p.dial(ctx)
	return c, false, err
}

func (p *pool) dial(ctx context.Context) (*conn, error) {
	c, err := p.connect(ctx, "tcp", p.server)
	if err != nil {
		if refused := dialguard.Refusal(err); refused != nil {
			return nil, refused
		}
		return nil, unavailable(fmt.Errorf("connecting: %w", err))
	}
	return &conn{Conn: c}, nil
}

// put gives back a connection on which every answer has been read.
func (p *pool) put(c *conn) {
	c.used = p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= concurrency {
		c.Close()
		return
	}
	p.idle = append(p.idle, c)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.Close()
	}
	p.idle = nil
}

// talk calls f with a connection, and once more with a new one when the first broke. An UPDATE that is sent twice does
// no harm: the second fails its prerequisite, and the SOA then says whether the first was applied. Errors of f that
// have a class are the server's answers and end it; the connection is kept unless it broke. All of it is signed with
// the key that is in use when it begins.
func (c *Client) talk(ctx context.Context, why purpose, f func(*conn) error) error {
	key, err := c.keys.signer(why)
	if err != nil {
		return err
	}
	link, kept, err := c.conns.take(ctx)
	if err != nil {
		return err
	}
	link.key = key
	err = c.within(ctx, link, kept, f)
	if !isBroken(err) || ctx.Err() != nil {
		return settled(err)
	}
	if link, err = c.conns.dial(ctx); err != nil {
		return err
	}
	link.key = key
	return settled(c.within(ctx, link, false, f))
}

// within calls f and bounds it by the context.
func (c *Client) within(ctx context.Context, link *conn, kept bool, f func(*conn) error) error {
	deadline, _ := ctx.Deadline()
	link.patient = deadline
	if kept {
		if at := c.now().Add(keptPatience); deadline.IsZero() || at.Before(deadline) {
			deadline = at
		}
	}
	if err := link.SetDeadline(deadline); err != nil {
		link.Close()
		return &brokenError{err}
	}
	if err := backend.MaySend(ctx); err != nil {
		link.Close()
		return err
	}
	stop := context.AfterFunc(ctx, func() { link.Close() })
	err := f(link)
	if !stop() || isBroken(err) || isUnfinished(err) {
		link.Close()
		return err
	}
	c.conns.put(link)
	return err
}

// send frames and writes messages that are packed already.
func (c *conn) send(wires ...[]byte) error {
	n := 0
	for _, w := range wires {
		n += 2 + len(w)
	}
	b := make([]byte, 0, n)
	for _, w := range wires {
		b = binary.BigEndian.AppendUint16(b, uint16(len(w)))
		b = append(b, w...)
	}
	if _, err := c.Write(b); err != nil {
		return &brokenError{err}
	}
	return nil
}

// receive reads one message, parsed and as it came.
func (c *conn) receive() ([]byte, *dns.Msg, error) {
	quickAck(c.Conn)
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, nil, &brokenError{err}
	}
	if err := c.SetDeadline(c.patient); err != nil { // the connection lives
		return nil, nil, &brokenError{err}
	}
	wire := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(c, wire); err != nil {
		return nil, nil, &brokenError{err}
	}
	m := new(dns.Msg)
	if err := m.Unpack(wire); err != nil {
		return nil, nil, &unfinishedError{unavailable(fmt.Errorf("the server's answer cannot be read: %w", err))}
	}
	if !m.Response {
		return nil, nil, &unfinishedError{unavailable(errors.New("the server sent a question instead of an answer"))}
	}
	return wire, m, nil
}

// exchange sends one message and reads its answer, which is verified.
func (c *Client) exchange(link *conn, m *dns.Msg) (*dns.Msg, error) {
	wire, mac, err := link.key.pack(m, c.now())
	if err != nil || len(wire) > maxMessage {
		return nil, &backend.Error{Class: backend.ErrRejected,
			Err: errors.Join(errors.New("it does not fit into one message"), err)}
	}
	if err := link.send(wire); err != nil {
		return nil, err
	}
	answer, resp, err := link.receive()
	if err != nil {
		return nil, err
	}
	if resp.Id != m.Id || resp.Opcode != m.Opcode {
		return nil, errOtherAnswer
	}
	v := verifier{signer: link.key, mac: mac, now: c.now}
	return resp, v.check(answer, resp)
}
