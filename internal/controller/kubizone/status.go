package kubizone

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// recordStatus returns what is to be said about a Record.
func recordStatus(c controller.Conditions, v zone.Verdict, served controller.Outcome) v1alpha1.RecordStatus {
	c.Judged(v, served)
	return v1alpha1.RecordStatus{FQDN: v.Name.String(), ObservedGeneration: c.Generation, Conditions: c.List()}
}

// zoneStatus returns what is to be said about a Zone, apart from its content.
func zoneStatus(c controller.Conditions, v zone.Verdict, out controller.ZoneOutcome, slices int32) v1alpha1.ZoneStatus {
	served := out.Served
	c.Judged(v, served)
	if slices > 0 {
		c.Set(controller.ConditionSliced, controller.OK(controller.ReasonInSlices,
			"The zone has more entries than fit here; the ZoneSlices of this Zone hold all of them."))
	}
	status := v1alpha1.ZoneStatus{FQDN: v.Name.String(), ObservedGeneration: c.Generation, Conditions: c.List()}
	for _, p := range out.Places {
		b := v1alpha1.ZoneBackend{Name: p.Place, FQDN: p.Zone.String(), Reason: p.Reason, Message: p.Message}
		if p.Serial != 0 {
			serial := v1alpha1.Number(p.Serial)
			b.Serial = &serial
		}
		status.Backends = append(status.Backends, b)
	}
	return status
}

// recordPatch gathers the fields of a Record's status that differ.
func recordPatch(before, after v1alpha1.RecordStatus) map[string]any {
	patch := unread(before.Unread)
	if before.FQDN != after.FQDN {
		patch["fqdn"] = orNull(after.FQDN)
	}
	if before.ObservedGeneration != after.ObservedGeneration {
		patch["observedGeneration"] = after.ObservedGeneration
	}
	if !equality.Semantic.DeepEqual(before.Conditions, after.Conditions) {
		patch["conditions"] = after.Conditions
	}
	return patch
}

// zonePatch gathers the fields of a Zone's status that differ.
func zonePatch(before, after v1alpha1.ZoneStatus) map[string]any {
	patch := map[string]any{}
	if before.FQDN != after.FQDN {
		patch["fqdn"] = orNull(after.FQDN)
	}
	if before.ObservedGeneration != after.ObservedGeneration {
		patch["observedGeneration"] = after.ObservedGeneration
	}
	if !equality.Semantic.DeepEqual(before.Conditions, after.Conditions) {
		patch["conditions"] = after.Conditions
	}
	if !equality.Semantic.DeepEqual(before.Backends, after.Backends) {
		patch["backends"] = after.Backends
	}
	return patch
}

// onlySerials reports whether Backends have got on, and nothing else is to be said of them.
func onlySerials(before, after []v1alpha1.ZoneBackend) bool {
	return slices.EqualFunc(before, after, func(a, b v1alpha1.ZoneBackend) bool {
		a.Serial, b.Serial = nil, nil
		return a == b
	})
}

// contentPatch adds the fields of a Zone's content that differ.
func contentPatch(patch map[string]any, before, after v1alpha1.ZoneStatus) {
	if !equality.Semantic.DeepEqual(before.Entries, after.Entries) {
		patch["entries"] = after.Entries
	}
	if before.Hash != after.Hash {
		patch["hash"] = after.Hash
	}
	if before.Serial == nil || *before.Serial != *after.Serial {
		patch["serial"] = after.Serial
	}
	if before.EntryCount != after.EntryCount {
		patch["entryCount"] = after.EntryCount
	}
	if before.Slices != after.Slices {
		patch["slices"] = after.Slices
	}
}

// lowered reports whether somebody else has lowered a ceiling, such as a leader whose
// term is over: below it serials have been used.
func lowered(stored *v1alpha1.Number, ceiling uint32) bool {
	return ceiling != 0 && (stored == nil || rr.SerialLess(uint32(*stored), ceiling))
}

// unread begins a patch with the removal of what is not ours and cannot be read.
func unread(u v1alpha1.Unread) map[string]any {
	patch := map[string]any{}
	for name := range u.Members {
		patch[name] = nil
	}
	return patch
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// condition returns a condition by its type, or nil.
func condition(list []metav1.Condition, kind string) *metav1.Condition {
	if i := slices.IndexFunc(list, func(c metav1.Condition) bool { return c.Type == kind }); i >= 0 {
		return &list[i]
	}
	return nil
}
