package homelab

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/zonefold/zonefold/dnshook"
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
	codeClassNotFound = "DNS_CLASS_NOT_FOUND"
	codeSecret        = "SECRET_NOT_FOUND"
	codeUnreachable   = "SERVER_UNREACHABLE"
	codeConflict      = "CONFLICT"    // another object has the record
	codeNotAllowed    = "NOT_ALLOWED" // the DNSClass does not let the namespace have it
	codeClass         = "INVALID_CLASS"
)

// explain says what an error of a call means, and how soon it is worth another one.
func explain(c string, err error) (f failure, p patience, after time.Duration) {
	var secret *errSecret
	var class *errClass
	var e *dnshook.Error
	switch {
	case errors.As(err, &secret):
		if p = hopeless; secret.silent {
			p = soon
		}
		return failure{reason: ReasonSecretNotFound, code: codeSecret, message: secret.text + " Nothing is sent unsigned."},
			p, 0
	case errors.As(err, &class):
		return failure{reason: ReasonInvalidConfiguration, code: codeClass, message: class.text}, hopeless, 0
	case errors.Is(err, dnshook.ErrUnreachable):
		return failure{reason: ReasonServerUnreachable, code: codeUnreachable, message: fmt.Sprintf(
			"The server of DNSClass %s does not answer: %s.", c, innermost(err))}, soon, 0
	case errors.As(err, &e):
		f = failure{reason: reasonOf(e), code: string(e.Code), message: fmt.Sprintf("The server of DNSClass %s answers %s.",
			c, strings.TrimRight(e.Error(), "."))}
		if f.code == "" {
			f.code = string(dnshook.CodeServerError)
		}
		switch {
		case e.Status == http.StatusTooManyRequests || e.Code == dnshook.CodeRateLimited || e.RetryAfter > 0:
			return f, asked, e.RetryAfter
		case f.reason == ReasonValidationFailed:
			return f, hopeless, 0
		}
		return f, soon, 0
	}
	return failure{reason: ReasonServerError, code: string(dnshook.CodeServerError), message: fmt.Sprintf(
		"DNSClass %s cannot be used: %v.", c, err)}, soon, 0
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
