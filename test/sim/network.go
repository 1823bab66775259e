package sim

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// A listener takes streams to the name server of an operator. There are no datagrams.
type listener struct {
	of     *operator
	at     *net.TCPAddr
	come   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.come:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return l.at }

// ended reports whether nobody is heard any more.
func (l *listener) ended() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// listen has the name server of an operator be reached.
func (o *operator) listen(_ context.Context, at netip.AddrPort) (net.Listener, error) {
	l := &listener{of: o, at: net.TCPAddrFromAddrPort(at), come: make(chan net.Conn), closed: make(chan struct{})}
	o.world.mu.Lock()
	defer o.world.mu.Unlock()
	if o.world.listeners[at.String()] != nil {
		return nil, fmt.Errorf("%s is in use", at)
	}
	o.world.listeners[at.String()] = l
	return l, nil
}

// dial connects an operator to the name server of another.
func (o *operator) dial(ctx context.Context, _, address string) (net.Conn, error) {
	if err := o.pass(ctx, messageTime); err != nil {
		return nil, err
	}
	defer o.world.happens() // it is going to copy something
	return o.world.dial(ctx, o, address)
}

// dial connects somebody to the name server of an operator: another operator, or nil.
func (w *World) dial(ctx context.Context, from *operator, address string) (net.Conn, error) {
	w.mu.Lock()
	l := w.listeners[address]
	w.mu.Unlock()
	if l == nil || l.of.crashed() {
		return nil, syscall.ECONNREFUSED
	}
	client, server := net.Pipe()
	select {
	case l.come <- &link{server, l.of, l.at, observer}:
		return &link{client, from, observer, l.at}, nil
	case <-l.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// observer is where everybody connects from.
var observer = &net.TCPAddr{IP: net.IPv4(203, 0, 113, 99), Port: 53000}

// A link is one end of a connection. What is written arrives a moment later; the end of a process that is stopped does
// nothing.
type link struct {
	net.Conn
	of     *operator // nil: nobody whom faults are about
	at, to net.Addr
}

// LocalAddr implements net.Conn.
func (s *link) LocalAddr() net.Addr { return s.at }

// RemoteAddr implements net.Conn.
func (s *link) RemoteAddr() net.Addr { return s.to }

// Read implements net.Conn.
func (s *link) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if s.of != nil {
		if dead := s.of.awake(); dead != nil {
			return 0, dead
		}
	}
	return n, err
}

// Write implements net.Conn.
func (s *link) Write(b []byte) (int, error) {
	if s.of != nil {
		if err := s.of.pass(context.Background(), messageTime); err != nil {
			_ = s.Close()
			return 0, err
		}
	}
	return s.Conn.Write(b)
}

// crashed reports whether an operator does not live any more.
func (o *operator) crashed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dead
}

// stopped reports whether an operator does nothing now, or nothing any more.
func (o *operator) stopped() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dead || o.holds != nil
}

// answerTime is how long somebody waits for an answer.
const answerTime = 2 * time.Second
