package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// subject is that of a commit as CONTRIBUTING.md asks for: the package, and what is done to it.
var subject = regexp.MustCompile(`^([a-z0-9][\w./-]*(?:, [\w./-]+)*): (.+)$`)

// other is where changes go whose subject has another form.
const other = "other changes"

// changes writes what has changed since the version before.
func (r release) changes(_ context.Context, at *folder) error {
	return at.write("CHANGELOG.md", []byte(changelog(r.version, r.source)))
}

// changelog lists the changes of each package, the newest first.
func changelog(v version, s source) string {
	byPackage := map[string][]string{}
	for _, c := range s.changes {
		where, what := other, c.subject
		if m := subject.FindStringSubmatch(c.subject); m != nil {
			where, what = m[1], m[2]
		}
		byPackage[where] = append(byPackage[where], fmt.Sprintf("- %s (%s)\n", what, c.commit[:12]))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# %s (%s)\n\n", v.tag(), s.time.UTC().Format("2006-01-02"))
	if s.previous == "" {
		out.WriteString("All that the first version consists of.\n")
	} else {
		fmt.Fprintf(&out, "What has changed since %s.\n", s.previous)
	}
	names := slices.SortedFunc(maps.Keys(byPackage), func(a, b string) int {
		switch other { // it comes last
		case a:
			return 1
		case b:
			return -1
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		fmt.Fprintf(&out, "\n## %s\n\n%s", name, strings.Join(byPackage[name], ""))
	}
	return out.String()
}
