package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServerConfigurationsLoad has the name servers' own programs read the examples of their configuration.
func TestServerConfigurationsLoad(t *testing.T) {
	checked := map[string]int{}
	for _, p := range pages(t) {
		for language, check := range map[string]func(file string) *exec.Cmd{
			"named": func(file string) *exec.Cmd {
				return exec.CommandContext(t.Context(), program(t, "named-checkconf"), file)
			},
			"knot": func(file string) *exec.Cmd {
				return exec.CommandContext(t.Context(), program(t, "knotc"), "-c", file, "conf-check")
			},
			"nsd": func(file string) *exec.Cmd {
				return exec.CommandContext(t.Context(), program(t, "nsd-checkconf"), file)
			},
			"zone": func(file string) *exec.Cmd {
				return exec.CommandContext(t.Context(), program(t, "named-checkzone"), "example.org", file)
			},
			"powerdns": func(file string) *exec.Cmd {
				return exec.CommandContext(t.Context(), program(t, "pdns_server"), "--config-dir="+filepath.Dir(file),
					"--config=check")
			},
		} {
			for _, b := range p.blocks(language) {
				checked[language]++
				file := filepath.Join(t.TempDir(), "pdns.conf")
				if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := check(file).CombinedOutput(); err != nil {
					t.Errorf("%s:%d: %v\n%s", p.path, b.line, err, out)
				}
			}
		}
	}
	if len(checked) < 5 {
		t.Errorf("checked %v, and there should be an example of each kind", checked)
	}
}

// program finds one of the programs that hack/prerequisites installs; daemons are not on every user's PATH.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, folder := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if path := filepath.Join(folder, name); executable(path) {
			return path
		}
	}
	t.Fatalf("%s is not installed; run: go run ./hack/prerequisites", strings.TrimSpace(name))
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}
