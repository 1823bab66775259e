package bindcar

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Classes of a client's errors, for errors.Is. ErrThrottled, ErrUnavailable and ErrNotLeading pass; the others do not
// until something changes: after ErrMisdirected the caller has to find out anew where the pod is.
var (
	ErrNotFound     = errors.New("there is no such zone")
	ErrConflict     = errors.New("the zone exists already")
	ErrUnauthorized = errors.New("the token is not accepted")
	ErrThrottled    = errors.New("too many requests")
	ErrUnavailable  = errors.New("the server is not available")
	ErrInvalid      = errors.New("the request is not valid")
	ErrMisdirected  = errors.New("another pod has the address")
	ErrNotLeading   = errors.New("another operator may have become the leader")
)

// An Error is an answer that is no success, or none.
type Error struct {
	Class      error
	Status     int           // 0: there was no answer
	RetryAfter time.Duration // of ErrThrottled; 0 where the server did not say
	Text       string        // the server's words, or what went wrong
}

// Error tells what the server said.
func (e *Error) Error() string {
	if e.Status == 0 {
		return e.Class.Error() + ": " + e.Text
	}
	return fmt.Sprintf("%v: HTTP %d: %s", e.Class, e.Status, e.Text)
}

// Unwrap is the class.
func (e *Error) Unwrap() error { return e.Class }

// classify makes an error of an answer.
func classify(resp *http.Response, text []byte) error {
	e := &Error{Status: resp.StatusCode, Text: strings.TrimSpace(string(text[:min(len(text), 4096)]))}
	var body ErrorBody
	if json.Unmarshal(text, &body) == nil && body.Error != "" {
		e.Text = body.Error
	}
	switch {
	case resp.StatusCode == http.StatusNotFound:
		e.Class = ErrNotFound
	case resp.StatusCode == http.StatusConflict:
		e.Class = ErrConflict
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		e.Class = ErrUnauthorized
	case resp.StatusCode == http.StatusMisdirectedRequest:
		e.Class = ErrMisdirected
	case resp.StatusCode == http.StatusTooManyRequests:
		e.Class = ErrThrottled
		if seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16); err == nil {
			e.RetryAfter = time.Duration(seconds) * time.Second
		}
	case resp.StatusCode >= http.StatusInternalServerError || resp.StatusCode < 400:
		e.Class = ErrUnavailable
	default:
		e.Class = ErrInvalid
	}
	return e
}
