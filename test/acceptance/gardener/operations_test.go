package gardener

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	operationKey = "gardener.cloud/operation"
	timestampKey = "gardener.cloud/timestamp"
	finalizer    = "extensions.gardener.cloud/dnsrecord"
)

// TestTheSameIsDoneAsByGardenersController has our operator and Gardener's own controller (with a provider that does
// nothing) work at objects that are the same, do the same to both, and compares what becomes of them. So Gardener's
// ComputeOperationType, DefaultControllerPredicates, reconciler and health checks say what is right, for objects and
// events as no table has them.
func TestTheSameIsDoneAsByGardenersController(t *testing.T) {
	for _, mode := range []struct {
		name   string
		ignore bool
		flags  []string
	}{{"the annotation decides", false, nil}, {"the annotation is ignored", true, []string{ignoreAnnotationFlag}}} {
		t.Run(mode.name, func(t *testing.T) {
			startOperator(t, mode.flags...)
			r, ns := random(t), newTwins(t, "events")
			w := startTwin(t, ns, mode.ignore)
			var pairs []*pair
			for i := range 60 {
				p := &pair{ns: ns, name: fmt.Sprintf("p%d", i), ignore: mode.ignore}
				secret, value := often(r, rightSecret, wrongSecret), often(r, "192.0.2.1", "2001:db8::1")
				operation := pick(r, "", "reconcile", "restore", "wait-for-state")
				p.history = append(p.history, fmt.Sprintf("created with %s, %s and %q", secret, value, operation))
				p.make(t, func(o *extensionsv1alpha1.DNSRecord) {
					o.Spec.SecretRef.Name, o.Spec.Values[0] = secret, value
					request(o, operation)
				})
				pairs = append(pairs, p)
			}
			agree(t, w, pairs)
			for range 8 {
				for _, p := range pairs {
					p.step(t, r)
				}
				agree(t, w, pairs)
			}
			for _, p := range pairs {
				p.restore(t)
			}
			agree(t, w, pairs)
			for _, p := range pairs {
				p.delete(t)
			}
			agree(t, w, pairs)
			for _, p := range pairs {
				if looks := p.look(t, "ours"); looks != "gone" {
					t.Errorf("after %q it is %s", p.history, looks)
				}
			}
		})
	}
}

// request sets annotations as gardenlet does.
func request(o *extensionsv1alpha1.DNSRecord, operation string) {
	if operation == "" {
		return
	}
	if o.Annotations == nil {
		o.Annotations = map[string]string{}
	}
	o.Annotations[operationKey] = operation
	o.Annotations[timestampKey] = time.Now().UTC().Format(time.RFC3339Nano)
}

// step does one random thing to both objects.
func (p *pair) step(t *testing.T, r *rand.Rand) {
	t.Helper()
	p.values++ // every value is new, so that the generation is, too
	secret, value := often(r, rightSecret, wrongSecret), often(r, fmt.Sprintf("192.0.2.%d", p.values), fmt.Sprintf(
		"2001:db8::%d", p.values))
	operation := often(r, "reconcile", "restore", "migrate", "wait-for-state")
	switch r.IntN(12) {
	case 0:
		p.change(t, "a label", func(o *extensionsv1alpha1.DNSRecord) {
			o.Labels = map[string]string{"a": fmt.Sprint(p.values)}
		})
	case 1:
		p.change(t, "the value "+value+" alone", func(o *extensionsv1alpha1.DNSRecord) {
			if o.DeletionTimestamp == nil {
				o.Spec.Values[0] = value
			}
		})
	case 2:
		p.change(t, "a new timestamp", func(o *extensionsv1alpha1.DNSRecord) {
			if o.Annotations != nil {
				o.Annotations[timestampKey] = time.Now().UTC().Format(time.RFC3339Nano)
			}
		})
	case 3:
		p.change(t, "no annotation", func(o *extensionsv1alpha1.DNSRecord) { delete(o.Annotations, operationKey) })
	case 4:
		p.delete(t)
	default:
		// An attempt that is under way takes the new spec, and no note of the annotation.
		alone := operation == "wait-for-state" && p.failing(t)
		p.change(t, fmt.Sprintf("%s, %s and %s (the annotation alone: %v)", operation, secret, value, alone),
			func(o *extensionsv1alpha1.DNSRecord) {
				if o.DeletionTimestamp == nil && !alone {
					o.Spec.SecretRef.Name, o.Spec.Values[0] = secret, value
				}
				request(o, operation)
			})
	}
}

// restore has both objects be as they can be deleted, whatever they went through.
func (p *pair) restore(t *testing.T) {
	t.Helper()
	p.change(t, "right credentials, restored", func(o *extensionsv1alpha1.DNSRecord) {
		if o.DeletionTimestamp == nil {
			o.Spec.SecretRef.Name, o.Spec.Values[0] = rightSecret, "192.0.2.1"
		}
		// a spec that none of them has had: it is asked for in both modes
		o.Spec.SecretRef.Name, o.Spec.TTL = rightSecret, ptr.To[int64](60)
		request(o, "restore")
	})
}

// TestABeginningIsAsGardeners stores objects in states in which an operator may find them when it starts.
func TestABeginningIsAsGardeners(t *testing.T) {
	r := random(t)
	ns, failed := newTwins(t, "found"), newTwins(t, "found-failed")
	syncCluster(t, failed, &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateFailed})
	var pairs []*pair
	for i := range 150 {
		p := &pair{ns: often(r, ns, failed), name: fmt.Sprintf("p%d", i)}
		found := randomState(r)
		p.make(t, found)
		if r.IntN(3) == 0 {
			p.delete(t)
		}
		p.history = append([]string{"found in " + p.ns + " as: " + p.look(t, "ours")}, p.history...)
		pairs = append(pairs, p)
	}
	startOperator(t)
	agree(t, startTwin(t, ns, false), pairs)
	for _, p := range pairs {
		for _, half := range halves {
			drop(t, p.ns, p.key(half).Name)
		}
	}
}

// randomState returns what makes an object one that somebody has worked at before.
func randomState(r *rand.Rand) func(*extensionsv1alpha1.DNSRecord) {
	type (
		state = gardencorev1beta1.LastOperationState
		kind  = gardencorev1beta1.LastOperationType
	)
	last := &gardencorev1beta1.LastOperation{
		Type: pick[kind](r, "Create", "Reconcile", "Delete", "Migrate", "Restore"),
		State: pick[state](r, "Processing", "Succeeded", "Succeeded", "Succeeded", "Error", "Failed", "Pending",
			"Aborted"),
		Progress:       50,
		LastUpdateTime: metav1.Time{Time: time.Now().Add(-time.Hour)},
	}
	operation, created := pick(r, "", "", "reconcile", "restore", "migrate", "wait-for-state"),
		pick[gardencorev1beta1.ConditionStatus](r, "", "True", "False", "Unknown")
	none, ours, wrong, failed := r.IntN(5) == 0, r.IntN(4) > 0, r.IntN(4) == 0, r.IntN(3) == 0
	return func(o *extensionsv1alpha1.DNSRecord) {
		o.Finalizers = []string{"example.com/hold"}
		if ours {
			o.Finalizers = append(o.Finalizers, finalizer)
		}
		if wrong {
			o.Spec.SecretRef.Name = wrongSecret
		}
		request(o, operation)
		if none {
			return
		}
		o.Status.LastOperation, o.Status.ObservedGeneration = last.DeepCopy(), 1
		if failed {
			now := metav1.Time{Time: time.Now().Add(-time.Hour)}
			o.Status.LastError = &gardencorev1beta1.LastError{Description: "What an earlier run said", LastUpdateTime: &now}
		}
		if created != "" {
			o.Status.Conditions = []gardencorev1beta1.Condition{{
				Type: extensionsv1alpha1.ConditionTypeCreated, Status: created, Reason: "Found", Message: "It was found so.",
				LastTransitionTime: last.LastUpdateTime, LastUpdateTime: last.LastUpdateTime,
			}}
		}
	}
}
