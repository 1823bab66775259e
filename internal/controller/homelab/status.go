package homelab

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

// A report is what a status is to say about a record.
type report struct {
	state   v1alpha1.RecordState
	outcome controller.Outcome
	code    string // of status.error; "": there is none
}

func bad(reason, code, message string) report {
	return report{v1alpha1.StateError, controller.Not(reason, message), code}
}

// pending is a record of which nothing has come yet.
func pending(message string) report {
	return report{v1alpha1.StatePending, controller.Outcome{Status: metav1.ConditionUnknown, Reason: servers.ReasonPending,
		Message: message}, ""}
}

// onItsWay is a record that is going to be sent.
func onItsWay(class string) report {
	return pending(fmt.Sprintf("It is on its way to DNSClass %s.", class))
}

// report says what the status of a record is to say.
func (p *plan) report(r *record) report {
	if r.deleting() {
		return p.leaving(r)
	}
	v := r.verdict
	switch {
	case v.Accepted:
		return p.standing(r)
	case r.wanted.Code != "":
		return bad(servers.ReasonValidationFailed, string(r.wanted.Code), v.Message+r.leftover())
	case v.Reason == zone.ReferenceNotFound:
		return bad(servers.ReasonClassNotFound, servers.CodeClassNotFound, fmt.Sprintf(
			"%s refers to DNSClass %s, which does not exist; create it or correct dnsClassRef.",
			r.id, r.object.Spec.DNSClassRef.Name)+r.leftover())
	case v.Reason == zone.NotDelegated:
		return bad(servers.ReasonInvalidConfiguration, servers.CodeNotAllowed, v.Message+r.leftover())
	}
	return bad(servers.ReasonInvalidConfiguration, servers.CodeConflict, v.Message+r.leftover())
}

// leftover says what is still served of a record that fails.
func (r *record) leftover() string {
	if r.applied == nil || !r.applied.Confirmed {
		return ""
	}
	return fmt.Sprintf(" DNSClass %s may still serve %s %s, which it accepted before.", r.applied.Class,
		idOf(*r.applied).FQDN(), r.applied.Type)
}

// standing is the account of a record that the World has accepted.
func (p *plan) standing(r *record) report {
	s := p.slots[r.key]
	w, known := p.want(s)
	if !known || w == nil {
		return pending("It is on its way.")
	}
	if s.confirmed == w.hash && w.owner.applied != nil && samePlace(*w.owner.applied, w.place) {
		return p.served(r, s, w)
	}
	switch f, behind := s.courseSoFar().upserts.failure, p.inTheWay(s); {
	case behind != nil: // what failed before is not tried now
		text := fmt.Sprintf("It waits until DNSClass %s no longer has %s, with which it cannot coexist.", s.key.class,
			title(*behind))
		if f = p.slots[*behind].failure(); f != nil {
			return bad(f.Reason, f.Code, text+" "+f.Message)
		}
		return pending(text)
	case f != nil:
		return bad(f.Reason, f.Code, strings.TrimSpace(f.Message+" "+f.Next)+r.leftover())
	}
	if _, waits := p.classes[s.key.class].pause.slots[s.key]; waits {
		return pending(fmt.Sprintf("It is on its way to DNSClass %s, whose server has asked for a pause.", s.key.class))
	}
	return onItsWay(s.key.class)
}

// served is the account of a record that the server has.
func (p *plan) served(r *record, s *slot, w *want) report {
	state := r.done
	if state == "" {
		if state = r.status.State; state != v1alpha1.StateCreated {
			state = v1alpha1.StateUpdated
		}
	}
	reason := servers.ReasonRecordUpdated
	if state == v1alpha1.StateCreated {
		reason = servers.ReasonRecordCreated
	}
	text := fmt.Sprintf("DNSClass %s has %s.", s.key.class, title(s.key))
	if note, differs := r.verdict.Note(zone.TTLDiffers); differs {
		text += " " + note.Message
	}
	if odd := s.courseSoFar().odd; odd.kept && odd.hash == w.hash {
		text += " " + odd.note(w)
	}
	for _, f := range r.former {
		text += fmt.Sprintf(" %s %s of DNSClass %s is still to be removed", idOf(f).FQDN(), f.Type, f.Class)
		if old := p.slots[slotOf(f)]; old != nil && old.failure() != nil {
			text += ": " + old.failure().Message
			continue
		}
		text += "."
	}
	return report{state, controller.OK(reason, text), ""}
}

// leaving is the account of a record that is being deleted.
func (p *plan) leaving(r *record) report {
	evidence := r.evidence()
	if len(evidence) == 0 {
		gone := controller.Not(servers.ReasonRecordDeleted, "No server has the record.")
		return report{v1alpha1.StateDeleted, gone, ""}
	}
	release := fmt.Sprintf(" The object stays until then; to delete it and leave the record where it is: kubectl "+
		"annotate -n %s dnsrecord %s %s=%s",
		r.id.Namespace, r.id.Name, v1alpha1.DeletionPolicyAnnotation, v1alpha1.DeletionPolicyOrphan)
	for _, a := range evidence {
		what := fmt.Sprintf("%s %s has to be removed from the server of DNSClass %s", idOf(a).FQDN(), a.Type, a.Class)
		if p.classes[a.Class] == nil {
			return bad(servers.ReasonClassNotFound, servers.CodeClassNotFound,
				what+", which does not exist; create the class again."+release)
		}
		if s := p.slots[slotOf(a)]; s != nil && s.failure() != nil {
			f := s.failure()
			return bad(f.Reason, f.Code, what+". "+f.Message+" "+f.Next+release)
		}
	}
	return pending("The record is being removed.")
}

// statusOf puts an account into a status.
func (p *plan) statusOf(r *record, a report) v1alpha1.DNSRecordStatus {
	c := controller.Conditions{Old: r.status.Conditions, Generation: r.object.Generation, Now: p.clock.Now()}
	c.Set(controller.ConditionReady, a.outcome)
	if a.outcome.Reason == servers.ReasonValidationFailed && r.wanted.Code != "" { // a server that says so is asked again
		c.Stall(a.outcome)
	}
	out := v1alpha1.DNSRecordStatus{
		Conditions: c.List(), State: a.state, LastSyncTime: r.status.LastSyncTime, ObservedGeneration: r.object.Generation,
		Former: slices.Clone(r.former),
	}
	if id, err := dialect.NameOf(&r.object.Spec); err == nil { // also where it cannot be sent, for its values
		out.FQDN = id.FQDN()
	}
	if !r.synced.IsZero() {
		out.LastSyncTime = ptr.To(metav1.NewTime(r.synced.Truncate(1e9)))
	}
	if r.applied != nil {
		applied := *r.applied
		applied.Hash = p.sure(r)
		out.Applied = &applied
	}
	if a.code != "" {
		out.Error = &v1alpha1.RecordError{Code: a.code, Message: a.outcome.Message,
			Timestamp: ptr.To(metav1.NewTime(p.clock.Now().Truncate(1e9)))}
		if old := r.status.Error; old != nil && old.Code == a.code && old.Timestamp != nil {
			out.Error.Timestamp = old.Timestamp
		}
	}
	return out
}
