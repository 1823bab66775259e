package bindcar

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/zonefold/zonefold/internal/bind9"
)

// A failure is an error with the status and the text that the caller gets. Of a status from 500 the text goes to the
// log only.
type failure struct {
	status int
	text   string
	plain  bool // text/plain, as what is wrong with a request before its meaning is looked at
	cause  error
}

func (f *failure) Error() string {
	if f.cause != nil {
		return f.text + ": " + f.cause.Error()
	}
	return f.text
}

func (f *failure) Unwrap() error { return f.cause }

func invalid(format string, args ...any) error {
	return &failure{status: http.StatusBadRequest, text: "Invalid request: " + fmt.Sprintf(format, args...)}
}

func invalidRecord(format string, args ...any) error {
	return &failure{status: http.StatusBadRequest, text: "Invalid record: " + fmt.Sprintf(format, args...)}
}

func noUpdates(format string, args ...any) error {
	return &failure{status: http.StatusBadRequest, text: "Dynamic updates not enabled: " + fmt.Sprintf(format, args...)}
}

func notFound(zone string) error {
	return &failure{status: http.StatusNotFound, text: "Zone not found: " + zone}
}

func exists(zone string) error {
	return &failure{status: http.StatusConflict, text: "Zone already exists: " + zone}
}

func internal(doing string, err error) error {
	return &failure{status: http.StatusInternalServerError, text: doing, cause: err}
}

func plain(status int, text string) error { return &failure{status: status, text: text, plain: true} }

// statusOf returns the status that an error is answered with.
func statusOf(err error) int {
	var f *failure
	if errors.As(err, &f) {
		return f.status
	}
	return http.StatusInternalServerError
}

// answer makes of what BIND said about a zone the error for the caller.
func answer(zone, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bind9.ErrNotFound):
		return notFound(zone)
	case errors.Is(err, bind9.ErrExists):
		return exists(zone)
	case errors.Is(err, errOther):
		return invalid("%s is in BIND's configuration, and is neither primary nor secondary; it is not managed here", zone)
	case errors.Is(err, bind9.ErrWrongType):
		return invalid("%s: BIND does not support this for a zone of this type", zone)
	case errors.Is(err, bind9.ErrNotLoaded):
		return invalid("%s is not loaded yet, or cannot be; GET /api/v1/zones/{name}/status tells", zone)
	case errors.Is(err, bind9.ErrDynamic):
		return invalid("%s accepts updates, so BIND reads its file again only while it is frozen", zone)
	}
	return unavailable(doing+" "+zone, err)
}

// unavailable is for what BIND did not do, whatever it said.
func unavailable(doing string, err error) error {
	status := http.StatusInternalServerError
	if errors.Is(err, bind9.ErrUnavailable) || errors.Is(err, bind9.ErrUnauthorized) {
		status = http.StatusServiceUnavailable
	}
	return &failure{status: status, text: doing, cause: err}
}
