package zones

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// A sweep removes from the pods of an instance what it is not to have.
type sweep struct {
	z        *Zones
	instance client.ObjectKey
}

// wanted are the zones that the instance is to have.
func (s *sweep) wanted() []v1beta1.InstanceZone {
	st, unlock := s.z.state.Lock()
	defer unlock()
	var out []v1beta1.InstanceZone
	for id, fleet := range st.fleets {
		if fleet.has(s.instance) && st.isFor(id, s.instance) {
			if t, ok := st.servedZone(id); ok {
				out = append(out, t.ref)
			}
		}
	}
	slices.SortFunc(out, func(a, b v1beta1.InstanceZone) int {
		return cmp.Or(strings.Compare(a.ZoneName, b.ZoneName), strings.Compare(a.Namespace, b.Namespace),
			strings.Compare(a.Name, b.Name))
	})
	return out
}

// wants reports whether an instance is to have a zone of this name.
func (z *Zones) wants(instance client.ObjectKey, name string) bool {
	st, unlock := z.state.Lock()
	defer unlock()
	return slices.ContainsFunc(st.names.called[name], func(id zone.ID) bool { return st.isFor(id, instance) })
}

// Sweep removes from the pods of an instance the zones that its status says it has, and that it is not to have any
// more. What cannot be reached now loses them later: until then they stay in the status, as do those that another zone
// of the name is about to replace, those whose deletion may be held, and all while a policy says that nothing is
// deleted. It returns what the status is to say, and when to look again; 0: an event will tell.
func (z *Zones) Sweep(ctx context.Context, i *v1beta1.Bind9Instance,
	all []corev1.Pod) (out []v1beta1.InstanceZone, again time.Duration) {
	instance := client.ObjectKeyFromObject(i)
	if !z.pending.decidedFor(instance) {
		return i.Status.Zones, 0 // nothing is known of zones yet
	}
	s := &sweep{z, instance}
	want := s.wanted()
	wanted := ledgerOf(want).called
	stays := z.protections.stay(types.NamespacedName{Namespace: i.Namespace, Name: i.Spec.ClusterRef})
	var stale []v1beta1.InstanceZone
	var guarded bool
	for _, old := range i.Status.Zones {
		heirs := wanted[old.ZoneName]
		switch {
		case s.foreign(old), len(heirs) == 0 && stays: // of a dialect that is off now, or left there by a policy
			want = append(want, old)
		case len(heirs) == 0 && s.guards(old):
			want, guarded = append(want, old), true
		case len(heirs) == 0:
			stale = append(stale, old)
		case !slices.ContainsFunc(heirs, entryOf(old).isOf) && !s.replaced(old.ZoneName):
			want = append(want, old)
		}
	}
	var left map[types.UID]bool
	out = append(want, stale...)
	if pods := callable(all); len(stale) > 0 && len(pods) > 0 {
		if left, again = s.removeFrom(ctx, pods, stale); len(left) == 0 {
			out = want
		}
	}
	if guarded && again == 0 {
		again = withdrawalAgain
	}
	st, unlock := z.state.Lock()
	if h := st.hosts[instance]; h != nil {
		h.unswept = left
	}
	for _, parting := range st.parting[instance] {
		if !slices.ContainsFunc(out, func(i v1beta1.InstanceZone) bool { return entryOf(i) == entryOf(parting) }) {
			out = append(out, parting)
		}
	}
	unlock()
	for n := range out {
		out[n].LastReconciledAt = ""
	}
	return out, again
}

// foreign reports whether an entry is of a dialect that nobody can say anything about.
func (s *sweep) foreign(i v1beta1.InstanceZone) bool {
	return i.Kind != v1beta1.KindZone && i.APIVersion != s.z.assigner.version
}

// guards reports whether the deletion of a zone that an instance has may be held: then all servers keep it, primaries
// and those that follow them.
func (s *sweep) guards(i v1beta1.InstanceZone) bool {
	id := entryOf(i).id
	if id.Kind != v1beta1.KindZone {
		at := s.z.serversOf(id)
		name, err := dialect.ZoneName(i.ZoneName)
		return at.Guards(id, nil) || err == nil && at.GuardsLeft(name, i.UID)
	}
	st, unlock := s.z.state.Lock()
	primaries := st.fleets[id].primaries // which Deliveries may not have heard of yet
	unlock()
	return s.z.serversOf(id).Guards(id, func(place string) bool {
		key, _ := instanceOf(place)
		return slices.Contains(primaries, key)
	})
}

// decided reports whether the zones that there are have been gathered, and what is known of where they were.
func (z *Zones) decided() bool {
	return z.deliveries.Servers().Remember() && z.assigner.decided()
}

// callable are the pods whose sidecars may hold zones of the instance.
func callable(pods []corev1.Pod) []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool {
		return !dialect.IsServer(&p) || dialect.IsOver(&p) || !p.DeletionTimestamp.IsZero()
	})
}

// removeFrom removes zones from pods. It returns those pods that may have one of them yet, and when to try again.
func (s *sweep) removeFrom(ctx context.Context, pods []corev1.Pod,
	zones []v1beta1.InstanceZone) (left map[types.UID]bool, again time.Duration) {
	now, waits := s.z.Servers.Clock(), make([]bool, len(pods))
	errs := s.z.Servers.Each(ctx, now, pods, func(ctx context.Context, i int) (err error) {
		waits[i], err = s.clean(ctx, &pods[i], zones)
		return err
	})
	left = map[types.UID]bool{}
	for i, err := range errs {
		after := withdrawalAgain
		if err != nil {
			after, _ = s.z.Servers.Failing(&pods[i], err, now)
		}
		if err == nil && !waits[i] {
			continue
		}
		if left[pods[i].UID] = true; again == 0 || after < again {
			again = after
		}
	}
	return left, again
}

// withdrawalAgain is when to look again whether a zone has been withdrawn from a server; mostly an event tells before
// that.
const withdrawalAgain = 5 * time.Second

// clean removes zones from one pod, and reports whether some are not its affair yet: as long as the engine has to do
// with a zone at a server, only the engine removes it there.
func (s *sweep) clean(ctx context.Context, p *corev1.Pod, zones []v1beta1.InstanceZone) (waits bool, err error) {
	z := s.z
	c, err := z.Servers.Sidecar(ctx, p)
	if err != nil {
		return false, err
	}
	for _, old := range zones {
		switch {
		case z.wants(s.instance, old.ZoneName):
			continue
		case s.attached(p.UID, old.ZoneName), z.isTold(p.UID, old.ZoneName):
			waits = true
			continue
		}
		if err := c.Delete(ctx, old.ZoneName); err != nil {
			return waits, err
		}
		s.removed(p.UID, old.ZoneName)
		if pod := s.pod(p.UID); pod != nil && z.wants(s.instance, old.ZoneName) {
			z.restarted(pod) // since a moment ago, when it may have been there still
		}
	}
	return waits, nil
}

// pod is a pod of the instance, nil if it is not known.
func (s *sweep) pod(uid types.UID) *Pod {
	st, unlock := s.z.state.Lock()
	defer unlock()
	return st.hosts[s.instance].pod(uid)
}

// attached reports whether the engine has to do with a zone at a pod.
func (s *sweep) attached(pod types.UID, name string) bool {
	at, err := dialect.ZoneName(name)
	p := s.pod(pod)
	if p == nil || !p.primary || err != nil {
		return false
	}
	return slices.ContainsFunc(s.z.allServers(), func(all *delivery.Servers) bool {
		return all.Attached(p.server.Name, at)
	})
}
