package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/parallel"
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
	File     string      `json:"file"`
	Line     int         `json:"line"`
	Severity string      `json:"severity"`
	Object   *jsonObject `json:"object"` // null: no object could be made out
	Reason   string      `json:"reason"`
	Message  string      `json:"message"`
}

// String returns the finding as a line: file:line: severity: message [reason]. The
// message names the object.
func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s [%s]", oneLine(f.File), f.Line, f.Severity, oneLine(f.Message), f.Reason)
}

// Reasons of findings that are none of the core's.
const (
	schemaViolation = "SchemaViolation" // the API server would refuse the object
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
		out.Object = (*jsonObject)(&object)
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
			f.add(o.PlaceOf(v.Field), o.Ref, asError, schemaViolation,
				fmt.Sprintf("The API server would refuse %s: %s", o.Ref, ended(v.String())))
		}
	}
	return nil
}

// ended ends a clause as a sentence.
func ended(clause string) string {
	if strings.HasSuffix(clause, "?") || strings.HasSuffix(clause, ".") {
		return clause
	}
	return clause + "."
}

// deciding adds what the core refuses or notes, unless the schema has said it.
func (f *findings) deciding(c *composition) {
	for _, p := range c.problems {
		if p.object.Fault != "" && f.says(p.object.Ref, zone.Reason(p.reason)) {
			continue
		}
		if slices.ContainsFunc(f.violated[p.object.Ref], func(field string) bool {
			return p.field != "" && strings.HasPrefix(field, p.field)
		}) {
			continue
		}
		severity := asError
		if p.warning {
			severity = asWarning
		}
		f.add(p.object.PlaceOf(p.field), p.object.Ref, severity, p.reason, p.message)
	}
	for _, z := range c.zones {
		if z.hosted(c.backends) {
			z.verdict = z.verdict.Hosted()
		}
		f.verdict(z.object, z.verdict)
		f.references(z, c.backends)
		f.loading(z)
		f.serverless(z)
	}
	for _, r := range c.records {
		if r.object.Source != nil {
			f.sourceVerdict(r, len(c.zones) > 0)
			continue
		}
		f.verdict(r.object, r.verdict)
	}
}

// hosted reports whether a Zone goes to services alone, as far as the input tells: they have name servers of their own
// for it.
func (z *zoneResult) hosted(backends []*manifest.Object) bool {
	if z.object.Zone == nil {
		return false
	}
	refs, on := z.object.Zone.Spec.BackendRefs, 0
	for _, b := range backends {
		if b.Backend == nil {
			continue
		}
		named := slices.ContainsFunc(refs, func(r kubizone.BackendRef) bool { return r.Name == b.Name })
		switch {
		case !named && (len(refs) > 0 || !b.Backend.Spec.Default):
		case b.Backend.Spec.Provider == nil:
			return false
		default:
			on++
		}
	}
	return on > 0 && on >= len(refs)
}

// references adds the backendRefs of a Zone that name no Backend. An input without any
// Backend tells nothing: they are kept elsewhere.
func (f *findings) references(z zoneResult, backends []*manifest.Object) {
	if len(backends) == 0 || z.object.Zone == nil || z.verdict.Reason == beingDeleted {
		return
	}
	for i, ref := range z.object.Zone.Spec.BackendRefs {
		if slices.ContainsFunc(backends, func(o *manifest.Object) bool { return o.Name == ref.Name }) {
			continue
		}
		f.add(z.object.PlaceOf(fmt.Sprintf("spec.backendRefs[%d].name", i)), z.object.Ref, asError, unknownBackend,
			fmt.Sprintf(
				"%s names the Backend %s in backendRefs, which is none of those in the input; add it, or correct backendRefs.",
				z.object.Ref, ref.Name))
	}
}

// loading warns of what keeps servers from loading a zone. That it has no name servers
// at all is a note of the core.
func (f *findings) loading(z zoneResult) {
	if !z.verdict.Accepted || z.object.Zoneless() {
		return
	}
	at := z.object.PlaceOf(fieldOf(z.object.Ref, zone.Accepted))
	for _, p := range placeholders(z.snapshot) {
		if p.remark == noAddress && !p.alone && !z.object.OfBindy() {
			f.add(at, z.object.Ref, asWarning, noServerAddress, fmt.Sprintf(
				"%s has the name server %s, which is in the zone and has no address there; add an A or AAAA record.", z.object.Ref,
				p.name))
		}
	}
	for set := range z.snapshot.Sets.All() {
		for _, data := range set.Data {
			if why := unloadable(z.snapshot, set, data); why != "" {
				f.add(at, z.object.Ref, asWarning, notLoadable, fmt.Sprintf(
					"%s has the record %s %s, and servers do not load a zone with it, because %s; remove it.", z.object.Ref, set.Key(),
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

// fieldOf returns the field that somebody looks at first for a reason.
func fieldOf(ref manifest.Ref, reason zone.Reason) string {
	if ref.OfBindy() {
		return bindyField(ref.Kind, reason)
	}
	if ref.OfGardener() {
		return gardenerField(reason)
	}
	if ref.OfHomelab() {
		return homelabField(ref.Kind, reason)
	}
	switch reason {
	case zone.InvalidData, zone.SetFull, zone.UnquotedText:
		return "spec.rdata"
	case zone.InvalidType, zone.Conflict:
		return "spec.type"
	case zone.ClassMismatch:
		return "spec.class"
	case zone.TTLDiffers:
		return "spec.ttl"
	case zone.ReferenceNotFound, zone.ReferenceCycle, zone.ParentUnresolved, zone.OutOfZone:
		return "spec.zoneRef"
	case zone.InvalidRule:
		return "spec.delegations"
	case zone.InvalidTimers:
		return "spec.expire"
	case duplicateObject:
		return "metadata.name"
	case beingDeleted:
		return "metadata.deletionTimestamp"
	}
	return "spec.domainName"
}
