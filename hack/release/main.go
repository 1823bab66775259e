// Command release makes everything that a version consists of, in dist/VERSION:
//
//	go run ./hack/release -version v0.1.0
//
// archives of the programs, images, the chart, the manifest for those without Helm, a bill of materials of each
// program, the manifest of kubectl's plugin, what has changed, where all of it comes from, and checksums. It needs git,
// Go and the modules that Go has loaded already, and no network. The same commit and the same Go give the same bytes.
// docs/versions.md says what becomes of them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(log)
	name := flags.String("version", "", "the `version`, such as v0.1.0 or v0.2.0-rc.1")
	out := flags.String("out", "dist", "the `folder` in which the version gets one of its own")
	if err := flags.Parse(args); err != nil {
		return err
	}
	v, err := parseVersion(*name)
	if err != nil {
		return err
	}
	of, err := readSource(ctx, ".", v)
	if err != nil {
		return err
	}
	r := release{version: v, source: of, root: ".", platforms: platforms(), programs: programs(), log: log}
	return r.into(ctx, filepath.Join(*out, v.tag()))
}

// A release is what is made.
type release struct {
	version   version
	source    source
	root      string // the folder of the repository
	platforms []platform
	programs  []program
	log       io.Writer
}

// into makes the release in a folder, which is there as a whole or not at all.
func (r release) into(ctx context.Context, out string) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return fmt.Errorf("making the folder of releases: %w", err)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(out), ".release-")
	if err != nil {
		return fmt.Errorf("making a folder to work in: %w", err)
	}
	defer os.RemoveAll(temporary)
	at := &folder{path: temporary, log: r.log}
	for _, step := range []struct {
		name string
		do   func(context.Context, *folder) error
	}{
		{"archives of the programs", r.archives}, {"images", r.images}, {"the chart", r.chart},
		{"the manifest of kubectl's plugin", r.plugin}, {"the list of changes", r.changes},
		{"the provenance", r.provenance}, {"checksums", r.checksums},
	} {
		if err := step.do(ctx, at); err != nil {
			return fmt.Errorf("making %s: %w", step.name, err)
		}
	}
	if err := errors.Join(os.RemoveAll(out), os.Chmod(temporary, 0o755), os.Rename(temporary, out)); err != nil {
		return fmt.Errorf("putting the release in its place: %w", err)
	}
	fmt.Fprintf(r.log, "%s: %d files, %d MB\n", out, len(at.files), at.size()>>20)
	return nil
}

// at is the time that everything is of: that of the commit.
func (r release) at() time.Time { return r.source.time.UTC() }
