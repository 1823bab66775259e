package bindy

import (
	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/zone"
)

// Faults are what is refused of an object whatever else there is, as sentences. What an instance has from its cluster
// it is judged with if parent finds it: the kind and spec of that cluster or provider.
func Faults(o Object, s Settings,
	parentOf func(namespace, name string) (kind string, spec *v1beta1.CommonSpec)) []string {
	var err error
	kind, name := "", keyOf(o).String()
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
		return []string{Sentence("%s %s cannot be carried out: %v.", kind, name, err)}
	}
	return nil
}

// checkServers refuses what none of the servers of a cluster or provider could be made from.
func checkServers(kind, name string, spec *v1beta1.CommonSpec, s Settings) error {
	if err := CheckFleet(kind, name, spec); err != nil {
		return err
	}
	for _, role := range Roles() {
		if n, err := spec.Replicas(role); err != nil || n == 0 {
			continue
		}
		if _, err := PlanOf(anyInstance(name, role), &Parent{Kind: kind, Name: name, Spec: spec}, s); err != nil {
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
func planAlone(i *v1beta1.Bind9Instance, s Settings,
	parentOf func(namespace, name string) (string, *v1beta1.CommonSpec)) (*Plan, error) {
	var above *Parent
	if name := i.Spec.ClusterRef; name != "" {
		kind, spec := parentOf(i.Namespace, name)
		if spec == nil {
			return nil, nil
		}
		above = &Parent{Kind: kind, Name: name, Spec: spec}
	}
	return PlanOf(i, above, s)
}

func refusal(r *zone.Refusal) []string {
	if r == nil {
		return nil
	}
	return []string{r.Message}
}
