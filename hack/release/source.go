package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A source is what a release is made of.
type source struct {
	commit   string
	time     time.Time
	previous string // the tag of the release before; "" is none
	changes  []change
}

// A change is a commit since then.
type change struct{ commit, subject string }

// readSource reads what git knows of a folder, and says why no release can be made of it.
func readSource(ctx context.Context, dir string, v version) (source, error) {
	g := git(dir)
	var s source
	changed, err := g.say(ctx, "status", "--porcelain")
	if err != nil {
		return s, err
	}
	if changed != "" {
		return s, fmt.Errorf("a release is of a commit, and the work tree has what is in none; commit it or remove it:\n%s",
			changed)
	}
	if shallow, err := g.say(ctx, "rev-parse", "--is-shallow-repository"); err != nil || shallow != "false" {
		return s, errors.Join(err, errors.New(
			"the clone lacks the history that the list of changes is made of; git fetch --unshallow --tags gets it"))
	}
	if s.commit, err = g.say(ctx, "rev-parse", "HEAD"); err != nil {
		return s, err
	}
	// An error says that there is no such tag yet, which is to be made.
	tagged, err := g.say(ctx, "rev-parse", "--verify", "--quiet", v.tag()+"^{commit}")
	if err == nil && tagged != s.commit {
		return s, fmt.Errorf("%s is %s already, and this is %s: check out the tag, or choose another version", v.tag(),
			tagged, s.commit)
	}
	seconds, err := g.say(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return s, err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return s, fmt.Errorf("reading the commit's time: %w", err)
	}
	s.time = time.Unix(unix, 0).UTC()
	return s, s.readChanges(ctx, g, v)
}

// readChanges lists what has changed since the version before.
func (s *source) readChanges(ctx context.Context, g git, v version) error {
	since := "HEAD"
	// An error says that there is no version before.
	if before, err := g.say(ctx, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "--exclude", v.tag(),
		"HEAD"); err == nil {
		s.previous, since = before, before+"..HEAD"
	}
	log, err := g.say(ctx, "-c", "log.showSignature=false", "log", "--no-merges", "--format=%H %s", since)
	if err != nil {
		return err
	}
	for line := range strings.Lines(log) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.changes = append(s.changes, change{commit, subject})
	}
	return nil
}

// git is a clone of the repository.
type git string

// say runs git and returns what it says.
func (g git) say(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = string(g)
	var said, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &failed
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(failed.Bytes()))
	}
	return strings.TrimSpace(said.String()), nil
}
