package dnshook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// response is an answer on its way out.
type response struct {
	status int
	allow  string // methods, where another one was used
	after  time.Duration
	body   any
}

// answer is the JSON of all answers but that to /health.
type answer struct {
	Success *bool    `json:"success,omitempty"`
	Record  *Record  `json:"record,omitempty"`
	Message string   `json:"message,omitempty"`
	Error   *fault   `json:"error,omitempty"`
	Results []answer `json:"results,omitempty"` // of a batch
}

type fault struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details"`
}

// UnmarshalJSON implements json.Unmarshaler. A member of another form than that of the protocol is as good as missing,
// and hides none of the others: what says no has to be heard as that.
func (a *answer) UnmarshalJSON(body []byte) error {
	var in struct{ Success, Record, Message, Error, Results json.RawMessage }
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	*a = answer{}
	take(in.Success, &a.Success)
	take(in.Record, &a.Record)
	take(in.Message, &a.Message)
	take(in.Error, &a.Error)
	a.Results = results(in.Results)
	return nil
}

// results reads those of a batch, none where there are more than any batch has. Results have no results.
func results(raw json.RawMessage) []answer {
	var list []json.RawMessage
	if !take(raw, &list) || len(list) > MaxBatch {
		return nil
	}
	out := make([]answer, len(list))
	for i, one := range list {
		var in struct{ Success, Record, Message, Error json.RawMessage }
		if err := json.Unmarshal(one, &in); err != nil {
			return nil
		}
		take(in.Success, &out[i].Success)
		take(in.Record, &out[i].Record)
		take(in.Message, &out[i].Message)
		take(in.Error, &out[i].Error)
	}
	return out
}

// UnmarshalJSON implements json.Unmarshaler; a text is taken for the message.
func (f *fault) UnmarshalJSON(body []byte) error {
	*f = fault{}
	if take(body, &f.Message) {
		return nil
	}
	var in struct{ Code, Message, Details json.RawMessage }
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	take(in.Code, &f.Code)
	take(in.Message, &f.Message)
	take(in.Details, &f.Details)
	return nil
}

// take reads one member of an answer, and reports whether it could.
func take[T any](raw json.RawMessage, into *T) bool {
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	*into = v
	return true
}

// methodError is that another method is to be used.
type methodError struct {
	error
	allow string
}

// Unwrap returns what is answered.
func (m methodError) Unwrap() error { return m.error }

func notAllowed(method string, methods map[string]func(context.Context) response) error {
	allow := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	return methodError{&Error{Status: http.StatusMethodNotAllowed, Code: CodeServerError,
		Message: fmt.Sprintf("There is no %s here; there is %s.", clip(method), allow)}, allow}
}

// answerOf is the answer that says yes.
func answerOf(r *Record, message string) answer {
	yes := true
	if r != nil {
		with := *r
		with.FQDN = with.ID().FQDN()
		r = &with
	}
	return answer{Success: &yes, Record: r, Message: message}
}

// refusalOf is the answer that says no.
func refusalOf(e *Error) answer {
	no := false
	details := e.Details
	if details == nil {
		details = map[string]any{}
	}
	return answer{Success: &no, Error: &fault{e.Code, e.Message, details}}
}

func success(r *Record, message string) response {
	return response{status: http.StatusOK, body: answerOf(r, message)}
}

// refuse answers an error.
func (x *exchange) refuse(err error) response {
	x.note(err)
	e := public(err)
	out := response{status: e.Status, after: e.RetryAfter, body: refusalOf(e)}
	if other, ok := errors.AsType[methodError](err); ok {
		out.allow = other.allow
	}
	return out
}

// note keeps an error for Observe.
func (x *exchange) note(err error) { x.Err, x.Code = err, public(err).Code }

// public is what of an error may be sent.
func public(err error) *Error {
	found, ok := errors.AsType[*Error](err)
	if !ok {
		return &Error{Status: http.StatusInternalServerError, Code: CodeServerError, Message: "The server failed; its " +
			"log says how."}
	}
	out := *found
	if out.Code == "" {
		out.Code = CodeServerError
	}
	if out.Status < 400 || out.Status > 599 {
		out.Status = out.Code.Status()
	}
	if out.Status == http.StatusTooManyRequests && out.RetryAfter <= 0 {
		out.RetryAfter = time.Second
	}
	return &out
}

// write sends the answer.
func (o *response) write(w http.ResponseWriter, x *exchange) {
	body, err := json.Marshal(o.body)
	if err != nil { // details that a provider gave
		again := x.refuse(fmt.Errorf("encoding the answer: %w", err))
		o.status = again.status
		body, _ = json.Marshal(again.body)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	if o.allow != "" {
		header.Set("Allow", o.allow)
	}
	if o.after > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(o.after.Seconds()))))
	}
	w.WriteHeader(o.status)
	_, _ = w.Write(body) // who does not listen asks again
}

// decode reads the body of a request: one JSON value and nothing after it. Members that nobody knows are left out.
func decode(body []byte, into any) error {
	if !utf8.Valid(body) {
		return failed(CodeInvalidRecord, "The body is not UTF-8.")
	}
	err := json.Unmarshal(body, into)
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return nil
	case len(body) == 0:
		return failed(CodeInvalidRecord, "The request has no body.")
	case isType && wrong.Field == "":
		return failed(CodeInvalidRecord, "The body cannot be a JSON %s.", clip(wrong.Value))
	case isType:
		return failed(CodeInvalidRecord, "The member %s cannot be a JSON %s.", clip(wrong.Field), clip(wrong.Value))
	case isSyntax:
		return failed(CodeInvalidRecord, "The body is not JSON: %v, at octet %d.", syntax, syntax.Offset)
	}
	return failed(CodeInvalidRecord, "The body is not JSON: %v.", err)
}
