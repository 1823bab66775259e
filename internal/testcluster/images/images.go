// Package images makes the container images that tests, the demo and the benchmark run on a real node. What was made
// once is kept in the user's cache folder for as long as nothing changes that it is made from.
package images

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// The images, as containers name them. BIND has two versions that differ in nothing but their name.
const (
	Operator     = "zonefold/operator:dev"
	Bindcar      = "zonefold/bindcar:dev"
	Hook         = "zonefold/dnshook:dev"
	Command      = "zonefold/zonefold:dev" // which the console is; only where it is asked for
	BIND         = "zonefold/bind9"        // without a tag: that is the version of an instance
	Version      = "9.18"
	OtherVersion = "9.18.99"
)

const (
	module = "github.com/zonefold/zonefold"
	maker  = module + "/hack/image"
	// keepFor is how long an archive stays that other sources were made into: a branch is left and taken up again.
	keepFor = 24 * time.Hour
)

// An image is one archive.
type image struct {
	name string
	args []string // of hack/image, besides the name
	key  func(ctx context.Context) ([]byte, error)
}

func all(more []string) []image {
	out := []image{
		{"operator", nil, programKey("operator")}, {"bindcar", nil, programKey("bindcar")},
		{"dnshook", nil, programKey("dnshook")},
		{"bind9", []string{"-tag", "bind9=" + OtherVersion}, debianKey},
	}
	if slices.Contains(more, Command) {
		out = append(out, image{"zonefold", nil, programKey("zonefold")})
	}
	return out
}

// Archives returns the archives of the images that fleets need, and of more. It makes those that are missing or out of
// date.
func Archives(ctx context.Context, log io.Writer, more ...string) ([]string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("finding a folder for images: %w", err)
	}
	dir := filepath.Join(base, "zonefold", "images")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making a folder for images: %w", err)
	}
	how, err := packageKey(ctx, nil, maker)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, i := range all(more) {
		what, err := i.key(ctx)
		if err != nil {
			return nil, fmt.Errorf("finding out whether the image %s is up to date: %w", i.name, err)
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q", how, what, i.args))
		path := filepath.Join(dir, i.name+"-"+hex.EncodeToString(sum[:8])+".tar")
		if err := i.makeAt(ctx, path, log); err != nil {
			return nil, err
		}
		out = append(out, path)
	}
	return out, sweep(dir)
}

// makeAt makes an archive unless it is there.
func (i image) makeAt(ctx context.Context, path string, log io.Writer) error {
	now := time.Now()
	if os.Chtimes(path, now, now) == nil { // it is used, and stays
		return nil
	}
	into, err := os.MkdirTemp(filepath.Dir(path), ".making-")
	if err != nil {
		return fmt.Errorf("making a folder for an image: %w", err)
	}
	defer os.RemoveAll(into)
	args := append([]string{"run", maker, "-platforms", "linux/" + runtime.GOARCH, "-out", into}, i.args...)
	cmd := exec.CommandContext(ctx, "go", append(args, i.name)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("making the image %s: %w", i.name, err)
	}
	if err := os.Rename(filepath.Join(into, i.name+".tar"), path); err != nil {
		return fmt.Errorf("keeping the image %s: %w", i.name, err)
	}
	return nil
}

// programKey stands for a program's code and that of everything that it imports, as hack/image compiles it.
func programKey(name string) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		return packageKey(ctx, []string{"CGO_ENABLED=0", "GOFLAGS="}, "-trimpath", "-buildvcs=false", module+"/cmd/"+name)
	}
}

// packageKey is a hash over the build IDs of a package and its imports, each of which stands for what was compiled.
func packageKey(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go",
		append([]string{"list", "-deps", "-export", "-f", "{{.ImportPath}} {{.BuildID}}"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return nil, fmt.Errorf("compiling %v: %w\n%s", args, err, failed.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("compiling %v: %w", args, err)
	}
	sum := sha256.Sum256(out)
	return sum[:], nil
}

// debianKey stands for the packages that the image of BIND is made of.
func debianKey(context.Context) ([]byte, error) {
	text, err := os.ReadFile("/var/lib/dpkg/status")
	if err != nil {
		return nil, fmt.Errorf("the image of BIND is made of Debian's packages: %w", err)
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

// sweep removes archives that nobody has used for a while.
func sweep(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil {
		return err
	}
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < keepFor {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing an old image: %w", err)
		}
	}
	return nil
}
