package bind9

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Where the parts of a pod meet: what is mounted where, and the ports.
const (
	ConfigDir   = "/etc/bind"
	DataDir     = "/var/cache/bind"
	DNSPort     = 5353 // named has no privilege to bind to 53
	ControlPort = 9530
)

// The names that configuration and key files refer to each other by.
const (
	TransferList = "bindy-transfer" // acl: the keys that may transfer zones
	UpdateList   = "bindy-update"   // acl: the keys that may update zones
)

// Options are what can be said about a server. The zero value is an authoritative server that gives no zone away.
type Options struct {
	// Path says where the values are in an object, for errors, such as "spec.global".
	Path string
	Role ZoneType // "" is primary
	// Version of BIND that will read the configuration, as in an image's tag; "" and what has no number count as 9.18.
	Version   string
	Recursion bool
	// AllowQuery: nil is everybody. AllowTransfer adds to those who have the transfer key.
	AllowQuery, AllowTransfer []string
	Forwarders                []string // addresses, with a port or without
	ListenOn, ListenOnV6      []string // nil is every address
	// DNSSECValidation: nil is yes where there is recursion.
	DNSSECValidation *bool
	Signing          Signing
	// Zones says that the user brings named.conf.zones.
	Zones bool

	// ConfigDir, DataDir, DNSPort and ControlPort are the constants of those names when they are zero.
	ConfigDir, DataDir   string
	DNSPort, ControlPort uint16
}

// A statement is one of the options block whose value is checked.
type statement struct{ name, value string }

// withDefaults fills in what is zero and refuses paths that are none.
func (o Options) withDefaults() (Options, error) {
	if o.Path != "" {
		o.Path += "."
	}
	if o.ConfigDir == "" {
		o.ConfigDir = ConfigDir
	}
	if o.DataDir == "" {
		o.DataDir = DataDir
	}
	if o.DNSPort == 0 {
		o.DNSPort = DNSPort
	}
	if o.ControlPort == 0 {
		o.ControlPort = ControlPort
	}
	if o.Role == "" {
		o.Role = Primary
	}
	if o.Role != Primary && o.Role != Secondary {
		return o, fmt.Errorf("%srole is %s; write primary or secondary", o.Path, quoteShort(string(o.Role)))
	}
	for _, dir := range []string{o.ConfigDir, o.DataDir} {
		if err := checkFile(dir); err != nil || !path.IsAbs(dir) {
			return o, fmt.Errorf("the folder %s is not an absolute path of letters, digits, '-', '_' and '.'", quoteShort(dir))
		}
	}
	return o, nil
}

// atLeast compares the version; "9.18-22.04_beta" is 9.18.
func (o Options) atLeast(major, minor int) bool {
	number := strings.SplitN(strings.TrimLeft(o.Version, "v"), ".", 3)
	if len(number) < 2 {
		return false
	}
	has, err := strconv.Atoi(number[0])
	digits := number[1][:len(number[1])-len(strings.TrimLeft(number[1], "0123456789"))]
	minorHas, errMinor := strconv.Atoi(digits)
	return err == nil && errMinor == nil && (has > major || has == major && minorHas >= minor)
}

// access are the statements that say who may do what.
func (o Options) access() ([]statement, error) {
	query, err := ParseACL(o.Path+"allowQuery", o.AllowQuery)
	if err != nil {
		return nil, err
	}
	transfer, err := ParseACL(o.Path+"allowTransfer", o.AllowTransfer)
	if err != nil {
		return nil, err
	}
	all := []statement{{"allow-transfer", braces(append(ACL{{`"` + TransferList + `"`}}, transfer...))}}
	if query != nil {
		// Who updates and who transfers asks too; BIND refuses updates to those who may not query.
		own := ACL{{`"` + UpdateList + `"`}, {`"` + TransferList + `"`}}
		all = append(all, statement{"allow-query", braces(append(own, query...))})
	}
	for _, l := range []struct {
		statement, field string
		list             []string
	}{{"listen-on", "listenOn", o.ListenOn}, {"listen-on-v6", "listenOnV6", o.ListenOnV6}} {
		addresses, err := o.listen(l.field, l.list)
		if err != nil {
			return nil, err
		}
		all = append(all, statement{fmt.Sprintf("%s port %d", l.statement, o.DNSPort), braces(addresses)})
	}
	return all, nil
}

// listen is a list of addresses of this machine; a key is none.
func (o Options) listen(field string, list []string) (ACL, error) {
	addresses, err := ParseACL(o.Path+field, list)
	if err != nil {
		return nil, err
	}
	for i, e := range addresses {
		if strings.Contains(e.text, "key ") {
			return nil, fmt.Errorf("%s%s[%d]: %s is a key, but a server listens on addresses; write any, none or addresses",
				o.Path, field, i, quoteShort(list[i]))
		}
	}
	if addresses == nil {
		return ACL{{"any"}}, nil
	}
	return addresses, nil
}

func braces(a ACL) string { return "{" + a.list() + "}" }

// forwarders are written with their port, as far as somebody gave one.
func (o Options) forwarders() ([]statement, error) {
	var all []Remote
	for i, text := range o.Forwarders {
		r, err := parseForwarder(text)
		if err != nil {
			return nil, fmt.Errorf(
				"%sforwarders[%d]: %s is not a forwarder: %w; write an IP address, or one with a port such as "+
					"192.0.2.1:53 or [2001:db8::1]:53",
				o.Path, i, quoteShort(text), err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return []statement{{"forwarders", "{" + remotes(all) + "}"}}, nil
}

func parseForwarder(text string) (Remote, error) {
	addr, err := netip.ParseAddr(text)
	var port uint16
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		if err != nil || withPort.Port() == 0 {
			return Remote{}, fmt.Errorf("it is not an address")
		}
		addr, port = withPort.Addr(), withPort.Port()
	}
	return Remote{Address: addr, Port: port}, checkAddress(addr)
}

// resolving are the statements that differ between servers that resolve and those that are authoritative only. A
// resolver's cache would otherwise take nine tenths of the memory of the machine, not of the container.
func (o Options) resolving() []statement {
	validation := "no"
	if o.Recursion && (o.DNSSECValidation == nil || *o.DNSSECValidation) ||
		o.DNSSECValidation != nil && *o.DNSSECValidation {
		validation = "auto"
	}
	all := []statement{
		{"recursion", yesNo(o.Recursion)},
		{"dnssec-validation", validation},
		// BIND takes no zone of a name that it has an empty zone for, such as 10.in-addr.arpa (RFC 6303).
		{"empty-zones-enable", "no"},
	}
	if o.Recursion {
		return append(all, statement{"max-cache-size", "128m"})
	}
	return append(all, statement{"minimal-responses", "yes"}, statement{"rate-limit", rateLimit})
}

// rateLimit keeps an authoritative server from being the amplifier of an attack by forged addresses. Half of the
// answers above the limit are truncated, so that who really asks comes again over TCP. Nobody on the Internet is hit by
// answers to private addresses, which is where a cluster's own clients are.
const rateLimit = `{
		responses-per-second 100;
		nxdomains-per-second 50;
		errors-per-second 50;
		window 5;
		slip 2;
		exempt-clients { localhost; 10.0.0.0/8; 172.16.0.0/12; 192.168.0.0/16; 100.64.0.0/10; fc00::/7; };
	}`

// notifying are the statements about telling others. A name server's own NS names lead to a Service, and from there to
// any of its siblings: only those that a zone names are told. A second has as many requests as a restart with thousands
// of zones needs.
func (o Options) notifying() []statement {
	notify := statement{"notify", "explicit"}
	if o.Role == Secondary {
		notify.value = "no"
	}
	return []statement{
		notify, {"notify-delay", "0"}, {"notify-rate", "1000"}, {"startup-notify-rate", "1000"},
		{"serial-query-rate", "1000"},
		{"transfers-in", "100"}, {"transfers-per-ns", "50"}, {"transfers-out", "100"}, {"tcp-clients", "1000"},
	}
}

// Algorithms of RFC 8624 that may sign, as dnssec-policy has them.
var signingAlgorithms = []string{"RSASHA256", "RSASHA512", "ECDSAP256SHA256", "ECDSAP384SHA384", "ED25519", "ED448"}

// builtinPolicies are BIND's own, which cannot be defined again.
var builtinPolicies = []string{"default", "insecure", "none"}

func isBuiltin(policy string) bool { return slices.Contains(builtinPolicies, strings.ToLower(policy)) }
