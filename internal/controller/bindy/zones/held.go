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
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
)

// protections are what Backends that name clusters hold of the deletions at their instances, each of which is a Place.
type protections struct {
	places *delivery.Places
	known  guarded.Value[protecting]
}

// A protector is a Backend that names a cluster: its protection counts for the DNSZones of that cluster, too.
type protector struct {
	cluster    types.NamespacedName
	protection plan.Protection
}

// protecting is what protections know.
type protecting struct {
	awaited bool                 // Backends are not known yet: whatever they protect stays
	by      map[string]protector // by the name of the Backend
	places  map[client.ObjectKey]*delivery.Place
	of      map[client.ObjectKey]types.NamespacedName // the clusters of these
}

func newProtections(places *delivery.Places) *protections {
	p := &protections{places: places}
	known, unlock := p.known.Lock()
	defer unlock()
	*known = protecting{by: map[string]protector{}, places: map[client.ObjectKey]*delivery.Place{},
		of: map[client.ObjectKey]types.NamespacedName{}}
	return p
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

// await has everything be protected until all Backends are known.
func (p *protections) await() {
	known, unlock := p.known.Lock()
	defer unlock()
	known.awaited = true
}

// set takes over what a Backend protects. It returns which clusters that concerns; nil: none.
func (p *protections) set(backend string, cluster types.NamespacedName, by plan.Protection) concerned {
	known, unlock := p.known.Lock()
	defer unlock()
	before := known.by[backend]
	if by == (plan.Protection{}) {
		delete(known.by, backend)
	} else {
		known.by[backend] = protector{cluster, by}
	}
	if before == known.by[backend] {
		return nil
	}
	return p.spread(known, func(of types.NamespacedName) bool { return of == cluster || of == before.cluster })
}

// all ends the wait: every Backend is known. It returns which clusters that concerns; nil: none.
func (p *protections) all() concerned {
	known, unlock := p.known.Lock()
	defer unlock()
	if !known.awaited {
		return nil
	}
	known.awaited = false
	return p.spread(known, func(types.NamespacedName) bool { return true })
}

// concerned reports whether something concerns a cluster.
type concerned func(cluster types.NamespacedName) bool

// spread gives the Places of some clusters the protection that these have now.
func (p *protections) spread(known *protecting, clusters concerned) concerned {
	for key, place := range known.places {
		if now := known.protection(known.of[key]); clusters(known.of[key]) && now != place.Protection {
			other := *place
			other.Protection = now
			known.places[key] = &other
			p.places.Put(&other)
		}
	}
	return clusters
}

// stay reports whether what the servers of clusters have stays there although nobody asks for it, or may have to.
func (p *protections) stay(clusters ...types.NamespacedName) bool {
	known, unlock := p.known.Lock()
	defer unlock()
	return !slices.ContainsFunc(clusters, func(cluster types.NamespacedName) bool {
		return !known.awaited && known.protection(cluster).Policy == plan.PolicySync
	})
}

// put hands the Place of an instance to Deliveries, with the protection of its cluster.
func (p *protections) put(key client.ObjectKey, cluster string, place *delivery.Place) {
	known, unlock := p.known.Lock()
	defer unlock()
	known.of[key] = types.NamespacedName{Namespace: key.Namespace, Name: cluster}
	place.Protection = known.protection(known.of[key])
	known.places[key] = place
	p.places.Put(place)
}

func (p *protections) delete(key client.ObjectKey) {
	known, unlock := p.known.Lock()
	defer unlock()
	delete(known.of, key)
	delete(known.places, key)
	p.places.Delete(placeOf(key))
}

// wakeClusters has the instances of clusters looked at: what a policy has left there may have to go.
func (a *assigner) wakeClusters(clusters concerned) {
	if clusters == nil {
		return
	}
	var keys []client.ObjectKey
	st, unlock := a.z.state.Lock()
	for key, h := range st.hosts {
		if clusters(h.cluster()) {
			keys = append(keys, key)
		}
	}
	unlock()
	slices.SortFunc(keys, compareKeys)
	a.z.wakeInstances(keys...)
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
func (r *zoneReport) eventOfHeld(now []metav1.Condition) {
	is, was := meta.FindStatusCondition(now, controller.ConditionHeld),
		meta.FindStatusCondition(r.o.Status.Conditions, controller.ConditionHeld)
	if is != nil && (was == nil || was.Reason != is.Reason) {
		r.warning(r.o, is.Reason, controller.ConditionHeld, is.Message)
	}
}

// spend removes the approval of deletions when these have been made, so that it is valid once.
func (r *zoneReport) spend(ctx context.Context) error {
	if _, approves := r.o.Annotations[zonefold.ApproveAnnotation]; !approves || !r.out.Settled() {
		return nil
	}
	_, err := r.z.Objects.Change(ctx, r.o, "metadata",
		map[string]any{"annotations": map[string]any{zonefold.ApproveAnnotation: nil}})
	return err
}
