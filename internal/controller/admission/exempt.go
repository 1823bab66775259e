package admission

import (
	"encoding/json"
	"maps"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/zonefold/zonefold/internal/controller"
)

// essence is what exemptions depend on.
type essence struct {
	Metadata struct {
		DeletionTimestamp *string           `json:"deletionTimestamp"`
		Labels            map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec any `json:"spec"`
}

// exempt reports whether a request is none of our business. The API server does not even ask about most of these, by
// the conditions of the ValidatingWebhookConfiguration; but who installs that may leave them out, and no object may
// ever be stuck because of us: neither one that is being deleted, whose finalizers go by updates, nor one that was
// stored before somebody looked.
func (r *Reviewer) exempt(e controller.Examiner, req admission.Request) bool {
	if req.Operation != admissionv1.Create && req.Operation != admissionv1.Update || req.SubResource != "" {
		return true
	}
	if r.Self != "" && req.UserInfo.Username == r.Self {
		return true
	}
	var now, old essence
	if json.Unmarshal(req.Object.Raw, &now) != nil {
		return false // it cannot be read: see Handle
	}
	if now.Metadata.DeletionTimestamp != nil && !e.Deleting {
		return true
	}
	if req.Operation != admissionv1.Update || json.Unmarshal(req.OldObject.Raw, &old) != nil {
		return false
	}
	return reflect.DeepEqual(now.Spec, old.Spec) && (!e.Labels || maps.Equal(now.Metadata.Labels, old.Metadata.Labels))
}
