package fleet

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fieldselector "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// CacheOptions say what the cache of the dialect holds. It is one of its own: of Secrets it has the metadata in all
// namespaces, where the operator's other cache has the content in a few.
func CacheOptions(scheme *runtime.Scheme) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{v1beta1.PartOfLabel: v1beta1.PartOfValue})}
	return cache.Options{
		Scheme:           scheme,
		DefaultTransform: compact(),
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}:            ours,
			&corev1.Service{}:               ours,
			&corev1.ServiceAccount{}:        ours,
			&corev1.Pod{}:                   ours,
			&corev1.PersistentVolumeClaim{}: ours,
			&policyv1.PodDisruptionBudget{}: ours,
			&corev1.ConfigMap{}:             {Transform: ownConfigMaps()},
			&rbacv1.ClusterRoleBinding{}: {
				Field: fieldselector.OneTermEqualSelector("metadata.name", dialect.BindcarBinding),
			},
		},
	}
}

// compact drops what nobody reads, and what nobody shall keep: kubectl writes the whole of a Secret into an annotation
// of it.
func compact() toolscache.TransformFunc {
	return func(o any) (any, error) {
		if m, ok := o.(metav1.Object); ok {
			m.SetManagedFields(nil)
			delete(m.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
		}
		return o, nil
	}
}

// ownConfigMaps drops the content of ConfigMaps that are not ours: people's, which a spec may name, are watched for
// changes and read when they are needed.
func ownConfigMaps() toolscache.TransformFunc {
	rest := compact()
	return func(o any) (any, error) {
		m, ok := o.(*corev1.ConfigMap)
		if !ok {
			return rest(o)
		}
		if m.Labels[v1beta1.PartOfLabel] != v1beta1.PartOfValue {
			m.Data, m.BinaryData, m.Annotations, m.Labels = nil, nil, nil, nil
		}
		return rest(m)
	}
}
