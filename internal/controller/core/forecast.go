package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/zone"
)

// namedOthers is how many objects a warning names before it counts.
const namedOthers = 3

// forecastWarnings puts a forecast about an object into sentences. Of objects in other namespaces it says how many:
// their owners are told the rest. before is what was decided about the object as it is stored; the zero value: it is
// not.
func forecastWarnings(id zone.ID, f zone.Forecast, before zone.Verdict) []string {
	var out []string
	v := f.Verdict
	switch {
	case !v.Accepted:
		return []string{fmt.Sprintf("refused (%s): %s", v.Reason, v.Message)}
	case before.Accepted && before.Name == v.Name && before.Zone == v.Zone:
	case f.OfZone:
		if v.Message != "" {
			out = append(out, v.Message)
		}
	default:
		out = append(out, fmt.Sprintf("%s goes to %s.", v.Name, v.Zone))
	}
	for _, n := range v.Notes {
		if slices.Contains(before.Notes, n) {
			continue
		}
		word := "note"
		if n.Reason == zone.Occluded || n.Reason == zone.Bypassed {
			word = "hidden"
		}
		out = append(out, fmt.Sprintf("%s (%s): %s", word, n.Reason, n.Message))
	}
	if f.Alone {
		return append(out, fmt.Sprintf("%s concerns so many names that its effect on other objects was not checked.",
			id))
	}
	return append(out, onOthers(id, f.Others)...)
}

// onOthers says what would become of other objects.
func onOthers(id zone.ID, effects []zone.Effect) []string {
	var out []string
	for _, kind := range []struct {
		what string
		is   func(before, after zone.Verdict) bool
	}{
		{"turns away", func(b, a zone.Verdict) bool { return b.Accepted && !a.Accepted }},
		{"hides", func(b, a zone.Verdict) bool { return a.Accepted && hidden(a) && !hidden(b) }},
		{"takes over", func(b, a zone.Verdict) bool {
			return b.Accepted && a.Accepted && a.Zone == id && b.Zone != id && !b.Zone.IsZero()
		}},
		{"renames", func(b, a zone.Verdict) bool { return b.Accepted && a.Accepted && b.Name != a.Name }},
	} {
		var ids []zone.ID
		for _, e := range effects {
			if kind.is(e.Before, e.After) {
				ids = append(ids, e.ID)
			}
		}
		if len(ids) > 0 {
			out = append(out, fmt.Sprintf("%s %s %s.", id, kind.what, list(id.Namespace, ids)))
		}
	}
	return out
}

func hidden(v zone.Verdict) bool {
	_, occluded := v.Note(zone.Occluded)
	_, bypassed := v.Note(zone.Bypassed)
	return occluded || bypassed
}

// list names some objects of a namespace and counts the others.
func list(namespace string, ids []zone.ID) string {
	slices.SortFunc(ids, zone.ID.Compare)
	var parts []string
	more, foreign := 0, 0
	for _, id := range ids {
		switch {
		case id.Namespace != namespace:
			foreign++
		case len(parts) < namedOthers:
			parts = append(parts, id.String())
		default:
			more++
		}
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	if foreign > 0 {
		parts = append(parts, count(foreign, "object")+" of other namespaces")
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return parts[0]
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
