package dnshook

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// checkServer says what is wrong with the URL of a server, nil if it can be asked.
func checkServer(server string) error {
	u, err := url.Parse(server)
	switch {
	case err != nil:
		return fmt.Errorf("the server %q is not a URL: %w", server, err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("the server %q is not a URL such as http://HOST:PORT", server)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("the URL of a server must not have a user, query or fragment")
	}
	if port, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || port < 1 || port > math.MaxUint16) {
		return fmt.Errorf("the server %q has a port that is not from 1 to %d", server, math.MaxUint16)
	}
	for _, segment := range strings.Split(u.Path, "/") {
		if segment == "." || segment == ".." { // servers look for a path without them, which nobody has signed
			return fmt.Errorf("the server %q has the segment %q in its path", server, segment)
		}
	}
	return nil
}

// CanonicalServer returns the URL of a server as it is compared, equal for all spellings of it (RFC 3986 §6.2): the
// host in lower case, the port always there, no final slash, and nothing percent-encoded that need not be.
func CanonicalServer(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("the URL of the server of a DNSClass: %w", err)
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.String()
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port) + unescaped(strings.TrimRight(u.EscapedPath(), "/")), nil
}

// unescaped decodes those octets of an escaped path that mean the same without (RFC 3986 §2.3), and writes the others
// in capitals.
func unescaped(path string) string {
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' || i+2 >= len(path) {
			out.WriteByte(path[i])
			continue
		}
		octet, err := url.PathUnescape(path[i : i+3])
		if err == nil && strings.Contains(unreserved, octet) {
			out.WriteString(octet)
		} else {
			out.WriteString(strings.ToUpper(path[i : i+3]))
		}
		i += 2
	}
	return out.String()
}

const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
