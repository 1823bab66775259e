package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// FuzzRender gives render any text: it never panics, and every line that it prints is a
// comment, a directive of its own, or a record that can be read back.
func FuzzRender(f *testing.F) {
	f.Add(good)
	f.Add("apiVersion: kubi.zone/v1alpha1\nkind: Zone\nmetadata: {name: a}\nspec: {domainName: ., delegations: " +
		"[{records: [{pattern: '*'}]}]}\n---\n" +
		"apiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {name: \"a\\nb\"}\nspec: {domainName: 'a\\;.b.', type: " +
		"TXT, rdata: '\"\\\"\\010\" x'}\n")
	f.Add("--- &a\napiVersion: v1\nkind: List\nitems: [*a]\n...\n%YAML 1.1\n---\n{a: 1, a: 2}\n")
	for _, pattern := range []string{"../../examples/quickstart/*.yaml", "testdata/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds at %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, out, _ := runOn(t, text, "render", "-f", "-")
		if code != command.ExitDone && code != command.ExitUnreadable {
			t.Errorf("the exit code is %d", code)
		}
		for line := range strings.Lines(out) {
			if err := readable(strings.TrimSuffix(line, "\n")); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	})
}

// readable reports whether a line is one of a master file that render writes.
func readable(line string) error {
	if line == "" || line[0] == ';' {
		return nil
	}
	if origin, ok := strings.CutPrefix(line, "$ORIGIN "); ok {
		_, err := dnsname.Parse(origin)
		return err
	}
	if strings.HasPrefix(line, "$TTL ") {
		return nil
	}
	line, _, _ = strings.Cut(line, " ; placeholder: ")
	fields := strings.Fields(line)
	if len(fields) < 5 || fields[2] != "IN" {
		return fmt.Errorf("it is no record")
	}
	_, err := dnsname.ParseRelative(fields[0])
	if strings.HasSuffix(fields[0], ".") { // what is no zone has whole names
		_, err = dnsname.Parse(fields[0])
	}
	if err != nil {
		return err
	}
	typ, err := rr.ParseType(fields[3])
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(line, " IN ")
	data := strings.TrimLeft(strings.TrimPrefix(rest, fields[3]), " ")
	canonical, err := rr.ParseData(typ, data)
	if err == nil && canonical != data {
		err = fmt.Errorf("the data is read as %q", canonical)
	}
	return err
}

// TestEveryTypeLoads renders a zone with the good examples of all record types and has
// BIND load it.
func TestEveryTypeLoads(t *testing.T) {
	text, err := os.ReadFile("../rr/testdata/types.txt")
	if err != nil {
		t.Fatal(err)
	}
	var input strings.Builder
	fmt.Fprint(&input, `{"apiVersion":"kubi.zone/v1alpha1","kind":"Zone","metadata":{"name":"all"},`+
		`"spec":{"domainName":"all.example.","delegations":[{"records":[{"pattern":"*"}]}]}}`)
	count := 0
	for line := range strings.Lines(string(text)) {
		typ, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		verdict, data, _ := strings.Cut(strings.TrimSpace(rest), " ")
		data, _, _ = strings.Cut(data, "  =>  ")
		parsed, err := rr.ParseType(typ)
		if verdict != "good" || err != nil || parsed.Refused() != "" {
			continue
		}
		count++
		fmt.Fprintf(&input,
			`{"apiVersion":"kubi.zone/v1alpha1","kind":"Record","metadata":{"name":"r%d"},"spec":{"domainName":"n%d.all.example.","type":%q,"rdata":%q}}`,
			count, count, typ, data)
	}
	code, out, stderr := runOn(t, input.String(), "render", "-f", "-")
	if code != command.ExitDone || stderr != "" || count < 80 {
		t.Fatalf("render of %d examples exits with %d and says %s", count, code, stderr)
	}
	if _, refused, ok := strings.Cut(out, "; refused:"); ok {
		t.Errorf("examples are refused: %s", refused)
	}
	load := exec.CommandContext(t.Context(), "named-checkzone", "-k", "ignore", "-i", "none", "all.example.", "/dev/stdin")
	load.Stdin = strings.NewReader(out)
	if said, err := load.CombinedOutput(); err != nil {
		t.Errorf("named-checkzone: %v: %s", err, said)
	}
}

func BenchmarkRender(b *testing.B) {
	for _, count := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%d records", count), func(b *testing.B) {
			var input strings.Builder
			fmt.Fprint(&input, "apiVersion: kubi.zone/v1alpha1\nkind: Zone\nmetadata: {name: z}\nspec: {domainName: "+
				"example.org., delegations: [{records: [{pattern: '*'}]}]}\n")
			for i := range count {
				fmt.Fprintf(&input,
					"---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata:\n  name: www-%d\n  namespace: team-%d\n"+
						"spec:\n  domainName: www-%d.example.org.\n  type: A\n  ttl: 300\n  rdata: 192.0.2.%d\n", i, i%100, i, i%250)
			}
			b.ResetTimer()
			for b.Loop() {
				if code, _, stderr := runOn(b, input.String(), "render", "-f", "-"); code != command.ExitDone {
					b.Fatal(stderr)
				}
			}
		})
	}
}
