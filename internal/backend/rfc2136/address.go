package rfc2136

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// defaultPort is that of DNS over TCP.
const defaultPort = 53

// Canonical reads a server's address in any of the forms of Config.Server and returns the one form of it: lower case,
// IP addresses in their canonical text, always with a port. A host name stays a name: it is looked up at every
// connection.
func Canonical(server string) (string, error) {
	host, port, err := splitAddress(server)
	if err != nil {
		return "", fmt.Errorf("server address %q: %w", server, err)
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(addr.Unmap(), port).String(), nil
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "" || strings.ContainsAny(host, " \t\r\n/@:[]%") {
		return "", fmt.Errorf("server address %q: %q is neither an address nor a host name", server, host)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

func splitAddress(server string) (host string, port uint16, err error) {
	if _, err := netip.ParseAddr(server); err == nil || !strings.Contains(server, ":") {
		return server, defaultPort, nil
	}
	if inner, ok := strings.CutPrefix(server, "["); ok && strings.HasSuffix(inner, "]") {
		return strings.TrimSuffix(inner, "]"), defaultPort, nil
	}
	host, text, err := net.SplitHostPort(server)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("the port %q is not a number from 1 to 65535", text)
	}
	return host, uint16(n), nil
}
