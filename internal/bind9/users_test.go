package bind9

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/nameserver"
)

// manualMain is the named.conf that the manual tells users to begin with.
func manualMain(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/bindy.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?m)^```\n((include .*\n)+)```$").FindSubmatch(text)
	if block == nil {
		t.Fatal("docs/bindy.md has no named.conf")
	}
	return string(block[1])
}

// TestAUsersMainFile has a named.conf from a ConfigMap of the user's in the place of ours. Who may update and transfer
// is said by lists that stand in the files beside the keys.
func TestAUsersMainFile(t *testing.T) {
	const existing = `include "/etc/bind/named.conf.options"; include "/etc/bind/keys/rndc.key";
		controls { inet 127.0.0.1 port PORT allow { localhost; } keys { "bindy-operator"; }; };`
	for _, c := range []struct{ name, main, want string }{
		{"as in the manual", manualMain(t), ""},
		{"as the existing Bindy makes it", existing, "undefined ACL 'bindy-transfer'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := claimNamed(t)
			if err := n.configured(t, Options{}); err != nil {
				t.Fatal(err)
			}
			n.write(t, "etc/named.conf", strings.NewReplacer("/etc/bind", n.dir+"/etc", "PORT",
				strconv.Itoa(int(n.control))).Replace(c.main))
			named, err := nameserver.StartNamed(t.Context(), n.dir, filepath.Join(n.dir, "named.conf"), nil,
				func(ctx context.Context) error {
					_, err := n.Do(ctx, must(ServerCommand("status")))
					return err
				})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("it does not say %q: %v", c.want, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			n.Named = named
			t.Cleanup(named.Kill)
			n.write(t, "data/good.db", goodZone)
			lists := Zone{Type: Primary, File: "good.db", AllowUpdate: ACL{must(ListElement(UpdateList))},
				AllowTransfer: ACL{must(ListElement(TransferList))}}
			n.do(t, must(AddZone("good.example", lists)))
		})
	}
}
