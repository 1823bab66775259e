package check

import (
	"cmp"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// deletions tells of zones that wait for somebody: their deletions are held, or they are being deleted and still there,
// or gone and still on servers.
func (d *doctor) deletions() {
	for i := range d.Composition.Zones {
		d.held(d.Composition.Zones[i].Object)
	}
	for _, o := range d.Composition.Backends {
		if o.Backend == nil {
			continue
		}
		for _, l := range o.Backend.Status.LeftBehind {
			way := "make its servers reachable; the operator then removes the records"
			if l.Plan != "" {
				way = fmt.Sprintf("create a Zone that has these sets, or approve the deletion: zonefold approve backend/%s "+
					"--plan %s", o.Name, l.Plan)
			}
			d.say(doctorWarning, "Backend "+o.Name, fmt.Sprintf("it still has what Zone %s/%s, which is deleted, left behind "+
				"of %s: %s", l.Namespace, l.Name, l.FQDN, cmp.Or(l.Message, l.Reason)), way)
		}
	}
}

// held tells of a zone whose deletions wait for an approval, or that is being deleted.
func (d *doctor) held(o *manifest.Object) {
	var conditions []metav1.Condition
	release := ""
	switch z, bindy := o.Bindy.(*v1beta1.DNSZone); {
	case o.Zone != nil:
		conditions = o.Zone.Status.Conditions
		release = fmt.Sprintf(", or release it: zonefold release %s -n %s", o.Name, o.Ref.Namespace)
	case bindy:
		conditions = z.Status.Conditions
	default:
		return
	}
	gone := o.Meta().GetDeletionTimestamp() != nil
	switch held, ready := apimeta.FindStatusCondition(conditions, "DeletionsHeld"),
		apimeta.FindStatusCondition(conditions, "Ready"); {
	case held != nil && held.Reason == "TooManyDeletions":
		way := fmt.Sprintf("restore their objects, or approve the deletion: zonefold approve %s -n %s", o.Name,
			o.Ref.Namespace)
		if gone {
			way += release
		}
		d.say(doctorWarning, o.Ref.String(), held.Message, way)
	case gone && ready != nil && ready.Status != metav1.ConditionTrue:
		d.say(doctorWarning, o.Ref.String(), fmt.Sprintf("it is being deleted but still exists, %s: %s", ready.Reason,
			ready.Message), "make its servers reachable"+release)
	}
}
