package dnshook

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// A Code says in an answer what went wrong.
type Code string

// The codes of the protocol.
const (
	CodeInvalidRecord  Code = "INVALID_RECORD"   // the record is not valid
	CodeInvalidDomain  Code = "INVALID_DOMAIN"   // a name is not one
	CodeInvalidValue   Code = "INVALID_VALUE"    // a value is not one of its type
	CodeRecordNotFound Code = "RECORD_NOT_FOUND" // there is no such record
	CodeServerError    Code = "SERVER_ERROR"     // the server failed
	CodeAuthFailed     Code = "AUTH_FAILED"      // the signature is missing or wrong
	CodeTimestampStale Code = "TIMESTAMP_STALE"  // the request was signed too long ago, or will be
	CodeNonceReused    Code = "NONCE_REUSED"     // the request was sent before
	CodeRateLimited    Code = "RATE_LIMITED"     // too many requests: wait
	CodeQuotaExceeded  Code = "QUOTA_EXCEEDED"   // there is no room for more records
)

// Status is the HTTP status that goes with a code.
func (c Code) Status() int {
	switch c {
	case CodeInvalidRecord, CodeInvalidDomain, CodeInvalidValue:
		return http.StatusBadRequest
	case CodeAuthFailed, CodeTimestampStale, CodeNonceReused:
		return http.StatusUnauthorized
	case CodeRecordNotFound:
		return http.StatusNotFound
	case CodeRateLimited:
		return http.StatusTooManyRequests
	case CodeQuotaExceeded:
		return http.StatusForbidden
	}
	return http.StatusInternalServerError
}

// An Error is an answer that says no. Providers return it to have a code and words of their own answered; other errors
// of theirs are answered with SERVER_ERROR, and only the log has the words.
type Error struct {
	Status     int // of HTTP; 0: that of the code
	Code       Code
	Message    string // for people; it may get into the status of an object
	Details    map[string]any
	RetryAfter time.Duration // 0: nothing was said
	Err        error         // what is behind it, for a log; it is not sent
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s", e.Code, e.Message)
	if e.Code == "" {
		text = fmt.Sprintf("HTTP %d: %s", e.Status, e.Message)
	}
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	return text
}

// Unwrap returns what is behind it.
func (e *Error) Unwrap() error { return e.Err }

// ErrUnreachable is the class of errors of a Client that got no answer.
var ErrUnreachable = errors.New("the server cannot be reached")

// ErrNotSent is the class of those among them that got no connection either: the server has heard nothing.
var ErrNotSent = errors.New("nothing was sent")

// unsent is an error of the class ErrNotSent, in its own words.
type unsent struct{ error }

// Unwrap returns the error.
func (u unsent) Unwrap() error { return u.error }

// Is reports whether a class is that of the error.
func (u unsent) Is(class error) bool { return class == ErrNotSent }

// ErrNotFound is what a Provider returns for a record that there is not.
var ErrNotFound = &Error{Code: CodeRecordNotFound, Message: "Record does not exist"}

// Absent is an error about an ID that no record can have, told to who looks such a record up or has it deleted: it is
// not there. Whoever named it by mistake can let go of it then.
func Absent(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: CodeRecordNotFound, Message: ErrNotFound.Message + ": " + public(err).Message, Err: err}
}

// CodeOf returns the code of an error, "" if it has none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
