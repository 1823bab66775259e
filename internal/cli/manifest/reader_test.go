package manifest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// record returns a Record of a name as a document.
func record(name string) string {
	return "apiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata: {name: " + name +
		"}\nspec: {domainName: a.example., type: A, rdata: 192.0.2.1}\n---\n"
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
		{"a document that ends in the middle", record("c") + "apiVersion: kubi.zone/v1alpha1\nspec: {domain", "a b z",
			"what the file held before still counts."},
		{"one of which so little is there that nobody knows whose it is", "api: {", "a b z",
			"what the file held before still counts."},
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
			if c.problem == "" && len(in.Problems) > 0 ||
				c.problem != "" && (len(in.Problems) != 1 || !strings.HasSuffix(in.Problems[0].Message, c.problem)) {
				t.Errorf("the problems are %v, want %q", in.Problems, c.problem)
			}
		})
	}
	write(path, "apiVersion: kubi.zone/v1alpha1")
	if in := readAll(t, r); namesOf(in) != "b z" {
		t.Errorf("of a file of which only the beginning is left there are %s", namesOf(in))
	}
	write(path, record("b"))
	write(filepath.Join(dir, "new.yaml"), record("n")+"spec: {kubi.zone")
	in := readAll(t, r)
	if got := namesOf(in); got != "b z" || len(in.Problems) != 1 || !strings.HasSuffix(in.Problems[0].Message,
		"; the file counts when it can be read.") {
		t.Errorf("with a new file that cannot be read there are %s and the problems %v", got, in.Problems)
	}
}

// TestReaderKeepsWhatBrokeOff writes the beginnings of a file of three documents in its place.
func TestReaderKeepsWhatBrokeOff(t *testing.T) {
	whole := "# Three of them.\n" + record("a") + long("b") + "---\n" + long("c")
	until := func(mark string, more int) string { return whole[:strings.Index(whole, mark)+more] }
	valid := func(o *Object) bool { return o.Record.Spec.RData != "" }
	for _, c := range []struct{ name, text, want, problem string }{
		{"in the middle of a line of the last document", strings.TrimSuffix(whole, "1\n"), "a b c",
			"in the middle of a line that was longer"},
		{"after the first line of the last document", until("metadata:\n  name: c", 0), "a b c",
			"in the middle of a document, and without Record default/c"},
		{"within the second document", until("name: b", len("name: b\n")), "a b c",
			"in the middle of a document, and without Record default/c"},
		{"within the first line of the second document", until("---", 7), "a b c", "in the middle of a line"},
		{"within other content than it had, with half an object at the end",
			record("x") + until("name: a", len("name: a}\n")), "a b c", "without"},
		{"within other content than it had, before it is known whose it is", record("x") + "apiVersion: ku\n", "a b c",
			"without"},
		{"nowhere: whole documents are gone", record("a") + long("b"), "a b", ""},
		{"nowhere: that is all, says its last line", until("  rdata: 192.0.2.1\n  ttl", 0) + "---\n", "a b", ""},
		{"nowhere: another document stands there", record("a") + record("d"), "a d", ""},
		{"nowhere: an object of others stands at its end",
			record("a") + "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", "a", ""},
		{"nowhere: a field is gone", strings.TrimSuffix(whole, "  ttl: 301\n"), "a b c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "records.yaml")
			r := NewReader(Options{Paths: []string{path}, Namespace: "default", Valid: valid})
			var in *Input
			for _, text := range []string{whole, c.text} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				in = readAll(t, r)
			}
			if got := namesOf(in); got != c.want {
				t.Errorf("of %q there are %s, want %s", c.text, got, c.want)
			}
			if c.problem == "" && len(in.Problems) > 0 ||
				c.problem != "" && (len(in.Problems) != 1 || !strings.Contains(in.Problems[0].Message, c.problem)) {
				t.Errorf("the problems are %v, want %q", in.Problems, c.problem)
			}
		})
	}
}

// long returns a Record of a name as a document with a line for each field.
func long(name string) string {
	return "apiVersion: kubi.zone/v1alpha1\nkind: Record\nmetadata:\n  name: " + name +
		"\nspec:\n  domainName: a.example.\n  type: A\n  rdata: 192.0.2.1\n  ttl: 301\n"
}

// TestReaderReadsWhatEditorsWrite writes three documents in the encodings and with the ends of lines that there are.
func TestReaderReadsWhatEditorsWrite(t *testing.T) {
	text := record("a") + long("b") + "---\n" + long("ö")
	encode := func(text, mark string, put func([]byte, uint16) []byte) string {
		out := []byte(mark)
		for _, unit := range utf16.Encode([]rune(text)) {
			out = put(out, unit)
		}
		return string(out)
	}
	little := encode(text, "\xFF\xFE", binary.LittleEndian.AppendUint16)
	for _, c := range []struct{ name, text, want, problem string }{
		{"UTF-8", text, "a b ö", ""},
		{"UTF-8 with a byte order mark", "\uFEFF" + text, "a b ö", ""},
		{"lines of Windows", strings.ReplaceAll(text, "\n", "\r\n"), "a b ö", ""},
		{"lines that end with a carriage return alone", strings.ReplaceAll(text, "\n", "\r"), "a b ö", ""},
		{"UTF-16 as PowerShell writes it", encode(strings.ReplaceAll(text, "\n", "\r\n"), "\xFF\xFE",
			binary.LittleEndian.AppendUint16), "a b ö", ""},
		{"UTF-16 with the big end first", encode(text, "\xFE\xFF", binary.BigEndian.AppendUint16), "a b ö", ""},
		{"UTF-16 that ends in the middle of a character", little[:len(little)-1], "", "ends in the middle of a character"},
		{"UTF-16 without a byte order mark", little[2:], "", "save it as UTF-8"},
		{"UTF-32", "\xFF\xFE\x00\x00a\x00\x00\x00", "", "it is UTF-32; save it as UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "records.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			in := readAll(t, NewReader(Options{Paths: []string{path}, Namespace: "default"}))
			if got := namesOf(in); got != c.want {
				t.Errorf("there are %q, want %q", got, c.want)
			}
			if c.problem == "" && len(in.Problems) > 0 ||
				c.problem != "" && (len(in.Problems) != 1 || !strings.Contains(in.Problems[0].Message, c.problem)) {
				t.Errorf("the problems are %v, want %q", in.Problems, c.problem)
			}
		})
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
