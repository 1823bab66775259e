package delivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/controller"
)

// lacking says which Backends a Zone is meant for and does not reach, nil if there are
// none. Of several reasons the one that is hardest to mend elsewhere comes first: a
// Backend that does not exist, that does not grant the zone, that cannot be used.
func (ps places) lacking(z *delivery, wanted []*Place, refs []string) *controller.Outcome {
	var all []controller.Outcome
	for _, name := range refs {
		p := ps[name]
		switch {
		case p == nil:
			all = append(all, controller.Not(controller.ReasonBackendNotFound, fmt.Sprintf(
				"Backend %s, which backendRefs names, does not exist; create it, or correct backendRefs.", name)))
		case !slices.Contains(wanted, p):
			all = append(all, controller.Not(controller.ReasonBackendNotGranted, fmt.Sprintf(
				"Backend %s, which backendRefs names, does not grant %s to namespace %s; add a grant there, or "+
					"correct backendRefs.",
				name, z.snapshot.Name, z.id.Namespace)))
		}
	}
	z.unhosted = nil
	for _, p := range wanted {
		if p.Hosted && p.Problem == nil && len(p.at(z.snapshot.Name)) == 0 {
			z.unhosted = append(z.unhosted, p.Name)
			all = append(all, controller.Not(controller.ReasonNoSuchZone, fmt.Sprintf(
				"%s reaches no hosted zone %s; create it at the service, or correct backendRefs.", p.called(), z.snapshot.Name)))
		}
		if p.Problem != nil && (p.Passing || !z.reaches(p)) {
			all = append(all, controller.Not(controller.ReasonBackendNotReady,
				fmt.Sprintf("%s cannot be used: %s", p.called(), p.Problem.Message)))
		}
	}
	if len(all) == 0 {
		return nil
	}
	order := []string{controller.ReasonBackendNotFound, controller.ReasonBackendNotGranted, controller.ReasonNoSuchZone,
		controller.ReasonBackendNotReady}
	slices.SortFunc(all, func(a, b controller.Outcome) int {
		if a.Reason != b.Reason {
			return slices.Index(order, a.Reason) - slices.Index(order, b.Reason)
		}
		return strings.Compare(a.Message, b.Message)
	})
	all = slices.Compact(all) // a name may stand twice in an object that is older than the schema
	o := all[0]
	for _, next := range all[1:] {
		o.Message += " " + next.Message
	}
	return &o
}

// reaches reports whether the Zone is delivered to a Place. One that cannot be used any
// more may still be reached with what it was.
func (z *delivery) reaches(p *Place) bool {
	l := z.feeds[z.snapshot.Name]
	if l == nil {
		return false
	}
	for key, a := range l.at {
		if key.place == p.Name && !a.leaving {
			return true
		}
	}
	return false
}

// nowhere says why a feed that should be delivered is delivered to no Backend.
func (z *delivery) nowhere(l *zoneFeed) controller.Outcome {
	switch {
	case z.lacks == nil:
		return controller.Not(controller.ReasonNoBackend,
			fmt.Sprintf("No Backend serves %s; mark a Backend as default, or name one in backendRefs.", l.name))
	case z.lacks.Reason == controller.ReasonBackendNotReady || z.lacks.Reason == controller.ReasonNoSuchZone:
		return *z.lacks
	}
	return controller.Not(controller.ReasonNoBackend, fmt.Sprintf("No Backend serves %s %s", l.name, z.lacks.Message))
}
