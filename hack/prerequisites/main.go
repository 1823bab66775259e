// Command prerequisites sees to it that the programs which tests, demo and benchmark start are on the machine, and with
// -acceptance those of "make acceptance", too. Where all are, it does nothing. On Debian as root it installs what is
// missing, without starting any service; otherwise it says what to install and exits 1.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// A need is one Debian package and the file that shows it is there, however it came: a program's name, or a pattern
// with a slash for what is not on PATH.
type need struct{ pkg, shows, why string }

func needs() []need {
	all := []need{
		{"gcc", "gcc", "the race detector needs cgo"},
		{"make", "make", "runs the targets"},
		{"bind9", "named", "a name server that the tests deliver to"},
		{"bind9-utils", "named-checkzone", "reads the zones that render prints"},
		{"bind9-dnsutils", "dig", "asks name servers"},
		{"knot", "knotd", "a name server that the tests deliver to"},
		{"knot-dnsutils", "kdig", "asks name servers"},
		{"nsd", "nsd", "a name server that answers are compared with"},
		{"dnsperf", "dnsperf", "measures name servers"},
		{"pdns-server", "pdns_server", "a name server with an HTTP API that the tests deliver to"},
		{"pdns-backend-sqlite3", "/usr/lib/*/pdns/libgsqlite3backend.so", "PowerDNS's store"},
		{"sqlite3", "sqlite3", "makes that store"},
		{"prometheus", "promtool", "says when alerts fire"},
		{"chromium", "chromium", "looks at the pages of the console"},
		{"fonts-dejavu-core", "/usr/share/fonts/*/dejavu/DejaVuSans.ttf", "the letters in the pictures of the console"},
		{"awscli", "/usr/bin/aws", "drives the server that stands for Route 53, as its own users do"},
		{"wbritish", "/usr/share/dict/british-english", "the words that the documentation may use"},
	}
	if runtime.GOOS != "linux" {
		return all
	}
	return append(all, []need{
		{"containerd", "containerd", "runs the pods of the tests' node"},
		{"crun", "crun", "runs their containers"},
		{"containernetworking-plugins", "/usr/lib/cni/ptp", "connects them"},
		{"nftables", "nft", "balances the node's Services"},
		{"iproute2", "ip", "connects the node to the machine"},
	}...)
}

// acceptanceNeeds are what test/acceptance needs besides.
func acceptanceNeeds() []need {
	return []need{
		{"pebble", "pebble", "gives certificates to the clients of dynamic updates"},
		{"lego", "lego", "a client of dynamic updates that orders certificates"},
		{"certbot", "certbot", "another one"},
		{"python3-certbot-dns-rfc2136", "/usr/lib/python3/dist-packages/certbot_dns_rfc2136", "how that updates zones"},
		{"kea-dhcp-ddns-server", "kea-dhcp-ddns", "a client of dynamic updates that DHCP servers have"},
		{"npm", "npm", "brings a server that behaves as DynamoDB does"},
		{"util-linux", "unshare", "gives one of these a resolver of its own"},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	acceptance := flag.Bool("acceptance", false, "also what the tests of test/acceptance need")
	flag.Parse()
	all := needs()
	if *acceptance {
		all = append(all, acceptanceNeeds()...)
	}
	if err := run(ctx, all, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "prerequisites:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, all []need, log io.Writer) error {
	absent := missing(all)
	if len(absent) == 0 {
		return nil
	}
	var names []string
	for _, n := range absent {
		fmt.Fprintf(log, "missing: %-22s %s\n", n.pkg, n.why)
		names = append(names, n.pkg)
	}
	install := "apt-get install --no-install-recommends -y " + strings.Join(names, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this machine has no apt-get; install what provides these Debian packages: %s", strings.Join(names,
			" "))
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("installing needs root; run: sudo apt-get update && sudo %s\n"+
			"(Debian starts the services of new packages; the tests bring their own, so stop those: sudo systemctl disable "+
			"--now named knot pdns)", install)
	}
	if err := apt(ctx, names, log); err != nil {
		return err
	}
	var still []string
	for _, n := range missing(all) {
		still = append(still, n.pkg)
	}
	if len(still) > 0 {
		return fmt.Errorf("apt-get succeeded, yet these are not there: %s", strings.Join(still, " "))
	}
	return nil
}

func missing(all []need) []need {
	var out []need
	for _, n := range all {
		if !present(n.shows) {
			out = append(out, n)
		}
	}
	return out
}

// present looks in the folders of system programs too: they are not on every user's PATH.
func present(shows string) bool {
	if strings.Contains(shows, "/") {
		found, err := filepath.Glob(shows)
		return err == nil && len(found) > 0
	}
	if _, err := exec.LookPath(shows); err == nil {
		return true
	}
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/local/sbin"} {
		if info, err := os.Stat(filepath.Join(dir, shows)); err == nil && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// apt installs packages. What apt-get prints is shown only when it fails.
func apt(ctx context.Context, names []string, log io.Writer) (err error) {
	allow, err := denyServices(log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, allow()) }()
	for _, args := range [][]string{{"update"}, append([]string{"install", "--no-install-recommends", "-y"}, names...)} {
		fmt.Fprintln(log, "running: apt-get", strings.Join(args, " "))
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, said.String())
		}
	}
	return nil
}

// policyFile is asked by Debian's maintainer scripts before they start a service; 101 means "not allowed"
// (invoke-rc.d(8)).
const policyFile = "/usr/sbin/policy-rc.d"

// denyServices keeps the services of new packages from starting, until the returned function is called. A policy that
// the machine has already, as container images do, is left as it is.
func denyServices(log io.Writer) (allow func() error, err error) {
	if _, err := os.Lstat(policyFile); err == nil {
		fmt.Fprintf(log, "%s exists and decides whether services start\n", policyFile)
		return func() error { return nil }, nil
	}
	text := "#!/bin/sh\n# Made by zonefold's hack/prerequisites for one run of apt-get; remove it if you find " +
		"it.\nexit 101\n"
	if err := os.WriteFile(policyFile, []byte(text), 0o755); err != nil {
		return nil, fmt.Errorf("keeping services from starting: %w", err)
	}
	return func() error { return os.Remove(policyFile) }, nil
}
