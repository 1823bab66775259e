package gardener

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
)

// Progress of operations, in percent.
const (
	begun, halfway, done = 1, 50, 100
)

// words are what is said of an operation while it is under way, when it has failed, and afterwards.
type words struct{ doing, failed, done string }

// wordsOf are those of Gardener's own extensions.
func wordsOf(kind v1alpha1.OperationType) words {
	switch kind {
	case v1alpha1.TypeDelete:
		return words{"Deleting the DNSRecord", "Error deleting DNSRecord", "Successfully deleted DNSRecord"}
	case v1alpha1.TypeMigrate:
		return words{"Migrating the DNSRecord", "Error migrating DNSRecord", "Successfully migrated DNSRecord"}
	case v1alpha1.TypeRestore:
		return words{"Restoring the DNSRecord", "Error restoring DNSRecord", "Successfully restored DNSRecord"}
	}
	return words{"Reconciling the DNSRecord", "Error reconciling DNSRecord", "Successfully reconciled DNSRecord"}
}

// processing is the status while an operation is under way. An error of an operation before that is not one of this
// one: gardenlet would take it for that.
func processing(s v1alpha1.DNSRecordStatus, kind v1alpha1.OperationType, now time.Time) v1alpha1.DNSRecordStatus {
	s.LastError = nil
	s.LastOperation = operation(kind, v1alpha1.StateProcessing, wordsOf(kind).doing, now)
	return s
}

// waiting is the status of an operation that goes on after a while: nothing has failed yet.
func waiting(s v1alpha1.DNSRecordStatus, run *run, err error, now time.Time) v1alpha1.DNSRecordStatus {
	text := wordsOf(run.kind).doing + ": it is tried again after a while, " + err.Error()
	if last := s.LastOperation; last != nil && last.State == v1alpha1.StateProcessing && last.Description == text {
		return s
	}
	s.LastError = nil // of an attempt before: it has not failed any more
	s.LastOperation = operation(run.kind, v1alpha1.StateProcessing, text, now)
	return s
}

// release is how an object goes that nothing else helps.
const release = "To delete the object and leave the record behind, annotate it, or its Shoot, with " +
	v1alpha1.ForceDeletionAnnotation + "=true."

// failed is the status of an operation that has failed, and is tried again. Nothing moves as long as it fails in the
// same way.
func failed(s v1alpha1.DNSRecordStatus, run *run, err error, now time.Time) v1alpha1.DNSRecordStatus {
	text := controller.Capital(wordsOf(run.kind).failed + ": " + err.Error())
	if run.step == Remove {
		text = strings.TrimSuffix(text, ".") + ". " + release
	}
	codes := codesOf(err)
	at := metav1.NewTime(now.Truncate(time.Second))
	if e, last := s.LastError, s.LastOperation; e == nil || e.Description != text || !slices.Equal(e.Codes, codes) ||
		last == nil || last.State != v1alpha1.StateError {
		s.LastError = &v1alpha1.LastError{Description: text, Codes: codes, LastUpdateTime: &at}
		s.LastOperation = operation(run.kind, v1alpha1.StateError, text, now)
	}
	s.ObservedGeneration = run.object.Generation
	return s
}

// notMade says that what was to be put is not there as far as anybody knows, or that nobody knows.
func notMade(s v1alpha1.DNSRecordStatus, mayBeThere bool, now time.Time) v1alpha1.DNSRecordStatus {
	switch i := slices.IndexFunc(s.Conditions, isCreated); {
	case mayBeThere && (i < 0 || s.Conditions[i].Status == metav1.ConditionFalse):
		s.Conditions = withCreated(s.Conditions, metav1.ConditionUnknown, now) // there may be something to be removed
	case i < 0:
		s.Conditions = withCreated(s.Conditions, metav1.ConditionFalse, now)
	}
	return s
}

// succeeded is the status of an operation that has succeeded.
func succeeded(s v1alpha1.DNSRecordStatus, run *run, now time.Time) v1alpha1.DNSRecordStatus {
	s.LastError = nil
	s.LastOperation = operation(run.kind, v1alpha1.StateSucceeded, wordsOf(run.kind).done, now)
	s.ObservedGeneration = run.object.Generation
	if run.step == Put {
		zone := run.zone.ID
		s.Zone = &zone
		s.Conditions = withCreated(s.Conditions, metav1.ConditionTrue, now)
	}
	return s
}

func operation(kind v1alpha1.OperationType, state v1alpha1.OperationState, description string,
	now time.Time) *v1alpha1.LastOperation {
	progress := map[v1alpha1.OperationState]int32{v1alpha1.StateProcessing: begun, v1alpha1.StateError: halfway,
		v1alpha1.StateSucceeded: done}[state]
	return &v1alpha1.LastOperation{
		Type: kind, State: state, Progress: progress, Description: description,
		LastUpdateTime: metav1.NewTime(now.Truncate(time.Second)),
	}
}

func isCreated(c v1alpha1.Condition) bool { return c.Type == v1alpha1.ConditionCreated }

// withCreated sets the condition Created, whose times move with its status only.
func withCreated(all []v1alpha1.Condition, status metav1.ConditionStatus, now time.Time) []v1alpha1.Condition {
	at := metav1.NewTime(now.Truncate(time.Second))
	c := v1alpha1.Condition{Type: v1alpha1.ConditionCreated, Status: status, LastTransitionTime: at, LastUpdateTime: at}
	switch status {
	case metav1.ConditionTrue:
		c.Reason, c.Message = "Success", "Record was created successfully in infrastructure at least once"
	case metav1.ConditionFalse:
		c.Reason, c.Message = "Error", "Error on initial record creation in infrastructure"
	default:
		c.Reason, c.Message = "Error", "Initial record creation in infrastructure was not answered"
	}
	i := slices.IndexFunc(all, isCreated)
	switch {
	case i < 0:
		return append(slices.Clone(all), c)
	case all[i].Status == status:
		return all
	}
	all = slices.Clone(all)
	all[i] = c
	return all
}

// migrated reports whether an object is another operator's now.
func migrated(o *v1alpha1.DNSRecord) bool {
	last := o.Status.LastOperation
	return last != nil && last.Type == v1alpha1.TypeMigrate && last.State == v1alpha1.StateSucceeded
}
