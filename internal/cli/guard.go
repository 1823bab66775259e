package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/schema"
)

// A guard keeps objects as they were where an API server would not take what has become of them, as it would: a slip of the
// pen in a Zone must not take the zone away. New objects it lets through; the World says what is wrong with them.
type guard struct {
	checker *schema.Checker
	passed  map[manifest.Ref][]*manifest.Object
}

func newGuard() (*guard, error) {
	checker, err := schema.New(crd.Files)
	return &guard{checker: checker}, err
}

// pass returns the objects as they count, and which of them are kept as they were.
func (g *guard) pass(ctx context.Context, objects []*manifest.Object) (out []*manifest.Object, kept []refusal, err error) {
	passed := make(map[manifest.Ref][]*manifest.Object, len(objects))
	for _, same := range byName(objects) {
		ref := same[0].Ref
		if old := g.passed[ref]; len(old) > 0 && !slices.Equal(old, same) {
			fault, err := g.faultOf(ctx, same)
			if err != nil {
				return nil, nil, err
			}
			before, err := g.faultOf(ctx, old)
			if err != nil {
				return nil, nil, err
			}
			if fault != "" && before == "" {
				kept = append(kept, refusal{"kept as it was: " + oneLine(ref.String()), fmt.Sprintf(
					"%s: the API server would refuse what it is now at %s: %s.", schemaViolation, oneLine(same[0].Place().String()), oneLine(fault))})
				same = old
			}
		}
		passed[ref] = same
		out = append(out, same...)
	}
	g.passed = passed
	return out, kept, nil
}

// faultOf returns the first thing that an API server would not take, "" if there is none.
func (g *guard) faultOf(ctx context.Context, same []*manifest.Object) (string, error) {
	for _, o := range same {
		found, err := g.checker.Check(ctx, o.Kind, o.Ref.Namespace, o.JSON)
		switch {
		case err != nil:
			return "", fmt.Errorf("checking %s: %w", o.Ref, err)
		case len(found) > 0:
			return found[0].String(), nil
		}
	}
	return "", nil
}
