package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// images have hack/image make the images of programs, each for all architectures of servers. BIND's is not one of them:
// it is made of the packages of the machine.
func (r release) images(ctx context.Context, at *folder) error {
	var names, architectures []string
	for _, p := range r.programs {
		names = append(names, p.name)
	}
	for _, p := range r.platforms {
		if p.os == "linux" {
			architectures = append(architectures, p.String())
		}
	}
	dir, err := os.MkdirTemp("", "zonefold-release-")
	if err != nil {
		return fmt.Errorf("making a folder for images: %w", err)
	}
	defer os.RemoveAll(dir)
	certs := filepath.Join(dir, "roots.pem")
	if err := os.WriteFile(certs, roots(), 0o600); err != nil {
		return fmt.Errorf("writing the certificates of the public authorities: %w", err)
	}
	stamp := r.stamp()
	args := append([]string{"run", "-trimpath", "-buildvcs=false", "./hack/image", "-version", stamp.Version, "-commit",
		stamp.Commit, "-date", stamp.Date, "-certs", certs, "-platforms", strings.Join(architectures, ","), "-out", dir},
		names...)
	if _, err := r.runGo(ctx, args...); err != nil {
		return err
	}
	for _, name := range names {
		image, err := os.ReadFile(filepath.Join(dir, name+".tar"))
		if err != nil {
			return fmt.Errorf("reading the image: %w", err)
		}
		if err := at.write(fmt.Sprintf("zonefold-%s_%s_image.tar", name, r.version.tag()), image); err != nil {
			return err
		}
	}
	return nil
}

// roots are the certificates of the public authorities that Go's module has, and not this machine's, which another does
// not have. Those that are trusted under conditions, which a file of certificates cannot say, are left out.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return out.Bytes()
}

// runGo runs go in the repository and returns what it prints.
func (r release) runGo(ctx context.Context, args ...string) ([]byte, error) {
	return r.runProgram(ctx, "go", args...)
}

func (r release) runProgram(ctx context.Context, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GOFLAGS=", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.at().Unix()), "TZ=UTC", "LC_ALL=C")
	var said, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &failed
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", filepath.Base(path), strings.Join(args, " "), err,
			bytes.TrimSpace(failed.Bytes()))
	}
	return said.Bytes(), nil
}
