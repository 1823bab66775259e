package backends

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/zone"
)

// namedZones is how many Zones a warning names before it counts.
const namedZones = 3

// Examiner is what admission asks about Backends. fleets says whether the operator runs some.
func (s Source) Examiner(f *core.Foresight, fleets bool) controller.Examiner {
	s.fleets, s.examines = fleets, true
	return controller.Examiner{
		Kind:   &v1alpha1.Backend{},
		Faults: faults,
		Look: func(ctx context.Context, _, o client.Object) controller.Findings {
			backend, ok := o.(*v1alpha1.Backend)
			if !ok {
				return controller.Findings{}
			}
			return s.look(ctx, f, backend)
		},
	}
}

// faults are a Backend's own, whatever this operator can serve and whichever Secrets there are.
func faults(o client.Object) (out []string) {
	backend, ok := o.(*v1alpha1.Backend)
	if !ok {
		return nil
	}
	r := resolver{embedded: true, fleets: true, blind: true,
		class: func(string) (controller.ClassServer, *controller.Outcome) {
			return controller.ClassServer{}, nil
		}}
	_, trouble := r.settings(&backend.Spec)
	if trouble == nil {
		_, trouble = r.registries(&backend.Spec)
	}
	if trouble != nil && trouble.Reason == controller.ReasonInvalidSpec {
		out = append(out, fmt.Sprintf("Backend %s cannot be used: %s", backend.Name, trouble.Message))
	}
	_, problems := dialect.ConvertGrants(backend, nil)
	for _, p := range problems {
		out = append(out, fmt.Sprintf("Backend %s: %s", backend.Name, p))
	}
	return out
}

// look says what the Backend lacks, and whose Zones it leaves without a grant.
func (s Source) look(ctx context.Context, f *core.Foresight,
	backend *v1alpha1.Backend) (out controller.Findings) {
	if _, _, _, trouble := s.settings(ctx, backend); trouble != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("not usable (%s): %s", trouble.Reason, trouble.Message))
	}
	namespaces, err := s.namespaces(ctx)
	if err != nil {
		return out
	}
	grants, _ := grantsOf(backend, namespaces)
	ids, ok := f.Grants(ctx, backend.Name, grants)
	if !ok || len(ids) == 0 {
		return out
	}
	slices.SortFunc(ids, zone.ID.Compare)
	text := fmt.Sprintf(
		"Backend %s no longer grants accepted Zones, which will be refused (NotGranted): ", backend.Name)
	for i, id := range ids[:min(len(ids), namedZones)] {
		if i > 0 {
			text += ", "
		}
		text += id.String()
	}
	if more := len(ids) - namedZones; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	out.Warnings = append(out.Warnings, text+".")
	return out
}
