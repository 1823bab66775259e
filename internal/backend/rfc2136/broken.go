package rfc2136

import (
	"errors"
	"fmt"
)

// A brokenError says that a connection broke, so that it is not known whether what was sent has arrived.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return fmt.Sprintf("the connection broke: %v", e.err) }

func (e *brokenError) Unwrap() error { return e.err }

func isBroken(err error) bool {
	_, ok := errors.AsType[*brokenError](err)
	return ok
}

// An unfinishedError says that a connection works but may hold the rest of an answer, and is not to be kept.
type unfinishedError struct{ err error }

func (e *unfinishedError) Error() string { return e.err.Error() }

func (e *unfinishedError) Unwrap() error { return e.err }

// errOtherAnswer says that the answer belongs to no question that was asked on the connection.
var errOtherAnswer = &unfinishedError{unavailable(errors.New("the server answered a different question"))}

func isUnfinished(err error) bool {
	_, ok := errors.AsType[*unfinishedError](err)
	return ok
}

// settled gives a broken connection its class, now that nothing more is tried.
func settled(err error) error {
	if isBroken(err) {
		return unavailable(err)
	}
	return err
}
