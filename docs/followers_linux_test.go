package docs_test

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A follower is a name server that is started with an example of docs/embedded.md.
type follower struct {
	language string
	program  string
	args     []string
	// ground puts around an example what a machine has in other files: folders and listening addresses.
	ground func(example, dir string, port uint16) string
	// primary writes an address with a port as the program does.
	primary func(netip.AddrPort) string
	// first is what has to be done before it starts.
	first func(t *testing.T, dir string, commands []string)
}

func at(separator string) func(netip.AddrPort) string {
	return func(a netip.AddrPort) string { return fmt.Sprintf("%s%s%d", a.Addr(), separator, a.Port()) }
}

func followers() []follower {
	return []follower{
		{language: "named", program: "named", args: []string{"-f", "-L", "/dev/stderr", "-c", "conf"}, primary: at(" port "),
			ground: func(example, dir string, port uint16) string {
				options := fmt.Sprintf("options {\n\tdirectory %q; pid-file none; session-keyfile none; lock-file none; "+
					"recursion no; dnssec-validation no;\n"+
					"\tlisten-on port %d { 127.0.0.1; }; listen-on-v6 { none; };\n", dir, port)
				return "controls { };\n" + strings.Replace(example, "options {\n", options, 1)
			}},
		{language: "knot", program: "knotd", args: []string{"-c", "conf"}, primary: at("@"),
			ground: func(example, dir string, port uint16) string {
				return fmt.Sprintf("server:\n    rundir: %q\n    listen: 127.0.0.1@%d\ndatabase:\n    storage: %q\nlog:\n  - "+
					"target: stderr\n    any: info\n", dir, port, dir) +
					strings.ReplaceAll(example, "/var/lib/knot", dir)
			}},
		{language: "nsd", program: "nsd", args: []string{"-d", "-c", "conf"}, primary: at("@"),
			ground: func(example, dir string, port uint16) string {
				return fmt.Sprintf("server:\n    ip-address: 127.0.0.1@%d\n    username: \"\"\n    zonesdir: %q\n    xfrdir: "+
					"%q\n    database: \"\"\n    pidfile: \"nsd.pid\"\n"+
					"    xfrdfile: \"xfrd.state\"\n    zonelistfile: \"zone.list\"\n    server-count: 1\n    verbosity: "+
					"2\nremote-control:\n    control-enable: no\n", port, dir, dir) + example
			}},
		{language: "powerdns", program: "pdns_server", args: []string{"--config-dir=."}, primary: at(":"), first: pdnsutil,
			ground: func(example, dir string, port uint16) string {
				return fmt.Sprintf("local-address=127.0.0.1\nlocal-port=%d\nsocket-dir=%s\n", port, dir) + strings.NewReplacer(
					"/var/lib/powerdns", dir, "10.0.0.0/8", "127.0.0.0/8").Replace(example)
			}},
	}
}

// pdnsutil makes the database and carries out the commands of the page.
func pdnsutil(t *testing.T, dir string, commands []string) {
	t.Helper()
	schema, err := os.ReadFile("/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql")
	if err != nil {
		t.Fatal(err)
	}
	create := exec.CommandContext(t.Context(), program(t, "sqlite3"), filepath.Join(dir, "pdns.sqlite3"))
	create.Stdin = bytes.NewReader(schema)
	all := []*exec.Cmd{create}
	for _, line := range commands {
		words := strings.Fields(line)
		all = append(all, exec.CommandContext(t.Context(), program(t, words[0]),
			append([]string{"--config-dir=" + dir}, words[1:]...)...))
	}
	if len(all) < 4 {
		t.Errorf("the page has the commands %q, which cannot be all", commands)
	}
	for _, cmd := range all {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
}

// TestFollowersFollow starts each name server with the page's configuration, and expects that it copies a zone and,
// because it is told, a change of it.
func TestFollowersFollow(t *testing.T) {
	page := page{"docs/embedded.md", read(t, "docs/embedded.md")}
	for _, f := range followers() {
		t.Run(f.program, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			own := serveExample(t)
			number, release, err := nameserver.ClaimPort()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(release)
			policy := page.policy(t, number)
			if err := own.SetPolicy("b", policy); err != nil {
				t.Fatal(err)
			}
			awaitCatalog(ctx, t, own, policy.Catalog)
			f.start(t, page, own.Addrs()[1], number)
			server := nameserver.At(number)
			for _, serial := range []uint32{1, 2} {
				if serial > 1 {
					deliver(t, own, serial)
				}
				if err := server.Await(ctx, exampleName(t, "example.org."), serial); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// awaitCatalog waits until the catalog zone is there, as it is in the second after the start: BIND, told that it is
// not, comes again after a minute.
func awaitCatalog(ctx context.Context, t *testing.T, own *embedded.Server, catalog dnsname.Name) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for own.Catalogue().Zone(catalog) == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("there is no catalog zone")
		}
	}
}

// serveExample starts a name server such as the operator's, with one zone. It tells followers from another address than
// they ask it at, as the operator does in a cluster.
func serveExample(t *testing.T) *embedded.Server {
	t.Helper()
	own, err := embedded.Serve(t.Context(), embedded.Options{
		Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.2:0"), netip.MustParseAddrPort("127.0.0.1:0")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Second)
		defer cancel()
		_ = own.Close(ctx) // connections that followers keep are cut off
	})
	deliver(t, own, 1)
	own.Group("b").Complete()
	return own
}

func exampleName(t *testing.T, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// deliver gives the zone a content with a serial. Nobody asks for it by himself for a day.
func deliver(t *testing.T, own *embedded.Server, serial uint32) {
	t.Helper()
	zone := exampleName(t, "example.org.")
	key := rr.Key{Name: exampleName(t, "www.example.org."), Type: rr.TypeA}
	soa := rr.SOA{MName: zone, RName: zone, Serial: serial, Refresh: 86400, Retry: 7200, Expire: 3600000, Minimum: 60,
		TTL: 60}
	_, err := own.Group("b").Apply(t.Context(), zone, backend.Batch{
		SOA: &soa, Create: true, Changes: []plan.Change{
			{Key: key, Want: rr.NewSet(key, 60, fmt.Sprintf("192.0.2.%d", serial))}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// policy is what the page's Backend says, with the follower's address.
func (p page) policy(t *testing.T, port uint16) embedded.Policy {
	t.Helper()
	var b zonefold.Backend
	var secret corev1.Secret
	for _, block := range p.blocks("yaml") {
		if documents := strings.Split(block.text, "\n---\n"); len(documents) == 2 {
			strictly(t, documents[0], &secret)
			strictly(t, documents[1], &b)
		}
	}
	if b.Spec.Embedded == nil || len(b.Spec.Embedded.Transfer) != 1 || len(b.Spec.Embedded.Notify) != 1 {
		t.Fatal("the page has no Backend with one follower")
	}
	spec := b.Spec.Embedded
	key := func(tsig *zonefold.TSIG) *embedded.Key {
		if tsig.SecretRef.Name != secret.Name {
			t.Fatalf("the page has no Secret %s", tsig.SecretRef.Name)
		}
		return &embedded.Key{Name: exampleName(t, tsig.KeyName), Algorithm: tsig.Algorithm,
			Secret: secret.StringData["secret"]}
	}
	return embedded.Policy{
		Catalog:  exampleName(t, spec.CatalogZone),
		Transfer: []embedded.Rule{{Key: key(spec.Transfer[0].TSIG)}},
		Notify: []embedded.Destination{{Addr: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port),
			Key: key(spec.Notify[0].TSIG)}},
	}
}

// start starts the program with the page's example for it.
func (f follower) start(t *testing.T, p page, primary netip.AddrPort, port uint16) {
	t.Helper()
	examples := p.blocks(f.language)
	if len(examples) != 1 || !strings.Contains(p.text, "192.0.2.53") {
		t.Fatalf("%s has %d examples for %s", p.path, len(examples), f.program)
	}
	dir := t.TempDir()
	own := func(text string) string { return strings.ReplaceAll(text, "192.0.2.53", f.primary(primary)) }
	file := "conf"
	if f.language == "powerdns" {
		file = "pdns.conf"
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(f.ground(own(examples[0].text), dir, port)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if f.first != nil {
		var commands []string
		for _, b := range p.blocks("sh") {
			commands = append(commands, strings.Split(strings.TrimSpace(own(b.text)), "\n")...)
		}
		f.first(t, dir, commands)
	}
	var log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program(t, f.program), f.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", f.program, log.String())
		}
	})
}
