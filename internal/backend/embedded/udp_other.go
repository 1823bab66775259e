//go:build !linux

package embedded

import (
	"context"
	"net"
	"net/netip"
)

// listenUDP opens one socket: other systems spread datagrams in ways of their own, or not at all.
func listenUDP(ctx context.Context, addr netip.AddrPort, _ int) ([]*net.UDPConn, error) {
	var config net.ListenConfig
	c, err := config.ListenPacket(ctx, "udp", addr.String())
	if err != nil {
		return nil, err
	}
	return []*net.UDPConn{c.(*net.UDPConn)}, nil
}

// newControl leaves the source of answers to the system.
func newControl(c *net.UDPConn) *control { return &control{conn: c} }

func sourceOf([]byte) []byte { return nil }
