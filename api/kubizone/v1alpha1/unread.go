package v1alpha1

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Unread is what a JSON value holds besides the fields that are known and have
// the right type. That of a rule is written back as it was.
//
// +kubebuilder:object:generate=true
type Unread struct {
	// Value is the JSON text of the whole value where that is no object.
	Value string `json:"-"`
	// Members are the JSON texts of members of the object, by their names.
	Members map[string]string `json:"-"`
}

// Empty says that everything was read.
func (u Unread) Empty() bool { return u.Value == "" && len(u.Members) == 0 }

// field is a known member of an object.
type field struct {
	name  string
	wants string // what its value must be, for people
	into  any    // pointer to where the value is read
}

// read puts the members of a JSON object into the fields, and keeps the rest.
// A null member is one that is not there.
func (u *Unread) read(data []byte, fields []field) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		if !json.Valid(data) {
			return fmt.Errorf("reading an object: %w", err)
		}
		u.Value = string(data)
		return nil
	}
	for _, f := range fields {
		raw, ok := members[f.name]
		if !ok {
			continue
		}
		if json.Unmarshal(raw, f.into) == nil {
			delete(members, f.name)
			continue
		}
		// A failed read may have filled a part of the field.
		reflect.ValueOf(f.into).Elem().SetZero()
	}
	for name, raw := range members {
		if u.Members == nil {
			u.Members = make(map[string]string, len(members))
		}
		u.Members[name] = string(raw)
	}
	return nil
}

// write returns the JSON of known with the unread members beside it. A member
// that was of the wrong type when read and has been set since is written as set.
func (u Unread) write(known any) ([]byte, error) {
	data, err := json.Marshal(known)
	if err != nil || u.Empty() {
		return data, err
	}
	members := make(map[string]json.RawMessage)
	for name, text := range u.Members {
		members[name] = json.RawMessage(text)
	}
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("writing a rule of delegations: %w", err)
	}
	if len(members) == 0 {
		return []byte(u.Value), nil
	}
	return json.Marshal(members)
}

// misfits says what is of a wrong type, in the order of the names.
func (u Unread) misfits(what string, fields []field) []string {
	var list []string
	if u.Value != "" {
		list = append(list, fmt.Sprintf("%s must be an object, not %.40s", what, u.Value))
	}
	for _, name := range slices.Sorted(maps.Keys(u.Members)) {
		if i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); i >= 0 {
			list = append(list, fields[i].misfit(u.Members[name]))
		}
	}
	return list
}

func (f field) misfit(text string) string {
	return fmt.Sprintf("the field %q must be %s, not %.40s", f.name, f.wants, text)
}

// problems says what could not be read, in the order of the names.
func (u Unread) problems(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	var list []string
	if u.Value != "" {
		list = append(list, fmt.Sprintf("a rule must be an object, not %.40s", u.Value))
	}
	for _, name := range slices.Sorted(maps.Keys(u.Members)) {
		if i := slices.Index(names, name); i >= 0 {
			list = append(list, fields[i].misfit(u.Members[name]))
			continue
		}
		list = append(list, fmt.Sprintf("the field %q is unknown; a rule here has the fields %s", name, strings.Join(names,
			", ")))
	}
	return list
}
