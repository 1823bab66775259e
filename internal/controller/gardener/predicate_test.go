package gardener

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
)

// object makes a DNSRecord, changed by functions.
func object(change ...func(*v1alpha1.DNSRecord)) *v1alpha1.DNSRecord {
	o := &v1alpha1.DNSRecord{}
	o.Generation = 1
	for _, f := range change {
		f(o)
	}
	return o
}

func operating(value string) func(*v1alpha1.DNSRecord) {
	return func(o *v1alpha1.DNSRecord) { o.Annotations = map[string]string{v1alpha1.OperationAnnotation: value} }
}

func last(kind v1alpha1.OperationType, state v1alpha1.OperationState) func(*v1alpha1.DNSRecord) {
	return func(o *v1alpha1.DNSRecord) {
		o.Status.LastOperation, o.Status.ObservedGeneration = &v1alpha1.LastOperation{Type: kind, State: state}, 1
	}
}

func byForce(o *v1alpha1.DNSRecord) {
	o.Annotations = map[string]string{v1alpha1.ForceDeletionAnnotation: "true"}
}

func deleted(o *v1alpha1.DNSRecord) { o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)} }

func finalized(o *v1alpha1.DNSRecord) { o.Finalizers = []string{"other", v1alpha1.Finalizer} }

func generation(n int64) func(*v1alpha1.DNSRecord) {
	return func(o *v1alpha1.DNSRecord) { o.Generation = n }
}

func everCreated(status metav1.ConditionStatus) func(*v1alpha1.DNSRecord) {
	return func(o *v1alpha1.DNSRecord) {
		o.Status.Conditions = []v1alpha1.Condition{{Type: "Other", Status: "True"},
			{Type: v1alpha1.ConditionCreated, Status: status}}
	}
}

func TestWhatIsSeenAtFirst(t *testing.T) {
	served := last(v1alpha1.TypeCreate, v1alpha1.StateSucceeded)
	for _, c := range []struct {
		sentence       string
		object         *v1alpha1.DNSRecord
		usual, ignores request
	}{
		{"a new object is carried out", object(), resumed, asked},
		{"one that is served rests", object(served), none, none},
		{"one that somebody asks about is carried out", object(served, operating("reconcile")), asked, none},
		{"so is one to restore", object(served, operating("restore")), asked, none},
		{"and one to migrate", object(served, operating("migrate")), asked, none},
		{"one that waits for a state rests", object(served, operating("wait-for-state")), none, none},
		{"an annotation that means nothing means nothing", object(served, operating("maintain")), none, none},
		{"one that has failed is tried again", object(last(v1alpha1.TypeReconcile, v1alpha1.StateError)), resumed, resumed},
		{"one that was under way goes on", object(last(v1alpha1.TypeReconcile, v1alpha1.StateProcessing)), resumed, resumed},
		{"one that is being deleted goes on", object(served, deleted), resumed, resumed},
		{"a changed spec waits, unless annotations do not count", object(served, generation(2)), none, asked},
	} {
		if got := (Trigger{}).seen(c.object); got != c.usual {
			t.Errorf("%s: it is %d, want %d", c.sentence, got, c.usual)
		}
		if got := (Trigger{IgnoreAnnotation: true}).seen(c.object); got != c.ignores {
			t.Errorf("%s: without annotations it is %d, want %d", c.sentence, got, c.ignores)
		}
	}
}

func TestWhatAChangeHasDone(t *testing.T) {
	served, failed := last(v1alpha1.TypeCreate, v1alpha1.StateSucceeded), last(v1alpha1.TypeCreate, v1alpha1.StateError)
	for _, c := range []struct {
		sentence       string
		old, now       *v1alpha1.DNSRecord
		usual, ignores request
	}{
		{"a changed spec waits, unless annotations do not count", object(served), object(served, generation(2)), none, asked},
		{"an annotation has it done, if annotations count", object(served), object(served, operating("reconcile")), asked,
			none},
		{"a changed status does not", object(served), object(failed), none, none},
		{"a deletion does", object(served), object(served, deleted, generation(2)), asked, asked},
		{"also one that is seen together with a changed status", object(failed), object(served, deleted, generation(2)),
			asked, asked},
		{"a changed status of what is being deleted does not", object(served, deleted), object(failed, deleted), none, none},
		{"other changes of what is being deleted do, if annotations count", object(served, deleted),
			object(served, deleted, finalized), asked, none},
		{"force does in any case", object(served, deleted), object(failed, deleted, byForce), asked, asked},
		{"it counts once", object(served, deleted, byForce), object(failed, deleted, byForce), none, none},
		{"force of what is not being deleted means nothing", object(served), object(served, byForce), none, none},
	} {
		if got := (Trigger{}).changed(c.old, c.now); got != c.usual {
			t.Errorf("%s: it is %d, want %d", c.sentence, got, c.usual)
		}
		if got := (Trigger{IgnoreAnnotation: true}).changed(c.old, c.now); got != c.ignores {
			t.Errorf("%s: without annotations it is %d, want %d", c.sentence, got, c.ignores)
		}
	}
}

func TestOurOwnWritesAreNoPleas(t *testing.T) {
	restoring := object(operating("restore"))
	for sentence, now := range map[string]*v1alpha1.DNSRecord{
		"a status":    object(operating("restore"), last(v1alpha1.TypeRestore, v1alpha1.StateProcessing)),
		"a finalizer": object(operating("restore"), finalized),
	} {
		if !samePlea(restoring, now) {
			t.Errorf("%s is taken for a plea", sentence)
		}
	}
	for sentence, now := range map[string]*v1alpha1.DNSRecord{
		"a spec": object(operating("restore"), generation(2)), "an annotation": object(operating("reconcile")),
		"a deletion": object(operating("restore"), deleted),
	} {
		if samePlea(restoring, now) {
			t.Errorf("%s is not taken for a plea", sentence)
		}
	}
}

func TestWhoseItIs(t *testing.T) {
	class := func(c v1alpha1.Class) func(*v1alpha1.DNSRecord) {
		return func(o *v1alpha1.DNSRecord) { o.Spec.Class = &c }
	}
	kind := func(o *v1alpha1.DNSRecord) { o.Spec.Type = "powerdns" }
	f := Filter{Types: []string{"powerdns", "rfc2136"}, Classes: []v1alpha1.Class{v1alpha1.ClassShoot, v1alpha1.ClassSeed}}
	for sentence, c := range map[string]struct {
		object *v1alpha1.DNSRecord
		want   bool
	}{
		"one without a class is a shoot's":   {object(kind), true},
		"a shoot's":                          {object(kind, class("shoot")), true},
		"a seed's":                           {object(kind, class("seed")), true},
		"a garden's is another operator's":   {object(kind, class("garden")), false},
		"another type is another operator's": {object(), false},
	} {
		if f.Ours(c.object) != c.want {
			t.Errorf("%s: it is not %t", sentence, c.want)
		}
	}
}

func TestWhatIsToBeDone(t *testing.T) {
	served := last(v1alpha1.TypeReconcile, v1alpha1.StateSucceeded)
	moved := last(v1alpha1.TypeMigrate, v1alpha1.StateSucceeded)
	for _, c := range []struct {
		sentence string
		object   *v1alpha1.DNSRecord
		step     Step
		kind     v1alpha1.OperationType
	}{
		{"a new object is created", object(), Put, v1alpha1.TypeCreate},
		{"one whose creation has failed is still created", object(last(v1alpha1.TypeCreate, v1alpha1.StateError)), Put,
			v1alpha1.TypeCreate},
		{"one that was created is reconciled", object(last(v1alpha1.TypeCreate, v1alpha1.StateSucceeded)), Put,
			v1alpha1.TypeReconcile},
		{"one whose reconciliation has failed too", object(last(v1alpha1.TypeReconcile, v1alpha1.StateError)), Put,
			v1alpha1.TypeReconcile},
		{"one to restore is restored", object(moved, operating("restore")), Put, v1alpha1.TypeRestore},
		{"a restoration goes on without its annotation", object(last(v1alpha1.TypeRestore, v1alpha1.StateError)), Put,
			v1alpha1.TypeRestore},
		{"one that was restored is reconciled", object(last(v1alpha1.TypeRestore, v1alpha1.StateSucceeded)), Put,
			v1alpha1.TypeReconcile},
		{"one to migrate is left", object(served, operating("migrate")), Leave, v1alpha1.TypeMigrate},
		{"also if it is being deleted", object(served, deleted, finalized, operating("migrate")), Leave,
			v1alpha1.TypeMigrate},
		{"a migration goes on without its annotation", object(last(v1alpha1.TypeMigrate, v1alpha1.StateProcessing)), Leave,
			v1alpha1.TypeMigrate},
		{"one that was migrated is another operator's", object(moved, operating("reconcile")), Nothing,
			v1alpha1.TypeReconcile},
		{"also if it is being deleted afterwards", object(moved, deleted, finalized), Nothing, v1alpha1.TypeDelete},
		{"one that waits for its state waits", object(operating("wait-for-state")), Wait, ""},
		{"one that is being deleted is removed", object(served, deleted, finalized, everCreated("True")), Remove,
			v1alpha1.TypeDelete},
		{"also if nobody knows whether it was created", object(served, deleted, finalized), Remove, v1alpha1.TypeDelete},
		{"one that never was there is forgotten", object(last(v1alpha1.TypeCreate, v1alpha1.StateError), deleted, finalized,
			everCreated("False")), Forget, v1alpha1.TypeDelete},
		{"one without our finalizer goes by itself", object(served, deleted), Nothing, v1alpha1.TypeDelete},
		{"one to restore that is being deleted is removed", object(served, deleted, finalized, operating("restore")), Remove,
			v1alpha1.TypeDelete},
	} {
		if step, kind := Decide(c.object); step != c.step || kind != c.kind {
			t.Errorf("%s: it is %d %s, want %d %s", c.sentence, step, kind, c.step, c.kind)
		}
	}
}
