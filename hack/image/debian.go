package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// addPackages adds what tells where the files come from: the licenses, and the packages' records where scanners for
// known vulnerabilities look in images that have no dpkg. It returns the versions by package.
func (f files) addPackages(ctx context.Context) (versions map[string]string, err error) {
	names, err := f.owners(ctx)
	if err != nil {
		return nil, err
	}
	records, err := output(ctx, "dpkg-query", append([]string{"--status"}, names...)...)
	if err != nil {
		return nil, err
	}
	versions = map[string]string{}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(records), "\n"), "\n\n") {
		var name, version string
		for line := range strings.Lines(record) {
			if value, ok := strings.CutPrefix(line, "Package: "); ok {
				name = strings.TrimSpace(value)
			} else if value, ok := strings.CutPrefix(line, "Version: "); ok {
				version = strings.TrimSpace(value)
			}
		}
		versions[name] = version
		f["/var/lib/dpkg/status.d/"+name] = file{text: []byte(record + "\n"), mode: 0o644}
		if err := f.addPath("/usr/share/doc/" + name + "/copyright"); err != nil {
			return nil, fmt.Errorf("adding the license of %s: %w", name, err)
		}
	}
	if versions["bind9"] == "" {
		return nil, fmt.Errorf(
			"no file of the image belongs to the package bind9, but to %s: the image is made of Debian's files",
			strings.Join(names, ", "))
	}
	return versions, nil
}

// owners returns the packages that the programs and libraries belong to.
func (f files) owners(ctx context.Context) ([]string, error) {
	var paths, either []string
	for _, path := range slices.Sorted(maps.Keys(f)) {
		if !f[path].dir && f[path].link == "" && strings.HasPrefix(path, "/usr/") {
			paths = append(paths, path)
			either = append(either, path, olderPath(path))
		}
	}
	out, err := output(ctx, "dpkg-query", append([]string{"--search"}, either...)...)
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		// 1: of each two, it knows one
		return nil, err
	}
	owners, owned := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if name, found, _ := strings.Cut(line, ": "); !strings.HasPrefix(name, "diversion by ") &&
			strings.TrimSpace(found) != "" {
			owners[name], owned[strings.TrimSpace(found)] = true, true
		}
	}
	for _, path := range paths {
		if !owned[path] && !owned[olderPath(path)] {
			return nil, fmt.Errorf("%s belongs to no package: %w", path, err)
		}
	}
	return slices.Sorted(maps.Keys(owners)), nil
}

// olderPath is where a package made before /lib became a link to /usr/lib lists a file.
func olderPath(path string) string { return strings.TrimPrefix(path, "/usr") }
