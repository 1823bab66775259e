package embedded

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"
)

// conns are the open TCP connections, bounded in all and for each client.
type conns struct {
	most, perClient int

	mu        sync.Mutex
	order     *list.List // of *conn; the one that was quiet for longest is first
	clients   map[netip.Addr]int
	finishing bool
}

type conn struct {
	net.Conn
	addr   netip.Addr
	client netip.Addr    // who counts as one client with others
	place  *list.Element // nil: not among the open ones any more
}

func newConns(o Options) conns {
	return conns{most: o.MaxConns, perClient: o.MaxConnsPerClient, order: list.New(), clients: map[netip.Addr]int{}}
}

// add takes a new connection up, or closes it and returns nil. Where there are too many, the one that was quiet for
// longest goes: so nobody who keeps connections open and says nothing keeps others out.
func (s *conns) add(c net.Conn) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	addr := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	link := &conn{Conn: c, addr: addr, client: clientOf(addr)}
	if s.finishing || s.clients[link.client] >= s.perClient {
		_ = c.Close()
		return nil
	}
	if s.order.Len() >= s.most {
		s.drop(s.order.Front().Value.(*conn))
	}
	s.clients[link.client]++
	link.place = s.order.PushBack(link)
	return link
}

// clientOf returns who counts as one client: an address, of IPv6 a /64, as that is what one machine gets.
func clientOf(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		if network, err := addr.Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return addr
}

// drop closes a connection. mu is held.
func (s *conns) drop(c *conn) {
	_ = c.Close()
	if c.place == nil {
		return
	}
	s.order.Remove(c.place)
	c.place = nil
	if s.clients[c.client]--; s.clients[c.client] == 0 {
		delete(s.clients, c.client)
	}
}

func (s *conns) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(c)
}

// closeOldest closes the connection that was quiet for longest and reports whether there was one.
func (s *conns) closeOldest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.order.Front()
	if first != nil {
		s.drop(first.Value.(*conn))
	}
	return first != nil
}

// touch notes that a connection was just used, and gives it until the deadline to be used again. It returns false if it
// may not.
func (s *conns) touch(c *conn, deadline time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finishing || c.place == nil {
		return false
	}
	s.order.MoveToBack(c.place)
	return c.SetReadDeadline(deadline) == nil
}

// finish has every connection end when it has answered what came. A deadline that is past wakes those that wait for
// more.
func (s *conns) finish(past time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishing = true
	for e := s.order.Front(); e != nil; e = e.Next() {
		_ = e.Value.(*conn).SetReadDeadline(past)
	}
}

func (s *conns) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.order.Len() > 0 {
		s.drop(s.order.Front().Value.(*conn))
	}
}
