package kubizone

import (
	"encoding/binary"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/guarded"
)

// Compact returns a transform for the cache. It drops what nobody reads and keeps once
// what many Records have in common: of a hundred thousand Records nearly all bear the
// same label and say the same in their conditions. Objects in the cache are only read,
// so they can share.
func Compact() toolscache.TransformFunc {
	var common guarded.Value[compacter]
	return func(o any) (any, error) {
		if m, ok := o.(metav1.Object); ok && m.GetManagedFields() != nil {
			m.SetManagedFields(nil)
		}
		switch o := o.(type) {
		case *v1alpha1.Zone:
			bare(&o.ObjectMeta)
		case *v1alpha1.Record:
			bare(&o.ObjectMeta)
			c, unlock := common.Lock()
			defer unlock()
			c.record(o)
		}
		return o, nil
	}
}

// maxDigest is the length of what names a message, in zonefold.UpdateMessageAnnotation.
const maxDigest = 64

// bare keeps of annotations and labels what is read. Of others an object may have a megabyte.
func bare(m *metav1.ObjectMeta) {
	m.Annotations = controller.Only(m.Annotations, zonefold.FreezeAnnotation, zonefold.RollbackAnnotation,
		zonefold.ApproveAnnotation, zonefold.LeaveAnnotation, zonefold.UpdateMessageAnnotation)
	if reason, frozen := m.Annotations[zonefold.FreezeAnnotation]; frozen {
		m.Annotations[zonefold.FreezeAnnotation] = delivery.Reason(reason)
	}
	if len(m.Annotations[zonefold.UpdateMessageAnnotation]) > maxDigest {
		delete(m.Annotations, zonefold.UpdateMessageAnnotation)
	}
	m.Labels = controller.Only(m.Labels, v1alpha1.ParentZoneLabel, zonefold.UpdateLabel)
}

// A compacter has what many Records have in common.
type compacter struct {
	texts      controller.Shared[string]
	labels     controller.Shared[map[string]string]
	conditions controller.Shared[[]metav1.Condition]
}

func (c *compacter) record(r *v1alpha1.Record) {
	controller.Share(&c.texts, &r.Kind, &r.APIVersion, &r.Namespace, (*string)(&r.Spec.Type), &r.Spec.Class)
	if r.Status.FQDN == r.Spec.DomainName {
		r.Status.FQDN = r.Spec.DomainName
	}
	if len(r.Labels) > 0 {
		key := r.Labels[v1alpha1.ParentZoneLabel] + "\x00" + r.Labels[zonefold.UpdateLabel]
		r.Labels = c.labels.One(key, func() map[string]string { return r.Labels })
	}
	if len(r.Status.Conditions) > 0 {
		r.Status.Conditions = c.conditions.One(conditionsKey(r.Status.Conditions), func() []metav1.Condition {
			list := slices.Clip(slices.Clone(r.Status.Conditions))
			for i := range list { // the same, at another time
				o := &list[i]
				controller.Share(&c.texts, &o.Type, (*string)(&o.Status), &o.Reason, &o.Message)
			}
			return list
		})
	}
}

// conditionsKey is equal for equal conditions only: every text stands behind its length.
func conditionsKey(list []metav1.Condition) string {
	var key []byte
	for i := range list {
		c := &list[i]
		for _, s := range []string{c.Type, string(c.Status), c.Reason, c.Message} {
			key = append(binary.AppendUvarint(key, uint64(len(s))), s...)
		}
		key = binary.AppendVarint(key, c.ObservedGeneration)
		key = binary.AppendVarint(key, c.LastTransitionTime.Unix())
	}
	return string(key)
}
