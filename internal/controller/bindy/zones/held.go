package zones

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/plan"
)

// A protector is a Backend that names a cluster: its protection counts for the DNSZones of that cluster, too.
type protector struct {
	cluster    types.NamespacedName
	protection plan.Protection
}

// protecting is what Backends hold of the deletions at instances.
type protecting struct {
	awaited bool                 // Backends are not known yet: whatever they protect stays
	by      map[string]protector // by the name of the Backend
	places  map[client.ObjectKey]*delivery.Place
	of      map[client.ObjectKey]types.NamespacedName // the clusters of these
}

// protection is that of the first of the Backends that protect a cluster.
func (p *protecting) protection(cluster types.NamespacedName) plan.Protection {
	if p.awaited {
		return plan.Protection{Limited: true}
	}
	first := ""
	for name, by := range p.by {
		if by.cluster == cluster && (first == "" || name < first) {
			first = name
		}
	}
	return p.by[first].protection
}

// Protect implements controller.Fleets.
func (z *Zones) Protect(backend string, cluster types.NamespacedName, by plan.Protection) {
	p, unlock := z.protecting.Lock()
	before := p.by[backend]
	if by == (plan.Protection{}) {
		delete(p.by, backend)
	} else {
		p.by[backend] = protector{cluster, by}
	}
	concerns := func(of types.NamespacedName) bool { return of == cluster || of == before.cluster }
	news := before != p.by[backend]
	if news {
		z.protect(p, concerns)
	}
	unlock()
	if news {
		z.wakeClusters(concerns)
	}
}

// Protected implements controller.Fleets.
func (z *Zones) Protected() {
	all := func(types.NamespacedName) bool { return true }
	p, unlock := z.protecting.Lock()
	news := p.awaited
	if news {
		p.awaited = false
		z.protect(p, all)
	}
	unlock()
	if news {
		z.wakeClusters(all)
	}
}

// wakeClusters has the instances of clusters looked at: what a policy has left there may have to go.
func (z *Zones) wakeClusters(concerns func(cluster types.NamespacedName) bool) {
	var keys []client.ObjectKey
	st, unlock := z.state.Lock()
	for key, h := range st.hosts {
		if concerns(h.cluster()) {
			keys = append(keys, key)
		}
	}
	unlock()
	z.wakeInstances(keys...)
}

// stays reports whether what the servers of a cluster have stays there although nobody asks for it, or may have to.
func (z *Zones) stays(cluster types.NamespacedName) bool {
	p, unlock := z.protecting.Lock()
	defer unlock()
	return p.awaited || p.protection(cluster).Policy != plan.PolicySync
}

// protect gives the Places of some clusters the protection that these have now.
func (z *Zones) protect(p *protecting, concerns func(cluster types.NamespacedName) bool) {
	for key, place := range p.places {
		if now := p.protection(p.of[key]); concerns(p.of[key]) && now != place.Protection {
			other := *place
			other.Protection = now
			p.places[key] = &other
			z.deliveries.Places().Put(&other)
		}
	}
}

// putPlace hands the Place of an instance to Deliveries, with the protection of its cluster.
func (z *Zones) putPlace(key client.ObjectKey, cluster string, place *delivery.Place) {
	p, unlock := z.protecting.Lock()
	defer unlock()
	p.of[key] = types.NamespacedName{Namespace: key.Namespace, Name: cluster}
	place.Protection = p.protection(p.of[key])
	p.places[key] = place
	z.deliveries.Places().Put(place)
}

func (z *Zones) deletePlace(key client.ObjectKey) {
	p, unlock := z.protecting.Lock()
	defer unlock()
	delete(p.of, key)
	delete(p.places, key)
	z.deliveries.Places().Delete(placeOf(key))
}

// allStay is stays of several.
func (z *Zones) allStay(clusters []types.NamespacedName) bool {
	return !slices.ContainsFunc(clusters, func(c types.NamespacedName) bool { return !z.stays(c) })
}

// tellHeld puts into the status of a zone what servers have although nobody asks for it.
func tellHeld(status *v1beta1.DNSZoneStatus, c *controller.Conditions, held *delivery.Held) {
	status.Held = nil
	if held != nil {
		c.Set(controller.ConditionHeld, held.Outcome)
		status.Held = &v1beta1.Held{Plan: held.Plan, Sets: int32(held.Sets), Examples: held.Names}
	}
}

// eventOfHeld makes an event of what is held from now on.
func (z *Zones) eventOfHeld(o *v1beta1.DNSZone, now []metav1.Condition) {
	is, was := meta.FindStatusCondition(now, controller.ConditionHeld),
		meta.FindStatusCondition(o.Status.Conditions, controller.ConditionHeld)
	if is != nil && (was == nil || was.Reason != is.Reason) {
		z.warning(o, is.Reason, controller.ConditionHeld, is.Message)
	}
}

// spend removes the approval of deletions when these have been made, so that it is valid once.
func (z *Zones) spend(ctx context.Context, o *v1beta1.DNSZone, out delivery.ZoneOutcome) error {
	if _, approves := o.Annotations[zonefold.ApproveAnnotation]; !approves || !out.Settled() {
		return nil
	}
	_, err := z.Objects.Change(ctx, o, "metadata",
		map[string]any{"annotations": map[string]any{zonefold.ApproveAnnotation: nil}})
	return err
}
