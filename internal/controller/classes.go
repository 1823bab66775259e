package controller

import (
	"context"
	"time"
)

// Classes are the DNSClasses, whose servers Backends may name.
type Classes interface {
	// Follow has f told of each class that was asked for and has changed, with its Secrets, until ctx ends. f may block.
	Follow(ctx context.Context, f func(class string)) error
	// Known waits, not for long, until the classes that were asked for have been looked at, and reports whether ctx goes
	// on.
	Known(ctx context.Context) bool
	// Class returns what a class' server is reached with, or why it cannot be used now. It does not block.
	Class(name string) (ClassServer, *Outcome)
	// Examine returns what is wrong with a class, as far as the server is not needed to say so.
	Examine(ctx context.Context, name string) *Outcome
}

// A ClassServer is the server of a DNSClass with its credentials.
type ClassServer struct {
	URL       string
	Secret    string // "": nothing is signed
	Algorithm string // of signatures; "": the protocol's own
	CABundle  string // PEM; "": the system's authorities
	Timeout   time.Duration
	Blind     bool // the server does not show records
	InRDATA   bool // the numbers of MX and SRV records are in front of the values
}
