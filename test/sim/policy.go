package sim

import (
	"slices"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/plan"
)

// judgePolicy looks whether a message changes what the policy of its server's Backend lets be. It may have been under
// way when the policy changed, or be one that a fault has held up.
func (t notice) judgePolicy(m backendtest.Message) {
	policy := t.policy()
	if policy == "" || policy == zonefold.PolicySync || !t.now().After(later(t.mixed, t.hurt.Add(latest))) {
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

// policy is that of the Backends of the server, if it has been that of each for a moment.
func (t notice) policy() zonefold.ChangePolicy {
	var policies []zonefold.ChangePolicy
	for r, born := range t.born {
		b := t.wishes.backends[r.Name]
		if r.kind.Kind != "Backend" || b == nil || b.Spec.RFC2136 == nil ||
			!slices.Contains(b.Spec.RFC2136.Servers, t.at) {
			continue
		}
		if b.Spec.Protection == nil || t.now().Sub(born.at) < settled {
			return zonefold.PolicySync
		}
		policies = append(policies, b.Spec.Protection.Policy)
	}
	if policies = slices.Compact(policies); len(policies) != 1 {
		return zonefold.PolicySync
	}
	return policies[0]
}
