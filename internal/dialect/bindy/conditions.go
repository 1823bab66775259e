package bindy

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// HasReason reports whether a condition Ready has this reason already, so that an event would be a repetition.
func HasReason(conditions []metav1.Condition, reason string) bool {
	c := meta.FindStatusCondition(conditions, v1beta1.ConditionReady)
	return c != nil && c.Reason == reason
}

// NotDegraded says why something that is not Degraded does not work in part.
func NotDegraded(ready bool) string {
	if ready {
		return "All parts of it work."
	}
	return "No part of it has failed."
}
