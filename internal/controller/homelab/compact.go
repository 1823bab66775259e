package homelab

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/guarded"
)

// CacheOptions say what the cache of the dialect holds: of Secrets only which there are, and which version of them; of
// every object what is read; and once what many DNSRecords have in common.
func CacheOptions(scheme *runtime.Scheme) cache.Options {
	var shared guarded.Value[compacter]
	return cache.Options{Scheme: scheme, DefaultTransform: func(o any) (any, error) {
		if m, ok := o.(metav1.Object); ok {
			m.SetManagedFields(nil)
			m.SetAnnotations(controller.Only(m.GetAnnotations(), v1alpha1.AppliedAnnotation, v1alpha1.DeletionPolicyAnnotation))
			m.SetLabels(nil)
		}
		if r, ok := o.(*v1alpha1.DNSRecord); ok {
			c, unlock := shared.Lock()
			defer unlock()
			c.record(r)
		}
		return o, nil
	}}
}

// A compacter has DNSRecords share memory.
type compacter struct {
	texts controller.Shared[string]
	lists controller.Shared[[]string]
}

// record makes an object of the cache smaller, which is only read.
func (c *compacter) record(r *v1alpha1.DNSRecord) {
	if begun(&r.Status) { // the mark says nothing any more
		if delete(r.Annotations, v1alpha1.AppliedAnnotation); len(r.Annotations) == 0 {
			r.Annotations = nil
		}
	}
	controller.Share(&c.texts, &r.Kind, &r.APIVersion, &r.Namespace, (*string)(&r.Spec.Type), &r.Spec.Domain,
		&r.Spec.DNSClassRef.Name, (*string)(&r.Status.State))
	if len(r.Finalizers) > 0 {
		r.Finalizers = c.lists.One(strings.Join(r.Finalizers, "\n"), func() []string { return slices.Clone(r.Finalizers) })
	}
	r.Spec.Values, r.Status.Conditions = trimmed(r.Spec.Values), trimmed(r.Status.Conditions)
	for i := range r.Status.Conditions {
		of := &r.Status.Conditions[i]
		controller.Share(&c.texts, &of.Type, (*string)(&of.Status), &of.Reason)
	}
	if a := r.Status.Applied; a != nil {
		controller.Share(&c.texts, &a.Class, &a.Server, &a.Type, &a.Domain)
		if a.Subdomain == r.Spec.Subdomain {
			a.Subdomain = r.Spec.Subdomain
		}
	}
}

// trimmed has a list take as much memory as it needs: reading JSON makes room for four elements.
func trimmed[T any](list []T) []T {
	if len(list) == cap(list) {
		return list
	}
	return append(make([]T, 0, len(list)), list...)
}
