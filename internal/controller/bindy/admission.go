package bindy

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/zone"
)

// Examiners are what admission asks about the kinds of this dialect.
func (b *Controller) Examiners() []controller.Examiner {
	out := []controller.Examiner{
		{Kind: &v1beta1.ClusterBind9Provider{}, Faults: b.faults, Look: b.lookAtFleet},
		{Kind: &v1beta1.Bind9Cluster{}, Faults: b.faults, Look: b.lookAtFleet},
		{Kind: &v1beta1.Bind9Instance{}, Faults: b.faults, Look: b.lookAtInstance, Labels: true},
		{Kind: &v1beta1.DNSZone{}, Faults: b.faults, Look: b.lookAtZone, Labels: true},
	}
	for _, kind := range RecordKinds() {
		out = append(out, controller.Examiner{Kind: kind, Faults: b.faults, Look: b.lookAtRecord, Labels: true})
	}
	return out
}

// faults are an object's own. An instance of a cluster has some of its settings from there; it is looked at instead.
func (b *Controller) faults(o client.Object) []string {
	return Faults(o, b.Settings, func(string, string) (string, *v1beta1.CommonSpec) { return "", nil })
}

// Faults are what is refused of an object whatever else there is, as sentences. What an instance has from its cluster it is judged with if
// parent finds it: the kind and spec of that cluster or provider.
func Faults(o client.Object, s Settings, parentOf func(namespace, name string) (kind string, spec *v1beta1.CommonSpec)) []string {
	var err error
	kind, name := "", client.ObjectKeyFromObject(o).String()
	switch o := o.(type) {
	case *v1beta1.ClusterBind9Provider:
		kind, name = v1beta1.KindProvider, o.Name
		if _, err = o.Spec.TargetNamespaces(s.DefaultNamespace); err == nil {
			err = checkServers(kind, o.Name, &o.Spec.CommonSpec, s)
		}
	case *v1beta1.Bind9Cluster:
		kind = v1beta1.KindCluster
		err = checkServers(kind, o.Name, &o.Spec.CommonSpec, s)
	case *v1beta1.Bind9Instance:
		kind = v1beta1.KindInstance
		_, err = planAlone(o, s, parentOf)
	case *v1beta1.DNSZone:
		return refusal(ConvertZone(o, nil).Invalid)
	default:
		if r, ok := RecordOf(o); ok {
			return refusal(ConvertRecord(r, Home{}).Invalid)
		}
	}
	if err != nil {
		return []string{sentence("%s %s cannot be carried out: %v.", kind, name, err)}
	}
	return nil
}

// checkServers refuses what none of the servers of a cluster or provider could be made from.
func checkServers(kind, name string, spec *v1beta1.CommonSpec, s Settings) error {
	if err := checkFleet(kind, name, spec); err != nil {
		return err
	}
	for _, role := range roles() {
		if n, err := spec.Replicas(role); err != nil || n == 0 {
			continue
		}
		if _, err := planOf(anyInstance(name, role), &parent{kind: kind, name: name, spec: spec}, s); err != nil {
			return err
		}
	}
	return nil
}

// anyInstance is what the servers of one role of a cluster have in common.
func anyInstance(cluster string, role v1beta1.Role) *v1beta1.Bind9Instance {
	i := &v1beta1.Bind9Instance{Spec: v1beta1.Bind9InstanceSpec{ClusterRef: cluster, Role: role}}
	i.Name = instanceName(cluster, role, 0)
	return i
}

// planAlone plans an instance, nil if its cluster is not found.
func planAlone(i *v1beta1.Bind9Instance, s Settings, parentOf func(namespace, name string) (string, *v1beta1.CommonSpec)) (*plan, error) {
	var above *parent
	if name := i.Spec.ClusterRef; name != "" {
		kind, spec := parentOf(i.Namespace, name)
		if spec == nil {
			return nil, nil
		}
		above = &parent{kind: kind, name: name, spec: spec}
	}
	return planOf(i, above, s)
}

func refusal(r *zone.Refusal) []string {
	if r == nil {
		return nil
	}
	return []string{r.Message}
}

func (b *Controller) lookAtInstance(ctx context.Context, _, o client.Object) (f controller.Findings) {
	i, ok := o.(*v1beta1.Bind9Instance)
	if !ok {
		return f
	}
	p, trouble, err := b.planFor(ctx, i)
	switch {
	case err != nil:
	case trouble != nil:
		f.Warnings = append(f.Warnings, sentence("refused (%s): %s", trouble.reason, trouble.message))
	default:
		f.Warnings = notes(p.told(describe(v1beta1.KindInstance, client.ObjectKeyFromObject(i))))
	}
	return f
}

// lookAtFleet says what deserves a look about the servers that a cluster or provider asks for.
func (b *Controller) lookAtFleet(_ context.Context, _, o client.Object) (f controller.Findings) {
	f.Warnings = notes(Cautions(o, b.Settings, nil)) // of clusters and providers: nothing is above them
	return f
}

// lookAtZone says which servers a zone does not get, and what else is decided about it.
func (b *Controller) lookAtZone(ctx context.Context, old, o client.Object) controller.Findings {
	z, ok := o.(*v1beta1.DNSZone)
	if !ok || b.zones == nil {
		return controller.Findings{}
	}
	all, err := b.listInstances(ctx)
	if err != nil {
		return controller.Findings{}
	}
	fleet := fleetFor(z, all, nil)
	converted := ConvertZone(z, fleet.addresses)
	b.zones.mu.Lock()
	converted.Warnings = append(converted.Warnings, b.zones.homes.Notes(converted.ID)...)
	b.zones.mu.Unlock()
	converted.Warnings = append(converted.Warnings, fleet.glueless(converted.ID, z.Spec.AddressTypes)...)
	found := b.zones.foresight.Look(ctx, controller.Inquiry{
		ID: converted.ID, Stored: old != nil,
		Foretell: func(ctx context.Context) (zone.Forecast, bool) { return b.zones.foresight.Zone(ctx, converted) },
	})
	if fleet.problem != "" {
		found.Warnings = append(found.Warnings, sentence("not served: %s", fleet.problem))
	}
	return found
}

func (b *Controller) lookAtRecord(ctx context.Context, old, o client.Object) controller.Findings {
	r, ok := RecordOf(o)
	if !ok || b.zones == nil {
		return controller.Findings{}
	}
	return b.zones.foresight.Look(ctx, controller.Inquiry{
		ID: r.ID, Stored: old != nil, Missing: []zone.Reason{v1beta1.ReasonZoneNotFound, v1beta1.ReasonNotSelected},
		Foretell: func(ctx context.Context) (zone.Forecast, bool) {
			b.zones.mu.Lock()
			home := b.zones.homes.Foresee(r)
			b.zones.mu.Unlock()
			return b.zones.foresight.Claim(ctx, ConvertRecord(r, home))
		},
	})
}
