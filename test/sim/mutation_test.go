package sim

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// TestEveryMutationApplies has mutations follow the code.
func TestEveryMutationApplies(t *testing.T) {
	all, err := Mutations(os.DirFS("mutations"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there are none")
	}
	for _, m := range all {
		for _, e := range m.Edits {
			source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(e.File)))
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
				continue
			}
			if _, err := e.In(string(source)); err != nil {
				t.Errorf("%s: %v", m.Name, err)
			}
		}
		if m.What == "" {
			t.Errorf("%s does not say what is wrong", m.Name)
		}
	}
}

// TestAMutationThatDoesNotApply is told.
func TestAMutationThatDoesNotApply(t *testing.T) {
	e := Edit{File: "f.go", Old: "a\n", New: "b\n"}
	for _, c := range []struct {
		source string
		at     int
		ok     bool
	}{{"c\na\n", 2, true}, {"c\n", 0, false}, {"a\na\n", 0, false}} {
		if at, err := e.In(c.source); at != c.at || (err == nil) != c.ok {
			t.Errorf("in %q it is at %d, %v", c.source, at, err)
		}
	}
}

// TestAMutationWithoutAnInstead is told.
func TestAMutationWithoutAnInstead(t *testing.T) {
	for _, text := range []string{"It is.\n", "It is.\n-- f.go --\na\n", "It is.\n-- f.go --\na\n-- g.go --\nb\n"} {
		if all, err := Mutations(fstest.MapFS{"m.txtar": {Data: []byte(text)}}); err == nil {
			t.Errorf("of %q came %v", text, all)
		}
	}
}
