package sim

import (
	"os"
	"path/filepath"
	"testing"
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
		source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(m.File)))
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if _, err := m.Apply(string(source)); err != nil {
			t.Error(err)
		}
		if m.What == "" {
			t.Errorf("%s does not say what is wrong", m.Name)
		}
	}
}

// TestAMutationThatDoesNotApply is told.
func TestAMutationThatDoesNotApply(t *testing.T) {
	m := Mutation{Name: "m", File: "f.go", Old: "a\n", New: "b\n"}
	for _, c := range []struct{ source, want string }{{"a\n", "b\n"}, {"c\n", ""}, {"a\na\n", ""}} {
		got, err := m.Apply(c.source)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("of %q came %q, %v", c.source, got, err)
		}
	}
}
