package bindy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// A Fleet is which instances have a zone.
type Fleet struct {
	Instances []*v1beta1.Bind9Instance // by namespace and name
	// Refused would be selected, but do not allow the zones of this namespace. They are no concern of the zone's owner, who
	// is not told their names.
	Refused []*v1beta1.Bind9Instance
}

// FleetOf returns the instances that have a zone: those of its namespace that belong to its cluster, and those that its
// selectors select, each once. Instances of other namespaces are selected only if they allow it. It is an error that the zone's
// references contradict each other: then nobody knows which instances are meant.
func FleetOf(z *v1beta1.DNSZone, all []*v1beta1.Bind9Instance) (Fleet, error) {
	cluster, err := z.Spec.Cluster()
	if err != nil {
		return Fleet{}, err
	}
	var fleet Fleet
	by, seen := selectorsOf(z.Spec.Bind9InstancesFrom), map[string]bool{}
	for _, i := range all {
		id := cmp.Or(string(i.UID), i.Namespace+"/"+i.Name)
		local := i.Namespace == z.Namespace
		ofCluster := local && cluster != "" && i.Spec.ClusterRef == cluster
		switch {
		case seen[id] || !i.DeletionTimestamp.IsZero() || !ofCluster && !selected(by, i.Labels):
			continue
		case local || allowsZonesOf(i, z.Namespace):
			fleet.Instances = append(fleet.Instances, i)
		default:
			fleet.Refused = append(fleet.Refused, i)
		}
		seen[id] = true
	}
	for _, list := range [][]*v1beta1.Bind9Instance{fleet.Instances, fleet.Refused} {
		slices.SortFunc(list, func(a, b *v1beta1.Bind9Instance) int {
			return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
		})
	}
	return fleet, nil
}

// allowsZonesOf reports whether an instance allows the zones of another namespace to select it.
func allowsZonesOf(i *v1beta1.Bind9Instance, namespace string) bool {
	for allowed := range strings.SplitSeq(i.Annotations[v1beta1.AllowZoneNamespacesAnnotation], ",") {
		if allowed = strings.TrimSpace(allowed); allowed == namespace || allowed == "*" {
			return true
		}
	}
	return false
}

// NotAllowed says, to who may see the instance, why it does not have a zone that selects it.
func NotAllowed(z *v1beta1.DNSZone, i *v1beta1.Bind9Instance) string {
	return sentence("%s selects %s %s/%s, which does not allow the zones of namespace %s; if it is to have them, add the namespace to its annotation %s.",
		ZoneID(z.Namespace, z.Name), v1beta1.KindInstance, i.Namespace, i.Name, z.Namespace, v1beta1.AllowZoneNamespacesAnnotation)
}

// NoFleet says why no instance has a zone.
func NoFleet(z *v1beta1.DNSZone) string {
	id, cluster := ZoneID(z.Namespace, z.Name), cmp.Or(z.Spec.ClusterRef, z.Spec.ClusterProviderRef)
	selects := len(z.Spec.Bind9InstancesFrom) > 0
	switch {
	case cluster == "" && !selects:
		return sentence("%s names no servers; set clusterRef or bind9InstancesFrom.", id)
	case !selects:
		return sentence("No Bind9Instance of namespace %s belongs to %s, the clusterRef of %s; correct it, or create the cluster.", z.Namespace, cluster, id)
	case cluster == "":
		return sentence("The bind9InstancesFrom of %s selects no Bind9Instance; those of other namespaces have to allow namespace %s with the annotation %s.",
			id, z.Namespace, v1beta1.AllowZoneNamespacesAnnotation)
	}
	return sentence("No Bind9Instance of namespace %s belongs to %s, the clusterRef of %s, and its bind9InstancesFrom selects none; those of other namespaces have to allow namespace %[1]s with the annotation %[4]s.",
		z.Namespace, cluster, id, v1beta1.AllowZoneNamespacesAnnotation)
}
