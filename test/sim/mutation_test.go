package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// What docs/simulation.md says of mutations.
var (
	row     = regexp.MustCompile(`(?m)^\| ([a-z0-9-]+) \| (.*) \| .* \| \d+ \|$`)
	unfound = regexp.MustCompile(`(?s)No life has found these (\d+).*?\n\n`)
	quoted  = regexp.MustCompile("`([a-z0-9-]+)`")
)

// TestTheTableHasEveryMutation once: that a life finds it, in its own words, or that none does.
func TestTheTableHasEveryMutation(t *testing.T) {
	all, err := Mutations(os.DirFS("mutations"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "simulation.md"))
	if err != nil {
		t.Fatal(err)
	}
	what, times := map[string]string{}, map[string]int{}
	for _, m := range all {
		what[m.Name] = m.What
	}
	for _, of := range row.FindAllStringSubmatch(string(page), -1) {
		if times[of[1]]++; what[of[1]] != of[2] {
			t.Errorf("%s is %q in the table, and %q", of[1], of[2], what[of[1]])
		}
	}
	list := unfound.FindStringSubmatch(string(page))
	if list == nil {
		t.Fatal("nothing is said of those that no life has found")
	}
	names := quoted.FindAllStringSubmatch(list[0], -1)
	if list[1] != strconv.Itoa(len(names)) {
		t.Errorf("%s are said not to be found, and %d are named", list[1], len(names))
	}
	for _, of := range names {
		if times[of[1]]++; what[of[1]] == "" {
			t.Errorf("there is no mutation %s", of[1])
		}
	}
	for name := range what {
		if times[name] != 1 {
			t.Errorf("%s is there %d times", name, times[name])
		}
	}
}
