package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// bindUser is BIND's user and group in the images that people have, so that its volumes can be shared with bindcar.
const bindUser = 101

// bindPrograms are all that the image can run: there is no shell in it.
func bindPrograms() []string {
	return []string{"/usr/sbin/named", "/usr/sbin/rndc", "/usr/bin/named-checkconf"}
}

// writable are the folders of BIND's user. With a read-only root file system, those that are used are mounted.
func writable() []string { return []string{"/run/named", "/var/cache/bind", "/var/log/bind"} }

// bind makes the image of BIND out of the files of this machine's Debian packages.
func bind(ctx context.Context, o options) (image, error) {
	var made image
	for _, program := range bindPrograms() {
		if _, err := os.Stat(program); err != nil {
			return made, fmt.Errorf("%w: the image is made of Debian's files; on Debian, install them with apt-get install "+
				"--no-install-recommends bind9 bind9-utils; "+
				"elsewhere, make the other images alone: go run ./hack/image bindcar dnshook operator zonefold", err)
		}
	}
	content, err := baseFiles(o.certs)
	if err != nil {
		return made, err
	}
	if err := content.addBind(ctx); err != nil {
		return made, err
	}
	packages, err := content.addPackages(ctx)
	if err != nil {
		return made, err
	}
	release, err := release(ctx)
	if err != nil {
		return made, err
	}
	b := build{platform: v1.Platform{OS: "linux", Architecture: runtime.GOARCH}, config: bindConfig(packages["bind9"]),
		created: o.created, layers: []files{content}}
	made.tag, made.platforms = release, b.platform.String()
	made.index, err = index([]build{b})
	return made, err
}

func bindConfig(version string) v1.Config {
	return v1.Config{
		User:       fmt.Sprintf("%d:%d", bindUser, bindUser),
		Env:        []string{"PATH=/usr/sbin:/usr/bin"},
		Entrypoint: []string{"named"},
		Cmd:        []string{"-c", "/etc/bind/named.conf", "-g"},
		WorkingDir: "/var/cache/bind",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "zonefold-bind9",
			"org.opencontainers.image.description": "BIND 9 from Debian's packages, without a shell",
			"org.opencontainers.image.licenses":    "MPL-2.0", // those of the libraries are in /usr/share/doc
			"org.opencontainers.image.version":     version,
		},
	}
}

// addBind adds the programs, the plugins that configurations can name, and the libraries of both.
func (f files) addBind(ctx context.Context) error {
	plugins, err := filepath.Glob("/usr/lib/*/bind/*.so")
	if err != nil {
		return err
	}
	roots := append(bindPrograms(), plugins...)
	libraries, err := libraries(ctx, roots)
	if err != nil {
		return err
	}
	for _, path := range append(roots, libraries...) {
		if err := f.addPath(path); err != nil {
			return fmt.Errorf("adding %s: %w", path, err)
		}
	}
	for _, dir := range writable() {
		f[dir] = file{dir: true, mode: 0o755, owner: bindUser}
	}
	f["/tmp"] = file{dir: true, mode: 0o1777}
	f["/etc/bind"] = file{dir: true, mode: 0o755}
	return nil
}

// libraries returns the shared libraries that programs load, with the loader and with those that libraries load.
func libraries(ctx context.Context, programs []string) ([]string, error) {
	out, err := output(ctx, "ldd", programs...)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(?:\S+ => )?(/\S+) \(0x`).FindAllSubmatch(out, -1) {
		found[string(m[1])] = true
	}
	if missing := regexp.MustCompile(`(?m)^\s+(\S+) => not found`).FindSubmatch(out); missing != nil {
		return nil, fmt.Errorf("the library %s of BIND is not on this machine", missing[1])
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("ldd names no libraries:\n%s", out)
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// addPath adds a file of this machine under its own path, and every symbolic link on the way to it.
func (f files) addPath(path string) error {
	end, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	for at := path; at != end; {
		link, rest, err := firstLink(at)
		if err != nil {
			return err
		}
		target, err := os.Readlink(link)
		if err != nil {
			return err
		}
		f[link] = file{link: target}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		at = filepath.Join(target, rest)
	}
	info, err := os.Stat(end)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(end)
	if err != nil {
		return err
	}
	mode := int64(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	f[end] = file{text: text, mode: mode}
	return nil
}

// firstLink splits a path after its first part that is a symbolic link.
func firstLink(path string) (link, rest string, err error) {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		info, err := os.Lstat(path[:i])
		if err != nil {
			return "", "", err
		}
		if info.Mode()&os.ModeSymlink != 0 {
			return path[:i], path[i:], nil
		}
	}
	return "", "", fmt.Errorf("%s has no symbolic link", path)
}

// release returns BIND's version without its last number, which is the tag that instances ask for: 9.18.
func release(ctx context.Context) (string, error) {
	out, err := output(ctx, "/usr/sbin/named", "-v")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`^BIND (\d+\.\d+)\.`).FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("named -v says %q, which has no version", out)
	}
	return string(m[1]), nil
}

// output runs a program whose messages are not translated. What it prints comes also with the error that it ends with.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%w: the image is made of Debian's files, on Debian", err)
	}
	if err != nil {
		return out, fmt.Errorf("running %s: %w: %s", name, err, said.String())
	}
	return out, nil
}
