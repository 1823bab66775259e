package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// addPackages adds what tells where the files come from: the licenses, and the packages' records where scanners for known
// vulnerabilities look in images that have no dpkg. It returns the versions by package.
func (f files) addPackages(ctx context.Context) (versions map[string]string, err error) {
	names, err := f.owners(ctx)
	if err != nil {
		return nil, err
	}
	versions = map[string]string{}
	for _, name := range names {
		record, err := output(ctx, "dpkg-query", "--status", name)
		if err != nil {
			return nil, err
		}
		plain, _, _ := strings.Cut(name, ":") // without the architecture
		f["/var/lib/dpkg/status.d/"+plain] = file{text: record, mode: 0o644}
		if err := f.addPath("/usr/share/doc/" + plain + "/copyright"); err != nil {
			return nil, fmt.Errorf("adding the license of %s: %w", plain, err)
		}
		for line := range strings.Lines(string(record)) {
			if version, ok := strings.CutPrefix(line, "Version: "); ok {
				versions[plain] = strings.TrimSpace(version)
			}
		}
	}
	if versions["bind9"] == "" {
		return nil, fmt.Errorf("no file of the image belongs to the package bind9, but to %s: the image is made of Debian's files", strings.Join(names, ", "))
	}
	return versions, nil
}

// owners returns the packages that the programs and libraries belong to.
func (f files) owners(ctx context.Context) ([]string, error) {
	owners := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(f)) {
		if f[path].dir || f[path].link != "" || !strings.HasPrefix(path, "/usr/") {
			continue
		}
		out, err := output(ctx, "dpkg-query", "--search", path)
		if err != nil { // a package made before /lib became a link to /usr/lib lists it there
			out, err = output(ctx, "dpkg-query", "--search", strings.TrimPrefix(path, "/usr"))
		}
		if err != nil {
			return nil, fmt.Errorf("%s belongs to no package: %w", path, err)
		}
		for line := range bytes.Lines(out) {
			if name, found, _ := strings.Cut(string(line), ": "); !strings.HasPrefix(name, "diversion by ") && strings.TrimSpace(found) != "" {
				owners[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(owners)), nil
}
