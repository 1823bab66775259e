package show

import (
	"context"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/cli/schema"
	"github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/zone"
)

// A guard keeps objects as they were where neither an API server nor a zone would take what has become of them: a slip
// of the pen in a Zone or in rdata must not take names away. New objects it lets through; the World says what is wrong
// with them.
type guard struct {
	checker *schema.Checker
	passed  map[manifest.Ref][]*manifest.Object
}

func newGuard() (*guard, error) {
	checker, err := schema.New(crd.Files)
	return &guard{checker: checker}, err
}

// pass returns the objects as they count, and which of them are kept as they were.
func (g *guard) pass(ctx context.Context,
	objects []*manifest.Object) (out []*manifest.Object, kept []refusal, err error) {
	passed := make(map[manifest.Ref][]*manifest.Object, len(objects))
	for _, same := range fold.ByName(objects) {
		ref := same[0].Ref
		if old := g.passed[ref]; len(old) > 0 && !slices.Equal(old, same) {
			now, err := g.faultOf(ctx, same)
			if err != nil {
				return nil, nil, err
			}
			before, err := g.faultOf(ctx, old)
			if err != nil {
				return nil, nil, err
			}
			if now.reason != "" && before.reason == "" {
				kept = append(kept, refusal{"kept as it was: " + plain.Line(ref.String()), now.of(same[0])})
				same = old
			}
		}
		passed[ref] = same
		out = append(out, same...)
	}
	g.passed = passed
	return out, kept, nil
}

// valid reports whether an API server would take an object. Nobody knows of one that cannot be looked at.
func (g *guard) valid(ctx context.Context, o *manifest.Object) bool {
	fault, err := g.faultOf(ctx, []*manifest.Object{o})
	return err != nil || fault.reason == ""
}

// A fault is why an object cannot be what its author wants, whatever else there is: a reason, and a clause or sentence.
type fault struct{ reason, why string }

// of tells of an object that has the fault.
func (f fault) of(o *manifest.Object) string {
	if f.reason == fold.SchemaViolation {
		return fmt.Sprintf("%s: the API server would refuse what it is now at %s: %s.", f.reason,
			plain.Line(o.Place().String()),
			plain.Line(f.why))
	}
	return fmt.Sprintf("%s: what it is now at %s does not count: %s", f.reason, plain.Line(o.Place().String()),
		plain.Line(f.why))
}

// faultOf returns the first thing that an API server or the operator would not take, none if there is none.
func (g *guard) faultOf(ctx context.Context, same []*manifest.Object) (fault, error) {
	for _, o := range same {
		found, err := g.checker.Check(ctx, o.Kind, o.Ref.Namespace, o.JSON)
		switch {
		case err != nil:
			return fault{}, fmt.Errorf("checking %s: %w", o.Ref, err)
		case len(found) > 0:
			return fault{fold.SchemaViolation, found[0].String()}, nil
		}
	}
	object, refusal := fold.Single(same)
	switch {
	case refusal != nil && refusal.Reason == fold.BeingDeleted:
		return fault{}, nil
	case refusal != nil:
		return fault{string(refusal.Reason), refusal.Message}, nil
	case object.Zone != nil:
		return faultOfZone(kubizone.ConvertZone(object.Zone)), nil
	case object.Record != nil:
		if why := kubizone.ConvertRecord(object.Record).Invalid; why != nil {
			return fault{string(why.Reason), why.Message}, nil
		}
	case object.Backend != nil:
		if _, problems := backends.ConvertGrants(object.Backend, nil); len(problems) > 0 {
			return fault{fold.InvalidGrant, problems[0]}, nil
		}
	}
	return fault{}, nil
}

// faultOfZone counts a rule that grants nothing, too: it takes away what others have.
func faultOfZone(z zone.Zone) fault {
	if z.Invalid != nil {
		return fault{string(z.Invalid.Reason), z.Invalid.Message}
	}
	for _, n := range z.Warnings {
		if n.Reason == zone.InvalidRule {
			return fault{string(n.Reason), n.Message}
		}
	}
	return fault{}
}
