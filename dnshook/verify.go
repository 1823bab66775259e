package dnshook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxNonce is how long a nonce may be, in octets.
const maxNonce = 256

// A Verifier checks who has sent a request, and that it was not sent before.
type Verifier struct {
	// Keys are those that may sign now. They may change between calls, as they do when a secret is replaced; while several
	// are returned, each counts that Key.Validate finds nothing wrong with.
	Keys   func() ([]Key, error)
	Nonces Nonces
	Now    func() time.Time
}

// Verify checks a request with its body, and notes its nonce. Errors are of type *Error; a signature is checked before
// the nonce is noted, so that only who knows the secret can fill the store.
func (v *Verifier) Verify(ctx context.Context, r *http.Request, body []byte) error {
	m := Message{Method: r.Method, Path: pathOf(r), Timestamp: r.Header.Get(HeaderTimestamp),
		Nonce: r.Header.Get(HeaderNonce), Body: body}
	signature := r.Header.Get(HeaderSignature)
	for _, h := range []struct{ name, value string }{{HeaderTimestamp, m.Timestamp}, {HeaderNonce, m.Nonce},
		{HeaderSignature, signature}} {
		if h.value == "" || len(r.Header.Values(h.name)) > 1 {
			return failed(CodeAuthFailed, "The request has to have one header %s.", h.name)
		}
	}
	if len(m.Nonce) > maxNonce {
		return failed(CodeAuthFailed, "The nonce is longer than %d octets.", maxNonce)
	}
	signed, err := time.Parse(time.RFC3339, m.Timestamp)
	if err != nil {
		return failed(CodeAuthFailed, "The timestamp is not one of RFC 3339, such as 2006-01-02T15:04:05Z.")
	}
	now := v.Now()
	if off := now.Sub(signed); off > Window || off < -Window {
		return failed(CodeTimestampStale, "The timestamp differs from the time here by more than %s.", Window)
	}
	keys, err := v.usable()
	if len(keys) == 0 {
		return &Error{Status: http.StatusServiceUnavailable, Code: CodeServerError, Message: "The server has no secret to " +
			"check requests with.", Err: err}
	}
	if !slices.ContainsFunc(keys, func(k Key) bool { return k.signs(m, signature) }) {
		return failed(CodeAuthFailed, "The signature does not match the request.")
	}
	return v.use(ctx, m.Nonce, now)
}

// usable returns the keys that may sign; the error is why some may not.
func (v *Verifier) usable() (keys []Key, err error) {
	all, err := v.Keys()
	for _, k := range all {
		if wrong := k.Validate(); wrong != nil {
			err = errors.Join(err, wrong)
			continue
		}
		keys = append(keys, k)
	}
	return keys, err
}

// use notes a nonce for as long as the same request could be sent again: twice the window, for its clock may be ahead.
// At the end of the window it still could; a second is what a store may count in.
func (v *Verifier) use(ctx context.Context, nonce string, now time.Time) error {
	fresh, err := v.Nonces.Use(ctx, nonce, now, now.Add(2*Window+time.Second))
	switch {
	case errors.Is(err, ErrNoncesFull):
		return &Error{Status: http.StatusServiceUnavailable, Code: CodeServerError, Message: "The server has received too " +
			"many requests to accept more now.", Err: err, RetryAfter: Window}
	case err != nil:
		return &Error{Status: http.StatusServiceUnavailable, Code: CodeServerError, Message: "The server cannot tell " +
			"whether the request was sent before.", Err: err}
	case !fresh:
		return failed(CodeNonceReused, "The nonce was used before.")
	}
	return nil
}

// pathOf is the path as it was sent.
func pathOf(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if path == "" || !strings.HasPrefix(path, "/") {
		return r.URL.EscapedPath()
	}
	return path
}

func failed(code Code, format string, args ...any) *Error {
	return &Error{Status: code.Status(), Code: code, Message: fmt.Sprintf(format, args...)}
}
