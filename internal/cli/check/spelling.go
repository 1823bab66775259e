package check

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// spelling warns of patterns that are unlikely to mean what their author thinks.
//
// Kubizone since 0.4 stores every pattern with a dot at its end and takes it for
// relative all the same; here, and in its documents, a dot makes a pattern absolute.
func (f *findings) spelling(c *fold.Composition) {
	for _, z := range c.Zones {
		if z.Object.Zone == nil {
			continue
		}
		for i := range z.Object.Zone.Spec.Delegations {
			d := &z.Object.Zone.Spec.Delegations[i]
			for j, text := range d.Zones {
				f.pattern(z, fmt.Sprintf("spec.delegations[%d].zones[%d]", i, j), text)
			}
			for j, r := range d.Records {
				f.pattern(z, fmt.Sprintf("spec.delegations[%d].records[%d].pattern", i, j), r.Pattern)
			}
		}
	}
}

func (f *findings) pattern(z fold.ZoneResult, field, text string) {
	p, err := dnsname.ParsePattern(text)
	if err != nil || !p.IsAbsolute() {
		return
	}
	means := meaning(p, z.Verdict.Name)
	if means == "" {
		return
	}
	f.add(z.Object.PlaceOf(field), z.Object.Ref, asWarning, relativeDot, fmt.Sprintf(
		"The pattern %q of %s ends in a dot, so it is absolute and %s; if it is meant relative to the zone, write %q.",
		text, z.Object.Ref, means, cmp.Or(strings.TrimSuffix(text, "."), "@")))
}

// meaning returns what a suspicious absolute pattern means in a zone, or "". A pattern
// is suspicious if it allows nothing in the zone, or everything by way of a "*" that
// stands for labels of the zone's own name.
func meaning(p dnsname.Pattern, zone dnsname.Name) string {
	const everything = "means every name in the zone"
	if p.String() == "*." && !zone.IsRoot() {
		return everything
	}
	name, err := dnsname.Parse(p.String())
	if err != nil || zone.IsZero() || zone.IsRoot() {
		return ""
	}
	labels, depth := name.Labels(), zone.NumLabels()
	star := len(labels) > 0 && labels[0] == "*"
	literal := len(labels)
	if star {
		literal--
	}
	tail := zone
	for range max(depth-literal, 0) {
		tail, _ = tail.Parent()
	}
	covers := true
	if n := tail.NumLabels(); n > 0 {
		end, err := dnsname.ParsePattern(strings.Join(labels[len(labels)-n:], ".") + ".")
		covers = err == nil && end.Match(tail, dnsname.Name{})
	}
	switch {
	case covers && literal >= depth:
		return ""
	case covers && star:
		return everything
	}
	return "means no name in " + zone.String()
}
