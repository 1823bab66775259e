package hook

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// Secrets are files with secrets, each of which may sign. They are read for each request, so that a secret is replaced
// by replacing its file; what a file held before counts for a while longer.
type Secrets struct {
	Files     []string
	Algorithm dnshook.Algorithm
	Grace     time.Duration // how long an old secret counts
	Now       func() time.Time
	Log       *slog.Logger

	mu     sync.Mutex
	now    map[string]string // what files hold
	old    []oldSecret
	failed map[string]bool
}

type oldSecret struct {
	secret string
	until  time.Time
}

// Keys returns those that count now, for dnshook.HandlerConfig. A file that cannot be read, or has no secret that can
// be used, counts as it was.
func (s *Secrets) Keys() ([]dnshook.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now, s.failed = map[string]string{}, map[string]bool{}
	}
	at := s.Now()
	var keys []dnshook.Key
	var errs []error
	for _, file := range s.Files {
		if err := s.read(file, at); err != nil {
			errs = append(errs, err)
		}
		if secret := s.now[file]; secret != "" {
			keys = append(keys, dnshook.Key{Secret: []byte(secret), Algorithm: s.Algorithm})
		}
	}
	s.old = slices.DeleteFunc(s.old, func(o oldSecret) bool { return !at.Before(o.until) })
	for _, o := range s.old {
		keys = append(keys, dnshook.Key{Secret: []byte(o.secret), Algorithm: s.Algorithm})
	}
	if len(keys) == 0 {
		return nil, errors.Join(append(errs, errors.New("there is no secret"))...)
	}
	return keys, nil
}

// read takes over what a file holds.
func (s *Secrets) read(file string, at time.Time) error {
	text, err := os.ReadFile(file)
	if err == nil {
		if err = (dnshook.Key{Secret: text, Algorithm: s.Algorithm}).Validate(); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil {
		if !s.failed[file] {
			s.Log.Error("a secret cannot be used; the file's previous secret remains valid", "file", file, "error", err)
		}
		s.failed[file] = true
		return fmt.Errorf("reading a secret: %w", err)
	}
	s.failed[file] = false
	before, secret := s.now[file], string(text)
	if secret == before {
		return nil
	}
	s.now[file] = secret
	if text[len(text)-1] == '\n' {
		s.Log.Warn("a secret ends in a line feed, which is part of it", "file", file)
	}
	if before != "" {
		s.Log.Info("a secret was replaced; the old one remains valid for a while", "file", file, "grace", s.Grace.String())
		s.old = append(s.old, oldSecret{before, at.Add(s.Grace)})
	}
	return nil
}
