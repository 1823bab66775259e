// Package dialguard keeps connections to addresses that a tenant chose away from what only the operator can reach:
// itself, its node, the API server, link-local services. It checks each address right before dialling, after names are
// resolved, so neither a redirect nor a name that changes its address gets around it.
package dialguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// A Guard decides which addresses may be dialled. A nil Guard refuses none. Guards are compared as pointers.
type Guard struct {
	deny, allow []netip.Prefix
	own         func() []netip.Addr
}

// Config says what a Guard refuses besides loopback, the link, multicast and the unspecified address.
type Config struct {
	Deny  []netip.Prefix      // addresses that are refused, too
	Allow []netip.Prefix      // addresses that are not refused, whatever else is said
	Own   func() []netip.Addr // addresses of the operator and of the API server, as they are now
}

// New makes a Guard.
func New(c Config) *Guard { return &Guard{deny: c.Deny, allow: c.Allow, own: c.Own} }

// dialTimeout bounds one attempt to connect.
const dialTimeout = 30 * time.Second

// DialContext connects as net.Dialer does, and not to what the Guard refuses.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	if g != nil {
		d.Control = g.control
	}
	return d.DialContext(ctx, network, address)
}

// control is called with each address right before it is connected to.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("reading the address %q to be connected to: %w", address, err)
	}
	if why := g.refuses(at.Addr()); why != "" {
		return &refusal{at.Addr(), why}
	}
	return nil
}

// refusal is why an address is not dialled.
type refusal struct {
	address netip.Addr
	why     string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("the operator does not connect to %s, %s, for a server that a tenant has named", r.address, r.why)
}

// refuses says what is wrong with an address, "" if nothing is.
func (g *Guard) refuses(a netip.Addr) string {
	a = a.WithZone("").Unmap()
	if within(g.allow, a) {
		return ""
	}
	for _, a := range append([]netip.Addr{a}, embedded(a)...) {
		switch {
		case a.IsLoopback():
			return "a loopback address"
		case a.IsLinkLocalUnicast() || a == metadata6:
			return "a link-local address"
		case a.IsUnspecified() || a.Is4() && a.As4()[0] == 0:
			return "an unspecified address"
		case a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
			return "a multicast address"
		case within(g.deny, a):
			return "an address that its administrator denies"
		}
		if g.own == nil {
			continue
		}
		for _, own := range g.own() {
			if own.WithZone("").Unmap() == a {
				return "an address of its own or of the API server"
			}
		}
	}
	return ""
}

// metadata6 is where clouds have the metadata of machines, beside the link-local 169.254.169.254.
var metadata6 = netip.MustParseAddr("fd00:ec2::254")

func within(prefixes []netip.Prefix, a netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// embedded returns the IPv4 addresses that routers may send an IPv6 address's packets to: those of 6to4 (RFC 3056 §2),
// of NAT64 (RFC 6052 §2.1, RFC 8215) and IPv4-compatible ones (RFC 4291 §2.5.5.1).
func embedded(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	switch {
	case b[0] == 0x20 && b[1] == 0x02:
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	case b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b, [12]byte(b[:12]) == [12]byte{}:
		return []netip.Addr{netip.AddrFrom4([4]byte(b[12:]))}
	}
	return nil
}

// Transport has an HTTP transport dial through the Guard, and never through a proxy, which would resolve names by
// itself.
func (g *Guard) Transport(t *http.Transport) {
	if g != nil {
		t.DialContext, t.Proxy = g.DialContext, nil
	}
}

// Said returns what a server said as far as it may be shown: what a server behind a Guard says may be an answer that is
// meant for the operator alone.
func (g *Guard) Said(words string) string {
	if g != nil {
		return ""
	}
	return words
}

// Refusal returns the error of a class for a connection that a Guard refused, nil for another error.
func Refusal(err error) *backend.Error {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		return nil
	}
	return &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseInvalid,
		Err: fmt.Errorf("%w; name another server, or ask the administrator to allow the address with --tenant-servers-allow",
			r)}
}

// Addresses are those of this machine's interfaces, and others that are given: the operator's own.
func Addresses(others ...netip.Addr) []netip.Addr {
	all := append([]netip.Addr(nil), others...)
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return all
	}
	for _, i := range interfaces {
		if p, err := netip.ParsePrefix(i.String()); err == nil {
			all = append(all, p.Addr())
		}
	}
	return all
}
