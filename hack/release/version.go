package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A version is the number of a release, by https://semver.org: 0.1.0.
type version string

// numbers is the grammar of versions that can be a tag of an image, which takes no plus.
var numbers = regexp.MustCompile(
	`^v((0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?)$`)

// parseVersion reads a version as Go and git call it, with a v.
func parseVersion(name string) (version, error) {
	m := numbers.FindStringSubmatch(name)
	if m == nil {
		return "", fmt.Errorf("%q is no version: say VERSION=v0.1.0, or v0.2.0-rc.1 for one that comes before", name)
	}
	return version(m[1]), nil
}

// tag is what git, Go and images call it.
func (v version) tag() string { return "v" + string(v) }

// early reports whether it comes before the version without what follows the hyphen.
func (v version) early() bool { return strings.Contains(string(v), "-") }
