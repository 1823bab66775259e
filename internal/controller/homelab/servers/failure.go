package servers

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

// Reasons of Ready, as the document of the dialect has them.
const (
	ReasonRecordCreated = "RecordCreated"    // the server has the record
	ReasonRecordUpdated = "RecordUpdated"    // the server has the record, and had it otherwise before
	ReasonRecordDeleted = "RecordDeleted"    // the server has the record no more
	ReasonClassNotFound = "DNSClassNotFound" // dnsClassRef names none
	// the DNSClass names a Secret, or a key of it, that is not there, or that may not be read
	ReasonSecretNotFound       = "SecretNotFound"
	ReasonServerUnreachable    = "ServerUnreachable"    // no HTTP answer
	ReasonServerError          = "ServerError"          // an answer that is neither success nor one of the others
	ReasonAuthenticationFailed = "AuthenticationFailed" // the server does not take the signature
	// another object has the record, a rule forbids it, or the DNSClass cannot be used
	ReasonInvalidConfiguration = "InvalidConfiguration"
	ReasonValidationFailed     = "ValidationFailed" // the record is not valid, as we find or as the server says
	ReasonServerHealthy        = "ServerHealthy"    // of a DNSClass: the server says that it is well
	ReasonPending              = "Pending"          // nothing has come of it yet
)

// Codes of status.error besides those of the protocol.
const (
	CodeClassNotFound = "DNS_CLASS_NOT_FOUND"
	codeSecret        = "SECRET_NOT_FOUND"
	codeUnreachable   = "SERVER_UNREACHABLE"
	CodeConflict      = "CONFLICT"    // another object has the record
	CodeNotAllowed    = "NOT_ALLOWED" // the DNSClass does not let the namespace have it
	codeClass         = "INVALID_CLASS"
)

// A Failure is why the server does not have what it should.
type Failure struct {
	Reason, Code, Message string
	Next                  string // in words, when it is tried again
}

// Explain says what an error of a call means, and how soon it is worth another one.
func Explain(c string, err error) (f Failure, p Patience, after time.Duration) {
	var secret *SecretError
	var class *ClassError
	var e *dnshook.Error
	switch {
	case errors.As(err, &secret):
		if p = Hopeless; secret.silent {
			p = Soon
		}
		return Failure{Reason: ReasonSecretNotFound, Code: codeSecret, Message: secret.Text + " Nothing is sent unsigned."},
			p, 0
	case errors.As(err, &class):
		return Failure{Reason: ReasonInvalidConfiguration, Code: codeClass, Message: class.Text}, Hopeless, 0
	case errors.Is(err, dnshook.ErrUnreachable):
		return Failure{Reason: ReasonServerUnreachable, Code: codeUnreachable, Message: fmt.Sprintf(
			"The server of DNSClass %s does not answer: %s.", c, innermost(err))}, Soon, 0
	case errors.As(err, &e):
		f = Failure{Reason: reasonOf(e), Code: string(e.Code), Message: fmt.Sprintf("The server of DNSClass %s answers %s.",
			c, strings.TrimRight(e.Error(), "."))}
		if f.Code == "" {
			f.Code = string(dnshook.CodeServerError)
		}
		switch {
		case e.Status == http.StatusTooManyRequests || e.Code == dnshook.CodeRateLimited || e.RetryAfter > 0:
			return f, AsAsked, e.RetryAfter
		case f.Reason == ReasonValidationFailed:
			return f, Hopeless, 0
		}
		return f, Soon, 0
	}
	return Failure{Reason: ReasonServerError, Code: string(dnshook.CodeServerError), Message: fmt.Sprintf(
		"DNSClass %s cannot be used: %v.", c, err)}, Soon, 0
}

func reasonOf(e *dnshook.Error) string {
	switch {
	case e.Status == http.StatusUnauthorized, e.Code == dnshook.CodeAuthFailed, e.Code == dnshook.CodeTimestampStale,
		e.Code == dnshook.CodeNonceReused:
		return ReasonAuthenticationFailed
	case e.Status == http.StatusBadRequest, strings.HasPrefix(string(e.Code), "INVALID_"):
		return ReasonValidationFailed
	}
	return ReasonServerError
}

// innermost is what the network says, without ports of ours, which differ from try to try.
func innermost(err error) string {
	if t := (interface{ Timeout() bool })(nil); errors.As(err, &t) && t.Timeout() {
		return "it took too long"
	}
	for {
		next := errors.Unwrap(err)
		if many, ok := err.(interface{ Unwrap() []error }); ok && len(many.Unwrap()) > 0 {
			next = many.Unwrap()[len(many.Unwrap())-1]
		}
		if next == nil {
			return strings.TrimRight(err.Error(), ".")
		}
		err = next
	}
}

// AboutAll reports whether an error is about all records of a server, not about one: nobody goes on asking then.
func AboutAll(err error) bool {
	var e *dnshook.Error
	if !errors.As(err, &e) {
		return true
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return e.RetryAfter > 0
}

// NeverSent reports whether an error is that of a call that was not made, or that reached nobody: its server has not
// heard of it.
func NeverSent(err error) bool {
	var secret *SecretError
	var class *ClassError
	return errors.Is(err, dnshook.ErrNotSent) || errors.Is(err, objects.ErrNotLeading) || errors.As(err, &secret) ||
		errors.As(err, &class)
}

// RefusesAll reports whether each of the errors of a call is that the server does not take the record.
func RefusesAll(err error) bool {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(many.Unwrap(), func(one error) bool { return !RefusesAll(one) })
	}
	var e *dnshook.Error
	return errors.As(err, &e) && reasonOf(e) == ReasonValidationFailed
}
