package bindy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// A Fleet is which instances have a zone.
type Fleet struct {
	Instances []*v1beta1.Bind9Instance // by namespace and name
	// Refused would be selected, but do not allow the zones of this namespace. They are no concern of the zone's owner,
	// who is not told their names.
	Refused []*v1beta1.Bind9Instance

	namespace string // of the zone
	usages    map[*v1beta1.Bind9Instance][]v1beta1.InstanceUsage
}

// May reports whether an instance of the fleet may do something for the zone besides answering for it. Those of the
// zone's namespace may do everything, those of others what the zone says.
func (f Fleet) May(i *v1beta1.Bind9Instance, u v1beta1.InstanceUsage) bool {
	return i.Namespace == f.namespace || slices.Contains(f.usages[i], u)
}

// FleetOf returns the instances that have a zone: those of its namespace that belong to its cluster, and those that its
// selectors select, each once. Instances of another namespace are selected only if both sides say so: the zone names
// the namespace, since whoever may write a label there could have the zone otherwise, and the instance allows it. It is
// an error that the zone's references contradict each other: then nobody knows which instances are meant.
func FleetOf(z *v1beta1.DNSZone, all []*v1beta1.Bind9Instance) (Fleet, error) {
	cluster, err := z.Spec.Cluster()
	if err != nil {
		return Fleet{}, err
	}
	fleet := Fleet{namespace: z.Namespace, usages: map[*v1beta1.Bind9Instance][]v1beta1.InstanceUsage{}}
	by, seen := choicesOf(z), map[string]bool{}
	for _, i := range all {
		id := cmp.Or(string(i.UID), i.Namespace+"/"+i.Name)
		if seen[id] || !i.DeletionTimestamp.IsZero() {
			continue
		}
		local := i.Namespace == z.Namespace
		chosen, usages := chosenBy(by[i.Namespace], i.Labels)
		switch {
		case local && (chosen || cluster != "" && i.Spec.ClusterRef == cluster):
			fleet.Instances = append(fleet.Instances, i)
		case !chosen:
			continue
		case allowsZonesOf(i, z.Namespace):
			fleet.Instances = append(fleet.Instances, i)
			fleet.usages[i] = usages
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

// A choice is a selector that can be read, and what those that it selects may do.
type choice struct {
	labels.Selector
	usages []v1beta1.InstanceUsage
}

// choicesOf are those that a zone makes in each namespace. A selector that cannot be read, such as one with an unknown
// operator, selects nothing.
func choicesOf(z *v1beta1.DNSZone) map[string][]choice {
	out := map[string][]choice{}
	for i := range z.Spec.Bind9InstancesFrom {
		from := &z.Spec.Bind9InstancesFrom[i]
		s, err := selectorOf(&from.Selection)
		if err != nil {
			continue
		}
		for _, namespace := range namespacesOf(z, from) {
			out[namespace] = append(out[namespace], choice{s, from.Usages})
		}
	}
	return out
}

// namespacesOf are those in which an entry of a zone's bind9InstancesFrom selects.
func namespacesOf(z *v1beta1.DNSZone, from *v1beta1.InstanceSelection) []string {
	if len(from.Namespaces) == 0 {
		return []string{z.Namespace}
	}
	return from.Namespaces
}

// SelectsFrom are the namespaces whose instances may have a zone, its own first.
func SelectsFrom(z *v1beta1.DNSZone) []string {
	out := []string{z.Namespace}
	for i := range z.Spec.Bind9InstancesFrom {
		for _, namespace := range namespacesOf(z, &z.Spec.Bind9InstancesFrom[i]) {
			if !slices.Contains(out, namespace) {
				out = append(out, namespace)
			}
		}
	}
	return out
}

// SelectsIn reports whether instances of a namespace may have a zone.
func SelectsIn(z *v1beta1.DNSZone, namespace string) bool {
	return z.Namespace == namespace || slices.ContainsFunc(z.Spec.Bind9InstancesFrom,
		func(from v1beta1.InstanceSelection) bool {
			return slices.Contains(from.Namespaces, namespace)
		})
}

// chosenBy reports whether one of some choices selects these labels, and what all that do allow.
func chosenBy(by []choice, set map[string]string) (chosen bool, usages []v1beta1.InstanceUsage) {
	for _, c := range by {
		if c.Matches(labels.Set(set)) {
			chosen, usages = true, append(usages, c.usages...)
		}
	}
	return chosen, usages
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

// NoFleet says why no instance has a zone, as far as the zone shows it: its cluster may be there and have none yet, and
// its namespace may not be among those of its provider.
func NoFleet(z *v1beta1.DNSZone) string {
	id := ZoneID(z.Namespace, z.Name)
	others := fmt.Sprintf("those of another namespace must be in one of its namespaces, and allow namespace %s with the "+
		"annotation %s", z.Namespace, v1beta1.AllowZoneNamespacesAnnotation)
	field, cluster := "clusterRef", z.Spec.ClusterRef
	way := fmt.Sprintf("If there is a cluster %s, its conditions say whether its instances are still being created; "+
		"else create it, add %s to the namespaces of %s %[1]s, if that is meant, select instances of other namespaces with "+
		"bind9InstancesFrom, or correct clusterRef",
		cluster, z.Namespace, v1beta1.KindProvider)
	if cluster == "" {
		field, cluster = "clusterProviderRef", z.Spec.ClusterProviderRef
		way = fmt.Sprintf("If %s %s has %s among its namespaces, its conditions say whether instances are still being "+
			"created; else add it there, select instances of other namespaces with bind9InstancesFrom, or correct "+
			"clusterProviderRef",
			v1beta1.KindProvider, cluster, z.Namespace)
	}
	selects := len(z.Spec.Bind9InstancesFrom) > 0
	switch {
	case cluster == "" && !selects:
		return Sentence("%s names no servers; set clusterRef or bind9InstancesFrom.", id)
	case cluster == "":
		return Sentence("The bind9InstancesFrom of %s selects no Bind9Instance; %s.", id, others)
	case !selects:
		return Sentence("No Bind9Instance of namespace %s belongs to %s, the %s of %s. %s.", z.Namespace, cluster, field, id,
			way)
	}
	return Sentence(
		"No Bind9Instance of namespace %s belongs to %s, the %s of %s, and its bind9InstancesFrom selects none; %s. %s.",
		z.Namespace, cluster, field, id, others, way)
}
