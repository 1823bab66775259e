package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// clone makes a repository by commands of git, one a line; "file NAME TEXT" writes a file.
func clone(t *testing.T, commands string) string {
	t.Helper()
	dir := t.TempDir()
	for line := range strings.Lines(commands) {
		args := strings.Fields(line)
		if len(args) == 3 && args[0] == "file" {
			if err := os.WriteFile(filepath.Join(dir, args[1]), []byte(args[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_COMMITTER_DATE=2026-11-26T08:01:54+01:00")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", line, err, said)
		}
	}
	return dir
}

// history is that of a repository with two commits and a version between them.
const history = `init -q -b main
file a 1
add a
commit -q -m zone:one
tag v0.1.0
file a 2
commit -q -a -m zone:two
`

func TestWhatAReleaseIsMadeOf(t *testing.T) {
	for _, c := range []struct {
		name, commands, version string
		previous                string
		subjects                []string
	}{
		{"the first version has all commits", "init -q -b main\nfile a 1\nadd a\ncommit -q -m zone:one\n", "v0.1.0", "",
			[]string{"zone:one"}},
		{"a later one has those since the one before", history, "v0.2.0", "v0.1.0", []string{"zone:two"}},
		{"a tag that is there already counts as this version", history + "tag v0.2.0\n", "v0.2.0", "v0.1.0",
			[]string{"zone:two"}},
		{"a tag of something else is no version", history + "tag nightly\n", "v0.2.0", "v0.1.0", []string{"zone:two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := parseVersion(c.version)
			if err != nil {
				t.Fatal(err)
			}
			s, err := readSource(t.Context(), clone(t, c.commands), v)
			if err != nil {
				t.Fatal(err)
			}
			var subjects []string
			for _, change := range s.changes {
				subjects = append(subjects, change.subject)
			}
			if diff := cmp.Diff(c.subjects, subjects); diff != "" || s.previous != c.previous {
				t.Errorf("since %q (-want +got):\n%s", s.previous, diff)
			}
			if s.time.Format(time.RFC3339) != "2026-11-26T07:01:54Z" || len(s.commit) != 40 {
				t.Errorf("the commit is %s of %s", s.commit, s.time)
			}
		})
	}
}

func TestWhatNoReleaseIsMadeOf(t *testing.T) {
	shallow := t.TempDir()
	from := clone(t, history)
	if said, err := exec.CommandContext(t.Context(), "git", "clone", "-q", "--depth=1", "file://"+from,
		shallow).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, c := range []struct{ name, dir, version, want string }{
		{"files that are in no commit", clone(t, history+"file b 1\n"), "v0.2.0", "?? b"},
		{"changes that are in no commit", clone(t, history+"file a 3\n"), "v0.2.0", "M a"},
		{"a version that another commit is", clone(t, history), "v0.1.0", "v0.1.0 is "},
		{"a clone without its history", shallow, "v0.2.0", "git fetch --unshallow"},
		{"a folder without a repository", t.TempDir(), "v0.2.0", "not a git repository"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := parseVersion(c.version)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := readSource(t.Context(), c.dir, v); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want words on %q", err, c.want)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		name, want string
		early      bool
	}{
		{"v0.1.0", "0.1.0", false}, {"v1.20.300", "1.20.300", false}, {"v1.0.0-rc.1", "1.0.0-rc.1", true},
		{"dev", "", false}, {"", "", false}, {"0.1.0", "", false}, {"v1", "", false}, {"v1.2", "", false},
		{"v01.2.3", "", false}, {"v1.2.3+build", "", false}, {"v1.2.3 ", "", false}, {"v1.2.3/..", "", false},
	} {
		v, err := parseVersion(c.name)
		if string(v) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q is the version %q (%v), want %q", c.name, v, err, c.want)
		}
		if err == nil && (v.tag() != c.name || v.early() != c.early) {
			t.Errorf("%q has the tag %s and comes before another: %v", c.name, v.tag(), v.early())
		}
	}
}

func TestTheListOfChanges(t *testing.T) {
	commit := func(n int) string { return fmt.Sprintf("%012d%028d", n, 0) }
	s := source{previous: "v0.1.0", time: time.Date(2026, 11, 26, 0, 30, 0, 0, time.FixedZone("", 3600)),
		changes: []change{
			{commit(5), "zone: refuse claims above the grant"}, {commit(4), "controller, backend: ask once"},
			{commit(3), "Fix a typo: in words"}, {commit(2), "cmd/operator: say --version"},
			{commit(1), "zone: hide what is below a cut"},
		}}
	const want = `# v0.2.0 (2026-11-25)

What has changed since v0.1.0.

## cmd/operator

- say --version (000000000002)

## controller, backend

- ask once (000000000004)

## zone

- refuse claims above the grant (000000000005)
- hide what is below a cut (000000000001)

## other changes

- Fix a typo: in words (000000000003)
`
	if diff := cmp.Diff(want, changelog("0.2.0", s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
