package nameserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// StartNSD starts NLnet Labs' nsd and waits until it answers for every zone. It takes no updates: [Server.Updates] is
// an error. Without keys it gives transfers to everybody on loopback.
func StartNSD(ctx context.Context, opts Options) (*Server, error) { return start(ctx, opts, nsd{}) }

type nsd struct{}

func (nsd) program() (string, string) { return "nsd", "nsd" }

func (nsd) follows() (zones, catalogs bool) { return true, false }

func (nsd) configure(_ context.Context, s *Server) ([]string, error) {
	text, err := nsdConfig(s)
	if err != nil {
		return nil, err
	}
	if err := writeZones(s); err != nil {
		return nil, err
	}
	conf := filepath.Join(s.opts.Dir, "nsd.conf")
	return []string{"-d", "-c", conf}, os.WriteFile(conf, []byte(text), 0o600)
}

// nsdConfig is nsd.conf. Debian's nsd has a response rate limit of 200 a second, and by default waits a second after
// each transfer before it serves it. The number and size of stored differences has no limit, so that Transfers can
// count them.
func nsdConfig(s *Server) (string, error) {
	dir, err := quoted(s.opts.Dir)
	if err != nil {
		return "", err
	}
	socket, err := quoted(filepath.Join(s.opts.Dir, "nsd.sock"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `server:
    ip-address: %s@%d
    username: ""
    zonesdir: %s
    xfrdir: %s
    database: ""
    pidfile: "nsd.pid"
    xfrdfile: "xfrd.state"
    zonelistfile: "zone.list"
    server-count: 1
    verbosity: 2
    rrl-ratelimit: 0
    xfrd-reload-timeout: 0
%s
remote-control:
    control-enable: yes
    control-interface: %s
`, loopback, s.dns.number, dir, dir, s.opts.Extra, socket)
	give := ""
	for _, k := range s.opts.keys() {
		fmt.Fprintf(&b, "key:\n    name: \"%s\"\n    algorithm: %s\n    secret: \"%s\"\n", k.Name, k.Algorithm, k.Secret)
	}
	for _, k := range s.opts.Keys {
		give += fmt.Sprintf("    provide-xfr: %s \"%s\"\n", loopback, k.Name)
	}
	if give == "" {
		give = fmt.Sprintf("    provide-xfr: %s NOKEY\n", loopback)
	}
	for i, z := range s.zones {
		fmt.Fprintf(&b, "zone:\n    name: \"%s\"\n    zonefile: \"%s\"\n%s%s", z.Name, zoneFile(i), give, z.Extra)
	}
	for i, z := range s.opts.followed() {
		fmt.Fprintf(&b, "zone:\n    name: \"%s\"\n    zonefile: \"%s\"\n%s%s", z, followedFile(i), give,
			nsdFollow(s.opts.Follow))
	}
	return b.String(), nil
}

func nsdFollow(f *Follow) string {
	key, signed := "NOKEY", ""
	if f.Key != nil {
		key = `"` + f.Key.Name.String() + `"`
		signed = fmt.Sprintf("    allow-notify: %s %s\n", f.Primary.Addr(), key)
	}
	return fmt.Sprintf("    request-xfr: %s@%d %s\n    allow-notify: %s NOKEY\n%s    store-ixfr: yes\n    ixfr-number: "+
		"1000000\n    ixfr-size: 0\n",
		f.Primary.Addr(), f.Primary.Port(), key, f.Primary.Addr(), signed)
}

// fill has nothing to do: the configuration names every zone.
func (nsd) fill(context.Context, *Server) error { return nil }

// add makes nsd read its configuration again, which no signal does.
func (nsd) add(ctx context.Context, s *Server, _ Zone) error {
	path, err := executable("nsd-control", "nsd", s.opts.Dir)
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, path, "-c", filepath.Join(s.opts.Dir, "nsd.conf"),
		"reconfig").CombinedOutput(); err != nil {
		return fmt.Errorf("nsd-control reconfig: %w: %s", err, out)
	}
	return nil
}

func (nsd) updates(context.Context, *Server) (int, error) {
	return 0, errors.New("nsd takes no updates (RFC 2136), so there are none to count")
}

// transferred reads "… zone example.org. received update to serial 7 at …"; how it was received is not said.
func (nsd) transferred(line string) (transfer, bool) {
	zone, ok := between(line, ": zone ", " received update to serial ")
	if !ok {
		return transfer{}, false
	}
	text, _ := between(line, " received update to serial ", " at ")
	serial, err := strconv.ParseUint(text, 10, 32)
	return transfer{zone: zone, serial: uint32(serial)}, err == nil
}

// stored finds the first of the transfers after which the server has all differences to what it serves now.
func (s *Server) stored(ctx context.Context, zone dnsname.Name, seen []transfer) (Transfers, error) {
	for i, t := range seen {
		if i == len(seen)-1 {
			break
		}
		whole, err := s.answersWhole(ctx, zone, t.serial)
		if err != nil {
			return Transfers{}, fmt.Errorf("asking nsd for the changes of %s since %d: %w", zone, t.serial, err)
		}
		if !whole {
			return Transfers{Whole: i + 1, Changes: len(seen) - i - 1}, nil
		}
	}
	return Transfers{Whole: len(seen)}, nil
}

// answersWhole asks the server for IXFR since a serial; an answer of differences begins with two SOA records (RFC 1995
// §4).
func (s *Server) answersWhole(ctx context.Context, zone dnsname.Name, since uint32) (bool, error) {
	m := new(dns.Msg)
	m.SetIxfr(zone.String(), since, ".", ".")
	c := dns.Client{Net: "tcp", Timeout: queryTimeout}
	if len(s.opts.Keys) > 0 {
		k := s.opts.Keys[0]
		m.SetTsig(k.Name.String(), k.Algorithm+".", 300, time.Now().Unix())
		c.TsigSecret = map[string]string{k.Name.String(): k.Secret}
	}
	first, _, err := c.ExchangeContext(ctx, m, s.Addr())
	if err != nil {
		return false, err
	}
	if first.Rcode != dns.RcodeSuccess || len(first.Answer) == 0 {
		return false, fmt.Errorf("it answered %s with %d records", dns.RcodeToString[first.Rcode], len(first.Answer))
	}
	if len(first.Answer) < 2 {
		return true, nil
	}
	_, soa := first.Answer[1].(*dns.SOA)
	return !soa, nil
}
