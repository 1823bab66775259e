package backend

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/zonefold/zonefold/internal/budget"
)

// An ErrorClass says what kind of failure an error is, and with that when to try again. Classes are errors themselves:
// errors.Is(err, ErrNoZone) works, and so does fmt.Errorf("transferring %s: %w", zone, ErrNoZone).
type ErrorClass string

const (
	// ErrNoZone: the server does not have the zone. Tried again slowly, or the zone is created where Limits.Creates.
	ErrNoZone ErrorClass = "no zone"
	// ErrRejected: the server understood and refused. The batch is halved until the culprit stands alone.
	ErrRejected ErrorClass = "rejected"
	// ErrNotAuthorised: the credentials are wrong or do not suffice. Tried again slowly; new credentials wake the worker.
	ErrNotAuthorised ErrorClass = "not authorised"
	// ErrUnavailable: no answer, a broken one, or an error without a class. It is not known what was applied.
	ErrUnavailable ErrorClass = "unavailable"
	// ErrThrottled: too many requests; Error.After is the server's Retry-After. Holds the whole server.
	ErrThrottled ErrorClass = "throttled"
	// ErrTooLarge: what the server says is more than one reading may cost (package budget). Tried again slowly: it is a
	// property of what the server holds.
	ErrTooLarge ErrorClass = "too large"
	// ErrConflict: somebody else wrote since; Batch.Expect did not hold. The zone is read again.
	ErrConflict ErrorClass = "conflict"
	// ErrHeld: an older owner has the target. Only the engine makes it.
	ErrHeld ErrorClass = "held"
)

// Error makes an ErrorClass an error.
func (c ErrorClass) Error() string { return string(c) }

// Error is an error of a class with the details that a backend knows. A plain error that wraps an ErrorClass does as
// well.
type Error struct {
	Class ErrorClass
	Words string        // the server's own words ("SERVFAIL", an API's message); never a Secret
	After time.Duration // ErrThrottled: how long to wait; 0 when the server did not say. See Pause.
	// ErrRejected: may be the server's trouble (SERVFAIL); a single set is tried again after a while
	Temporary bool
	Cause     Cause // "" when the server did not tell
	Err       error // the cause, may be nil
}

// Error says the class, the server's words and the cause.
func (e *Error) Error() string {
	s := string(e.Class)
	if e.Words != "" {
		s = fmt.Sprintf("%s (%s)", e.Words, s)
	}
	if e.Err != nil {
		s += ": " + Steady(e.Err)
	}
	return s
}

// Steady is what an error says without what is another one at each try: ports of ours, and the time at which a
// certificate was looked at. A status that tells of the error is written when that changes.
func Steady(err error) string {
	return lookedAt.ReplaceAllString(ownPort.ReplaceAllString(err.Error(), ""), "the time ")
}

var (
	ownPort  = regexp.MustCompile(`[^ ]*:\d+->`)         // "read tcp 10.0.0.1:40912->10.0.0.2:53: …"
	lookedAt = regexp.MustCompile(`current time [^ ]+ `) // "current time 2026-11-30T01:31:19Z is after …"
)

// Is makes errors.Is(e, ErrNoZone) and the like work.
func (e *Error) Is(target error) bool { return target == e.Class }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Exceeded gives an error of package budget a class: too large, or, where all readings together are too much,
// throttled. It returns nil for any other error.
func Exceeded(err error) *Error {
	e, ok := errors.AsType[*budget.Error](err)
	switch {
	case !ok:
		return nil
	case e.Shared:
		return &Error{Class: ErrThrottled, Err: e}
	}
	wayOut := "see which records the server has"
	if e.Memory {
		wayOut += ", or give the operator more memory with --read-memory"
	}
	return &Error{Class: ErrTooLarge, Err: fmt.Errorf("%w; %s", e, wayOut)}
}

// longestPause bounds what a server may ask for.
const longestPause = 15 * time.Minute

// Pause returns how long to wait after an error because its server says so; 0: it does not. What it says may be wrong
// by years, and holds up all that goes there, new credentials included.
func Pause(err error) time.Duration {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return 0
	}
	return min(e.After, longestPause)
}

// Class returns the class of an error, "" for nil and ErrUnavailable for an error without one.
func Class(err error) ErrorClass {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	if c, ok := errors.AsType[ErrorClass](err); ok {
		return c
	}
	return ErrUnavailable
}
