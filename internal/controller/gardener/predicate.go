package gardener

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
)

// A Filter says which DNSRecords are ours. What is another operator's is not touched at all.
type Filter struct {
	Types   []string         // of DNS services
	Classes []v1alpha1.Class // what the objects are for
}

// Ours reports whether a DNSRecord is ours.
func (f Filter) Ours(o *v1alpha1.DNSRecord) bool {
	class := v1alpha1.ClassShoot
	if o.Spec.Class != nil {
		class = *o.Spec.Class
	}
	return slices.Contains(f.Types, o.Spec.Type) && slices.Contains(f.Classes, class)
}

// A Trigger says which events have something done. As a rule the annotation does: a changed spec waits until gardenlet,
// which keeps to maintenance windows, says so.
type Trigger struct {
	IgnoreAnnotation bool // changed specs do, too, and the annotation alone does not
}

// A request is why something is done about an object.
type request int

const (
	none    request = iota
	resumed         // it was not finished by an earlier run
	asked           // somebody wants it
)

// seen says what follows from an object that is there when the operator starts, or is new.
func (t Trigger) seen(o *v1alpha1.DNSRecord) request {
	last := o.Status.LastOperation
	unfinished := last == nil || last.State != v1alpha1.StateSucceeded
	switch {
	case t.IgnoreAnnotation && o.Generation != o.Status.ObservedGeneration, !t.IgnoreAnnotation && hasOperation(o):
		return asked
	case unfinished || !o.DeletionTimestamp.IsZero():
		return resumed
	}
	return none
}

// changed says what follows from a change of an object.
func (t Trigger) changed(old, o *v1alpha1.DNSRecord) request {
	switch {
	case forced(o) && !forced(old):
		return asked
	case t.IgnoreAnnotation:
		if old.Generation != o.Generation {
			return asked
		}
	case hasOperation(o):
		return asked
	case !o.DeletionTimestamp.IsZero():
		// it counts when it appears, also if what we ourselves have written is seen only together with it
		if old.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(old.Status, o.Status) {
			return asked
		}
	}
	return none
}

// due reports whether a request still stands: what it asked for may have been done by the time that somebody comes to
// it.
func (t Trigger) due(o *v1alpha1.DNSRecord) bool {
	last := o.Status.LastOperation
	return t.IgnoreAnnotation || hasOperation(o) || !o.DeletionTimestamp.IsZero() || last == nil ||
		last.State != v1alpha1.StateSucceeded
}

func hasOperation(o *v1alpha1.DNSRecord) bool {
	switch o.Annotations[v1alpha1.OperationAnnotation] {
	case v1alpha1.OperationReconcile, v1alpha1.OperationRestore, v1alpha1.OperationMigrate:
		return true
	}
	return false
}
