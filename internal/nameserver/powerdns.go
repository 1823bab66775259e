package nameserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// PowerDNS is a running PowerDNS with its HTTP API.
type PowerDNS struct {
	*Server
	// URL is the API's address, without a path.
	URL string
	// APIKey is the value of the X-API-Key header.
	APIKey string
}

// apiKey protects nothing: the API listens on loopback, for a test.
const apiKey = "zonefold-test-key"

// StartPowerDNS starts pdns_server with its SQLite backend and its HTTP API, with the package's default for body sizes
// and without caches, and waits until it answers for every zone. A query that PowerDNS reads while it applies a change
// may leave the old records in its cache behind the purge, and it would answer with them for another 20 seconds. It is
// written to over the API and transfers to loopback, so that Options.Keys have no meaning for it.
func StartPowerDNS(ctx context.Context, opts Options) (*PowerDNS, error) {
	opts.Keys = nil
	s, err := start(ctx, opts, pdns{})
	if err != nil {
		return nil, err
	}
	return &PowerDNS{Server: s, URL: apiURL(s), APIKey: apiKey}, nil
}

// Patch changes sets of a zone. They are written as PowerDNS's API has them: {"rrsets": [...]}.
func (p *PowerDNS) Patch(ctx context.Context, zone, sets string) error {
	return apiCall(ctx, http.MethodPatch, p.URL+"/api/v1/servers/localhost/zones/"+zone, []byte(sets))
}

type pdns struct{}

func apiURL(s *Server) string {
	return "http://" + netip.AddrPortFrom(loopback, s.control.number).String()
}

func (pdns) program() (string, string) { return "pdns_server", "pdns-server pdns-backend-sqlite3" }

func (pdns) follows() (zones, catalogs bool) { return false, false }

func (pdns) transferred(string) (transfer, bool) { return transfer{}, false }

func (pdns) configure(ctx context.Context, s *Server) ([]string, error) {
	database := filepath.Join(s.opts.Dir, "pdns.sqlite3")
	conf := fmt.Sprintf(`launch=gsqlite3
gsqlite3-database=%s
local-address=%s
local-port=%d
socket-dir=%s
daemon=no
guardian=no
disable-syslog=yes
loglevel=6
api=yes
api-key=%s
webserver=yes
webserver-address=%s
webserver-port=%d
webserver-allow-from=%s
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
%s
`, database, loopback, s.dns.number, s.opts.Dir, apiKey, loopback, s.control.number, loopback, s.opts.Extra)
	if err := os.WriteFile(filepath.Join(s.opts.Dir, "pdns.conf"), []byte(conf), 0o600); err != nil {
		return nil, err
	}
	args := []string{"--config-dir=" + s.opts.Dir}
	if _, err := os.Stat(database); err == nil {
		return args, nil
	}
	return args, createDatabase(ctx, s.opts.Dir, database)
}

// createDatabase makes the database from the schema that the package brings. An empty file is an empty database.
func createDatabase(ctx context.Context, dir, database string) error {
	schema, err := os.ReadFile("/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql")
	if err != nil {
		return fmt.Errorf("reading the schema of PowerDNS (Debian: apt-get install pdns-backend-sqlite3): %w", err)
	}
	if err := os.WriteFile(database, nil, 0o600); err != nil {
		return err
	}
	args := []string{"--config-dir=" + dir, "backend-cmd", "gsqlite3"}
	for statement := range strings.SplitSeq(string(schema), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			args = append(args, statement)
		}
	}
	path, err := executable("pdnsutil", "pdns-server", dir)
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, path, args...).CombinedOutput(); err != nil {
		os.Remove(database)
		return fmt.Errorf("creating the database of PowerDNS: %w: %s", err, out)
	}
	return nil
}

// fill creates the zones over the API.
func (f pdns) fill(ctx context.Context, s *Server) error {
	for _, z := range s.zones {
		if err := f.add(ctx, s, z); err != nil {
			return fmt.Errorf("creating zone %s: %w", z.Name, err)
		}
	}
	return nil
}

// add creates a zone whose serial only its writer changes.
func (pdns) add(ctx context.Context, s *Server, z Zone) error {
	body, err := json.Marshal(map[string]any{
		"name": z.Name.String(), "kind": "Native", "nameservers": []string{}, "zone": z.text(), "soa_edit_api": "",
	})
	if err != nil {
		return err
	}
	return apiCall(ctx, http.MethodPost, apiURL(s)+"/api/v1/servers/localhost/zones", body)
}

// apiCall makes one call that must succeed.
func apiCall(ctx context.Context, method, url string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-API-Key", apiKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16)) // only for the message
		return fmt.Errorf("%s %s: HTTP %d: %s", method, url, resp.StatusCode, text)
	}
	return nil
}

// updates counts the lines of the web server's log that report a request which writes. A line is written after its
// answer, so a request of our own goes last, for a path that does not exist, and its line is waited for. Requests have
// threads of their own all the same: one that was answered a moment ago may still be missing.
func (pdns) updates(ctx context.Context, s *Server) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	path := fmt.Sprintf("/marker/%d", s.marker.Add(1))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, apiURL(s)+path, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("counting the requests of pdns_server: %w", err)
	}
	resp.Body.Close()
	seen := func(context.Context) error {
		if !strings.Contains(s.proc.log.String(), path+" ") {
			return errors.New("pdns_server does not log its requests")
		}
		return nil
	}
	if err := s.poll(ctx, seen); err != nil {
		return 0, err
	}
	s.proc.log.mu.Lock()
	defer s.proc.log.mu.Unlock()
	return s.proc.log.writes, nil
}
