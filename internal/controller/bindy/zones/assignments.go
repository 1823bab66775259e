package zones

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/zone"
)

// An assignment is a zone of another dialect, which Backends assign to clusters.
type assignment struct {
	zone   dnsname.Name
	uid    types.UID
	since  time.Time
	serial uint32
	in     []types.NamespacedName
}

// An assigner stands for whoever has Backends, which assign zones of another dialect to clusters. It is all of the
// Zones that these deal with.
type assigner struct {
	z       *Zones
	servers atomic.Pointer[delivery.Servers] // of those zones; nil: there is none, or it has not begun
	version string                           // of their API; "": there is none
	queue   *controller.Writer
}

var _ delivery.Fleets = (*assigner)(nil)

// Fleets are the clusters for whoever has Backends.
func (z *Zones) Fleets() delivery.Fleets { return z.assigner }

// Await implements delivery.Fleets.
func (a *assigner) Await(apiVersion string) {
	a.version = apiVersion
	a.z.protections.await()
}

// Host implements delivery.Fleets.
func (a *assigner) Host(s *delivery.Servers) {
	s.OnDrift(drifts{a.z}.suspect)
	a.servers.Store(s)
}

// OnFleet implements delivery.Fleets.
func (a *assigner) OnFleet(f func(types.NamespacedName)) {
	st, unlock := a.z.state.Lock()
	defer unlock()
	st.onFleet = f
}

// Protect implements delivery.Fleets.
func (a *assigner) Protect(backend string, cluster types.NamespacedName, by plan.Protection) {
	a.wakeClusters(a.z.protections.set(backend, cluster, by))
}

// Protected implements delivery.Fleets.
func (a *assigner) Protected() { a.wakeClusters(a.z.protections.all()) }

// fleetChanged says that the cluster of an instance may have other servers now.
func (a *assigner) fleetChanged(i *v1beta1.Bind9Instance) {
	st, unlock := a.z.state.Lock()
	f := st.onFleet
	unlock()
	if f != nil && i.Spec.ClusterRef != "" {
		f(types.NamespacedName{Namespace: i.Namespace, Name: i.Spec.ClusterRef})
	}
}

// Known implements delivery.Fleets.
func (a *assigner) Known(ctx context.Context) bool {
	select {
	case <-a.z.looked:
		return true
	case <-ctx.Done():
		return false
	}
}

// Reassigned implements delivery.Fleets.
func (a *assigner) Reassigned(id zone.ID) { a.queue.Enqueue(id) }

// Fleet implements delivery.Fleets.
func (a *assigner) Fleet(cluster types.NamespacedName) ([]delivery.Server, *controller.Outcome) {
	select {
	case <-a.z.looked:
	default:
		o := controller.Not(controller.ReasonPending, dialect.Sentence("The servers of Bind9Cluster %s are not known yet.",
			cluster))
		return nil, &o
	}
	fleet := a.clusters([]types.NamespacedName{cluster})
	if len(fleet.primaries) == 0 {
		o := controller.Not(controller.ReasonBackendNotReady, dialect.Sentence(
			"Bind9Cluster %s has no primaries; create it, or correct bind9.clusterRef.", cluster))
		return nil, &o
	}
	st, unlock := a.z.state.Lock()
	defer unlock()
	var servers []delivery.Server
	var troubles []string
	for _, key := range fleet.primaries {
		h := st.hosts[key]
		switch {
		case h == nil:
			troubles = append(troubles, fmt.Sprintf("Bind9Instance %s has no servers yet.", key))
			continue
		case h.trouble != "":
			troubles = append(troubles, h.trouble)
		}
		servers = append(servers, h.servers()...)
	}
	if len(troubles) == 0 {
		return servers, nil
	}
	o := controller.Not(controller.ReasonBackendNotReady, strings.Join(troubles, " "))
	return servers, &o
}

// Behind implements delivery.Fleets.
func (a *assigner) Behind(id zone.ID, serial uint32) *controller.Outcome {
	st, unlock := a.z.state.Lock()
	defer unlock()
	var worst *controller.Outcome
	for _, key := range st.fleets[id].secondaries {
		n := st.secondaryNews(id, key, serial)
		if n.state == v1beta1.StateConfigured {
			continue
		}
		o := controller.Not(controller.ReasonPending, dialect.Sentence("Bind9Instance %s is about to transfer serial %d.",
			key, serial))
		if n.state == v1beta1.StateFailed {
			o = controller.Not(v1beta1.ReasonSecondaryFailed, n.message)
		}
		if worst == nil || worst.Reason == controller.ReasonPending && o.Reason != controller.ReasonPending {
			worst = &o
		}
	}
	return worst
}

// reconcile looks at where a zone of another dialect is. The zero ID is no zone's.
func (a *assigner) reconcile(_ context.Context, id zone.ID) error {
	if id.IsZero() {
		return a.z.pending.repeat()
	}
	now := a.servers.Load().Assignment(id)
	if !now.Decided {
		return nil // it is told again
	}
	a.takeOver(id, now)
	st, unlock := a.z.state.Lock()
	defer unlock()
	if st.takenOver != nil {
		st.takenOver[id] = true
	}
	return nil
}

// takeOver records where a zone of another dialect is, and has done what follows from that.
func (a *assigner) takeOver(id zone.ID, now delivery.Assignment) {
	st, unlock := a.z.state.Lock()
	before, known := st.assignments[id]
	after := assignment{zone: now.Zone, uid: now.UID, since: now.Since, serial: now.Serial, in: now.Fleets}
	if len(now.Fleets) == 0 {
		delete(st.assignments, id)
	} else {
		st.assignments[id] = after
	}
	unlock()
	another := before.zone != after.zone || before.uid != after.uid
	switch {
	case !known && len(now.Fleets) == 0:
		return
	case reflect.DeepEqual(before, after):
		a.visitConfirmed(id)
		a.z.pending.wake(id)
		return
	case another || !slices.Equal(before.in, after.in):
		a.z.allocate(func(all *allocating) { all.assignment(id) })
		if known && before.uid != after.uid {
			a.z.suspect(id)
		}
		if another {
			a.z.wakeInstances(a.z.fleetOf(id).all()...)
		}
	}
	a.z.visitServers(id)
	a.z.pending.wake(id)
}

// visitConfirmed has a zone of another dialect looked at at those primaries that have confirmed it and were not looked
// at since: it was made there with the settings of a moment ago. That a server confirms what another one has is news of
// nothing else.
func (a *assigner) visitConfirmed(id zone.ID) {
	var made []*Pod
	st, unlock := a.z.state.Lock()
	for _, f := range st.follows[id] {
		if f.writes && !f.there() {
			made = append(made, f.pod)
		}
	}
	unlock()
	for _, p := range made {
		if a.servers.Load().Has(id, p.server.Name) {
			a.z.servers.Enqueue(followID(id, p.UID))
		}
	}
}

// decided reports whether the other dialect, if there is one, has decided about all of its zones, and reconcile
// has taken them over.
func (a *assigner) decided() bool {
	s := a.servers.Load()
	if s == nil || !s.Decided() {
		return a.version == ""
	}
	st, unlock := a.z.state.Lock()
	all := st.takenOver == nil
	unlock()
	if all {
		return true
	}
	assigned := s.Assigned()
	st, unlock = a.z.state.Lock()
	defer unlock()
	for _, id := range assigned {
		if !st.takenOver[id] {
			return false
		}
	}
	st.takenOver = nil
	return true
}

func (z *Zones) fleetOf(id zone.ID) fleetOf {
	st, unlock := z.state.Lock()
	defer unlock()
	return st.fleets[id]
}

// assignment is about a zone of another dialect.
func (a *allocating) assignment(id zone.ID) {
	st, unlock := a.z.state.Lock()
	in := st.assignments[id].in
	unlock()
	a.setFleet(id, a.z.assigner.clusters(in))
}

// clusters are the instances of clusters.
func (a *assigner) clusters(in []types.NamespacedName) fleetOf {
	if len(in) == 0 {
		return fleetOf{}
	}
	all, err := a.z.instances()
	if err != nil {
		return fleetOf{problem: err.Error()}
	}
	return fleetFrom(slices.DeleteFunc(all, func(i *v1beta1.Bind9Instance) bool {
		return !i.DeletionTimestamp.IsZero() ||
			!slices.Contains(in, types.NamespacedName{Namespace: i.Namespace, Name: i.Spec.ClusterRef})
	}), nil, func(*v1beta1.Bind9Instance, v1beta1.InstanceUsage) bool { return true })
}

// A servedZone is a zone that instances have, whatever its dialect.
type servedZone struct {
	ref   v1beta1.InstanceZone
	since time.Time
}

// servedZone returns what is to be known of a zone that instances have.
func (st *state) servedZone(id zone.ID) (servedZone, bool) {
	ref := referenceTo(id)
	if l, ok := st.assignments[id]; ok {
		ref.APIVersion, ref.ZoneName, ref.UID = st.z.assigner.version, dialect.CanonicalZone(l.zone.String()), l.uid
		return servedZone{ref: ref, since: l.since}, true
	}
	k := st.known[id]
	if k == nil || k.zone == nil {
		return servedZone{}, false
	}
	ref.ZoneName, ref.UID = dialect.CanonicalZone(k.zone.Spec.ZoneName), k.zone.UID
	return servedZone{ref, k.zone.CreationTimestamp.Time}, true
}

// referenceTo is an entry for a DNSZone, without what that is called.
func referenceTo(id zone.ID) v1beta1.InstanceZone {
	return v1beta1.InstanceZone{ZoneReference: v1beta1.ZoneReference{
		APIVersion: v1beta1.GroupVersion.String(), Kind: id.Kind, Name: id.Name, Namespace: id.Namespace,
	}}
}

// nameOf returns the name under which a zone is served, and whether it is; decided is false as long as that is not
// known.
func (z *Zones) nameOf(id zone.ID) (name dnsname.Name, served, decided bool) {
	st, unlock := z.state.Lock()
	l, ok := st.assignments[id]
	unlock()
	if ok {
		return l.zone, true, true
	}
	v, ok := z.core.Verdict(id)
	return v.Name, ok && v.Accepted, ok
}

// serversOf are those that a zone is delivered to.
func (z *Zones) serversOf(id zone.ID) *delivery.Servers {
	if id.Kind == v1beta1.KindZone {
		return z.deliveries.Servers()
	}
	return z.assigner.servers.Load()
}

// allServers are those that zones of any dialect are delivered to.
func (z *Zones) allServers() []*delivery.Servers {
	all := []*delivery.Servers{z.deliveries.Servers()}
	if s := z.assigner.servers.Load(); s != nil {
		all = append(all, s)
	}
	return all
}

// news has the status of a zone looked at again.
func (z *Zones) news(id zone.ID) {
	if id.Kind == v1beta1.KindZone {
		z.enqueue(id)
		return
	}
	z.assigner.servers.Load().Revisit(id)
}

// fleetFrom tells primaries from secondaries, what each may do for the zone, and which of their addresses its name
// servers get.
func fleetFrom(instances []*v1beta1.Bind9Instance, glue []v1beta1.AddressType,
	may func(*v1beta1.Bind9Instance, v1beta1.InstanceUsage) bool) fleetOf {
	out := fleetOf{uids: map[client.ObjectKey]string{}}
	slices.SortFunc(instances, func(a, b *v1beta1.Bind9Instance) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for _, i := range instances {
		key := client.ObjectKeyFromObject(i)
		out.uids[key] = string(i.UID)
		if i.Spec.ReplicasOrDefault() == 0 {
			out.idle = append(out.idle, key)
			continue
		}
		if i.Spec.Role.Canonical() == v1beta1.RoleSecondary {
			out.secondaries = append(out.secondaries, key)
		} else {
			out.primaries = append(out.primaries, key)
			if !may(i, v1beta1.UsageSigning) {
				out.barred = append(out.barred, key)
			}
		}
		if may(i, v1beta1.UsageAddresses) {
			out.addresses = append(out.addresses, dialect.GlueFrom(i, glue)...)
		} else {
			out.unaddressed = true
		}
		out.unheard = out.unheard || i.Status.ObservedGeneration == 0
		if i.Spec.ClusterRef != "" && !slices.Contains(out.clusters, i.Spec.ClusterRef) {
			out.clusters = append(out.clusters, i.Spec.ClusterRef)
		}
	}
	return out
}
