package gardener

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
)

// A Step is what is done about a DNSRecord.
type Step int

// What is done about a DNSRecord.
const (
	Nothing Step = iota
	Wait         // somebody else has to write status.state first
	Put          // the service is to have the record set; for Create, Reconcile and Restore
	Leave        // another operator takes it over: the record set stays, and all finalizers go
	Remove       // the service is to lose the record set
	Forget       // the service never had it: only the finalizer goes
)

// Decide returns what is to be done about an object that is ours, and how Gardener calls that.
func Decide(o *v1alpha1.DNSRecord) (Step, v1alpha1.OperationType) {
	if o.Annotations[v1alpha1.OperationAnnotation] == v1alpha1.OperationWaitForState {
		return Wait, ""
	}
	kind := operationOf(o)
	last := o.Status.LastOperation
	migrated := last != nil && last.Type == v1alpha1.TypeMigrate && last.State == v1alpha1.StateSucceeded
	switch {
	case kind == v1alpha1.TypeMigrate:
		return Leave, kind
	case migrated && kind != v1alpha1.TypeRestore: // it is another operator's now
		return Nothing, kind
	case o.DeletionTimestamp.IsZero():
		return Put, kind
	case !hasFinalizer(o):
		return Nothing, kind
	case created(o) == metav1.ConditionFalse:
		return Forget, kind
	}
	return Remove, kind
}

// operationOf names the operation that an object needs.
func operationOf(o *v1alpha1.DNSRecord) v1alpha1.OperationType {
	annotation, last := o.Annotations[v1alpha1.OperationAnnotation], o.Status.LastOperation
	switch {
	case annotation == v1alpha1.OperationMigrate:
		return v1alpha1.TypeMigrate
	case !o.DeletionTimestamp.IsZero():
		return v1alpha1.TypeDelete
	case annotation == v1alpha1.OperationRestore:
		return v1alpha1.TypeRestore
	case last == nil:
		return v1alpha1.TypeCreate
	case last.State == v1alpha1.StateSucceeded:
		return v1alpha1.TypeReconcile
	}
	switch last.Type {
	case v1alpha1.TypeCreate, v1alpha1.TypeMigrate, v1alpha1.TypeRestore:
		return last.Type
	}
	return v1alpha1.TypeReconcile
}

// forced reports whether an object that is being deleted is to go whatever is left behind.
func forced(o *v1alpha1.DNSRecord) bool {
	yes, _ := strconv.ParseBool(o.Annotations[v1alpha1.ForceDeletionAnnotation])
	return yes && !o.DeletionTimestamp.IsZero()
}

// created returns the status of the condition Created.
func created(o *v1alpha1.DNSRecord) metav1.ConditionStatus {
	for _, c := range o.Status.Conditions {
		if c.Type == v1alpha1.ConditionCreated {
			return c.Status
		}
	}
	return metav1.ConditionUnknown
}

func hasFinalizer(o *v1alpha1.DNSRecord) bool {
	return slices.Contains(o.Finalizers, v1alpha1.Finalizer)
}
