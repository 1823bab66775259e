package cli

import (
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// spelling warns of patterns that are unlikely to mean what their author thinks.
//
// Kubizone since 0.4 stores every pattern with a dot at its end and takes it for
// relative all the same; here, and in its documents, a dot makes a pattern absolute.
func (f *findings) spelling(c *composition) {
	for _, z := range c.zones {
		if z.object.Zone == nil {
			continue
		}
		for i := range z.object.Zone.Spec.Delegations {
			d := &z.object.Zone.Spec.Delegations[i]
			for j, text := range d.Zones {
				f.pattern(z, fmt.Sprintf("spec.delegations[%d].zones[%d]", i, j), text)
			}
			for j, r := range d.Records {
				f.pattern(z, fmt.Sprintf("spec.delegations[%d].records[%d].pattern", i, j), r.Pattern)
			}
		}
	}
}

func (f *findings) pattern(z zoneResult, field, text string) {
	p, err := dnsname.ParsePattern(text)
	if err != nil || !p.IsAbsolute() {
		return
	}
	means := meaning(p, z.verdict.Name)
	if means == "" {
		return
	}
	f.add(z.object.PlaceOf(field), z.object.Ref, asWarning, relativeDot, fmt.Sprintf(
		"The pattern %q of %s ends in a dot, so it is absolute and %s; if it is meant relative to the zone, write %q.",
		text, z.object.Ref, means, strings.TrimSuffix(text, ".")))
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
	star := labels[0] == "*"
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
