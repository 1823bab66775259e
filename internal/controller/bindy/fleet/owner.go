package fleet

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

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
