// Package compile compiles programs of this repository that are handed out, in images and archives: as one static file
// that is the same to the byte wherever and whenever it is made with the same version of Go.
package compile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// Module is the path of this repository's module.
const Module = "github.com/zonefold/zonefold"

// A Stamp is what a program can say of its source.
type Stamp struct {
	Version string
	Commit  string // "" is none
	Date    string // of the commit, RFC 3339; "" is none
}

// Flags are those for the linker: no symbols but those that a stack trace needs, and the stamp, which internal/version
// reads.
func (s Stamp) Flags() string {
	const at = " -X " + Module + "/internal/version."
	return "-s -w" + at + "release=" + s.Version + at + "commit=" + s.Commit + at + "date=" + s.Date
}

// A Target is a program for a platform.
type Target struct {
	Folder   string // of the source, such as cmd/operator
	OS, Arch string
	Stamp    Stamp
}

// Args are those of go that compile it into a file.
func (t Target) Args(into string) []string {
	return []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", t.Stamp.Flags(), "-o", into,
		Module + "/" + t.Folder}
}

// Environment is what go is told besides: whatever the caller has set, the same code comes out.
func (t Target) Environment() []string {
	return []string{"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOOS=" + t.OS, "GOARCH=" + t.Arch, "GOAMD64=v1",
		"GOARM64=v8.0"}
}

// Build compiles it into a file. Dir is a folder of the repository's copy that is compiled.
func (t Target) Build(ctx context.Context, dir, into string) error {
	cmd := exec.CommandContext(ctx, "go", t.Args(into)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), t.Environment()...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compiling %s for %s/%s: %w\n%s", t.Folder, t.OS, t.Arch, err, said.String())
	}
	return nil
}
