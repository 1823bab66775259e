package nameserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// StartBIND starts BIND's named and waits until it answers for every zone. The zones are dynamic, with journals.
func StartBIND(ctx context.Context, opts Options) (*Server, error) { return start(ctx, opts, bind{}) }

type bind struct{}

func (bind) program() (string, string) { return "named", "bind9" }

func (bind) follows() (zones, catalogs bool) { return true, true }

// configure writes named.conf and the files of new zones. Existing zone files belong to named and its journals.
func (bind) configure(_ context.Context, s *Server) ([]string, error) {
	text, err := bindConfig(s)
	if err != nil {
		return nil, err
	}
	if err := writeZones(s); err != nil {
		return nil, err
	}
	conf := filepath.Join(s.opts.Dir, "named.conf")
	// -g would log to the standard error stream too, and ignore the logging statement.
	return []string{"-f", "-L", "/dev/stderr", "-c", conf}, os.WriteFile(conf, []byte(text), 0o600)
}

// bindConfig is named.conf. Without a controls statement that is empty named would take the machine's rndc port;
// the update category would write one line for each changed record. Notifications go out, and secondary zones are asked
// for, without named's rate limits and delays.
func bindConfig(s *Server) (string, error) {
	dir, err := quoted(s.opts.Dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `options {
	directory %s;
	pid-file "named.pid";
	session-keyfile "session.key";
	lock-file none;
	managed-keys-directory %s;
	listen-on port %d { %s; };
	listen-on-v6 { none; };
	recursion no;
	notify no;
	notify-delay 0;
	notify-rate 10000;
	startup-notify-rate 10000;
	serial-query-rate 10000;
	transfers-in 100;
	transfers-per-ns 100;
	dnssec-validation no;
	empty-zones-enable no;
	%s%s
};
controls { };
statistics-channels { inet %s port %d allow { %s; }; };
logging {
	channel info { stderr; severity info; print-time yes; print-category yes; print-severity yes; };
	channel transfers { stderr; severity debug 3; print-time yes; print-category yes; print-severity yes; };
	category default { info; };
	category update { null; };
	category xfer-in { transfers; };
};
`, dir, dir, s.dns.number, loopback, bindCatalog(s.opts), s.opts.Extra, loopback, s.control.number, loopback)
	var keys strings.Builder
	for _, k := range s.opts.keys() {
		fmt.Fprintf(&b, "key \"%s\" { algorithm %s; secret \"%s\"; };\n", k.Name, k.Algorithm, k.Secret)
	}
	for _, k := range s.opts.Keys {
		fmt.Fprintf(&keys, " key \"%s\";", k.Name)
	}
	for i, z := range s.zones {
		fmt.Fprintf(&b, "zone \"%s\" { type primary; file \"%s\"; allow-update {%s }; allow-transfer {%s }; %s };\n",
			z.Name, zoneFile(i), orNone(keys.String()), orNone(keys.String()), z.Extra)
	}
	for i, z := range s.opts.followed() {
		fmt.Fprintf(&b, "zone \"%s\" { type secondary; file \"%s\"; primaries { %s }; allow-transfer {%s }; };\n",
			z, followedFile(i), bindPrimary(s.opts.Follow), orNone(keys.String()))
	}
	return b.String(), nil
}

// bindPrimary is an element of a primaries list. Notifications are taken from its address.
func bindPrimary(f *Follow) string {
	primary := fmt.Sprintf("%s port %d", f.Primary.Addr(), f.Primary.Port())
	if f.Key != nil {
		primary += fmt.Sprintf(" key \"%s\"", f.Key.Name)
	}
	return primary + ";"
}

// bindCatalog goes into options{}: there, who may transfer holds for the members too.
func bindCatalog(o Options) string {
	if o.Follow == nil || o.Follow.Catalog.IsZero() {
		return ""
	}
	var keys strings.Builder
	for _, k := range o.Keys {
		fmt.Fprintf(&keys, " key \"%s\";", k.Name)
	}
	return fmt.Sprintf("catalog-zones { zone \"%s\" default-primaries { %s } in-memory yes min-update-interval 0; "+
		"};\n\tallow-transfer {%s };\n\t",
		o.Follow.Catalog, bindPrimary(o.Follow), orNone(keys.String()))
}

// orNone is an address match list that is never empty.
func orNone(list string) string {
	if list == "" {
		return " none;"
	}
	return list
}

// fill has nothing to do: the configuration names every zone.
func (bind) fill(context.Context, *Server) error { return nil }

// add makes named read its configuration again (SIGHUP).
func (bind) add(_ context.Context, s *Server, _ Zone) error {
	return s.proc.cmd.Process.Signal(syscall.SIGHUP)
}

// transferred reads "… transfer of 'example.org/IN' from …: got incremental response".
func (bind) transferred(line string) (transfer, bool) {
	zone, ok := between(line, "transfer of '", "/IN' from ")
	switch {
	case !ok:
		return transfer{}, false
	case strings.HasSuffix(line, ": got incremental response"):
		return transfer{zone: zone}, true
	case strings.HasSuffix(line, ": got nonincremental response"):
		return transfer{zone: zone, whole: true}, true
	}
	return transfer{}, false
}

// updates reads named's own counter of received UPDATE messages from its statistics channel.
func (bind) updates(ctx context.Context, s *Server) (int, error) {
	url := "http://" + netip.AddrPortFrom(loopback, s.control.number).String() + "/json/v1/server"
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("reading the statistics of named: %w", err)
	}
	defer resp.Body.Close()
	var stats struct {
		OpCodes map[string]int `json:"opcodes"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil {
		return 0, fmt.Errorf("reading the statistics of named: %w", err)
	}
	if stats.OpCodes == nil {
		return 0, fmt.Errorf("the statistics of named (HTTP %d) have no opcodes", resp.StatusCode)
	}
	return stats.OpCodes["UPDATE"], nil
}

// zoneFile names the file of the i-th zone; zone names may hold characters that file names cannot.
func zoneFile(i int) string { return fmt.Sprintf("%d.zone", i) }

// writeZones writes the file of every zone that has none yet.
func writeZones(s *Server) error {
	for i, z := range s.zones {
		path := filepath.Join(s.opts.Dir, zoneFile(i))
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.WriteFile(path, []byte(z.text()), 0o600); err != nil {
			return err
		}
	}
	return nil
}
