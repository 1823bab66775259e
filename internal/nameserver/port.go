package nameserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// loopback is the only address that servers listen on.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// errPortTaken says that somebody else took the port between our look and the server's start.
var errPortTaken = errors.New("the port was taken by another process")

// Ports are taken from below the range that systems hand out for outgoing connections (Linux: 32768 and up),
// so that a stopped server finds its port free again.
const (
	firstPort = 20000
	lastPort  = 31998
)

// A port is a port number that this process holds for a server.
//
// Name servers set SO_REUSEPORT, so two of them can share one port without an error. Therefore a server gets an even
// number and this process keeps a listener on the odd one above it, without SO_REUSEPORT, for as long as the server
// may run: no two users of this package can hold the same number.
type port struct {
	number uint16
	guard  net.Listener
}

// claimPort finds an even port that is free for TCP and UDP and takes its guard.
func claimPort() (*port, error) {
	const attempts = 200
	for range attempts {
		number := uint16(firstPort + 2*rand.IntN((lastPort-firstPort)/2))
		guard, err := net.Listen("tcp", netip.AddrPortFrom(loopback, number+1).String())
		if err != nil {
			continue
		}
		if !free(number) {
			guard.Close()
			continue
		}
		return &port{number: number, guard: guard}, nil
	}
	return nil, fmt.Errorf("no free pair of ports on %s after %d attempts", loopback, attempts)
}

// ClaimPort finds a port on loopback that is free for TCP and UDP, for a name server that is not of this package. No
// server of this package takes it until release is called.
func ClaimPort() (number uint16, release func(), err error) {
	p, err := claimPort()
	if err != nil {
		return 0, nil, err
	}
	return p.number, p.release, nil
}

// free reports whether nobody listens on the port now.
func free(number uint16) bool {
	addr := netip.AddrPortFrom(loopback, number).String()
	tcp, err := net.Listen("tcp", addr)
	if err != nil {
		return false
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", addr)
	if err != nil {
		return false
	}
	udp.Close()
	return true
}

func (p *port) release() { p.guard.Close() }
