package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const module = "github.com/zonefold/zonefold"

// A program of this repository that has an image: the file /NAME, and the base.
type program struct {
	name, description string
	folder            string // of its source
	user              int    // and group
}

// programs are those that run in pods. Dockerfile says the same; a test compares.
func programs() []program {
	return []program{
		{"operator", "Zonefold: one control plane for DNS", "cmd/operator", 65532},
		{"bindcar", "Zonefold: the sidecar of a BIND 9 name server", "cmd/bindcar", bindUser},
		{"dnshook", "Zonefold: a server for DNSClasses", "cmd/dnshook", 65532},
	}
}

// ldflags have no symbols but those that a stack trace needs, and the version.
func ldflags(version string) string { return "-s -w -X main.version=" + version }

func (p program) make(ctx context.Context, o options) (image, error) {
	made := image{tag: o.version}
	common, err := baseFiles(o.certs)
	if err != nil {
		return made, err
	}
	var builds []build
	var names []string
	for _, platform := range o.platforms {
		text, err := p.compile(ctx, platform, o.version)
		if err != nil {
			return made, err
		}
		own := files{"/" + p.name: {text: text, mode: 0o755}}
		builds = append(builds, build{platform: platform, config: p.config(o.version), layers: []files{common, own}})
		names = append(names, platform.String())
	}
	made.platforms = strings.Join(names, " and ")
	made.index, err = index(builds)
	return made, err
}

func (p program) config(version string) v1.Config {
	return v1.Config{
		User: fmt.Sprintf("%d:%d", p.user, p.user), Entrypoint: []string{"/" + p.name}, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "zonefold-" + p.name,
			"org.opencontainers.image.description": p.description,
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.source":      "https://" + module,
			"org.opencontainers.image.version":     version,
		},
	}
}

// compile returns a program as one static file. Neither the folder, nor the commit, nor the caller's settings are in
// it.
func (p program) compile(ctx context.Context, platform v1.Platform, version string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "zonefold-image-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to compile into: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, p.name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags(version), "-o",
		path, module+"/"+p.folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("compiling %s for %s: %w\n%s", p.folder, platform, err, said.String())
	}
	return os.ReadFile(path)
}
