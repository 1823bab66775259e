package gardener

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
)

// clusterKind is that of Gardener's copies of Shoots.
var clusterKind = v1alpha1.GroupVersion.WithKind("Cluster")

// CacheOptions say what the cache of the dialect holds: of Secrets only which there are, and which version of them, of
// Namespaces their labels, and of Clusters what shootOf reads.
func CacheOptions(scheme *runtime.Scheme) cache.Options {
	return cache.Options{Scheme: scheme, DefaultTransform: func(o any) (any, error) {
		if m, ok := o.(metav1.Object); ok {
			m.SetManagedFields(nil)
		}
		switch o := o.(type) {
		case *metav1.PartialObjectMetadata:
			o.Annotations = nil
			if o.Kind == "Secret" {
				o.Labels = nil
			}
		case *unstructured.Unstructured:
			prune(o)
		}
		return o, nil
	}}
}

// Objects are what the dialect reads from the cache. Where Clusters are unknown, there is no shoot.
func Objects(mapper apimeta.RESTMapper, trigger Trigger) []client.Object {
	out := []client.Object{&v1alpha1.DNSRecord{}, metadata("Secret"), metadata("Namespace")}
	if !trigger.IgnoreAnnotation {
		return out
	}
	if _, err := mapper.RESTMapping(clusterKind.GroupKind(), clusterKind.Version); err == nil {
		out = append(out, blankCluster())
	}
	return out
}

func metadata(kind string) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Version: corev1.SchemeGroupVersion.Version, Kind: kind})
	return o
}

func blankCluster() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(clusterKind)
	return o
}

// A gatherer takes in what happens to the objects that the Controller reads.
type gatherer struct{ *Controller }

// gather follows everything from now on. What it returns tell when every object that existed was seen.
func (k gatherer) gather(ctx context.Context) ([]toolscache.InformerSynced, error) {
	var synced []toolscache.InformerSynced
	for _, object := range Objects(k.Client.RESTMapper(), k.Trigger) {
		has, err := controller.Follow(ctx, k.Cache, k.objects, object, k.handler(object))
		if err != nil {
			return nil, err
		}
		synced = append(synced, has)
	}
	return synced, nil
}

// handler is for one of Objects.
func (k gatherer) handler(o client.Object) toolscache.ResourceEventHandlerFuncs {
	switch o := o.(type) {
	case *v1alpha1.DNSRecord:
		return controller.Handler(k.putRecord, k.dropRecord)
	case *unstructured.Unstructured:
		return controller.Handler(k.putCluster, nil)
	case *metav1.PartialObjectMetadata:
		if o.Kind == "Secret" {
			return controller.HandlerOf(
				func(o *metav1.PartialObjectMetadata) { k.sawSecret(o, string(o.UID)+"/"+o.ResourceVersion) },
				func(o *metav1.PartialObjectMetadata) { k.sawSecret(o, "") })
		}
	}
	return toolscache.ResourceEventHandlerFuncs{} // it is read when it is needed
}

func (k gatherer) putRecord(old, o *v1alpha1.DNSRecord) {
	s, unlock := k.state.Lock()
	defer unlock()
	id := dialect.RecordID(o.Namespace, o.Name)
	if !k.Filter.Ours(o) {
		if r := s.records[id]; r != nil {
			s.remove(r)
		}
		return
	}
	known := s.records[id] != nil && s.records[id].object.UID == o.UID
	r := s.put(o)
	var what request
	switch {
	case old == nil || !known:
		what = k.Trigger.seen(o)
	case !samePlea(old, o):
		what = k.Trigger.changed(old, o)
	}
	switch {
	case what > r.request:
		r.request = what
	case what == none && !known && k.Shared:
		s.find(r)
	}
	if what != none || r.run.failing() && !samePlea(r.run.object, o) {
		k.writer.Enqueue(id)
	}
}

// samePlea reports whether nobody but we ourselves can have changed an object: we write the status and the finalizers.
func samePlea(old, o *v1alpha1.DNSRecord) bool {
	return old.UID == o.UID && old.Generation == o.Generation && maps.Equal(old.Annotations, o.Annotations) &&
		old.DeletionTimestamp.IsZero() == o.DeletionTimestamp.IsZero()
}

func (k gatherer) dropRecord(o *v1alpha1.DNSRecord) {
	s, unlock := k.state.Lock()
	defer unlock()
	if r := s.records[dialect.RecordID(o.Namespace, o.Name)]; r != nil && r.object.UID == o.UID {
		s.remove(r)
	}
}

// sawSecret has what waits for another try tried again: what it lacked may be there. Without a version it is gone.
func (k gatherer) sawSecret(o *metav1.PartialObjectMetadata, version string) {
	name := o.Namespace + "/" + o.Name
	s, unlock := k.state.Lock()
	defer unlock()
	was, known := s.secrets[name]
	if s.secrets[name] = version; version == "" {
		delete(s.secrets, name)
		return
	}
	if known && was == version {
		return
	}
	for _, r := range sorted(maps.Keys(s.users[name])) {
		if r.tried = false; k.Shared {
			s.find(r) // a Zone may have overwritten its set meanwhile
		}
		if r.run == nil || r.run.failures == 0 {
			continue
		}
		if r.run.active() {
			s.again(r)
		}
		k.writer.Enqueue(r.id)
	}
}
