package bind9

import (
	"errors"
	"strings"
	"syscall"
)

// What a command's error is, for errors.Is. Who retries: ErrUnavailable after a while, ErrUnauthorized when keys have
// changed, the others when the request has.
var (
	ErrUnauthorized = errors.New("named does not accept the key")
	ErrUnavailable  = errors.New("named cannot be reached or ended")
	ErrProtocol     = errors.New("what answers does not speak the rndc protocol")

	ErrNotFound  = errors.New("there is no such zone")
	ErrExists    = errors.New("the zone exists already")
	ErrNotLoaded = errors.New("the zone is not loaded")
	ErrWrongType = errors.New("the command is not for zones of this type")
	ErrBadZone   = errors.New("the zone's content cannot be loaded")
	ErrNoFile    = errors.New("the zone's file is missing")
	ErrFrozen    = errors.New("the zone is frozen")
	ErrDynamic   = errors.New("the zone accepts updates, so it is not reloaded unless it is frozen")
	ErrBadConfig = errors.New("named refuses the zone's configuration")
	ErrSyntax    = errors.New("named does not understand the command")
	ErrFailed    = errors.New("named failed")
)

// A CommandError is a refusal by named.
type CommandError struct {
	Command string // verb and zone
	Result  string // named's code as text, such as "not found"
	Text    string // what it said beyond that; may be empty
	Class   error  // ErrNotFound and the like
}

// Error has named's own words.
func (e *CommandError) Error() string {
	if e.Text == "" {
		return "named answers: " + e.Result
	}
	return "named answers: " + e.Result + ": " + strings.ReplaceAll(e.Text, "\n", "; ")
}

// Unwrap is the class.
func (e *CommandError) Unwrap() error { return e.Class }

// outcome reads named's verdict. Its code is a number that differs between versions, and the text of it, which does
// not.
func outcome(c Command, reply table) (string, error) {
	text := strings.TrimRight(reply.text("_data", "text"), "\n")
	result, problem := reply.text("_data", "result"), reply.text("_data", "err")
	if problem == "" && (result == "" || result == "0") {
		return text, nil
	}
	if problem == "" {
		problem = "code " + result
	}
	return "", &CommandError{Command: c.String(), Result: problem, Text: text, Class: classify(problem, text)}
}

// classify reads the texts of BIND 9.18 and 9.20 (isc_result_totext, and what the commands add).
func classify(result, text string) error {
	if strings.Contains(text, "configure_zone failed") { // "not found" is then a policy, not the zone
		return ErrBadConfig
	}
	switch result {
	case "not found":
		return ErrNotFound
	case "already exists":
		return ErrExists
	case "zone not loaded", "not loaded":
		return ErrNotLoaded
	case "not primary", "not master":
		return ErrWrongType
	case "bad zone", "zone has no NS records", "out of zone data", "bad owner name", "unexpected end of input", "bad TTL",
		"no TTL":
		return ErrBadZone
	case "file not found":
		return ErrNoFile
	case "already frozen", "frozen":
		return ErrFrozen
	case "dynamic zone":
		return ErrDynamic
	case "unknown command", "unexpected token", "syntax error", "unknown class/type":
		return ErrSyntax
	}
	switch {
	case strings.Contains(text, "inappropriate zone type"):
		return ErrWrongType
	case strings.Contains(text, "dns_zone_loadnew failed"):
		return ErrBadZone
	}
	return ErrFailed
}

// isReset reports that the peer closed a connection with data of ours unread.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
