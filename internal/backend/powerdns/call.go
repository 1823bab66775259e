package powerdns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// A request is one call of the API.
type request struct {
	method string
	path   string // below the server
	query  string
	body   any // sent as JSON when not nil
	inZone bool
}

// The largest answers that are read, in octets: a zone of some millions of records; an error.
const (
	maxAnswer = 1 << 30
	maxError  = 1 << 16
)

// call makes a call and decodes its answer into result, unless that is nil. Errors have a class. Calls that write go
// one after the other: of two transactions at the same moment SQLite gives one up, and the server answers 500 as if it
// did not take the records.
func (c *Client) call(ctx context.Context, r request, result any) error {
	if r.method != http.MethodGet {
		select {
		case c.writing <- struct{}{}:
			defer func() { <-c.writing }()
		case <-ctx.Done():
			return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("waiting for another call that writes: %w",
				context.Cause(ctx))}
		}
		if err := backend.MaySend(ctx); err != nil {
			return err
		}
	}
	var body io.Reader
	if r.body != nil {
		b, err := encode(r.body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	u := c.base.JoinPath(r.path)
	u.RawQuery = r.query
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return err
	}
	req.Header.Set("X-API-Key", c.key)
	req.Header.Set("Accept", "application/json")
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if refused := dialguard.Refusal(err); refused != nil {
			return refused
		}
		return &backend.Error{Class: backend.ErrUnavailable, Err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return c.answerError(resp, r)
	}
	if result == nil {
		return nil
	}
	return c.decode(resp.Body, result)
}

// encode is JSON as it is sent.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	return b.Bytes(), nil
}

// decode reads one JSON value and nothing after it; what is cut off is an error.
func (c *Client) decode(body io.ReadCloser, result any) error {
	meter := c.reads.Begin(maxAnswer, func() { _ = body.Close() })
	defer meter.End()
	d := json.NewDecoder(meter.JSON(body))
	err := d.Decode(result)
	if err == nil && d.More() {
		err = errors.New("something follows its end")
	}
	if exceeded := backend.Exceeded(err); exceeded != nil {
		return exceeded
	}
	if err != nil {
		return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf("the server's answer cannot be read: %w", err)}
	}
	return nil
}

// answerError gives an answer other than 2xx a class.
func (c *Client) answerError(resp *http.Response, r request) error {
	e := &backend.Error{Class: backend.ErrUnavailable, Words: c.words(resp)}
	writes := r.method != http.MethodGet
	switch code := resp.StatusCode; {
	case code >= 300 && code < 400:
		e.Err = errors.New("the server answers with a redirect, which zonefold does not follow; use the URL that it leads to")
	case code == http.StatusUnauthorized:
		e.Class, e.Cause = backend.ErrNotAuthorised, backend.CauseUnauthenticated
	case code == http.StatusForbidden:
		e.Class, e.Cause = backend.ErrNotAuthorised, backend.CauseUnauthorised
	case code == http.StatusNotFound && r.inZone:
		e.Class, e.Cause = backend.ErrNoZone, backend.CauseInvalid
	case code == http.StatusNotFound:
		e.Err = errors.New("the URL or the server's id is wrong")
	case code == http.StatusConflict:
		e.Class = backend.ErrConflict
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
		e.Class, e.After = backend.ErrThrottled, retryAfter(resp)
	case writes && (code == http.StatusBadRequest || code == http.StatusRequestEntityTooLarge ||
		code == http.StatusUnprocessableEntity):
		e.Class = backend.ErrRejected
	case writes && code == http.StatusInternalServerError:
		// The transaction failed; one record that the database does not take is enough for that.
		e.Class, e.Temporary = backend.ErrRejected, true
	}
	return e
}

// words are what the server says: {"error": …}, or plain text.
func (c *Client) words(resp *http.Response) string {
	status := "HTTP " + strconv.Itoa(resp.StatusCode)
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil {
		return status
	}
	var said struct {
		Error  string   `json:"error"`
		Errors []string `json:"errors"`
	}
	text := ""
	if json.Unmarshal(b, &said) == nil {
		text = strings.Join(append([]string{said.Error}, said.Errors...), " ")
	} else if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		text = string(b)
	}
	text = c.guard.Said(strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "))
	const longest = 500
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	if text == "" {
		return status
	}
	return status + ": " + text
}

// retryAfter reads the header in its form in seconds; a date would need the server's clock.
func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// zonePath is a zone's path below the server. In its id every character but letters, digits, dot and hyphen is written
// as "=XX", and so is the root zone.
func zonePath(zone dnsname.Name) string {
	if zone.IsRoot() {
		return "zones/=2E"
	}
	var b strings.Builder
	b.WriteString("zones/")
	for _, c := range []byte(zone.String()) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}
