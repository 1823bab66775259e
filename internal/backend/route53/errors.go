package route53

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/zonefold/zonefold/internal/backend"
)

// A meaning is what a code of the service stands for.
type meaning struct {
	class backend.ErrorClass
	cause backend.Cause
}

// meanings are of codes, and not of the SDK's types: the service answers with codes that these do not have.
func meanings() map[string]meaning {
	unauthenticated := meaning{backend.ErrNotAuthorised, backend.CauseUnauthenticated}
	unauthorised := meaning{backend.ErrNotAuthorised, backend.CauseUnauthorised}
	throttled := meaning{backend.ErrThrottled, ""}
	quota := meaning{backend.ErrRejected, backend.CauseQuota}
	noZone := meaning{backend.ErrNoZone, backend.CauseInvalid}
	return map[string]meaning{
		"Throttling": throttled, "ThrottlingException": throttled, "ThrottledException": throttled,
		"RequestThrottled":          throttled,
		"RequestThrottledException": throttled, "RequestLimitExceeded": throttled, "TooManyRequestsException": throttled,
		"SlowDown": throttled, "PriorRequestNotComplete": throttled,

		"InvalidClientTokenId": unauthenticated, "SignatureDoesNotMatch": unauthenticated,
		"UnrecognizedClientException": unauthenticated,
		"InvalidSignatureException":   unauthenticated, "IncompleteSignature": unauthenticated,
		"MissingAuthenticationToken": unauthenticated,
		"AuthFailure":                unauthenticated, "InvalidAccessKeyId": unauthenticated, "ExpiredToken": unauthenticated,
		"ExpiredTokenException": unauthenticated,
		"RequestExpired":        unauthenticated, "InvalidIdentityToken": unauthenticated,
		"IDPRejectedClaim": unauthenticated,

		"AccessDenied": unauthorised, "AccessDeniedException": unauthorised, "UnauthorizedOperation": unauthorised,
		"OptInRequired": unauthorised,
		"NotAuthorized": unauthorised, "NotAuthorizedException": unauthorised,

		"NoSuchHostedZone": noZone, "HostedZoneNotFound": noZone,

		"InvalidChangeBatch": {backend.ErrRejected, backend.CauseInvalid},
		"InvalidInput":       {backend.ErrRejected, backend.CauseInvalid},
		"ValidationError":    {backend.ErrRejected, backend.CauseInvalid},
		"NoSuchHealthCheck":  {backend.ErrRejected, backend.CauseInvalid},

		"LimitsExceeded": quota, "LimitExceeded": quota, "TooManyHostedZones": quota, "TooManyRecords": quota,
	}
}

// quotaWords are in messages of InvalidChangeBatch where the batch is right and the zone is full.
var quotaWords = []string{"MAX_RRSETS_BY_ZONE", "LimitsExceeded"}

// classed gives an error of the SDK a class.
func classed(err error) error {
	said, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return &backend.Error{Class: backend.ErrUnavailable, Err: withoutCredentials(err)}
	}
	e := &backend.Error{Class: backend.ErrUnavailable, Words: words(said)}
	m, known := meanings()[said.ErrorCode()]
	status := 0
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		status = answer.HTTPStatusCode()
	}
	switch {
	case known:
		e.Class, e.Cause = m.class, m.cause
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Class, e.Cause = backend.ErrNotAuthorised, backend.CauseUnauthorised
	case status == http.StatusTooManyRequests:
		e.Class = backend.ErrThrottled
	}
	if e.Class == backend.ErrRejected {
		for _, word := range quotaWords {
			if strings.Contains(e.Words, word) {
				e.Cause = backend.CauseQuota
			}
		}
		e.Temporary = e.Cause == backend.CauseQuota // somebody may make room
	}
	return e
}

// words are the service's: the code and the message, of a batch all of them.
func words(said smithy.APIError) string {
	text := said.ErrorMessage()
	if batch, ok := errors.AsType[*types.InvalidChangeBatch](error(said)); ok && len(batch.Messages) > 0 {
		text = "[" + strings.Join(batch.Messages, ", ") + "]"
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	const longest = 500
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return said.ErrorCode() + ": " + text
}

// withoutCredentials drops nothing that matters: an error of the transport tells URLs, and those hold none.
func withoutCredentials(err error) error {
	if operation, ok := errors.AsType[*smithy.OperationError](err); ok {
		return operation.Err
	}
	return err
}

// mismatched reports whether a batch was refused because a set that was to be deleted is not there as it was thought to
// be.
func mismatched(err error) bool {
	return refusedWith(err, "but it was not found", "do not match the current values")
}

// conflicting reports whether a batch was refused because of a set of another type that is there.
func conflicting(err error) bool {
	return refusedWith(err, "conflicting RRSet", "conflicts with other records")
}

// refusedWith reports whether a batch was refused with one of some words.
func refusedWith(err error, some ...string) bool {
	e, ok := errors.AsType[*backend.Error](err)
	return ok && e.Class == backend.ErrRejected && slices.ContainsFunc(some, func(words string) bool {
		return strings.Contains(e.Words, words)
	})
}
