package homelab

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// The mark of a record is the finalizer with the annotation that says its place. It is for objects without a status:
// one write, or none where the API server marks new objects, instead of one for the finalizer and one for
// status.applied. Decision 0033 says why that is enough, and why nobody gains anything by an annotation of his own.

// markOf reads the annotation of an object; nil: there is none that can be read. It does not tell of which server the
// place was.
func markOf(o client.Object) *v1alpha1.Applied {
	f := strings.Fields(o.GetAnnotations()[v1alpha1.AppliedAnnotation])
	if len(f) != 4 {
		return nil
	}
	id, err := dnshook.ID{Type: f[1], Domain: f[2], Subdomain: f[3]}.Canonical()
	if err != nil {
		return nil
	}
	return &v1alpha1.Applied{Class: f[0], Type: id.Type, Domain: id.Domain, Subdomain: id.Subdomain}
}

// textOf is what the annotation says of a place.
func textOf(a v1alpha1.Applied) string {
	return strings.Join([]string{a.Class, a.Type, a.Domain, a.Subdomain}, " ")
}

// begun reports whether a status is one of ours.
func begun(s *v1alpha1.DNSRecordStatus) bool {
	return len(s.Conditions) > 0 || s.Applied != nil || len(s.Former) > 0 || s.State != "" || s.LastSyncTime != nil
}

// know takes over newer metadata.
func (r *record) know(o client.Object) {
	r.base, r.mark, r.finalized = o, markOf(o), slices.Contains(o.GetFinalizers(), v1alpha1.Finalizer)
}

// prepared reports whether it is written down that a server may have the record at a place.
func (r *record) prepared(place v1alpha1.Applied) bool {
	if !r.finalized {
		return false
	}
	if r.applied != nil && samePlace(*r.applied, place) {
		return true
	}
	return r.fresh() && r.mark != nil && r.mark.Class == place.Class && idOf(*r.mark) == idOf(place)
}

// fresh reports whether the annotation is where the place of the record is to be written down.
func (r *record) fresh() bool {
	return !r.statusWritten && !begun(r.status) && r.applied == nil && len(r.former) == 0
}

// putMark marks a record.
func (k *Controller) putMark(ctx context.Context, r *record, place v1alpha1.Applied) error {
	return k.changes(r, func(base client.Object) (client.Object, error) {
		list := slices.DeleteFunc(slices.Clone(base.GetFinalizers()), func(f string) bool { return f == v1alpha1.Finalizer })
		return k.objects.Change(ctx, base, "metadata", map[string]any{
			"finalizers":  append(list, v1alpha1.Finalizer),
			"annotations": map[string]string{v1alpha1.AppliedAnnotation: textOf(place)},
		})
	})
}

// hold notes, right before it is sent, that a server may have something from now on.
func (m *model) hold(w *want) {
	r := w.owner
	begins := r.applied == nil || !samePlace(*r.applied, w.place)
	if w.first, r.unsent = begins || r.unsent, false; begins {
		place := w.place
		r.applied, r.done = &place, ""
		m.reindex(r)
	}
}

// assumeApplied takes marks for evidence: the leader before may have sent these records and not have written their
// statuses. A mark is no proof: what the object could not send now is not assumed, and an event says so. Nothing was
// ever sent for a class that does not exist, and nobody else has sent objects that come later. What an object leaves
// where it is need not be known.
func (m *model) assumeApplied() {
	rules := map[string][]zone.Rule{}
	for name, c := range m.classes {
		rules[name] = dialect.ConvertClass(c.object).Rules
	}
	for _, r := range m.records {
		switch {
		case !r.finalized || r.orphan() || r.applied != nil || len(r.former) > 0:
			continue
		case r.fresh() && r.mark != nil:
			if allowed(rules[r.mark.Class], r.id.Namespace, *r.mark) {
				r.applied = r.mark
			} else {
				m.warnNotAllowed(r, *r.mark)
			}
		default:
			r.applied = m.inherit(r, rules)
		}
		if r.applied != nil {
			m.reindex(r)
		}
	}
}

func allowed(rules []zone.Rule, namespace string, place v1alpha1.Applied) bool {
	name, err := dnsname.Parse(idOf(place).FQDN() + ".")
	if err != nil {
		return false
	}
	t, err := rr.ParseType(place.Type)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(rules, func(r zone.Rule) bool {
		return r.AllowsRecord(namespace, rr.Key{Name: name, Type: t}, dnsname.Root)
	})
}

// reasonFormerUnknown is that of the event about an object that was changed while the existing system had ended and
// this one had not begun.
const reasonFormerUnknown = "FormerUnknown"

// reasonFormerNotAllowed is that of the event about an object whose record may be at a server, and to which the
// DNSClass does not allow it.
const reasonFormerNotAllowed = "FormerNotAllowed"

// inherit says what a server may have of an object of the existing system, which wrote nothing of that down: it sent
// what the spec said when it looked, first of all put the finalizer there, and then wrote a status, if it came to it.
// What was changed after that is not known any more; a name that the status does not have was never sent.
func (m *model) inherit(r *record, rules map[string][]zone.Rule) *v1alpha1.Applied {
	if r.key == (slotKey{}) {
		return nil
	}
	s, class := &r.object.Status, r.object.Spec.DNSClassRef.Name
	id := r.wanted.Record.ID()
	place := v1alpha1.Applied{Class: class, Type: id.Type, Domain: id.Domain, Subdomain: id.Subdomain}
	if s.State == v1alpha1.StateDeleted {
		return nil // its last word: no server has it, and the finalizer was about to go
	}
	served := s.State == v1alpha1.StateCreated || s.State == v1alpha1.StateUpdated || s.LastSyncTime != nil
	switch {
	case served && !r.changedSince(s.ObservedGeneration):
		place.Confirmed = true
		return &place
	case served:
		m.warnChanged(r)
		if !strings.EqualFold(strings.TrimSuffix(s.FQDN, "."), r.key.fqdn) {
			return nil
		}
	case begun(s):
		return nil
	}
	if !allowed(rules[class], r.id.Namespace, place) {
		m.warnNotAllowed(r, place)
		return nil
	}
	return &place
}

// changedSince reports whether the spec is another one than that of a generation; a deletion counts as one, too.
func (r *record) changedSince(generation int64) bool {
	now := r.object.Generation
	if r.deleting() {
		now--
	}
	return now > generation
}

// warnChanged says what nobody can clean up but a person.
func (m *model) warnChanged(r *record) {
	text := r.id.String() + " was changed after the previous operator last saw it, when it was " +
		r.object.Status.FQDN +
		"; if its type, name or DNSClass was different then, the old record is still at the server: remove it there."
	warn(m.k.Events, r.object, reasonFormerUnknown, "TakeOver", text)
	m.k.Log.Warn("an object of the existing system was changed while no operator ran", "object", r.id.String(), "fqdn",
		r.object.Status.FQDN)
}

// warnNotAllowed says what stays at a server although it may be of an object: who may write the object can have it say
// so of any name, and only what the DNSClass allows is taken away for that.
func (m *model) warnNotAllowed(r *record, place v1alpha1.Applied) {
	if m.classes[place.Class] == nil {
		return
	}
	name := title(slotOf(place))
	text := "The server of DNSClass " + place.Class + " may have " + name + " of " + r.id.String() +
		", which spec.allowed does not allow the namespace. It stays there: remove it there, or, if spec.allowed was " +
		"narrowed by mistake, allow it again."
	warn(m.k.Events, r.object, reasonFormerNotAllowed, "TakeOver", text)
	m.k.Log.Warn(
		"a record that may be at a server stays there because its DNSClass does not allow it", "object", r.id.String(),
		"dnsClass", place.Class, "record", name)
}
