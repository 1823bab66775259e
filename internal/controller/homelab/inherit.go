package homelab

import (
	"strings"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

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
		if !strings.EqualFold(strings.TrimSuffix(s.FQDN, "."), fqdnOf(r.key)) {
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
	text := r.id.String() + " was changed after the operator before this one had looked at it last, when it was " +
		r.object.Status.FQDN +
		"; if its type, name or DNSClass was another one then, that is still at the server: remove it there."
	m.k.Events.Eventf(r.object, nil, "Warning", reasonFormerUnknown, "TakeOver", "%s", controller.Note(text))
	m.k.Log.Warn("an object of the existing system was changed while nobody looked", "object", r.id.String(), "fqdn",
		r.object.Status.FQDN)
}

// warnNotAllowed says what stays at a server although it may be of an object: who may write the object can have it say
// so of any name, and only what the DNSClass allows is taken away for that.
func (m *model) warnNotAllowed(r *record, place v1alpha1.Applied) {
	if m.classes[place.Class] == nil {
		return
	}
	name := strings.TrimSuffix(idOf(place).FQDN(), ".") + " " + place.Type
	text := "The server of DNSClass " + place.Class + " may have " + name + " of " + r.id.String() +
		", and spec.allowed does not let the namespace have that. It is left there: " +
		"if it is of no use, remove it there; if spec.allowed was narrowed by mistake, allow it again."
	m.k.Events.Eventf(r.object, nil, "Warning", reasonFormerNotAllowed, "TakeOver", "%s", controller.Note(text))
	m.k.Log.Warn("a record that may be at a server is left there: its DNSClass does not allow it", "object", r.id.String(),
		"dnsClass", place.Class, "record", name)
}
