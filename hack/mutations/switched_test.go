package main

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/test/sim"
)

const source = `package p

// Sum adds.
func (t *T) Sum(a int, _ string, more ...int) (sum int) {
	for _, n := range more {
		sum += n
	}
	return sum + a
}

func say(string) {
	print("one")
	print("two")
}
`

// TestSwitched has mutations be in a file, and what was there be there without them.
func TestSwitched(t *testing.T) {
	out, err := switched(source, []mutated{
		{"less", sim.Edit{File: "p.go", Old: "sum += n", New: "sum -= n"}},
		{"not-a", sim.Edit{File: "p.go", Old: "return sum + a", New: "return sum"}},
		{"mute", sim.Edit{File: "p.go", Old: `print("one")`, New: ""}},
		{"mute", sim.Edit{File: "p.go", Old: `print("two")`, New: ""}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", out, 0); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"func (t *T) Sum(a int, unnamed2 string, more ...int) (sum int) {\nif isMutated(\"less\") { return " +
			"t.SumMutatedless(a, unnamed2, more...) }\n" +
			"\nif isMutated(\"not-a\") { return t.SumMutatednota(a, unnamed2, more...) }\n\n\tfor _, n := range more " +
			"{\n\t\tsum += n\n\t}\n\treturn sum + a\n}",
		"func (t *T) SumMutatedless(a int, unnamed2 string, more ...int) (sum int) {\n\tfor _, n := range more {\n\t\tsum " +
			"-= n\n\t}\n\treturn sum + a\n}",
		"func (t *T) SumMutatednota(a int, unnamed2 string, more ...int) (sum int) {\n\tfor _, n := range more {\n\t\tsum " +
			"+= n\n\t}\n\treturn sum\n}",
		"func sayMutatedmute(unnamed0 string) {\n\t\n\t\n}",
		"{ sayMutatedmute(unnamed0); return }",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nis missing in\n%s", want, out)
		}
	}
}

// TestAProgramIsOfPackageMain, wherever its folder is.
func TestAProgramIsOfPackageMain(t *testing.T) {
	text, err := asking("// Command operator runs.\npackage main\n")
	if err != nil || !strings.HasPrefix(text, "package main\n") {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := asking("func"); err == nil {
		t.Error("what has no package has one")
	}
}

// TestWhatIsNotInAFunction cannot be switched.
func TestWhatIsNotInAFunction(t *testing.T) {
	if out, err := switched(source, []mutated{{"m", sim.Edit{File: "p.go", Old: "// Sum adds.", New: ""}}}); err == nil {
		t.Error(out)
	}
}

// TestTheOperatorCompilesWithEveryMutation has those follow the code: one that does not compile hides all others.
func TestTheOperatorCompilesWithEveryMutation(t *testing.T) {
	root, dir := filepath.Join("..", ".."), t.TempDir()
	all, err := sim.Mutations(os.DirFS(filepath.Join(root, "test", "sim", "mutations")))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d mutations, %v", len(all), err)
	}
	overlay, err := overlaid(all, root, dir)
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "list", "-export", "-overlay", overlay, "./"+program) // does not link
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
