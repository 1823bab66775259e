package bind9

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/nameserver"
)

// A testNamed is a named that runs with configuration text of a test, and a client of its control channel.
type testNamed struct {
	*nameserver.Named
	Client
	dir          string
	dns, control uint16
	current      []Key // what Client.Keys returns
}

// startNamed starts named with key "a" for everything and no zones but those that are added. more is put after the
// options.
func startNamed(t testing.TB, more string) *testNamed {
	t.Helper()
	n := claimNamed(t)
	n.current = []Key{testKey("a")}
	n.write(t, "named.conf", fmt.Sprintf(`%s
options { directory "%s"; pid-file none; session-keyfile none; lock-file none; listen-on port %d { 127.0.0.1; }; listen-on-v6 { none; };
	allow-new-zones yes; recursion no; dnssec-validation no; empty-zones-enable no; };
controls { inet 127.0.0.1 port %d allow { 127.0.0.1; } keys { "a"; }; };
%s`, must(RenderKeys(testKey("a"))), n.dir, n.dns, n.control, more))
	n.start(t)
	return n
}

// claimNamed takes ports and a folder.
func claimNamed(t testing.TB) *testNamed {
	t.Helper()
	n := &testNamed{dir: t.TempDir()}
	for _, port := range []*uint16{&n.dns, &n.control} {
		number, release, err := nameserver.ClaimPort()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		*port = number
	}
	n.Address = fmt.Sprintf("127.0.0.1:%d", n.control)
	n.Keys = func() ([]Key, error) { return n.current, nil }
	n.Now = time.Now
	return n
}

// start waits until the control channel answers.
func (n *testNamed) start(t testing.TB) {
	t.Helper()
	named, err := nameserver.StartNamed(context.Background(), n.dir, filepath.Join(n.dir, "named.conf"), nil,
		func(ctx context.Context) error {
			_, err := n.Do(ctx, must(ServerCommand("status")))
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	n.Named = named
	t.Cleanup(named.Kill)
}

func (n *testNamed) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(n.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// do gives a command that has to succeed.
func (n *testNamed) do(t testing.TB, c Command) string {
	t.Helper()
	text, err := n.Do(context.Background(), c)
	if err != nil {
		t.Fatalf("%v\n%s", err, n.Log())
	}
	return text
}

// goodZone is the content of a zone that loads.
const goodZone = "$TTL 300\n@ SOA ns.other. h.other. 1 3600 600 86400 300\n@ NS ns.other.\n"
