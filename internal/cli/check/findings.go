package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/parallel"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/cli/schema"
	"github.com/zonefold/zonefold/internal/zone"
)

// Severities of findings.
const (
	asError   = "error"   // refused, or without effect
	asWarning = "warning" // served, and unlikely to be meant
)

// A finding is one thing that is wrong. As JSON it is what check -o json prints.
type finding struct {
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Severity string            `json:"severity"`
	Object   *explained.Object `json:"object"` // null: no object could be made out
	Reason   string            `json:"reason"`
	Message  string            `json:"message"`
}

// String returns the finding as a line: file:line: severity: message [reason]. The
// message names the object.
func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s [%s]", plain.Line(f.File), f.Line, f.Severity, plain.Line(f.Message), f.Reason)
}

// Reasons of findings that are none of the core's.
const (
	relativeDot     = "RelativeWithDot" // a pattern with a dot that it should not have
	unknownBackend  = "BackendNotFound" // a backendRef that names no Backend of the input
	noServerAddress = "NoAddress"       // a name server of the zone without an address in it
	notLoadable     = "NotLoadable"     // a record with which servers do not load a zone
)

// findings gathers what is wrong.
type findings struct {
	all      []finding
	violated map[manifest.Ref][]string // the fields of each object that violate the schema
}

func (f *findings) add(place manifest.Place, object manifest.Ref, severity, reason, message string) {
	out := finding{File: place.File, Line: place.Line, Severity: severity, Reason: reason, Message: message}
	if object != (manifest.Ref{}) {
		out.Object = (*explained.Object)(&object)
		if !strings.Contains(message, object.String()) {
			out.Message = object.String() + ": " + message
		}
	}
	f.all = append(f.all, out)
}

// sorted returns the findings by place, each once.
func (f *findings) sorted() []finding {
	slices.SortStableFunc(f.all, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			strings.Compare(a.Reason, b.Reason), strings.Compare(a.Message, b.Message))
	})
	out := make([]finding, 0, len(f.all))
	for i, x := range f.all {
		if i == 0 || x.String() != f.all[i-1].String() {
			out = append(out, x)
		}
	}
	return out
}

// reading adds what was found while the files were read.
func (f *findings) reading(input *manifest.Input) {
	for _, p := range input.Problems {
		f.add(p.Place, p.Object, asError, p.Reason, p.Message)
	}
}

// schema adds what the API server would refuse.
func (f *findings) schema(ctx context.Context, checker *schema.Checker, input *manifest.Input, step func()) error {
	found := make([][]schema.Violation, len(input.Objects))
	errs := make([]error, len(input.Objects))
	parallel.Do(len(input.Objects), func(i int) {
		o := input.Objects[i]
		kind, _, _ := strings.Cut(o.Kind, ".") // its group the object says itself
		found[i], errs[i] = checker.Check(ctx, kind, o.Ref.Namespace, o.JSON)
		step()
	})
	f.violated = map[manifest.Ref][]string{}
	for i, o := range input.Objects {
		if errs[i] != nil {
			return fmt.Errorf("checking %s: %w", o.Ref, errs[i])
		}
		for _, v := range found[i] {
			f.violated[o.Ref] = append(f.violated[o.Ref], v.Field)
			f.add(o.PlaceOf(v.Field), o.Ref, asError, fold.SchemaViolation,
				fmt.Sprintf("The API server would refuse %s: %s", o.Ref, plain.Sentence(v.String())))
		}
	}
	return nil
}

// deciding adds what the core refuses or notes, unless the schema has said it.
func (f *findings) deciding(c *fold.Composition) {
	for _, p := range c.Problems {
		if p.Object.Fault != "" && f.says(p.Object.Ref, zone.Reason(p.Reason)) {
			continue
		}
		if slices.ContainsFunc(f.violated[p.Object.Ref], func(field string) bool {
			return p.Field != "" && strings.HasPrefix(field, p.Field)
		}) {
			continue
		}
		severity := asError
		if p.Warning {
			severity = asWarning
		}
		f.add(p.Object.PlaceOf(p.Field), p.Object.Ref, severity, p.Reason, p.Message)
	}
	for _, z := range c.Zones {
		if z.Hosted(c.Backends) {
			z.Verdict = z.Verdict.Hosted()
		}
		f.verdict(z.Object, z.Verdict)
		f.references(z, c.Backends)
		f.loading(z)
		f.serverless(z)
	}
	f.twins(c.Zones)
	for _, r := range c.Records {
		if r.Object.Source != nil {
			f.sourceVerdict(r, len(c.Zones) > 0)
			continue
		}
		f.verdict(r.Object, r.Verdict)
	}
}

// references adds the backendRefs of a Zone that name no Backend. An input without any
// Backend tells nothing: they are kept elsewhere.
func (f *findings) references(z fold.ZoneResult, backends []*manifest.Object) {
	if len(backends) == 0 || z.Object.Zone == nil || z.Verdict.Reason == fold.BeingDeleted {
		return
	}
	for i, ref := range z.Object.Zone.Spec.BackendRefs {
		if slices.ContainsFunc(backends, func(o *manifest.Object) bool { return o.Name == ref.Name }) {
			continue
		}
		f.add(z.Object.PlaceOf(fmt.Sprintf("spec.backendRefs[%d].name", i)), z.Object.Ref, asError, unknownBackend,
			fmt.Sprintf(
				"%s names the Backend %s in backendRefs, which is not in the input; add it, or correct backendRefs.",
				z.Object.Ref, ref.Name))
	}
}

// loading warns of what keeps servers from loading a zone. That it has no name servers
// at all is a note of the core.
func (f *findings) loading(z fold.ZoneResult) {
	if !z.Verdict.Accepted || z.Object.Zoneless() {
		return
	}
	at := z.Object.PlaceOf(fieldOf(z.Object.Ref, zone.Accepted))
	for _, p := range fold.Placeholders(z.Snapshot) {
		if p.Remark == fold.NoAddress && !p.Alone && !z.Object.OfBindy() {
			f.add(at, z.Object.Ref, asWarning, noServerAddress, fmt.Sprintf(
				"%s has the name server %s, which is in the zone and has no address there; add an A or AAAA record.", z.Object.Ref,
				p.Name))
		}
	}
	for set := range z.Snapshot.Sets.All() {
		for _, data := range set.Data {
			if why := fold.Unloadable(z.Snapshot, set, data); why != "" {
				f.add(at, z.Object.Ref, asWarning, notLoadable, fmt.Sprintf(
					"%s has the record %s %s, but servers refuse to load a zone with it, because %s; remove "+
						"it.", z.Object.Ref, set.Key(),
					data, why))
			}
		}
	}
}

func (f *findings) verdict(o *manifest.Object, v zone.Verdict) {
	if !v.Accepted && !f.says(o.Ref, v.Reason) {
		f.add(o.PlaceOf(fieldOf(o.Ref, v.Reason)), o.Ref, asError, string(v.Reason), v.Message)
	}
	for _, n := range v.Notes {
		if f.says(o.Ref, n.Reason) {
			continue
		}
		severity := asWarning
		if n.Reason == zone.InvalidRule {
			severity = asError
		}
		f.add(o.PlaceOf(fieldOf(o.Ref, n.Reason)), o.Ref, severity, string(n.Reason), n.Message)
	}
}

// says reports whether a violation of the schema says the same as a reason of the core.
func (f *findings) says(ref manifest.Ref, reason zone.Reason) bool {
	switch reason {
	case zone.InvalidSpec, zone.InvalidTimers:
		return len(f.violated[ref]) > 0
	case zone.InvalidName, zone.InvalidType, zone.InvalidData, zone.ClassMismatch:
		return (ref.OfBindy() || ref.OfHomelab()) && len(f.violated[ref]) > 0 ||
			slices.Contains(f.violated[ref], fieldOf(ref, reason))
	}
	return false
}
