package sockets

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

const (
	soReusePort     = 15 // SO_REUSEPORT, which package syscall lacks on some processors
	ipv6RecvPktinfo = 49 // IPV6_RECVPKTINFO
	ipv6Pktinfo     = 50 // IPV6_PKTINFO
)

// ListenUDP opens so many sockets on one address, over which the kernel spreads datagrams by their sender.
func ListenUDP(ctx context.Context, addr netip.AddrPort, n int) ([]*net.UDPConn, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if ctrlErr := c.Control(func(fd uintptr) { err = prepare(int(fd), addr.Addr()) }); ctrlErr != nil {
			return ctrlErr
		}
		return err
	}}
	var conns []*net.UDPConn
	for range n {
		c, err := config.ListenPacket(ctx, "udp", addr.String())
		if err != nil {
			for _, c := range conns {
				_ = c.Close()
			}
			return nil, err
		}
		conns = append(conns, c.(*net.UDPConn))
	}
	return conns, nil
}

// receiveBuffer is what the kernel is asked to keep of questions that wait, in octets; it gives what its limits allow.
const receiveBuffer = 1 << 20

func prepare(fd int, addr netip.Addr) error {
	_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, receiveBuffer)
	if addr.IsUnspecified() {
		if err := askForDestination(fd, addr); err != nil {
			return err
		}
	}
	return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, soReusePort, 1)
}

// askForDestination has the kernel say with each datagram which address it came to.
func askForDestination(fd int, addr netip.Addr) error {
	if addr.Is4() {
		return syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, syscall.IP_PKTINFO, 1)
	}
	return syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, ipv6RecvPktinfo, 1)
}

// batchOf reads and writes many datagrams with one system call.
func batchOf(c *net.UDPConn, bound netip.Addr) BatchConn {
	if bound.Is4() {
		return ipv4.NewPacketConn(c)
	}
	return ipv6.NewPacketConn(c) // the kernel takes addresses of IPv4, too, where the socket has both
}

// controlSize is the room for that where it was asked for, in octets.
func controlSize(bound netip.Addr) int {
	if bound.IsUnspecified() {
		return 128
	}
	return 0
}

// SourceOf turns what the kernel said about a question into what it takes with the answer. That is the same structure
// (ip(7), ipv6(7)) but for the interface, which is left to routing.
func SourceOf(oob []byte) []byte {
	if len(oob) < syscall.SizeofCmsghdr {
		return nil
	}
	const word = syscall.SizeofCmsghdr - 8 // the length has a machine word
	level, typ := binary.NativeEndian.Uint32(oob[word:]), binary.NativeEndian.Uint32(oob[word+4:])
	body := oob[syscall.SizeofCmsghdr:]
	switch {
	case level == syscall.IPPROTO_IP && typ == syscall.IP_PKTINFO && len(body) >= syscall.SizeofInet4Pktinfo:
		clear(body[:4])
	case level == syscall.IPPROTO_IPV6 && typ == ipv6Pktinfo && len(body) >= syscall.SizeofInet6Pktinfo:
		if body[0] != 0xfe || body[1]&0xc0 != 0x80 { // a link-local address means nothing without its interface
			clear(body[16:20])
		}
	default:
		return nil
	}
	return oob
}
