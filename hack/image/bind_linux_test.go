package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
)

func TestBINDImageHasBINDAndNoShell(t *testing.T) {
	release, err := release(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := makeArchive(t, "-tag", "bind9=9.18.99", "bind9")
	img := onlyImage(t, path, "docker.io/zonefold/bind9:"+release)
	again := onlyImage(t, path, "docker.io/zonefold/bind9:9.18.99")
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Architecture != runtime.GOARCH {
		t.Errorf("it is for %s", config.Architecture)
	}
	if diff := cmp.Diff(bindConfig(config.Config.Labels["org.opencontainers.image.version"]), config.Config); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	content := contents(t, img)
	if diff := cmp.Diff(content.names(), contents(t, again).names()); diff != "" {
		t.Errorf("the second tag is another image:\n%s", diff)
	}
	var runnable []string
	for name, f := range content {
		if strings.Contains(name, "bin/") && f.mode&0o111 != 0 {
			runnable = append(runnable, name)
		}
	}
	slices.Sort(runnable)
	if want := slices.Sorted(slices.Values(bindPrograms())); !slices.Equal(runnable, want) {
		t.Errorf("programs: %q, want %q and no shell", runnable, want)
	}
	for _, needed := range []string{"/var/lib/dpkg/status.d/libssl3", "/usr/share/doc/bind9/copyright"} {
		if len(content[needed].text) == 0 {
			t.Errorf("%s is missing", needed)
		}
	}
	if size := content.size(); size > 100<<20 {
		t.Errorf("it has %d octets", size)
	}
	if second := makeArchive(t, "-tag", "bind9=9.18.99", "bind9"); !bytes.Equal(mustRead(t, path), mustRead(t, second)) {
		t.Error("two archives of the same packages differ")
	}
}

// TestBINDServesWithAReadOnlyRoot runs the image's files as a container runtime does: as user 101, with no capability
// and a root that nothing can be written to. A zone is added by rndc, which needs the folder of new zones, the key and
// the plugins' LMDB.
func TestBINDServesWithAReadOnlyRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("changing the root folder and the user needs root; run: sudo go test ./hack/image")
	}
	release, err := release(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := container{root: t.TempDir(), config: t.TempDir(), cache: t.TempDir()}
	img := onlyImage(t, makeArchive(t, "bind9"), "docker.io/zonefold/bind9:"+release)
	in := mutate.Extract(img)
	defer in.Close()
	unpack(t, in, c.root)
	number := c.configure(t)
	if out, err := c.command(t, "named", "-V").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "BIND "+release) {
		t.Fatalf("named -V: %v\n%s", err, out)
	}
	if out, err := c.command(t, "named-checkconf", "-p", "/etc/bind/named.conf").CombinedOutput(); err != nil {
		t.Fatalf("named-checkconf: %v\n%s", err, out)
	}
	c.start(t)
	if out, err := c.command(t, "rndc", "-c", "/etc/bind/rndc.conf", "addzone",
		`a.example { type primary; file "a.example.zone"; };`).CombinedOutput(); err != nil {
		t.Fatalf("rndc addzone: %v\n%s", err, out)
	}
	zone, err := dnsname.Parse("a.example.")
	if err != nil {
		t.Fatal(err)
	}
	if serial, err := nameserver.At(number).Serial(t.Context(), zone); err != nil || serial != 7 {
		t.Errorf("serial %d (%v), want 7", serial, err)
	}
}

// A container is the folders of one: its root, and what is mounted at /etc/bind and /var/cache/bind.
type container struct{ root, config, cache string }

// configure writes what a pod of ours has, for free ports on loopback, and returns that of DNS.
func (c container) configure(t *testing.T) uint16 {
	t.Helper()
	var ports [2]uint16
	for i := range ports {
		number, release, err := nameserver.ClaimPort()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		ports[i] = number
	}
	const key = "key \"k\" { algorithm hmac-sha256; secret \"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\"; };\n"
	plugins, err := filepath.Glob("/usr/lib/*/bind/filter-aaaa.so")
	if err != nil || len(plugins) != 1 {
		t.Fatalf("plugins: %q, %v", plugins, err)
	}
	for path, text := range map[string]string{
		filepath.Join(c.config, "named.conf"): key + fmt.Sprintf(
			"controls { inet 127.0.0.1 port %d allow { 127.0.0.1; } keys { k; }; };\n", ports[1]) +
			fmt.Sprintf("options { directory \"/var/cache/bind\"; pid-file none; session-keyfile none; lock-file none; "+
				"allow-new-zones yes; recursion no;\n"+
				"dnssec-validation no; listen-on port %d { 127.0.0.1; }; listen-on-v6 { none; }; };\nplugin query \"%s\" { "+
				"filter-aaaa-on-v4 no; };\n", ports[0], plugins[0]),
		filepath.Join(c.config, "rndc.conf"): key + fmt.Sprintf(
			"options { default-server 127.0.0.1; default-port %d; default-key k; };\n", ports[1]),
		filepath.Join(c.cache, "a.example.zone"): "$TTL 60\n@ SOA ns.a.example. hostmaster.a.example. 7 3600 600 86400 " +
			"60\n@ NS ns.b.example.\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{c.root, c.config, c.cache} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(c.cache, bindUser, bindUser); err != nil {
		t.Fatal(err)
	}
	return ports[0]
}

// command is a program of the container, in a mount namespace of its own that ends with it.
func (c container) command(t *testing.T, program ...string) *exec.Cmd {
	t.Helper()
	const script = `root=$1 config=$2 cache=$3 user=$4; shift 4
		mount --bind "$root" "$root"; mount -o remount,ro,bind "$root"; mount -t tmpfs tmpfs "$root/tmp"
		mount --bind "$config" "$root/etc/bind"; mount -o remount,ro,bind "$root/etc/bind"; mount --bind "$cache" "$root/var/cache/bind"
		if touch "$root/written" 2>/dev/null; then echo the root file system is not read-only; exit 1; fi
		exec chroot --userspec="$user" "$root" "$@"`
	args := []string{"--mount", "--propagation", "private", "sh", "-ec", script, "sh", c.root, c.config, c.cache,
		fmt.Sprintf("%d:%d", bindUser, bindUser)}
	cmd := exec.CommandContext(t.Context(), "unshare", append(args, program...)...)
	cmd.Env = bindConfig("").Env
	cmd.Env[0] += ":/sbin:/bin" // unshare, mount and chroot are the machine's
	return cmd
}

// start runs named as pods do and waits until it says that it runs.
func (c container) start(t *testing.T) {
	t.Helper()
	cmd := c.command(t, "named", "-c", "/etc/bind/named.conf", "-g")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if strings.HasSuffix(lines.Text(), " running") {
			t.Cleanup(func() { // the test's context has ended and killed it
				for lines.Scan() { // until it is gone
				}
				_ = cmd.Wait()
			})
			return
		}
	}
	t.Fatalf("named ended: %v\n%s", cmd.Wait(), said.String())
}
