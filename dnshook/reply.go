package dnshook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// reply is what came back.
type reply struct {
	status int
	after  time.Duration
	body   []byte
	answer answer
	parsed bool
}

// read takes in an answer, as far as it is needed.
func read(response *http.Response, now time.Time) (reply, error) {
	out := reply{status: response.StatusCode, after: retryAfter(response.Header.Get("Retry-After"), now)}
	var err error
	out.body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return out, fmt.Errorf("%w: reading the answer: %w", ErrUnreachable, err)
	case len(out.body) > maxAnswer:
		return out, &Error{Status: out.status, Code: CodeServerError, Message: fmt.Sprintf(
			"its answer is longer than %d octets", maxAnswer)}
	}
	out.parsed = bytes.HasPrefix(bytes.TrimSpace(out.body), []byte("{")) && json.Unmarshal(out.body, &out.answer) == nil
	return out, nil
}

// retryAfter reads a number of seconds or a date (RFC 9110 §10.2.3); what cannot be read is 0.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(text); err == nil || errors.Is(err, strconv.ErrRange) { // n is the nearest that there is
		return max(0, time.Duration(min(n, 24*3600))*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), 24*time.Hour))
	}
	return 0
}

// ofProtocol reports whether an answer is one of the protocol, and not of something that speaks HTTP only.
func (a *reply) ofProtocol() bool {
	return a.parsed && (a.answer.Success != nil || a.answer.Error != nil && a.answer.Error.Code != "")
}

// absent reports whether an answer about one record says that it is not there. Some servers say so with 200. A 404 with
// another code is about something else, such as a path that the server does not have.
func (a *reply) absent() bool {
	return a.status == http.StatusNotFound && a.code(CodeRecordNotFound) == CodeRecordNotFound ||
		a.status/100 == 2 && a.code("") == CodeRecordNotFound
}

// failure says why an answer is none that was hoped for; nil: it is. An answer that says nothing is as good as its
// status, but a page that something else shows in place of the server is no success.
func (a *reply) failure() error {
	saysNo := a.parsed && a.answer.Success != nil && !*a.answer.Success
	silent := len(bytes.TrimSpace(a.body)) == 0
	if a.status/100 == 2 && !saysNo && (a.parsed || silent) {
		return nil
	}
	out := &Error{Status: a.status, Code: a.code(""), RetryAfter: a.after}
	if out.Code == "" {
		out.Code = codeOfStatus(a.status)
	}
	switch {
	case a.parsed && a.answer.Error != nil && a.answer.Error.Message != "":
		out.Message, out.Details = clipped(a.answer.Error.Message), a.answer.Error.Details
	case a.parsed && a.answer.Message != "":
		out.Message = clipped(a.answer.Message)
	case a.status/100 == 2 && !a.parsed:
		out.Message = a.said() + "; success is a JSON object or an empty body: something else may answer at its URL"
	default:
		out.Message = a.said()
	}
	return out
}

// said is an answer in words: those that it has itself are kept, for they may be all that tells what is wrong.
func (a *reply) said() string {
	text := fmt.Sprintf("it answers %d %s", a.status, http.StatusText(a.status))
	words := clipped(string(a.body))
	switch {
	case words == "":
		return text
	case strings.HasPrefix(words, "<"):
		return text + " with a page" + titled(words)
	}
	return fmt.Sprintf("%s: %q", text, words)
}

// titled is the title of a page of HTML.
func titled(page string) string {
	_, title, ok := strings.Cut(page, "<title>")
	title, _, closed := strings.Cut(title, "</title>")
	if !ok || !closed {
		return ""
	}
	return fmt.Sprintf(" titled %q", strings.TrimSpace(title))
}

// code is what the answer says, else the one given.
func (a *reply) code(otherwise Code) Code {
	if a.parsed && a.answer.Error != nil && a.answer.Error.Code != "" {
		return Code(clipped(string(a.answer.Error.Code)))
	}
	return otherwise
}

func codeOfStatus(status int) Code {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return CodeInvalidRecord
	case http.StatusUnauthorized:
		return CodeAuthFailed
	case http.StatusTooManyRequests:
		return CodeRateLimited
	}
	return CodeServerError
}

// clipped keeps words of a server short, and on one line: they get into statuses.
func clipped(s string) string {
	whole := len(s) <= maxWords
	s = strings.ToValidUTF8(s[:min(len(s), maxWords)], "")
	s = strings.Join(strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
	if !whole {
		s += "…"
	}
	return s
}

// maxWords is how much of them is kept, in octets.
const maxWords = 500
