package testcluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// progressEvery is how often a build says how far it is: often enough that nobody thinks it hangs, seldom enough for a
// CI log.
const progressEvery = 10 * time.Second

// Build compiles the components that the cache folder lacks and says on log how far it is: those of a control plane
// and, on Linux, those of a node. The first build takes about ten minutes on two cores; later calls return at once. A
// second builder waits for the first one.
func Build(ctx context.Context, log io.Writer) error { return build(ctx, log, nodesRunHere) }

func build(ctx context.Context, log io.Writer, node bool) error {
	missing, err := missingComponents(node)
	if err != nil || len(missing) == 0 {
		return err
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("making the cache folder: %w", err)
	}
	unlock, err := waitForLock(ctx, filepath.Join(cache, "build.lock"), func(path string) {
		fmt.Fprintf(log, "another process is building the control plane; waiting for it (%s)\n", path)
	})
	if err != nil {
		return err
	}
	defer unlock()
	missing, err = missingComponents(node) // another builder may have made them while this one waited
	if err != nil {
		return err
	}
	root, err := repositoryRoot()
	if err != nil {
		return err
	}
	for len(missing) > 0 {
		together := slices.DeleteFunc(slices.Clone(missing), func(c component) bool { return c.module != missing[0].module })
		missing = slices.DeleteFunc(missing, func(c component) bool { return c.module == together[0].module })
		b := batch{module: filepath.Join(root, together[0].module), cache: cache, list: together, log: log}
		if err := b.build(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A batch is components of one module, which one run of the go command compiles: that keeps all cores busy.
type batch struct {
	module string // the folder of the tool module
	cache  string
	list   []component // never empty
	log    io.Writer
}

// build compiles into a new folder and moves each program to its place in one step, so that a killed build leaves
// nothing that looks finished.
func (b batch) build(ctx context.Context) error {
	final := filepath.Dir(b.list[0].path(b.cache))
	if err := os.MkdirAll(final, 0o755); err != nil {
		return fmt.Errorf("making the cache folder: %w", err)
	}
	fresh, err := os.MkdirTemp(final, ".building-")
	if err != nil {
		return fmt.Errorf("making a folder to build in: %w", err)
	}
	defer os.RemoveAll(fresh)
	var names, packages []string
	for _, c := range b.list {
		names, packages = append(names, c.name), append(packages, c.pkg)
	}
	what := strings.Join(names, ", ")
	fmt.Fprintf(b.log, "building %s (%s) into %s; the first time takes some minutes\n", what, b.list[0].version, final)
	started := time.Now()
	if err := b.compile(ctx, fresh, packages); err != nil {
		return fmt.Errorf("building %s: %w", what, err)
	}
	for _, c := range b.list {
		if err := os.Rename(filepath.Join(fresh, c.built), c.path(b.cache)); err != nil {
			return fmt.Errorf("moving %s into the cache: %w", c.name, err)
		}
	}
	fmt.Fprintf(b.log, "built %s in %s\n", what, time.Since(started).Round(time.Second))
	return nil
}

// compile runs the go command. Its -v prints each package as its compile begins, which is the progress.
func (b batch) compile(ctx context.Context, into string, packages []string) error {
	total := countStale(ctx, b.module, packages)
	args := []string{"build", "-v", "-ldflags", b.list[0].ldflags(), "-o", into + string(os.PathSeparator)}
	build := goCommand(ctx, b.module, append(args, packages...)...)
	out, err := build.StderrPipe()
	if err != nil {
		return err
	}
	if err := build.Start(); err != nil {
		return goMissing(err)
	}
	var begun atomic.Int64
	done := make(chan struct{})
	go reportProgress(&begun, total, done, b.log)
	var other []string // what is not a package's name is the compiler speaking
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if line := lines.Text(); strings.ContainsAny(line, " :#") {
			other = append(other, line)
		} else {
			begun.Add(1)
		}
	}
	_, _ = io.Copy(io.Discard, out) // what a line too long for the scanner leaves must not stop the compiler
	err = build.Wait()
	close(done)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("go build in %s: %w\n%s", b.module, err, strings.Join(other, "\n"))
	}
	return nil
}

func reportProgress(begun *atomic.Int64, total int, done <-chan struct{}, log io.Writer) {
	started := time.Now()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			elapsed := time.Since(started).Round(time.Second)
			if n := int(begun.Load()); n < total {
				fmt.Fprintf(log, "  %d of %d packages, %s\n", n, total, elapsed)
			} else {
				fmt.Fprintf(log, "  %d packages compiled, linking, %s\n", n, elapsed)
			}
		}
	}
}

// countStale says how many packages a build will compile. It only serves the progress line, so an error counts as zero:
// the build that follows meets the same error and reports it.
func countStale(ctx context.Context, module string, packages []string) int {
	list := goCommand(ctx, module, append([]string{"list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"},
		packages...)...)
	out, err := list.Output()
	if err != nil {
		return 0
	}
	return bytes.Count(out, []byte("\n"))
}

// goCommand runs go in a tool module by itself: a workspace or GOFLAGS of the caller would change what is pinned there.
// Without cgo the programs need no C compiler to build and no libc to run.
func goCommand(ctx context.Context, module string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly")
	return cmd
}

func goMissing(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New(
			"the control plane is compiled with the go command, which is not on PATH; install Go 1.26 (https://go.dev/dl)")
	}
	return err
}

// repositoryRoot walks up from the working folder to the module: go test and go run both start inside it.
func repositoryRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module github.com/zonefold/zonefold\n")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("the control plane is built from the pinned modules in this repository, and %s is not "+
				"inside it; run this from the repository", start)
		}
	}
}
