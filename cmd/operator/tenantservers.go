package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/internal/backend/dialguard"
)

// tenantServers are the flags about servers whose address a tenant says, in a Secret of its namespace.
type tenantServers struct {
	deny, allow prefixes
}

func tenantServersFlags(f *flag.FlagSet, o *tenantServers) {
	f.Var(&o.deny, "tenant-servers-deny", "`addresses` and prefixes denied to servers named by tenants, besides "+
		"loopback, link-local, the API server and the operator, separated by commas, such as 10.0.0.0/8")
	f.Var(&o.allow, "tenant-servers-allow",
		"`addresses` and prefixes allowed to servers named by tenants nevertheless, separated by commas")
}

// prefixes is a flag: addresses and prefixes, separated by commas.
type prefixes []netip.Prefix

// String implements flag.Value.
func (p *prefixes) String() string {
	var all []string
	for _, one := range *p {
		all = append(all, one.String())
	}
	return strings.Join(all, ",")
}

// Set implements flag.Value.
func (p *prefixes) Set(text string) error {
	*p = nil
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		one, err := netip.ParsePrefix(word)
		if a, asAddress := netip.ParseAddr(word); err != nil && asAddress == nil {
			one, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return fmt.Errorf("%q is neither an address nor a prefix such as 10.0.0.0/8", word)
		}
		*p = append(*p, one.Masked())
	}
	return nil
}

// lookup is how long the API server's name may take to be resolved.
const lookup = 5 * time.Second

// guard refuses tenants' servers at the addresses of the API server and of this Pod, besides those that nobody may
// name.
func (o tenantServers) guard(ctx context.Context, config *rest.Config, podIP, service string) *dialguard.Guard {
	var others []netip.Addr
	hosts := []string{podIP, service}
	if u, err := url.Parse(config.Host); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	} else if host, _, err := net.SplitHostPort(config.Host); err == nil {
		hosts = append(hosts, host)
	} else {
		hosts = append(hosts, config.Host)
	}
	for _, host := range hosts {
		others = append(others, resolve(ctx, host)...)
	}
	return dialguard.New(dialguard.Config{
		Deny: o.deny, Allow: o.allow, Own: func() []netip.Addr { return dialguard.Addresses(others...) },
	})
}

// resolve returns the addresses of a host, none if it has none.
func resolve(ctx context.Context, host string) []netip.Addr {
	if host == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookup)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil // who cannot be found by the operator cannot be reached by it either
	}
	return found
}
