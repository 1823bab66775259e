package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/zonefold/zonefold/hack/compile"
)

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
		{"zonefold", "Zonefold: the command, which is the console in the cluster too", "cmd/zonefold", 65532},
	}
}

func (p program) make(ctx context.Context, o options) (image, error) {
	made := image{tag: o.stamp.Version}
	common, err := baseFiles(o.certs)
	if err != nil {
		return made, err
	}
	var builds []build
	var names []string
	for _, platform := range o.platforms {
		text, err := p.compile(ctx, platform, o.stamp)
		if err != nil {
			return made, err
		}
		own := files{"/" + p.name: {text: text, mode: 0o755}}
		builds = append(builds, build{platform: platform, config: p.config(o.stamp), created: o.created,
			layers: []files{common, own}})
		names = append(names, platform.String())
	}
	made.platforms = strings.Join(names, " and ")
	made.index, err = index(builds)
	return made, err
}

func (p program) config(stamp compile.Stamp) v1.Config {
	return v1.Config{
		User: fmt.Sprintf("%d:%d", p.user, p.user), Entrypoint: []string{"/" + p.name}, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "zonefold-" + p.name,
			"org.opencontainers.image.description": p.description,
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.source":      "https://" + compile.Module,
			"org.opencontainers.image.version":     stamp.Version,
			"org.opencontainers.image.revision":    stamp.Commit,
		},
	}
}

// compile returns a program as one static file. Neither the folder nor the caller's settings are in it.
func (p program) compile(ctx context.Context, platform v1.Platform, stamp compile.Stamp) ([]byte, error) {
	dir, err := os.MkdirTemp("", "zonefold-image-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to compile into: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, p.name)
	target := compile.Target{Folder: p.folder, OS: platform.OS, Arch: platform.Architecture, Stamp: stamp}
	if err := target.Build(ctx, "", path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
