package sim

import (
	"cmp"
	"slices"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/plan"
)

// judgePolicy looks whether a message changes what the policy of its server's Backend lets be. It may have been under
// way when the policy changed, or be one that a fault has held up.
func (t notice) judgePolicy(m backendtest.Message) {
	policy := t.policy()
	if policy == zonefold.PolicySync || !t.now().After(later(t.mixed, t.hurt.Add(latest))) {
		return
	}
	if m.Batch.Remove {
		t.notef("%s is taken from %s, whose policy is %s", t.zone, t.at, policy)
	}
	for _, c := range m.Batch.Changes {
		before, had := m.Before.Get(c.Key)
		after, has := m.After.Get(c.Key)
		gone := had && !has && !slices.ContainsFunc(m.Batch.Changes, func(other plan.Change) bool {
			return other.Key.Name == c.Key.Name && !other.Deletes() // it is in the way
		})
		if gone || policy == zonefold.PolicyCreateOnly && had && !before.Equal(after) {
			t.notef("%s of %s is changed at %s, whose policy is %s", c.Key, t.zone, t.at, policy)
		}
	}
}

// policy is that of the Backends of the server, if each has had it for a moment, and else Sync.
func (t notice) policy() zonefold.ChangePolicy {
	var policy zonefold.ChangePolicy
	for name, b := range t.wishes.backendsAt(t.at) {
		protection := b.Spec.Protection
		if protection == nil || t.now().Sub(t.bornBackend(name)) < settled || policy != "" && protection.Policy != policy {
			return zonefold.PolicySync
		}
		policy = protection.Policy
	}
	return cmp.Or(policy, zonefold.PolicySync)
}
