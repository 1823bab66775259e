package manifest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// record returns a Record of a name as a document.
func record(name string) string {
	return "apiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {name: " + name + "}\nspec: {domainName: a.example., type: A, rdata: 192.0.2.1}\n---\n"
}

// TestReaderKeepsWhatCannotBeRead changes one file of two and reads both after each change.
func TestReaderKeepsWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "changing.yaml")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, record("a"))
	write(filepath.Join(dir, "constant.yaml"), record("z"))
	r := NewReader(Options{Paths: []string{dir}, Namespace: "default"})
	first := readAll(t, r)
	if got := namesOf(first); got != "a z" {
		t.Fatalf("at first there are %s", got)
	}
	for _, c := range []struct{ name, text, want, problem string }{
		{"the same file", record("a"), "a z", ""},
		{"one more object", record("a") + record("b"), "a b z", ""},
		{"a document that ends in the middle", record("c") + "apiVersion: kubi.zone/v1alpha1\nspec: {domain", "a b z", "what the file held before still counts."},
		{"one of which so little is there that nobody knows whose it is", "api: {", "a b z", "what the file held before still counts."},
		{"an empty file", " \n", "a b z", "The file is empty; what the file held before still counts."},
		{"a file whose objects are comments now", "# gone\n", "z", ""},
		{"an object again", record("b"), "b z", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(path, c.text)
			in := readAll(t, r)
			if got := namesOf(in); got != c.want {
				t.Errorf("there are %s, want %s", got, c.want)
			}
			if in.Objects[len(in.Objects)-1] != first.Objects[1] {
				t.Error("the object of the file that did not change is another one")
			}
			if c.problem == "" && len(in.Problems) > 0 || c.problem != "" && (len(in.Problems) != 1 || !strings.HasSuffix(in.Problems[0].Message, c.problem)) {
				t.Errorf("the problems are %v, want %q", in.Problems, c.problem)
			}
		})
	}
	write(filepath.Join(dir, "new.yaml"), record("n")+"spec: {kubi.zone")
	in := readAll(t, r)
	if got := namesOf(in); got != "b z" || len(in.Problems) != 1 || !strings.HasSuffix(in.Problems[0].Message, "; the file counts when it can be read.") {
		t.Errorf("with a new file that cannot be read there are %s and the problems %v", got, in.Problems)
	}
}

// TestReaderFindsFilesBehindLinks reads a folder that is a link, as deployments have it.
func TestReaderFindsFilesBehindLinks(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "release"), 0o700),
		os.WriteFile(filepath.Join(dir, "release", "a.yaml"), []byte(record("a")), 0o600),
		os.Symlink("nobody@nowhere.1", filepath.Join(dir, "release", ".#a.yaml")),
		os.Symlink("release", filepath.Join(dir, "current")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	in := readAll(t, NewReader(Options{Paths: []string{filepath.Join(dir, "current")}, Namespace: "default"}))
	if got := namesOf(in); got != "a" {
		t.Errorf("there is %q, want the object of the one file, and not the lock of Emacs", got)
	}
}

// TestReaderReadsStandardInputOnce reads it together with a file, again and again.
func TestReaderReadsStandardInputOnce(t *testing.T) {
	r := NewReader(Options{Paths: []string{"-"}, Stdin: strings.NewReader(record("a")), Namespace: "default"})
	for range 2 {
		if in := readAll(t, r); namesOf(in) != "a" || len(in.Problems) > 0 {
			t.Errorf("there are %q and the problems %v", namesOf(in), in.Problems)
		}
	}
}

func readAll(t *testing.T, r *Reader) *Input {
	t.Helper()
	in, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func namesOf(in *Input) string {
	var names []string
	for _, o := range in.Objects {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
