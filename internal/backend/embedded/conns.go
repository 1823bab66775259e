package embedded

import (
	"container/list"
	"net"
	"net/netip"
	"time"

	"github.com/zonefold/zonefold/internal/guarded"
)

// conns are the open TCP connections, bounded in all and for each client.
type conns struct {
	most, perClient int

	open guarded.Value[openConns]
}

// openConns are those that are open now.
type openConns struct {
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

func (s *conns) setUp(o Options) {
	s.most, s.perClient = o.MaxConns, o.MaxConnsPerClient
	open, unlock := s.open.Lock()
	defer unlock()
	open.order, open.clients = list.New(), map[netip.Addr]int{}
}

// add takes a new connection up, or closes it and returns nil. Where there are too many, the one that was quiet for
// longest goes: so nobody who keeps connections open and says nothing keeps others out.
func (s *conns) add(c net.Conn) *conn {
	open, unlock := s.open.Lock()
	defer unlock()
	addr := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	link := &conn{Conn: c, addr: addr, client: clientOf(addr)}
	if open.finishing || open.clients[link.client] >= s.perClient {
		_ = c.Close()
		return nil
	}
	if open.order.Len() >= s.most {
		open.drop(open.order.Front().Value.(*conn))
	}
	open.clients[link.client]++
	link.place = open.order.PushBack(link)
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

// drop closes a connection.
func (open *openConns) drop(c *conn) {
	_ = c.Close()
	if c.place == nil {
		return
	}
	open.order.Remove(c.place)
	c.place = nil
	if open.clients[c.client]--; open.clients[c.client] == 0 {
		delete(open.clients, c.client)
	}
}

func (s *conns) remove(c *conn) {
	open, unlock := s.open.Lock()
	defer unlock()
	open.drop(c)
}

// closeOldest closes the connection that was quiet for longest and reports whether there was one.
func (s *conns) closeOldest() bool {
	open, unlock := s.open.Lock()
	defer unlock()
	first := open.order.Front()
	if first != nil {
		open.drop(first.Value.(*conn))
	}
	return first != nil
}

// touch notes that a connection was just used, and gives it until the deadline to be used again. It returns false if it
// may not.
func (s *conns) touch(c *conn, deadline time.Time) bool {
	open, unlock := s.open.Lock()
	defer unlock()
	if open.finishing || c.place == nil {
		return false
	}
	open.order.MoveToBack(c.place)
	return c.SetReadDeadline(deadline) == nil
}

// finish has every connection end when it has answered what came. A deadline that is past wakes those that wait for
// more.
func (s *conns) finish(past time.Time) {
	open, unlock := s.open.Lock()
	defer unlock()
	open.finishing = true
	for e := open.order.Front(); e != nil; e = e.Next() {
		_ = e.Value.(*conn).SetReadDeadline(past)
	}
}

func (s *conns) closeAll() {
	open, unlock := s.open.Lock()
	defer unlock()
	for open.order.Len() > 0 {
		open.drop(open.order.Front().Value.(*conn))
	}
}
