package googleclouddns

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/webcall"
)

// meaning is what a reason stands for.
type meaning struct {
	class     backend.ErrorClass
	cause     backend.Cause
	temporary bool
}

// meanings are the reasons of the API's errors whose HTTP status does not say enough.
var meanings = map[string]meaning{
	"rateLimitExceeded":     {class: backend.ErrThrottled},
	"userRateLimitExceeded": {class: backend.ErrThrottled},
	"RATE_LIMIT_EXCEEDED":   {class: backend.ErrThrottled},
	"dailyLimitExceeded":    {class: backend.ErrThrottled, cause: backend.CauseQuota},
	"quotaExceeded":         {class: backend.ErrRejected, cause: backend.CauseQuota, temporary: true},

	"authError":               {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthenticated},
	"forbidden":               {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthorised},
	"insufficientPermissions": {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthorised},
	"accessNotConfigured":     {class: backend.ErrNotAuthorised, cause: backend.CauseUnauthorised},

	"conditionNotMet": {class: backend.ErrConflict},
}

// problem is what the API says.
type problem struct {
	Error struct {
		Message string `json:"message"`
		Errors  []struct {
			Reason string `json:"reason"`
		} `json:"errors"`
	} `json:"error"`
}

// judge gives an answer a class: by the reason, else by the status.
func judge(a webcall.Answer) *backend.Error {
	var said problem
	text := a.Text()
	if json.Unmarshal(a.Body, &said) == nil && said.Error.Message != "" {
		text = said.Error.Message
	}
	e := byStatus(a, text)
	for _, one := range said.Error.Errors {
		if m, ok := meanings[one.Reason]; ok && a.Status < 500 {
			e = &backend.Error{Class: m.class, Cause: m.cause, Temporary: m.temporary}
			break
		}
	}
	e.Words = webcall.Words(a.Status, text)
	return e
}

// byStatus is what the status of an answer says. What it says of a part of a change is about what was believed to be
// there.
func byStatus(a webcall.Answer, text string) *backend.Error {
	part := strings.Contains(text, "entity.change")
	switch a.Status {
	case http.StatusUnauthorized:
		return &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseUnauthenticated}
	case http.StatusForbidden:
		return &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseUnauthorised}
	case http.StatusNotFound:
		if part {
			return &backend.Error{Class: backend.ErrConflict}
		}
		return &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid}
	case http.StatusConflict, http.StatusPreconditionFailed:
		return &backend.Error{Class: backend.ErrConflict}
	case http.StatusTooManyRequests:
		return &backend.Error{Class: backend.ErrThrottled}
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		if a.Request.Method != http.MethodGet {
			return &backend.Error{Class: backend.ErrRejected}
		}
	}
	return &backend.Error{Class: backend.ErrUnavailable}
}

// judgeToken gives an answer of the server of tokens a class (RFC 6749 §5.2).
func judgeToken(a webcall.Answer) *backend.Error {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(a.Body, &said)
	e := &backend.Error{Class: backend.ErrUnavailable, Words: webcall.Words(a.Status, said.Error+" "+said.Description)}
	switch {
	case a.Status == http.StatusTooManyRequests:
		e.Class = backend.ErrThrottled
	case a.Status < 500:
		e.Class, e.Cause = backend.ErrNotAuthorised, backend.CauseUnauthenticated
		e.Err = errors.New("the service account's key is wrong, or was deleted")
	}
	return e
}
