// Package secretdata reads the credentials of a service from the data of a Secret, where one value has several names in
// the tools that came before, and settings that are not secret from options. No error of it shows a value of a Secret.
package secretdata

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Reader takes values out of a Secret and of options, and remembers what was wrong. The options that nobody took are
// wrong too; a Secret may hold what is for others.
type Reader struct {
	data    map[string][]byte
	options map[string]string
	taken   map[string]bool
	errs    []error
}

// New makes a Reader of a Secret's data and of options, either of which may be nil.
func New(data map[string][]byte, options map[string]string) *Reader {
	return &Reader{data: data, options: options, taken: map[string]bool{}}
}

// Text returns the value that has one of some names, "" if there is none. White space around it is an error: it comes
// from an editor or from echo, and services answer to it as to wrong credentials.
func (r *Reader) Text(names ...string) string {
	value := r.Lines(names...)
	switch {
	case value != strings.TrimSpace(value):
		r.Fail("%s begins or ends with white space, perhaps a line end; store it without that", r.called(names))
	case strings.ContainsFunc(value, unicode.IsControl):
		r.Fail("%s contains a control character", r.called(names))
	}
	return value
}

// Lines is Text for what has lines: a certificate, a JSON document.
func (r *Reader) Lines(names ...string) string {
	value, found := "", ""
	for _, name := range names {
		b, ok := r.data[name]
		switch {
		case !ok || len(b) == 0:
		case found == "":
			value, found = string(b), name
		case string(b) != value:
			r.Fail("the keys %s and %s mean the same setting but differ; remove one", found, name)
		}
	}
	return value
}

// Need is Text for a value that has to be there.
func (r *Reader) Need(names ...string) string {
	value := r.Text(names...)
	if value == "" {
		r.Missing(names...)
	}
	return value
}

// Missing notes that a value which has to be there is not.
func (r *Reader) Missing(names ...string) {
	has := "nothing"
	if keys := slices.Sorted(maps.Keys(r.data)); len(keys) > 0 {
		has = strings.Join(keys, ", ")
	}
	r.Fail("the Secret has no value for %s; it has %s", strings.Join(names, " or "), has)
}

// Bool reads a value that says yes or no, as "true" or "false"; without a value it is no.
func (r *Reader) Bool(names ...string) bool {
	text := r.Text(names...)
	if text == "" {
		return false
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		r.Fail("%s must be true or false", r.called(names))
	}
	return yes
}

// Option returns an option, "" if it is not set.
func (r *Reader) Option(name string) string {
	r.taken[name] = true
	return r.options[name]
}

// Fail notes an error.
func (r *Reader) Fail(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// Err is everything that was wrong.
func (r *Reader) Err() error {
	errs := r.errs
	for _, name := range slices.Sorted(maps.Keys(r.options)) {
		if !r.taken[name] {
			known := "there are none"
			if len(r.taken) > 0 {
				known = "there are " + strings.Join(slices.Sorted(maps.Keys(r.taken)), ", ")
			}
			errs = append(errs, fmt.Errorf("%q is not a setting of this service; %s", name, known))
		}
	}
	return errors.Join(errs...)
}

// called is the name under which a value is there.
func (r *Reader) called(names []string) string {
	for _, name := range names {
		if len(r.data[name]) > 0 {
			return "the value of " + name
		}
	}
	return "the value of " + names[0]
}
