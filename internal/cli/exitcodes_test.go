package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExitCodesTellTroubleFromDifferences has commands end in each way. What goes wrong is never taken for a
// difference, by which scripts decide.
func TestExitCodesTellTroubleFromDifferences(t *testing.T) {
	const objects = "../../examples/quickstart"
	lossy := filepath.Join(t.TempDir(), "lossy")
	if err := os.WriteFile(lossy, []byte("@ 60 IN SOA a. b. 1 2 3 4 5\nx 60 IN NSEC y A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		args []string
		code int
	}{
		{"an unknown command", []string{"plann"}, 1},
		{"plan with a flag that there is not", []string{"plan", "--none"}, 1},
		{"plan of files that are not there", []string{"plan", "-f", "none", "--against", objects}, 1},
		{"plan of what is there", []string{"plan", "-f", objects, "--against", objects}, 0},
		{"plan of something else", []string{"plan", "-f", "../../examples/migrating", "--against", objects}, 2},
		{"diff with a flag that there is not", []string{"diff", "--none"}, 1},
		{"diff of zones that go nowhere", []string{"diff", "-f", objects}, 1},
		{"doctor with an argument", []string{"doctor", "x"}, 1},
		{"adopt without a zone", []string{"adopt"}, 1},
		{"explain without a name", []string{"explain"}, 1},
		{"explain of files that are not there", []string{"explain", "example.org", "-f", "none"}, 1},
		{"explain of a name that is not there", []string{"explain", "none.example.org", "-f", objects}, 0},
		{"tree of files that are not there", []string{"tree", "-f", "none"}, 1},
		{"export of a zone that is not there", []string{"export", "example.net", "-f", objects}, 1},
		{"export to a form that has no SOA", []string{"export", "example.org", "-f", objects, "--format", "octodns"}, 0},
		{"import of a file that is not there", []string{"import", "file", "none", "--origin", "example.org"}, 1},
		{"import that leaves something out", []string{"import", "file", lossy, "--origin", "example.org"}, 2},
		{"history of a cluster that is not there", []string{"history", "example.org", "--kubeconfig", "none"}, 1},
		{"freeze without a zone", []string{"freeze"}, 1},
		{"check with a finding", []string{"check", "-f", objects}, 1},
		{"check with a flag that there is not", []string{"check", "--none"}, 2},
		{"check of files that are not there", []string{"check", "-f", "none"}, 2},
		{"render of files that are not there", []string{"render", "-f", "none"}, 2},
		{"serve of files that are not there", []string{"serve", "-f", "none"}, 2},
	} {
		if code, out, said := run(t, c.args...); code != c.code {
			t.Errorf("%s: it exits with %d, not %d:\n%s%s", c.what, code, c.code, out, said)
		}
	}
}
