package bindy

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// aServer makes a Bind9Instance "namespace/name" of a cluster with a label and the namespaces that it allows.
func aServer(object, cluster, team, allows string) *v1beta1.Bind9Instance {
	i := &v1beta1.Bind9Instance{}
	i.Namespace, i.Name, _ = strings.Cut(object, "/")
	i.UID, i.Spec.ClusterRef = types.UID(object), cluster
	i.Labels = map[string]string{"team": team}
	if allows != "" {
		i.Annotations = map[string]string{v1beta1.AllowZoneNamespacesAnnotation: allows}
	}
	return i
}

func TestWhichInstancesHaveAZone(t *testing.T) {
	dying := aServer("dns/dying", "main", "blue", "")
	dying.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	all := []*v1beta1.Bind9Instance{
		aServer("dns/main-secondary-0", "main", "", ""), aServer("dns/main-primary-0", "main", "blue", ""), dying,
		aServer("dns/alone", "", "blue", ""), aServer("dns/other-primary-0", "other", "red", ""),
		aServer("far/main-primary-0", "main", "green", "*"), aServer("far/open", "", "blue", "*"), aServer("far/named", "", "blue", "web , dns"),
		aServer("far/closed", "", "blue", ""), aServer("far/else", "", "blue", "web,dnsx"),
	}
	from := func(selectors ...metav1.LabelSelector) (out []v1beta1.Selection) {
		for _, s := range selectors {
			out = append(out, v1beta1.Selection{Selector: s})
		}
		return out
	}
	blue, red := withLabels(map[string]string{"team": "blue"}), withLabels(map[string]string{"team": "red"})
	for _, c := range []struct {
		name, cluster, older string
		from                 []v1beta1.Selection
		want, refused        string
	}{
		{"Z1: those of its cluster, in its namespace", "main", "", nil, "dns/main-primary-0 dns/main-secondary-0", ""},
		{"the older form of clusterRef", "", "main", nil, "dns/main-primary-0 dns/main-secondary-0", ""},
		{"Z1, Z2: those that a selector selects, and that allow it", "", "", from(blue), "dns/alone dns/main-primary-0 far/named far/open", "far/closed far/else"},
		{"Z1: both together, each once", "main", "", from(blue, blue), "dns/alone dns/main-primary-0 dns/main-secondary-0 far/named far/open", "far/closed far/else"},
		{"any of several selectors", "", "", from(blue, red), "dns/alone dns/main-primary-0 dns/other-primary-0 far/named far/open", "far/closed far/else"},
		{"an empty selector selects everything, and those of others only if they allow it", "", "", from(metav1.LabelSelector{}),
			"dns/alone dns/main-primary-0 dns/main-secondary-0 dns/other-primary-0 far/main-primary-0 far/named far/open", "far/closed far/else"},
		{"an unknown operator selects nothing", "", "", from(expression("team", "Like", "blue")), "", ""},
		{"Z3: nothing is named", "", "", nil, "", ""},
		{"Z3: a cluster that is not there", "missing", "", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := &v1beta1.DNSZone{Spec: v1beta1.DNSZoneSpec{ClusterRef: c.cluster, ClusterProviderRef: c.older, Bind9InstancesFrom: c.from}}
			z.Namespace = "dns"
			got, err := FleetOf(z, append(all, all...))
			if err != nil || serverNames(got.Instances) != c.want || serverNames(got.Refused) != c.refused {
				t.Errorf("it is on %s, refused by %s, %v; want %s, refused by %s", serverNames(got.Instances), serverNames(got.Refused), err, c.want, c.refused)
			}
		})
	}
	if _, err := FleetOf(&v1beta1.DNSZone{Spec: v1beta1.DNSZoneSpec{ClusterRef: "a", ClusterProviderRef: "b"}}, all); err == nil {
		t.Error("two clusters are one")
	}
}

func serverNames(all []*v1beta1.Bind9Instance) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Namespace + "/" + s.Name
	}
	return strings.Join(names, " ")
}

// A tenant does not learn what servers others have.
func TestAZoneWithoutServersIsToldWhy(t *testing.T) {
	var told []string
	for _, spec := range []v1beta1.DNSZoneSpec{
		{}, {ClusterRef: "main"}, {Bind9InstancesFrom: make([]v1beta1.Selection, 1)}, {ClusterProviderRef: "main", Bind9InstancesFrom: make([]v1beta1.Selection, 1)},
	} {
		z := &v1beta1.DNSZone{Spec: spec}
		z.Namespace, z.Name = "dns", "example"
		told = append(told, NoFleet(z))
		if spec.ClusterProviderRef != "" {
			told = append(told, NotAllowed(z, aServer("far/closed", "", "", "web")))
		}
	}
	want := []string{
		"DNSZone dns/example names no servers; set clusterRef or bind9InstancesFrom.",
		"No Bind9Instance of namespace dns belongs to main, the clusterRef of DNSZone dns/example; correct it, or create the cluster.",
		"The bind9InstancesFrom of DNSZone dns/example selects no Bind9Instance; those of other namespaces have to allow namespace dns with the annotation bindy.firestoned.io/allow-zone-namespaces.",
		"No Bind9Instance of namespace dns belongs to main, the clusterRef of DNSZone dns/example, and its bind9InstancesFrom selects none; those of other namespaces have to allow namespace dns with the annotation bindy.firestoned.io/allow-zone-namespaces.",
		"DNSZone dns/example selects Bind9Instance far/closed, which does not allow the zones of namespace dns; if it is to have them, add the namespace to its annotation bindy.firestoned.io/allow-zone-namespaces.",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told is\n%s", strings.Join(told, "\n"))
	}
}
