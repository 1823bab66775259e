package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitFindsDocumentsAndTheirLines(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // line: text
	}{
		{"an empty file has none", "", nil},
		{"comments and markers are none", "# a\n---\n\n--- \n# b\n...\n", nil},
		{"one document", "a: 1\n", []string{"1: a: 1\n"}},
		{"a document without a final line end", "a: 1", []string{"1: a: 1"}},
		{"a marker ends a document", "a: 1\n---\nb: 2\n", []string{"1: a: 1\n", "2: ---\nb: 2\n"}},
		{"a comment belongs to the document that follows", "# c\n---\na: 1\n", []string{"1: # c\n---\na: 1\n"}},
		{"a directive belongs to the document that follows", "%YAML 1.1\n---\na: 1\n", []string{"1: %YAML 1.1\n---\na: 1\n"}},
		{"an empty document between markers is left out", "---\n---\na: 1\n", []string{"2: ---\na: 1\n"}},
		{"content on the marker's line is part of the document", "--- {a: 1}\n", []string{"1: --- {a: 1}\n"}},
		{"three dots end a document", "a: 1\n...\n# end\n---\nb: 2\n", []string{"1: a: 1\n", "3: # end\n---\nb: 2\n"}},
		{"a marker ends a block of text too", "a: |\n  x\n---\nb: 2\n", []string{"1: a: |\n  x\n", "3: ---\nb: 2\n"}},
		{"a line that only begins like a marker is none", "---a: 1\n----\n", []string{"1: ---a: 1\n----\n"}},
		{"line ends of other systems", "a: 1\r\n---\r\nb: 2\r\n", []string{"1: a: 1\r\n", "2: ---\r\nb: 2\r\n"}},
		{"a stream of JSON values", "{\"a\": 1}\n{\"b\":\n 2} {\"c\": 3}\n", []string{"1: {\"a\": 1}", "2: {\"b\":\n 2}",
			"3: {\"c\": 3}"}},
		{"JSON and YAML in one file", "{\"a\": 1}\n---\nb: 2\n", []string{"1: {\"a\": 1}", "2: ---\nb: 2\n"}},
		{"a flow mapping is YAML", "{a: 1}\n", []string{"1: {a: 1}\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, d := range split(file{text: []byte(c.text)}) {
				got = append(got, fmt.Sprintf("%d: %s", d.line, d.text))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlacesAreTheLinesOfFields(t *testing.T) {
	const text = `# a comment
---
# another
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata:
  name: example-org
  labels: {example.org/x: y}
spec:
  delegations:
  - records:
    - pattern: a
    - types: [A]
      pattern: b
  domainName: &name
    example.org.
  mname: *name
`
	in := readText(t, "zone.yaml", text)
	if len(in.Objects) != 1 || len(in.Problems) != 0 {
		t.Fatalf("read %+v", in)
	}
	for field, want := range map[string]int{
		"":                                       4,
		"metadata.name":                          7,
		"metadata.labels[example.org/x]":         8,
		"metadata.annotations":                   6,
		"spec.delegations[0].records[1]":         13,
		"spec.delegations[0].records[1].types":   13,
		"spec.delegations[0].records[1].pattern": 14,
		"spec.delegations[0].records[7].pattern": 11,
		"spec.delegations[x]":                    10,
		"spec.delegations[":                      10,
		"spec.domainName":                        15,
		"spec.mname.deeper":                      17,
		"nothing.of.this":                        4,
	} {
		if got := in.Objects[0].PlaceOf(field); got.Line != want {
			t.Errorf("%q is at line %d, want %d", field, got.Line, want)
		}
	}
}

func TestReadGivesEachObjectItsNamespace(t *testing.T) {
	in := readText(t, "objects.yaml", `
apiVersion: v1
kind: List
items:
- {apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {name: own, namespace: theirs}, spec: {domainName: a.}}
- {apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: none}, spec: {domainName: a., type: A,
	rdata: 192.0.2.1}}
- {apiVersion: zonefold.dev/v1alpha1, kind: Backend, metadata: {name: cluster-wide, namespace: meaningless},
	spec: {embedded: {}}}
- {apiVersion: v1, kind: Namespace, metadata: {name: apps, labels: {a: b}}}
- {apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {name: broken}, spec: 7}
`)
	var got []string
	for _, o := range in.Objects {
		got = append(got, o.Ref.String())
		if o.Zone != nil && o.Zone.Namespace != o.Ref.Namespace || o.Record != nil && o.Record.Namespace != o.Ref.Namespace {
			t.Errorf("%s does not know its namespace itself", o.Ref)
		}
	}
	want := []string{"Namespace apps", "Backend cluster-wide", "Zone given/broken", "Record given/none", "Zone theirs/own"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if fault := in.Objects[2].Fault; fault != "spec cannot be a number" {
		t.Errorf("the fault is %q", fault)
	}
}

// YAML becomes what kubectl makes of it: YAML 1.1, where "no" is false and 010 is 8.
func TestScalarsAreThoseOfKubectl(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "no": "", "10": "", "1.5": "", "'10'": "10", "2026-01-01": "2026-01-01", "~": "",
		"a: b":           "",
		"v=spf1 mx -all": "v=spf1 mx -all", "0 issue \"x\"": "0 issue \"x\"", "|-\n    x": "x",
	} {
		in := readText(t, "record.yaml",
			"apiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {name: a}\nspec:\n  rdata: "+text+"\n")
		got := ""
		if len(in.Objects) == 1 && in.Objects[0].Record != nil {
			got = in.Objects[0].Record.Spec.RData
		}
		if got != want {
			t.Errorf("rdata: %s is read as %q, want %q", text, got, want)
		}
	}
}

func TestListsOfListsEnd(t *testing.T) {
	const depth = 200
	text := strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, depth) + strings.Repeat("]}", depth)
	if in := readText(t, "deep.json", text); len(in.Objects) != 0 {
		t.Errorf("read %d objects", len(in.Objects))
	}
}

func TestFilesInFoldersAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	const zone = "apiVersion: kubi.zone/v1alpha1\nkind: Zone\nmetadata: {name: %s}\nspec: {domainName: a.}\n"
	for name, text := range map[string]string{
		"b.yaml": fmt.Sprintf(zone, "b"), "sub/c.YML": fmt.Sprintf(zone, "c"), "d.txt": "no: [",
		".git/e.yaml": fmt.Sprintf(zone, "e"),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// As a mounted ConfigMap has it: a link to a file, and to a folder above.
	if err := os.Symlink("b.yaml", filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(dir, "sub", "up.yaml")); err != nil {
		t.Fatal(err)
	}
	in, err := Read(Options{Paths: []string{dir, filepath.Join(dir, "sub", "..", "b.yaml"), dir + "/"},
		Namespace: "given"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range in.Objects {
		rel, err := filepath.Rel(dir, o.Place().File)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, o.Name+" in "+filepath.ToSlash(rel))
	}
	if diff := cmp.Diff([]string{"b in a.yaml", "b in b.yaml", "c in sub/c.YML"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzRead reads any text without a panic, and everything that it finds is somewhere in it.
func FuzzRead(f *testing.F) {
	f.Add("apiVersion: kubi.zone/v1alpha1\nkind: Zone\nmetadata: {name: a}\nspec: {domainName: ., delegations: [{x: " +
		"1}]}\n---\n{\"a\": 1}\n")
	f.Add("--- &a\napiVersion: v1\nkind: List\nitems: [*a, {apiVersion: zonefold.dev/v1alpha1, kind: " +
		"Backend}]\n...\n%YAML 1.1\n---\n{a: 1, a: 2}\n")
	f.Add(`{"apiVersion":"kubi.zone/v1alpha1","kind":"Record","kind":"Zone","metadata":{"name":"\u0000"},"status":7}{`)
	f.Add("? [a]\n: !!binary x\n<<: {b: .inf}\n0x1F: 0o17\n---\n- !!set {a}\n")
	f.Fuzz(func(t *testing.T, text string) {
		in, err := Read(Options{Paths: []string{"-"}, Stdin: strings.NewReader(text), Namespace: "given"})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(text, "\n") + 1
		for _, o := range in.Objects {
			if line := o.PlaceOf("spec.delegations[0]").Line; line < 1 || line > lines {
				t.Errorf("%s is at line %d of %d", o.Ref, line, lines)
			}
			if o.Name == "" || (o.Fault == "") != (o.Zone != nil || o.Record != nil || o.Backend != nil || o.Kind == Namespace) {
				t.Errorf("%+v is neither decoded nor faulty", o)
			}
		}
		for _, p := range append(in.Problems, in.Ignored...) {
			if p.Message == "" || p.Reason == "" || p.Place.Line < 1 || p.Place.Line > lines {
				t.Errorf("a problem at line %d of %d: %+v", p.Place.Line, lines, p)
			}
		}
	})
}

func TestWhatAnObjectIsWhenAnotherIsAppliedToIt(t *testing.T) {
	const there = `{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: www, namespace: shop,
  creationTimestamp: "2026-01-02T03:04:05Z", uid: u, labels: {theirs: a}, annotations: {theirs: a%s}%s},
  spec: {domainName: www.example.org., type: A, rdata: 192.0.2.1, ttl: 60}, status: {fqdn: www.example.org.}}`
	const byKubectl = `, kubectl.kubernetes.io/last-applied-configuration: '{"metadata":{"annotations":{},"creationTimestamp":null,"name":"www","namespace":"shop"},` +
		`"spec":{"domainName":"www.example.org.","type":"A","rdata":"192.0.2.1","ttl":300}}'`
	const byServer = `, managedFields: [{manager: flux, operation: Apply, fieldsV1: {"f:spec": {"f:rdata": {}, "f:ttl": {}}}},
  {manager: zonefold, operation: Apply, subresource: status, fieldsV1: {"f:metadata": {"f:labels": {"f:theirs": {}}}}}]`
	const file = `{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: www, namespace: shop,
  creationTimestamp: "2020-01-01T00:00:00Z"%s}, spec: {domainName: www.example.org., type: A, rdata: 192.0.2.2}}`
	for _, c := range []struct {
		name, there, file string
		ttl               bool
		labels            string
	}{
		{"what others have added stays", fmt.Sprintf(there, "", ""), fmt.Sprintf(file, ""), true, "map[theirs:a]"},
		{"what kubectl has applied before goes", fmt.Sprintf(there, byKubectl, ""), fmt.Sprintf(file, ""), false,
			"map[theirs:a]"},
		{"what the API server has applied for somebody goes", fmt.Sprintf(there, "", byServer), fmt.Sprintf(file, ""), false,
			"map[theirs:a]"},
		{"null takes a field away", fmt.Sprintf(there, "", ""), fmt.Sprintf(file, ", labels: {ours: b, theirs: null}"), true,
			"map[ours:b]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, now := readText(t, "there.yaml", c.there), readText(t, "file.yaml", c.file)
			got := now.Objects[0].AppliedTo(old.Objects[0])
			if got.Record == nil {
				t.Fatalf("it cannot be read: %s", got.Fault)
			}
			spec, meta := got.Record.Spec, got.Record.ObjectMeta
			if spec.RData != "192.0.2.2" || (spec.TTL != nil) != c.ttl || fmt.Sprint(meta.Labels) != c.labels ||
				meta.UID != "u" || meta.CreationTimestamp.Year() != 2026 || meta.Annotations["theirs"] != "a" ||
				got.Record.Status.FQDN != "" {
				t.Errorf("it is %s", got.JSON)
			}
		})
	}
}

func readText(t *testing.T, name, text string) *Input {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Read(Options{Paths: []string{path}, Namespace: "given"})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
