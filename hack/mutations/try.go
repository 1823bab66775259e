package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/zonefold/zonefold/test/sim"
)

// What the test prints of its lives.
var (
	begun = regexp.MustCompile(`life (\d+): (.*)$`)
	found = regexp.MustCompile(`found by (.*), after (\d+) lives$`)
)

// try lives lives with a mutation until one fails, or ends the program. It returns which one, "" for none, and how many
// there were.
func try(ctx context.Context, m sim.Mutation, test string) (by, after string, err error) {
	whole := ctx
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := exec.CommandContext(ctx, test, "-test.v", "-test.timeout=0", "-test.run=^TestLivesThatLookForMutations$")
	c.Dir, c.Env = program, append(os.Environ(), "GOMAXPROCS=1", "GOGC=400", variable+"="+m.Name,
		"DIALECTS="+strings.Join(dialects(m), " "))
	if os.Getenv("LIVES") == "" {
		c.Env = append(c.Env, "LIVES=1000")
	}
	output, err := c.StdoutPipe()
	if err != nil {
		return "", "", err
	}
	if err := c.Start(); err != nil {
		return "", "", err
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if text := begun.FindStringSubmatch(lines.Text()); text != nil {
			after, by = text[1], text[2]
		} else if text := found.FindStringSubmatch(lines.Text()); text != nil {
			stop()
			_ = c.Wait() // it was ended
			return text[1], text[2], nil
		}
	}
	err = c.Wait()
	if whole.Err() != nil {
		return "", "", whole.Err()
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return by + ", which ends the program", after, nil
	}
	return "", after, err
}

// dialects are those that a mutation concerns: of what all share, those whose lives take the least time. What replicas
// do has a life of its own.
func dialects(m sim.Mutation) []string {
	file := m.Edits[0].File
	for _, d := range []string{"kubizone", "homelab", "gardener", "bindy"} {
		if strings.Contains(file, "/"+d+"/") {
			return []string{d}
		}
	}
	switch {
	case strings.HasPrefix(file, "internal/bindcar/"), strings.HasPrefix(file, "internal/backend/bind9/"):
		return []string{"bindy"}
	case strings.HasPrefix(file, "internal/controller/updates/"):
		return []string{"updates", "kubizone"}
	case strings.HasPrefix(file, "internal/backend/embedded/"), strings.HasPrefix(file, "cmd/operator/"):
		return []string{"embedded", "kubizone"}
	case file == "internal/controller/writer.go": // who waits for a service says when to come again
		return []string{"kubizone", "homelab", "gardener"}
	case strings.HasPrefix(file, "internal/controller/"):
		return []string{"kubizone", "homelab"}
	}
	return []string{"kubizone", "gardener"}
}
