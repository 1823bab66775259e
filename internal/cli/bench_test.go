package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// benchRecords is how many Records there are, in 100 namespaces, where commands are measured.
const benchRecords = 100_000

// benchObjects writes a Zone and its Records into files, one a namespace.
func benchObjects(b *testing.B, data string) string {
	b.Helper()
	folder := b.TempDir()
	write := func(file string, objects func(*bufio.Writer)) {
		f, err := os.Create(filepath.Join(folder, file))
		if err != nil {
			b.Fatal(err)
		}
		out := bufio.NewWriter(f)
		objects(out)
		if err := out.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	write("zone.yaml", func(out *bufio.Writer) {
		fmt.Fprint(out, "apiVersion: kubi.zone/v1alpha1\nkind: Zone\nmetadata: {name: example, namespace: dns}\nspec:\n"+
			"  domainName: example.org.\n  delegations:\n")
		for team := range 100 {
			fmt.Fprintf(out, "  - {namespaces: [team-%d], records: [{pattern: \"*.team-%d\"}]}\n", team, team)
		}
	})
	for team := range 100 {
		write(fmt.Sprintf("team-%d.yaml", team), func(out *bufio.Writer) {
			for i := range benchRecords / 100 {
				fmt.Fprintf(out, "---\napiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {name: r%d, namespace: team-%d}\n"+
					"spec: {domainName: r%d.team-%d.example.org., type: TXT, rdata: '\"%s %d\"'}\n", i, team, i, team, data, i)
			}
		})
	}
	return folder
}

// BenchmarkExplain explains a name among 100,000 Records in files: most of it is reading them.
func BenchmarkExplain(b *testing.B) {
	folder := benchObjects(b, "old")
	for b.Loop() {
		if code, _, said := run(b, "explain", "r7.team-7.example.org", "-f", folder); code != 0 {
			b.Fatalf("it exits with %d: %s", code, said)
		}
	}
}

// BenchmarkPlan plans a change of each of 100,000 Records in files.
func BenchmarkPlan(b *testing.B) {
	before, after := benchObjects(b, "old"), benchObjects(b, "new")
	for b.Loop() {
		if code, _, said := run(b, "plan", "-f", after, "--against", before); code != 2 {
			b.Fatalf("it exits with %d: %s", code, said)
		}
	}
}

// BenchmarkImport imports a master file of 1,000,000 records.
func BenchmarkImport(b *testing.B) {
	path := filepath.Join(b.TempDir(), "db")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriter(f)
	fmt.Fprint(out, "@ 300 IN SOA ns hostmaster 1 7200 900 1209600 300\n@ 300 IN NS ns\nns 300 IN A 192.0.2.1\n")
	for i := range 1_000_000 {
		fmt.Fprintf(out, "r%d 300 IN A 192.0.2.%d\n", i, i%256)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if code, _, said := run(b, "import", "file", path, "--origin", "example.org", "--to", b.TempDir()); code != 0 {
			b.Fatalf("it exits with %d: %s", code, said)
		}
	}
}
