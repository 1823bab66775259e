package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestMasterFilesBecomeTheSameZone imports master files in the forms that RFCs and servers have them in, renders what
// comes of them, and has BIND say what the files hold: the zones are the same.
func TestMasterFilesBecomeTheSameZone(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/masterfiles/zones.txt")
	if err != nil || len(archive.Files) == 0 {
		t.Fatal("no master files", err)
	}
	for _, file := range archive.Files {
		t.Run(strings.ReplaceAll(file.Name, "/", "-"), func(t *testing.T) {
			code, manifests, said := runOn(t, string(file.Data), "import", "file", "-", "--origin", file.Name)
			if code != command.ExitDone {
				t.Fatalf("import exits with %d and says %s", code, said)
			}
			grant := "---\napiVersion: zonefold.dev/v1alpha1\nkind: Backend\nmetadata: {name: all}\nspec: {embedded: {}, " +
				"grants: [{namespaces: [default], zones: [\"" + file.Name + "\"]}]}\n" // which the root needs, and public suffixes
			code, out, said := runOn(t, manifests+grant, "render", "-f", "-", "-o", "json")
			if code != command.ExitDone || said != "" {
				t.Fatalf("render exits with %d and says %s", code, said)
			}
			if got, want := entriesIn(t, out), compiled(t, file); !slices.Equal(got, want) {
				t.Errorf("BIND has\n%s\nand render\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}

// TestFilesInQuotesAreIncluded imports a file that includes others by names in quotes, and compares with BIND.
func TestFilesInQuotesAreIncluded(t *testing.T) {
	t.Chdir(t.TempDir())
	text := []byte("$TTL 300\n@ SOA ns.example.net. h.example.net. 1 7200 900 1209600 300\n@ NS ns.example.net.\n" +
		"$INCLUDE \"sub/x.zone\" foo\n$INCLUDE \"sub/x (y).zone\" ; no origin\nafter A 192.0.2.3\n")
	err := errors.Join(os.Mkdir("sub", 0o755), os.WriteFile("db", text, 0o600),
		os.WriteFile("sub/x.zone", []byte("x A 192.0.2.1\n"), 0o600),
		os.WriteFile("sub/x (y).zone", []byte("y A 192.0.2.2\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	code, manifests, said := runOn(t, "", "import", "file", "db", "--origin", "example.org")
	if code != command.ExitDone {
		t.Fatalf("import exits with %d and says %s", code, said)
	}
	_, out, _ := runOn(t, manifests, "render", "-f", "-", "-o", "json")
	want := compiled(t, txtar.File{Name: "example.org", Data: text})
	if got := entriesIn(t, out); !slices.Equal(got, want) {
		t.Errorf("BIND has\n%s\nand render\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// TestObjectsOfTwoZonesHaveNamesOfTheirOwn imports zones that say the same of their names into one namespace: what is
// applied of one must not replace what is of the other.
func TestObjectsOfTwoZonesHaveNamesOfTheirOwn(t *testing.T) {
	const file = "$TTL 300\n@ SOA ns h 1 7200 900 1209600 300\n@ NS ns\nwww CNAME @\nns A 192.0.2.1\n" +
		"a AAAA 2001:db8::1\n_a CNAME @\ntext TXT one\n"
	for _, as := range []string{"kubizone", "bindy"} {
		seen := map[string]string{}
		for _, zone := range []string{"a.test", "b.test"} {
			code, out, said := runOn(t, file, "import", "file", "-", "--origin", zone, "--as", as, "-o", "json")
			var list struct {
				Items []struct {
					Kind     string
					Metadata struct{ Name string }
				}
			}
			if err := json.Unmarshal([]byte(out), &list); err != nil || code != command.ExitDone || len(list.Items) == 0 {
				t.Fatalf("import exits with %d and says %s: %v", code, said, err)
			}
			for _, o := range list.Items {
				name := o.Kind + " " + o.Metadata.Name
				if seen[name] != "" {
					t.Errorf("as %s, %s and %s have both a %s", as, seen[name], zone, name)
				}
				seen[name] = zone
			}
		}
	}
}

// compiled returns the records of a master file as BIND understands them, with the serial 1.
func compiled(t *testing.T, file txtar.File) []string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	load := exec.CommandContext(t.Context(), "named-compilezone", "-k", "ignore", "-n", "ignore", "-i", "none",
		"-m", "ignore", "-r", "ignore", "-s", "full", "-o", "-", file.Name, "/dev/stdin")
	load.Stdin = strings.NewReader(string(file.Data))
	var said strings.Builder
	load.Stderr = &said
	text, err := load.Output()
	if err != nil {
		t.Fatalf("named-compilezone for %s: %v: %s%s", out, err, text, said.String())
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 5 || words[2] != "IN" {
			t.Fatalf("named-compilezone writes %q", line)
		}
		typ, err := rr.ParseType(words[3])
		if err != nil {
			t.Fatal(err)
		}
		data := line
		for range 4 { // owner, TTL, class and type
			data = strings.TrimLeft(data, " \t")
			data = data[strings.IndexAny(data, " \t"):]
		}
		canonical, err := rr.ParseData(typ, strings.TrimSpace(data))
		if err != nil {
			t.Fatal(err)
		}
		if typ == rr.TypeSOA {
			soa, err := rr.ParseSOA(canonical)
			if err != nil {
				t.Fatal(err)
			}
			soa.Serial = 1
			canonical = soa.Data()
		}
		lines = append(lines, fmt.Sprintf("%s %s IN %s %s", mustName(words[0]), words[1], words[3], canonical))
	}
	slices.Sort(lines)
	return lines
}
