// Command mutations tries each mutation of test/sim/mutations: it lives lives of the operator until one fails that goes
// well without the mutation, at most LIVES, and says which one it was and how many there were. It compiles the operator
// once, with all mutations, of which an environment variable has one be on, and does not touch the tree. It exits 1
// when one is not found. Arguments are the names of mutations, or what these begin with up to a hyphen; without any it
// tries all.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/zonefold/zonefold/test/sim"
)

// program has the lives of the operator.
const program = "cmd/operator"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string, out io.Writer) error {
	all, err := sim.Mutations(os.DirFS("test/sim/mutations"))
	if err != nil {
		return err
	}
	asked := all
	if len(names) > 0 {
		asked = nil
	}
	for _, name := range names { // in their order
		for _, m := range all {
			if m.Name == name || strings.HasSuffix(name, "-") && strings.HasPrefix(m.Name, name) {
				asked = append(asked, m)
			}
		}
	}
	dir, err := os.MkdirTemp("", "mutations")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	test := filepath.Join(dir, "lives.test")
	if err := compile(ctx, asked, dir, test); err != nil {
		return err
	}
	var missed []string
	fmt.Fprintln(out, "| Mutation | What is wrong then | Found by | After so many lives |\n|---|---|---|---|")
	for _, m := range asked {
		by, after, err := try(ctx, m, test)
		if err != nil {
			return fmt.Errorf("trying mutation %s: %w", m.Name, err)
		}
		if by == "" {
			by, missed = "none", append(missed, m.Name)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", m.Name, m.What, by, after)
	}
	if len(missed) > 0 {
		return fmt.Errorf("no life found %s", strings.Join(missed, ", "))
	}
	return nil
}

// byFile are the edits of mutations by the files that they are of.
func byFile(mutations []sim.Mutation) map[string][]mutated {
	out := map[string][]mutated{}
	for _, m := range mutations {
		for _, e := range m.Edits {
			out[e.File] = append(out[e.File], mutated{m.Name, e})
		}
	}
	return out
}

// compile makes the test program of the operator with mutations.
func compile(ctx context.Context, mutations []sim.Mutation, dir, test string) error {
	overlay, err := overlaid(mutations, ".", dir)
	if err != nil {
		return err
	}
	if built, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", test,
		"./"+program).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, built)
	}
	return nil
}

// overlaid writes the files of the repository that mutations are in, with all of them, into a folder, and returns the
// file that has the compiler take these.
func overlaid(mutations []sim.Mutation, root, dir string) (overlay string, err error) {
	instead := map[string]string{}
	put := func(file, text string) error {
		path, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			return err
		}
		instead[path] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		return os.WriteFile(instead[path], []byte(text), 0o600)
	}
	for file, edits := range byFile(mutations) {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		text, err := switched(string(source), edits)
		if err != nil {
			return "", err
		}
		if err := put(file, text); err != nil {
			return "", err
		}
		if text, err = asking(text); err != nil {
			return "", err
		}
		if err := put(askingAt(file), text); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": instead})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
