package zones

import (
	"context"
	"net/netip"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A fleetOf is which instances have a zone.
type fleetOf struct {
	primaries, secondaries []client.ObjectKey
	idle                   []client.ObjectKey // those without pods: replicas is 0
	uids                   map[client.ObjectKey]string
	addresses              []netip.Addr // that name servers without any get
	unaddressed            bool         // some may provide none: they are of other namespaces
	unheard                bool         // what addresses some have is not known yet
	clusters               []string
	problem                string             // why there are none
	refused                int                // that do not allow it
	barred                 []client.ObjectKey // primaries that may not sign it: they are of other namespaces
	signer                 signer
}

func (f fleetOf) all() []client.ObjectKey { return append(slices.Clone(f.primaries), f.secondaries...) }

func (f fleetOf) has(instance client.ObjectKey) bool {
	return slices.Contains(f.primaries, instance) || slices.Contains(f.secondaries, instance)
}

// allocating is finding out which instances have zones. Only one has it at a time, so that what was seen first is noted
// first.
type allocating struct{ z *Zones }

// allocate finds out anew which instances some zones have.
func (z *Zones) allocate(zones func(*allocating)) {
	a, done := z.allocating.Lock()
	defer done()
	zones(a)
}

// all is about all zones.
func (a *allocating) all() {
	a.those(func(*v1beta1.DNSZone) bool { return true }, func(assignment) bool { return true })
}

// in is about the zones that may have instances of a namespace. Whatever happens to these is no concern of others.
func (a *allocating) in(namespace string) {
	a.those(func(o *v1beta1.DNSZone) bool { return dialect.SelectsIn(o, namespace) }, func(l assignment) bool {
		return slices.ContainsFunc(l.in, func(cluster types.NamespacedName) bool { return cluster.Namespace == namespace })
	})
}

func (a *allocating) those(concerns func(*v1beta1.DNSZone) bool, assigns func(assignment) bool) {
	z := a.z
	all, err := z.instances()
	st, unlock := z.state.Lock()
	var zones []*v1beta1.DNSZone
	for _, k := range st.known {
		if k.zone != nil && concerns(k.zone) {
			zones = append(zones, k.zone)
		}
	}
	assigned := idsWhere(st.assignments, func(_ zone.ID, l assignment) bool { return assigns(l) })
	unlock()
	slices.SortFunc(zones, func(a, b *v1beta1.DNSZone) int {
		return dialect.ZoneID(a.Namespace, a.Name).Compare(dialect.ZoneID(b.Namespace, b.Name))
	})
	for _, o := range zones {
		if id := dialect.ZoneID(o.Namespace, o.Name); a.setFleet(id, fleetFor(o, all, err)) {
			st, unlock := z.state.Lock()
			st.putAgain(id)
			unlock()
			z.deliveries.Sync(id)
		}
	}
	for _, id := range assigned {
		a.assignment(id)
	}
}

// zone is about a DNSZone.
func (a *allocating) zone(o *v1beta1.DNSZone) {
	all, err := a.z.instances()
	a.setFleet(dialect.ZoneID(o.Namespace, o.Name), fleetFor(o, all, err))
}

// setFleet notes which instances have a zone, and reports whether these are others than before.
func (a *allocating) setFleet(id zone.ID, fleet fleetOf) bool {
	z := a.z
	st, unlock := z.state.Lock()
	before := st.fleets[id]
	fleet = st.withSigner(id, fleet)
	if st.fleets[id] = fleet; reflect.DeepEqual(fleet, fleetOf{}) {
		delete(st.fleets, id)
	}
	called := st.names.of[id]
	others := st.rename(id)
	renamed := called != st.names.of[id]
	unlock()
	same := reflect.DeepEqual(before, fleet)
	if !same || renamed {
		z.revisit(others)
	}
	if same {
		return false
	}
	z.wakeInstances(append(before.all(), fleet.all()...)...)
	z.changed(id)
	was, _ := before.lack(id)
	if is, _ := fleet.lack(id); is != was { // nothing else tells the records
		z.refresh(id)
	}
	return true
}

// instances are all that there are, from memory.
func (z *Zones) instances() ([]*v1beta1.Bind9Instance, error) {
	return z.Servers.Instances(context.Background()) // it fails when there is no informer
}

func fleetFor(o *v1beta1.DNSZone, all []*v1beta1.Bind9Instance, err error) fleetOf {
	var found dialect.Fleet
	if err == nil {
		found, err = dialect.FleetOf(o, all)
	}
	if err != nil {
		return fleetOf{problem: dialect.Sentence("%v.", err)}
	}
	out := fleetFrom(found.Instances, o.Spec.AddressTypes, found.May)
	if out.refused = len(found.Refused); len(found.Instances) == 0 {
		out.problem = dialect.NoFleet(o)
	}
	return out
}

// glueless warns of name servers of a zone that are in it and have no address, because none of its servers has one of
// the types that it wants. Content is that of the zone.
func (f fleetOf) glueless(o *v1beta1.DNSZone, apex dnsname.Name, content rr.Sets) []zone.Note {
	if len(f.addresses) > 0 || len(f.all()) == 0 || f.unheard {
		return nil
	}
	without := withoutAddress(apex, content)
	if len(without) == 0 {
		return nil
	}
	types, way := textsOf(o.Spec.AddressTypes), "see status.addresses of its Bind9Instances, change addressTypes"
	if len(types) == 0 {
		types = []string{string(v1beta1.AddressClusterIP)}
	}
	if f.unaddressed {
		way = "add Addresses to the usages of the entry of bind9InstancesFrom that selects servers of other namespaces"
	}
	return []zone.Note{{Reason: v1beta1.ReasonNoAddress, Message: dialect.Sentence(
		"No server of %s provides an address of the types %s, so the name servers %s have none, and BIND accepts "+
			"none without; %s, or write addresses into nameServers.", dialect.ZoneID(o.Namespace, o.Name), dialect.List(types),
		dialect.List(without), way)}}
}

// withoutAddress are the name servers of a zone that are in it and have no address.
func withoutAddress(apex dnsname.Name, content rr.Sets) (out []string) {
	set, _ := content.Get(rr.Key{Name: apex, Type: rr.TypeNS})
	for _, data := range set.Data {
		server, err := dnsname.Parse(data)
		if err == nil && rr.LacksAddress(apex, server, func(k rr.Key) bool {
			_, has := content.Get(k)
			return has
		}) {
			out = append(out, dialect.CanonicalZone(data))
		}
	}
	return out
}

func textsOf(types []v1beta1.AddressType) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = string(t)
	}
	return out
}
