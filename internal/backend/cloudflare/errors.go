package cloudflare

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/webcall"
)

// code is what the service calls an error.
type code int

// Error shows the number, by which the service's documentation is searched.
func (c code) Error() string { return fmt.Sprintf("code %d", int(c)) }

// Codes that come of knowing too little of what is there: the record with the ID is gone, or there is one already.
const (
	codeGone      code = 81044
	codeHostTaken code = 81053 // an A, AAAA or CNAME of that name
	codeCNAME     code = 81054
	codeNS        code = 81056
	codeExists    code = 81057
	codeIdentical code = 81058
)

// codeAuthentication ("Authentication error") is also said of a token that is right and may not do what it is used for.
const codeAuthentication code = 10000

// stale are the codes after which what is there is looked at before anything is said of a set.
var stale = []code{codeGone, codeHostTaken, codeCNAME, codeNS, codeExists, codeIdentical}

// meaning is what a code stands for.
type meaning struct {
	class     backend.ErrorClass
	cause     backend.Cause
	temporary bool
}

// meanings are the codes whose HTTP status does not say enough. Others from 1004 to 1010, of 9xxx and of 81xxx are
// about what was to be written.
var meanings = map[code]meaning{
	971:   {class: backend.ErrThrottled},
	10013: {class: backend.ErrThrottled},

	1000: {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated}, // Invalid API Token
	6003: {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated}, // Invalid request headers
	// Invalid format for Authorization header
	6111:  {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated},
	9103:  {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated},
	9106:  {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated},
	9107:  {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated},
	9109:  {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated}, // Invalid access token
	10001: {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated},

	codeAuthentication: {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated},

	1001:  {class: backend.ErrNoZone, cause: backend.CauseInvalid}, // Invalid zone identifier
	7000:  {class: backend.ErrNoZone, cause: backend.CauseInvalid},
	7003:  {class: backend.ErrNoZone, cause: backend.CauseInvalid}, // Could not route to /zones/…
	81045: {class: backend.ErrRejected, cause: backend.CauseQuota, temporary: true},
	81044: {class: backend.ErrConflict},
}

// judge gives an answer a class: by its first code that is known, else by its status.
func judge(a webcall.Answer) *backend.Error {
	var said struct {
		Errors []problem `json:"errors"`
	}
	if json.Unmarshal(a.Body, &said) != nil || len(said.Errors) == 0 {
		e := byStatus(a)
		e.Words = webcall.Words(a.Status, a.Text())
		return e
	}
	problems := flatten(said.Errors)
	e, first := byStatus(a), problems[0].Code
	for _, p := range problems {
		if m, ok := meanings[p.Code]; ok && (a.Status < 500 || m.class == backend.ErrThrottled) {
			e, first = &backend.Error{Class: m.class, Cause: m.cause, Temporary: m.temporary}, p.Code
			break
		}
	}
	var words []string
	for _, p := range problems {
		words = append(words, p.Message)
	}
	e.Words, e.Err = webcall.Words(a.Status, strings.Join(words, "; ")), first
	if e.Class == backend.ErrNotAuthorised {
		e.Err = fmt.Errorf(
			"%w: the API token is wrong, has expired, or lacks the permissions Zone Read and DNS Edit for the zone", first)
		// What is written was read before, with the same token.
		writes := first == codeAuthentication && a.Request.Method != http.MethodGet
		if a.Status == http.StatusForbidden && (writes || strings.Contains(e.Words, "Unauthorized")) {
			e.Cause = backend.CauseUnauthorised
		}
	}
	return e
}

// problem is one error of an answer; a general one has others below it.
type problem struct {
	Code    code      `json:"code"`
	Message string    `json:"message"`
	Chain   []problem `json:"error_chain"`
}

func flatten(problems []problem) []problem {
	var flat []problem
	for _, p := range problems {
		flat = append(flat, problem{Code: p.Code, Message: p.Message})
		flat = append(flat, flatten(p.Chain)...)
	}
	return flat
}

// byStatus is what the status of an answer says.
func byStatus(a webcall.Answer) *backend.Error {
	writes := a.Request.Method != http.MethodGet
	switch a.Status {
	case http.StatusUnauthorized:
		return &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseUnauthenticated}
	case http.StatusForbidden:
		return &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseUnauthorised}
	case http.StatusNotFound:
		return &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid}
	case http.StatusTooManyRequests:
		return &backend.Error{Class: backend.ErrThrottled}
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		if writes {
			return &backend.Error{Class: backend.ErrRejected}
		}
	}
	return &backend.Error{Class: backend.ErrUnavailable}
}

// outdated reports whether an error may come of what was known before.
func outdated(err error) bool {
	c, ok := errors.AsType[code](err)
	return ok && slices.Contains(stale, c)
}
