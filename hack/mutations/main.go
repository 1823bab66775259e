// Command mutations puts each mutation of test/sim/mutations into the operator, one at a time and without touching the tree, and says after
// how many lives which one found it: first those with a fault at every effect, then LIVES random ones. It exits 1 when none found one.
// Arguments are the names of mutations; without any it tries all.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/zonefold/zonefold/test/sim"
)

// program has the lives of the operator.
const program = "cmd/operator"

// longest is how long a life may take that goes on and on.
const longest = 3 * time.Minute

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
	dir, err := os.MkdirTemp("", "mutations")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var missed []string
	fmt.Fprintln(out, "| Mutation | What is wrong then | Found by | After so many lives |\n|---|---|---|---|")
	for _, m := range all {
		if len(names) > 0 && !slices.Contains(names, m.Name) {
			continue
		}
		by, after, err := try(ctx, m, dir)
		if err != nil {
			return fmt.Errorf("trying mutation %s: %w", m.Name, err)
		}
		if by == "" {
			by, missed = "none", append(missed, m.Name)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %d |\n", m.Name, m.What, by, after)
	}
	if len(missed) > 0 {
		return fmt.Errorf("no life found %s", strings.Join(missed, ", "))
	}
	return nil
}

// try compiles the lives with a mutation and lives them until one fails. It returns which one, "" for none, and how many there were.
func try(ctx context.Context, m sim.Mutation, dir string) (by string, after int, err error) {
	test := filepath.Join(dir, "lives.test")
	if err := compile(ctx, m, dir, test); err != nil {
		return "", 0, err
	}
	for _, lives := range []string{"TestEveryEffectOfALifeInterrupted$", "TestRandomLives$"} {
		found, n, err := live(ctx, test, lives)
		after += n
		if err != nil || found != "" {
			return found, after, err
		}
	}
	return "", after, nil
}

// compile makes the test program of the operator with a mutation.
func compile(ctx context.Context, m sim.Mutation, dir, test string) error {
	source, err := os.ReadFile(m.File)
	if err != nil {
		return err
	}
	mutated, err := m.Apply(string(source))
	if err != nil {
		return err
	}
	instead, overlay := filepath.Join(dir, "instead.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(instead, []byte(mutated), 0o600); err != nil {
		return err
	}
	path, err := filepath.Abs(m.File)
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{path: instead}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return err
	}
	built, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", test, "./"+program).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, built)
	}
	return nil
}

var (
	begun  = regexp.MustCompile(`^=== (?:RUN|CONT) +([^/]+/.*)$`)
	failed = regexp.MustCompile(`^ +\w+_test\.go:\d+: |^panic: |^fatal error: |^ *--- FAIL`)
)

// live lives one life after the other until one fails or does not end.
func live(ctx context.Context, test, lives string) (by string, after int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := exec.CommandContext(ctx, test, "-test.v", "-test.parallel=1", "-test.timeout=0", "-test.run="+lives)
	c.Dir, c.Env, c.Stderr = program, append(os.Environ(), "GOMAXPROCS=1"), nil
	output, err := c.StdoutPipe()
	if err != nil {
		return "", 0, err
	}
	if err := c.Start(); err != nil {
		return "", 0, err
	}
	tooLong := time.AfterFunc(longest, stop)
	defer tooLong.Stop()
	lifes, now := map[string]bool{}, strings.TrimSuffix(lives, "$")
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if name := begun.FindStringSubmatch(lines.Text()); name != nil && strings.HasPrefix(lines.Text(), "=== CONT") {
			now, lifes[name[1]] = name[1], true
			tooLong.Reset(longest)
		} else if failed.MatchString(lines.Text()) && !strings.HasSuffix(lines.Text(), " lives a minute of a core") {
			stop()
			_ = c.Wait() // it was ended
			return now, max(len(lifes), 1), nil
		}
	}
	err = c.Wait()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return now, max(len(lifes), 1), nil // one of them never ended, or the program did
	}
	return "", len(lifes), err
}
