package backends

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

// namedNamespaces is how many namespaces a condition names before it counts.
const namedNamespaces = 8

// An access is what Backends together ask of those who want a root Zone.
type access struct {
	required   bool   // a grant, also while there is none
	closed     bool   // a grant, because some Backend has some
	everything string // the Backend that grants every name to every namespace
}

// accessOf is what one Backend adds to it.
func accessOf(b *v1alpha1.Backend) access {
	a := access{closed: len(b.Spec.Grants) > 0}
	for _, g := range b.Spec.Grants {
		s := g.NamespaceSelector
		if s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0 && slices.Contains(g.Zones, "*.") {
			a.everything = b.Name
		}
	}
	return a
}

// access is that of all Backends.
func (b *Controller) access(ctx context.Context) access {
	all := access{required: b.RequireGrants}
	b.every(ctx, func(backend *v1alpha1.Backend) {
		one := accessOf(backend)
		all.closed = all.closed || one.closed
		if one.everything != "" && (all.everything == "" || one.everything < all.everything) {
			all.everything = one.everything
		}
	})
	return all
}

// enqueueAll enqueues every Backend after one of them has changed something for all.
func (b *Controller) enqueueAll(ctx context.Context, was, is known) {
	if was.access != is.access || was.catalog != is.catalog {
		b.every(ctx, func(backend *v1alpha1.Backend) { b.writer.Enqueue(id(backend.Name)) })
	}
}

// restricted says whether a root Zone needs a grant, and whom the grants of one Backend are for.
func (a access) restricted(own []zone.Grant) controller.Outcome {
	const open = "every namespace may have a root Zone of any free name except public suffixes"
	switch {
	case a.everything != "":
		return controller.Not(controller.ReasonEverythingGranted, fmt.Sprintf(
			"Backend %s grants everything to all namespaces: %s. Name namespaces or zones in its grants to restrict that.",
			a.everything, open))
	case !a.closed && a.required:
		return controller.OK(controller.ReasonGrantsRequired,
			"No namespace may have a root Zone: --require-grants is set, and no Backend has grants. Add grants to this Backend.")
	case !a.closed:
		return controller.Not(controller.ReasonNoGrants, fmt.Sprintf(
			"No Backend has grants: %s. Add grants to a Backend, or give the operator --require-grants.", open))
	case len(own) == 0:
		return controller.OK(controller.ReasonGranted,
			"A root Zone needs a grant. Only other Backends have grants; this one accepts every Zone that they admit.")
	}
	return controller.OK(controller.ReasonGranted, fmt.Sprintf(
		"A root Zone needs a grant; this Backend grants to %s.", inWords(own)))
}

// inWords names the namespaces of grants.
func inWords(grants []zone.Grant) string {
	var names []string
	for _, g := range grants {
		names = append(names, g.Namespaces...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch n := len(names); {
	case n == 0:
		return "no namespace that exists"
	case n == 1:
		return "the namespace " + names[0]
	case n <= namedNamespaces:
		return "the namespaces " + strings.Join(names, ", ")
	default:
		return fmt.Sprintf("the namespaces %s and %d more", strings.Join(names[:namedNamespaces], ", "), n-namedNamespaces)
	}
}
