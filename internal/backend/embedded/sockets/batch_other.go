//go:build !linux

package sockets

import (
	"context"
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
)

// ListenUDP opens one socket: other systems spread datagrams in ways of their own, or not at all.
func ListenUDP(ctx context.Context, addr netip.AddrPort, _ int) ([]*net.UDPConn, error) {
	var config net.ListenConfig
	c, err := config.ListenPacket(ctx, "udp", addr.String())
	if err != nil {
		return nil, err
	}
	return []*net.UDPConn{c.(*net.UDPConn)}, nil
}

// batchOf reads and writes one datagram at a time.
func batchOf(c *net.UDPConn, _ netip.Addr) BatchConn { return single{c} }

type single struct{ conn *net.UDPConn }

// ReadBatch reads one datagram.
func (s single) ReadBatch(all []ipv4.Message, _ int) (int, error) {
	n, from, err := s.conn.ReadFromUDPAddrPort(all[0].Buffers[0])
	all[0].N, all[0].NN, all[0].Addr = n, 0, net.UDPAddrFromAddrPort(from)
	if err != nil {
		return 0, err
	}
	return 1, nil
}

// WriteBatch writes one datagram.
func (s single) WriteBatch(all []ipv4.Message, _ int) (int, error) {
	_, err := s.conn.WriteToUDPAddrPort(all[0].Buffers[0], all[0].Addr.(*net.UDPAddr).AddrPort())
	return 1, err
}

// controlSize leaves the source of answers to the system.
func controlSize(netip.Addr) int { return 0 }

// SourceOf says nothing: see controlSize.
func SourceOf([]byte) []byte { return nil }
