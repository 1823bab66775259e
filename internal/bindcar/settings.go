package bindcar

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/zonefold/zonefold/internal/bind9"
)

// Settings say how a server works. ParseSettings reads them from the environment.
type Settings struct {
	Listen   string // host:port of the API
	ZoneDir  string // BIND's directory, at the same path for BIND and for us
	LogLevel string // RUST_LOG
	Docs     bool   // serve /api/v1/docs
	Pod      string // the UID of our pod; requests for another one are refused; "": there is none to compare

	RNDC string // host:port of BIND's control channel
	DNS  string // host:port of BIND's DNS service
	Keys Keys
	// UpdateKey signs updates; nil: the first of Keys.
	UpdateKey *bind9.Key
	// UpdateACL is the name of the acl statement that holds all of Keys; "" where there is none. A zone that one of Keys
	// may update then may be updated with all, also with those to come.
	UpdateACL string
	// RequireContent keeps the server from being ready before it was told which zones it shall have.
	RequireContent bool
	// ConfirmWithin is how long a BIND that starts again in the same pod waits to be told so once more: something may have
	// changed while it was away. After that it serves what it has. 0: 30 s.
	ConfirmWithin time.Duration
	// LeaveFor is how long a server that is being ended still answers, and says that it is not ready: time for everybody
	// to hear of it while BIND serves those who have not.
	LeaveFor time.Duration

	Token  string    // the shared token; "": Review
	Review *Reviewer // nil, without a token: authentication is disabled
	Limit  Limit
	// Warnings are for the log at the start.
	Warnings []string
}

// Keys are the keys that BIND may know us by, the one to use first.
type Keys struct {
	Static []bind9.Key
	File   string // read anew for each command, as it may be replaced; "": Static
}

// current returns the keys of now.
func (k Keys) current() ([]bind9.Key, error) {
	if k.File == "" {
		return k.Static, nil
	}
	text, err := os.ReadFile(k.File)
	if err != nil {
		return nil, err
	}
	return bind9.ParseKeys(string(text))
}

// transfer returns the keys of now for zone transfers, which a pod has beside the others.
func (k Keys) transfer() ([]bind9.Key, error) {
	if k.File == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(k.File), filepath.Base(bind9.FileTransferKeys)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return bind9.ParseKeys(string(text))
}

// signing returns the keys for updates, the one to use first.
func (s Settings) signing() ([]bind9.Key, error) {
	if s.UpdateKey != nil {
		return []bind9.Key{*s.UpdateKey}, nil
	}
	keys, err := s.Keys.current()
	if err != nil || len(keys) == 0 {
		return nil, internal("there is no key to sign an update with", err)
	}
	return keys, nil
}

// defaults of the environment's variables.
const (
	defaultZoneDir = "/var/cache/bind"
	defaultPort    = "8080"
	defaultListen  = "0.0.0.0"
	defaultRNDC    = "127.0.0.1:953"
	defaultKeyName = "rndc-key"
	defaultPeriod  = time.Minute
	defaultConfirm = 30 * time.Second
)
