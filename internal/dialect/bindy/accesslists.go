package bindy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
)

// maxElements is how many elements the address match lists of a server may have together, when the lists of spec.acls
// stand in the place of their names. Lists that name lists could otherwise be more than any memory holds, and more than
// a ConfigMap does.
const maxElements = 1024

// accessLists are the lists of spec.acls, by which the lists of one server are resolved.
type accessLists struct {
	named    map[string]v1beta1.ACL
	resolved map[string][]string // those that have been visited
	left     int                 // elements that the server's lists may have yet
}

func newAccessLists(named map[string]v1beta1.ACL) *accessLists {
	return &accessLists{named: named, resolved: map[string][]string{}, left: maxElements}
}

// resolve puts what a list of spec.acls holds in the place of its name, and checks the result, so that an error names
// the field that the user wrote.
func (l *accessLists) resolve(field string, entries []string) ([]string, error) {
	out, err := l.expand(field, entries, nil)
	if err != nil {
		return nil, err
	}
	l.left -= len(out)
	return out, l.check(field, out)
}

// check checks elements, of which a misspelt name is one.
func (l *accessLists) check(field string, elements []string) error {
	_, err := bind9.ParseACL(field, elements)
	if err == nil {
		return nil
	}
	names := cmp.Or(List(slices.Sorted(maps.Keys(l.named))), "there is none")
	return fmt.Errorf("%w, or the name of a list in acls (%s)", err, names)
}

// expand resolves the entries of a field; above are the lists that it is a part of.
func (l *accessLists) expand(field string, entries, above []string) ([]string, error) {
	var out []string
	if len(entries) > 0 {
		out = []string{} // lists without elements are nobody, and no list is everybody
	}
	for _, entry := range entries {
		name, negated := strings.CutPrefix(entry, "!")
		name = strings.TrimSpace(name)
		inner := []string{entry}
		if _, ok := l.named[name]; ok {
			var err error
			if inner, err = l.list(name, above); err == nil && negated {
				inner, err = opposite(field, name, inner)
			}
			if err != nil {
				return nil, err
			}
		}
		if len(out)+len(inner) > l.left {
			return nil, fmt.Errorf(
				"%s makes the lists of a server too long: with the lists of spec.acls expanded they have more than %d elements "+
					"together; shorten them, or write networks instead of addresses", field,
				maxElements)
		}
		out = append(out, inner...)
	}
	return out, nil
}

// list resolves one of spec.acls, once.
func (l *accessLists) list(name string, above []string) ([]string, error) {
	if slices.Contains(above, name) {
		return nil, fmt.Errorf("spec.acls.%s refers to itself through %s; remove one of the names", name, strings.Join(above,
			", "))
	}
	if out, ok := l.resolved[name]; ok {
		return out, nil
	}
	out, err := l.expand("spec.acls."+name, l.named[name], append(slices.Clone(above), name))
	if err != nil {
		return nil, err
	}
	if err := l.check("spec.acls."+name, out); err != nil {
		return nil, err
	}
	l.resolved[name] = out
	return out, nil
}

// opposite negates what a list holds.
func opposite(field, name string, elements []string) ([]string, error) {
	out := make([]string, len(elements))
	for i, e := range elements {
		if strings.HasPrefix(e, "!") {
			return nil,
				fmt.Errorf("%s: !%s negates a list that itself has exceptions (%s); write the entries instead", field,
					name, e)
		}
		out[i] = "!" + e
	}
	return out, nil
}
