package nameserver

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// Options say what a server is to serve, and where it keeps its data.
type Options struct {
	// Dir is the folder for configuration, zones, journals and sockets. It is made when missing and never removed.
	Dir string
	// Log receives the server's own log; nil keeps only the last lines, for error messages.
	Log io.Writer
	// Zones are served from the start; more can be added with AddZone.
	Zones []Zone
	// Keys may update and transfer every zone. The queries of this package use the first.
	Keys []TSIG
	// Follow makes the server a secondary of further zones; nil: it follows nobody. Not for PowerDNS.
	Follow *Follow
	// Extra is put into the server's global options as it is (BIND: inside options{}; Knot: inside server:; NSD: lines of
	// server:; PowerDNS: lines).
	Extra string
}

// A Zone is one primary zone and what it holds when the server first starts.
type Zone struct {
	Name dnsname.Name
	// Text is the first content in master-file format (RFC 1035 §5), with a SOA.
	// Empty means a SOA of serial 1 and one apex NS, "localhost.".
	Text string
	// Extra is put into the zone's block of the configuration as it is; PowerDNS has none.
	Extra string
}

// TSIG is a shared key of RFC 8945.
type TSIG struct {
	Name      dnsname.Name
	Algorithm string // "hmac-sha224", "hmac-sha256", "hmac-sha384" or "hmac-sha512"
	Secret    string // base64
}

// text returns what the zone file holds at first.
func (z Zone) text() string {
	if z.Text != "" {
		return z.Text
	}
	return fmt.Sprintf("%s 300 IN SOA localhost. hostmaster.localhost. 1 3600 600 604800 300\n%s 300 IN NS localhost.\n",
		z.Name, z.Name)
}

// Follow says what a server takes from which primary. It is told of changes by NOTIFY (RFC 1996) from any port of the
// primary's address, signed with the key or not, asks at once, for IXFR (RFC 1995) where it has the zone already, and
// gives the zones to the holders of Options.Keys. The primary may come, or get the zones, after the server: starting
// does not wait for them, [Server.Await] does.
type Follow struct {
	Primary netip.AddrPort
	// Others have the same zones as the primary. Only Knot follows several.
	Others []netip.AddrPort
	// Key signs what is asked of the primary; nil: nothing does.
	Key   *TSIG
	Zones []dnsname.Name
	// Catalog is a catalog zone (RFC 9432) whose members are followed as well; zero: none. NSD knows no catalog zones.
	Catalog dnsname.Name
}

// check refuses what the server program cannot do.
func (o Options) check(f flavor) error {
	if o.Follow == nil {
		return nil
	}
	name, _ := f.program()
	zones, catalogs := f.follows()
	switch {
	case !zones:
		return fmt.Errorf("starting %s: it is not made to follow a primary here; start BIND, Knot or NSD", name)
	case !catalogs && !o.Follow.Catalog.IsZero():
		return fmt.Errorf("starting %s: it knows no catalog zones, so it cannot follow %s; name the zones in Follow.Zones",
			name, o.Follow.Catalog)
	case len(o.Follow.Others) > 0 && name != "knotd":
		return fmt.Errorf("starting %s: it is not made to follow several primaries here; start Knot", name)
	case !o.Follow.Primary.IsValid():
		return errors.New("starting " + name + ": Follow.Primary is no address")
	}
	return nil
}

// keys are all that the configuration has to declare.
func (o Options) keys() []TSIG {
	if o.Follow == nil || o.Follow.Key == nil {
		return o.Keys
	}
	for _, k := range o.Keys {
		if k.Name == o.Follow.Key.Name {
			return o.Keys
		}
	}
	return append(append([]TSIG(nil), o.Keys...), *o.Follow.Key)
}

// followed are the zones that the configuration names as secondary ones, the catalog zone last.
func (o Options) followed() []dnsname.Name {
	if o.Follow == nil {
		return nil
	}
	zones := append([]dnsname.Name(nil), o.Follow.Zones...)
	if !o.Follow.Catalog.IsZero() {
		zones = append(zones, o.Follow.Catalog)
	}
	return zones
}

// followedFile names the file of the i-th followed zone.
func followedFile(i int) string { return fmt.Sprintf("followed-%d.zone", i) }

// quoted puts text between double quotes for a configuration file, and refuses what could end them.
func quoted(text string) (string, error) {
	if strings.ContainsAny(text, "\"\n\r") {
		return "", fmt.Errorf("%q cannot stand in a configuration file", text)
	}
	return `"` + text + `"`, nil
}
