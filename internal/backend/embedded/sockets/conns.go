// Package sockets has what a server of questions reads from and writes to: TCP connections, bounded in all and for each
// client, and datagrams, many with one system call. It knows no DNS.
package sockets

import (
	"container/list"
	"net"
	"net/netip"
	"time"

	"github.com/zonefold/zonefold/internal/guarded"
)

// Conns are the open TCP connections, bounded in all and for each client.
type Conns struct {
	most, perClient int

	open guarded.Value[openConns]
}

// openConns are those that are open now.
type openConns struct {
	order     *list.List // of *conn; the one that was quiet for longest is first
	clients   map[netip.Addr]int
	finishing bool
}

// A Conn is one of the connections.
type Conn struct {
	net.Conn
	Addr   netip.Addr
	Client netip.Addr    // who counts as one client with others
	place  *list.Element // nil: not among the open ones any more
}

// SetUp bounds them in all and for each client.
func (s *Conns) SetUp(most, perClient int) {
	s.most, s.perClient = most, perClient
	open, unlock := s.open.Lock()
	defer unlock()
	open.order, open.clients = list.New(), map[netip.Addr]int{}
}

// Add takes a new connection up, or closes it and returns nil. Where there are too many, the one that was quiet for
// longest goes: so nobody who keeps connections open and says nothing keeps others out.
func (s *Conns) Add(c net.Conn) *Conn {
	open, unlock := s.open.Lock()
	defer unlock()
	addr := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	link := &Conn{Conn: c, Addr: addr, Client: clientOf(addr)}
	if open.finishing || open.clients[link.Client] >= s.perClient {
		_ = c.Close()
		return nil
	}
	if open.order.Len() >= s.most {
		open.drop(open.order.Front().Value.(*Conn))
	}
	open.clients[link.Client]++
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
func (open *openConns) drop(c *Conn) {
	_ = c.Close()
	if c.place == nil {
		return
	}
	open.order.Remove(c.place)
	c.place = nil
	if open.clients[c.Client]--; open.clients[c.Client] == 0 {
		delete(open.clients, c.Client)
	}
}

// Remove closes a connection.
func (s *Conns) Remove(c *Conn) {
	open, unlock := s.open.Lock()
	defer unlock()
	open.drop(c)
}

// CloseOldest closes the connection that was quiet for longest and reports whether there was one.
func (s *Conns) CloseOldest() bool {
	open, unlock := s.open.Lock()
	defer unlock()
	first := open.order.Front()
	if first != nil {
		open.drop(first.Value.(*Conn))
	}
	return first != nil
}

// Touch notes that a connection was just used, and gives it until the deadline to be used again. It returns false if it
// may not.
func (s *Conns) Touch(c *Conn, deadline time.Time) bool {
	open, unlock := s.open.Lock()
	defer unlock()
	if open.finishing || c.place == nil {
		return false
	}
	open.order.MoveToBack(c.place)
	return c.SetReadDeadline(deadline) == nil
}

// Finish has every connection end when it has answered what came. A deadline that is past wakes those that wait for
// more.
func (s *Conns) Finish(past time.Time) {
	open, unlock := s.open.Lock()
	defer unlock()
	open.finishing = true
	for e := open.order.Front(); e != nil; e = e.Next() {
		_ = e.Value.(*Conn).SetReadDeadline(past)
	}
}

// CloseAll closes every connection.
func (s *Conns) CloseAll() {
	open, unlock := s.open.Lock()
	defer unlock()
	for open.order.Len() > 0 {
		open.drop(open.order.Front().Value.(*Conn))
	}
}
