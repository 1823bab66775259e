package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// owners reads and writes the objects that are reconciled, and brings to what is wanted what these own.
type owners struct {
	client   client.Client // reads from a cache
	live     client.Reader // asks the API server
	objects  *objects.Writer
	events   events.EventRecorder
	log      *slog.Logger
	clock    func() time.Time
	children *objects.Applier
}

// latest reads an object that is reconciled from the cache, or, where the cache lacks the status that we wrote last,
// from the API server: the conditions there say since when they hold, and with older ones the times would begin anew.
func (o *owners) latest(ctx context.Context, key client.ObjectKey, object client.Object) error {
	if err := o.client.Get(ctx, key, object); err != nil {
		return err
	}
	if o.objects.Behind(object) == nil {
		return nil
	}
	return o.live.Get(ctx, key, object)
}

// gone forgets what was written about an object that is not there any more.
func (o *owners) gone(kind string, key client.ObjectKey) {
	o.children.Forget(v1beta1.GroupVersion.WithKind(kind).GroupKind(), key)
}

// withFinalizer puts a finalizer on an object that has it not yet, and reports whether the object has it now. One that
// is gone, which the cache does not show yet, is to get no children: they would be deleted, and made again, until it
// does.
func (o *owners) withFinalizer(ctx context.Context, object client.Object, finalizer string) (bool, error) {
	err := o.objects.Finalize(ctx, object, finalizer, true)
	return err == nil, client.IgnoreNotFound(err)
}

// withoutFinalizer takes a finalizer of ours off an object, which lets it go.
func (o *owners) withoutFinalizer(ctx context.Context, object client.Object, finalizer string) error {
	return o.objects.Finalize(ctx, object, finalizer, false)
}

// orphans reports whether an object is deleted in such a way that what it has stays: kubectl delete --cascade=orphan.
func orphans(o client.Object) bool {
	return slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents)
}

// removeChildren deletes what an instance, or a cluster without instances, controls in its namespace: pods first, then
// what they need.
func (o *owners) removeChildren(ctx context.Context, owner client.Object) error {
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	lists := []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}, &corev1.ConfigMapList{},
		metadata, &corev1.PersistentVolumeClaimList{},
	}
	var errs []error
	for _, l := range lists {
		if err := o.client.List(ctx, l, client.InNamespace(owner.GetNamespace())); err != nil {
			errs = append(errs, fmt.Errorf("listing what %s/%s has: %w", owner.GetNamespace(), owner.GetName(), err))
			continue
		}
		errs = append(errs, meta.EachListItem(l, func(item runtime.Object) error {
			child, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is no object", item)
			}
			if m, ok := child.(*metav1.PartialObjectMetadata); ok {
				m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
			}
			_, err := o.children.Remove(ctx, owner, child)
			return err
		}))
	}
	return errors.Join(errs...)
}

// writeStatus writes the status of an object when it says something else than before. Both are values of the same type
// of status; conditions keep their transition times in the new one already (see controller.Conditions). The object is
// then of the version that was written.
func (o *owners) writeStatus(ctx context.Context, object client.Object, before, after any) error {
	got, err := o.objects.ChangeStatus(ctx, object, before, after)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	object.SetResourceVersion(got.GetResourceVersion())
	return nil
}

// normal and warning tell people what happened to an object.
func (o *owners) normal(of client.Object, reason, action, note string) {
	o.events.Eventf(of, nil, "Normal", reason, action, "%s", controller.Note(note))
}

func (o *owners) warning(of client.Object, reason, action, note string) {
	o.events.Eventf(of, nil, "Warning", reason, action, "%s", controller.Note(note))
}

// warnOf tells people of troubles, unless the condition Ready of before says the same already or the object is on its
// way out.
func (o *owners) warnOf(of client.Object, before []metav1.Condition, troubles []dialect.Trouble,
	ready controller.Outcome) {
	if len(troubles) > 0 && ready.Reason != v1beta1.ReasonDeleting && !dialect.HasReason(before, ready.Reason) {
		o.warning(of, ready.Reason, v1beta1.ConditionReady, ready.Message)
	}
}

// takes reports whether a child that nobody controls may be taken: it is marked as one that its owner made, and lost
// its owner reference or was restored from a backup without, or it is the very same. Clusters and instances are made by
// people, too, under any name.
func takes(live client.Object, want *unstructured.Unstructured) bool {
	return bearsMark(live, want) || isThatOne(live, want)
}

// isThatOne reports whether an instance that somebody made is the very one that its cluster would make: it has its
// name, says that it is part of the cluster, and in which role, and asks for nothing of its own.
func isThatOne(live client.Object, w *unstructured.Unstructured) bool {
	i, ok := live.(*v1beta1.Bind9Instance)
	if !ok {
		return false
	}
	var want v1beta1.Bind9Instance
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.Object, &want); err != nil {
		return false
	}
	more := *i.Spec.DeepCopy()
	more.ClusterRef, more.Role, more.Replicas = "", "", nil
	return reflect.DeepEqual(more, v1beta1.Bind9InstanceSpec{}) && i.Spec.ClusterRef == want.Spec.ClusterRef &&
		i.Spec.Role.Canonical() == want.Spec.Role.Canonical() && i.Spec.ReplicasOrDefault() == want.Spec.ReplicasOrDefault()
}

// bearsMark reports whether an object has the labels by which those of the dialect are known.
func bearsMark(live client.Object, w *unstructured.Unstructured) bool {
	is, want := live.GetLabels(), w.GetLabels()
	if w.GroupVersionKind().Group != v1beta1.GroupVersion.Group {
		return is[v1beta1.PartOfLabel] == v1beta1.PartOfValue
	}
	return want[v1beta1.ManagedByLabel] != "" && is[v1beta1.ManagedByLabel] == want[v1beta1.ManagedByLabel] &&
		is[v1beta1.ClusterLabel] == want[v1beta1.ClusterLabel]
}
