package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// A stage is what the demo has started so far.
type stage struct {
	out      io.Writer
	chapters int

	dir      string // for everything but the cluster, which has its own
	cluster  *testcluster.Cluster
	admin    *http.Client // of its API server
	bind     *nameserver.Server
	secret   string // of the key that BIND and the operator share
	log      *os.File
	operator *testoperator.Process
	dns      *nameserver.Server // the operator's own
	release  func()             // gives its port back
	follower *nameserver.Server // a BIND that follows it

	followerSecret string // of the key that it signs with

	hook hookServer // of a DNSClass

	powerdns *nameserver.PowerDNS // of a DNSRecord of Gardener
}

// chapter begins a part of the output: what is done, and why.
func (s *stage) chapter(title string, why ...string) {
	s.chapters++
	fmt.Fprintf(s.out, "\n%d. %s\n", s.chapters, title)
	for _, line := range why {
		s.say("%s", line)
	}
}

// say prints one line.
func (s *stage) say(format string, args ...any) {
	fmt.Fprintln(s.out, strings.TrimRight("   "+fmt.Sprintf(format, args...), " "))
}

// show prints what a command printed.
func (s *stage) show(output string) {
	for line := range strings.Lines(output) {
		s.say("  %s", strings.TrimRight(line, "\n"))
	}
}

// command prints a command as it can be typed into a shell.
func (s *stage) command(words ...string) {
	for i, word := range words {
		words[i] = quoted(word)
	}
	s.say("$ %s", strings.Join(words, " "))
}

// quoted makes one word for a POSIX shell.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,=+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// kubectl prints a kubectl command, runs it, and prints what it says.
func (s *stage) kubectl(ctx context.Context, args ...string) error {
	s.command(append([]string{"kubectl"}, args...)...)
	out, err := s.cluster.RunKubectl(ctx, args...)
	s.show(out)
	return err
}

// lines is a log that is printed a little to the right.
type lines struct{ s *stage }

// Write prints whole lines, which is what the packages that the demo uses write.
func (l lines) Write(p []byte) (int, error) {
	l.s.show(string(p))
	return len(p), nil
}

// file writes a file into the demo's folder and returns its path.
func (s *stage) file(name, text string) (string, error) {
	path := filepath.Join(s.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// operatorLog returns the end of the operator's log, for a message about what went wrong.
func (s *stage) operatorLog() string {
	if s.log == nil {
		return ""
	}
	text, err := os.ReadFile(s.log.Name())
	if err != nil || len(text) == 0 {
		return ""
	}
	const most = 4000
	return "\nthe operator's log ends with:\n" + string(text[max(0, len(text)-most):])
}

// until repeats check until it returns no error; when ctx ends or the operator does, it returns the last one.
func (s *stage) until(ctx context.Context, check func() error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.operator.Done():
			return fmt.Errorf("the operator has ended: %w", err)
		case <-ctx.Done():
			return err
		}
	}
}

// wait leaves everything running until Ctrl-C.
func (s *stage) wait(ctx context.Context) error {
	s.chapter("Yours", "All of it keeps running. In another terminal, set up kubectl with the two lines of part 1 and "+
		"try the commands above,",
		"or edit the files in examples/quickstart and apply them again. What has changed, and the way back:",
		"go run ./cmd/zonefold history team-a.example.org, then rollback. Ctrl-C ends and removes everything.")
	select {
	case <-ctx.Done():
		return nil
	case <-s.operator.Done():
	}
	// Ctrl-C reaches the operator too.
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-timer.C:
		return errors.New("the operator has ended by itself")
	}
}

// strike ends everything, the last first, and removes what it wrote.
func (s *stage) strike() error {
	fmt.Fprintln(s.out)
	var failed []error
	if s.operator != nil {
		s.operator.Stop()
	}
	s.hook.strike()
	if s.release != nil {
		s.release()
	}
	for _, server := range []*nameserver.Server{s.follower, s.bind} {
		if server != nil {
			server.Close()
		}
	}
	if s.powerdns != nil {
		s.powerdns.Close()
	}
	if s.cluster != nil {
		failed = append(failed, s.cluster.Stop())
	}
	if s.log != nil {
		s.log.Close()
	}
	if s.dir != "" {
		failed = append(failed, os.RemoveAll(s.dir))
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("ending the demo: %w", err)
	}
	s.say("Everything that the demo started has ended, and its files are removed.")
	return nil
}
