package zones

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
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
		aServer("far/provided-primary-0", "provided", "green", "*"), aServer("far/main-primary-0", "main", "green", "*"),
		aServer("far/open", "", "blue", "*"), aServer("far/named", "", "blue", "web , dns"),
		aServer("far/closed", "", "blue", ""), aServer("far/else", "", "blue", "web,dnsx"),
	}
	from := func(selectors ...metav1.LabelSelector) (out []v1beta1.InstanceSelection) {
		for _, s := range selectors {
			out = append(out, v1beta1.InstanceSelection{Selection: v1beta1.Selection{Selector: s}})
		}
		return out
	}
	in := func(from []v1beta1.InstanceSelection, namespaces ...string) []v1beta1.InstanceSelection {
		for i := range from {
			from[i].Namespaces = namespaces
		}
		return from
	}
	blue, red := withLabels(map[string]string{"team": "blue"}), withLabels(map[string]string{"team": "red"})
	for _, c := range []struct {
		name, cluster, older string
		from                 []v1beta1.InstanceSelection
		want, refused        string
	}{
		{"Z1: those of its cluster, in its namespace", "main", "", nil, "dns/main-primary-0 dns/main-secondary-0", ""},
		{"a provider of another namespace's is none of its own", "provided", "", nil, "", ""},
		{"the older form of clusterRef", "", "main", nil, "dns/main-primary-0 dns/main-secondary-0", ""},
		{"Z1: those of its namespace that a selector selects", "", "", from(blue), "dns/alone dns/main-primary-0", ""},
		{"Z2: those of a namespace that it names, and that allow it", "", "", in(from(blue), "far"), "far/named far/open",
			"far/closed far/else"},
		{"its own namespace among others", "", "", in(from(blue), "far", "dns"),
			"dns/alone dns/main-primary-0 far/named far/open", "far/closed far/else"},
		{"a namespace of which it selects nothing", "", "", in(from(blue), "web"), "", ""},
		{"Z1: both together, each once", "main", "", append(from(blue), in(from(blue), "far")...),
			"dns/alone dns/main-primary-0 dns/main-secondary-0 far/named far/open", "far/closed far/else"},
		{"any of several selectors", "", "", append(from(red), in(from(blue), "far")...),
			"dns/other-primary-0 far/named far/open", "far/closed far/else"},
		{"an empty selector selects everything of its namespace", "", "", from(metav1.LabelSelector{}),
			"dns/alone dns/main-primary-0 dns/main-secondary-0 dns/other-primary-0", ""},
		{"an empty selector selects everything of a namespace, as far as that allows it", "", "",
			in(from(metav1.LabelSelector{}), "far"),
			"far/main-primary-0 far/named far/open far/provided-primary-0", "far/closed far/else"},
		{"an unknown operator selects nothing", "", "", from(expression("team", "Like", "blue")), "", ""},
		{"a selector with too many values selects nothing", "", "",
			append(from(red), from(expression("team", "In", slices.Repeat([]string{"blue"}, 256)...))...), "dns/other-primary-0",
			""},
		{"Z3: nothing is named", "", "", nil, "", ""},
		{"Z3: a cluster that is not there", "missing", "", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := &v1beta1.DNSZone{Spec: v1beta1.DNSZoneSpec{ClusterRef: c.cluster, ClusterProviderRef: c.older,
				Bind9InstancesFrom: c.from}}
			z.Namespace = "dns"
			got, err := dialect.FleetOf(z, append(all, all...))
			if err != nil || serverNames(got.Instances) != c.want || serverNames(got.Refused) != c.refused {
				t.Errorf("it is on %s, refused by %s, %v; want %s, refused by %s", serverNames(got.Instances),
					serverNames(got.Refused), err, c.want, c.refused)
			}
		})
	}
	if _, err := dialect.FleetOf(&v1beta1.DNSZone{Spec: v1beta1.DNSZoneSpec{ClusterRef: "a", ClusterProviderRef: "b"}},
		all); err == nil {
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
		{}, {ClusterRef: "main"}, {ClusterProviderRef: "main"}, {Bind9InstancesFrom: make([]v1beta1.InstanceSelection, 1)},
		{ClusterProviderRef: "main", Bind9InstancesFrom: make([]v1beta1.InstanceSelection, 1)},
	} {
		z := &v1beta1.DNSZone{Spec: spec}
		z.Namespace, z.Name = "dns", "example"
		told = append(told, dialect.NoFleet(z))
	}
	const way = "If ClusterBind9Provider main has dns among its namespaces, its conditions say whether instances are " +
		"still being created; else add it there, select instances of other namespaces with bind9InstancesFrom, or correct " +
		"clusterProviderRef."
	want := []string{
		"DNSZone dns/example names no servers; set clusterRef or bind9InstancesFrom.",
		"No Bind9Instance of namespace dns belongs to main, the clusterRef of DNSZone dns/example. If there is a cluster " +
			"main, its conditions say whether its instances are still being created; else create it, add dns to the " +
			"namespaces of " +
			"ClusterBind9Provider main, if that is meant, select instances of other namespaces with bind9InstancesFrom, or " +
			"correct clusterRef.",
		"No Bind9Instance of namespace dns belongs to main, the clusterProviderRef of DNSZone dns/example. " + way,
		"The bind9InstancesFrom of DNSZone dns/example selects no Bind9Instance; those of another namespace must be in one " +
			"of its namespaces, and allow namespace dns with the annotation " +
			"bindy.firestoned.io/allow-zone-namespaces.",
		"No Bind9Instance of namespace dns belongs to main, the clusterProviderRef of DNSZone dns/example, and its " +
			"bind9InstancesFrom selects none; those of another namespace must be in one of its namespaces, and allow " +
			"namespace dns with the annotation bindy.firestoned.io/allow-zone-namespaces. " + way,
	}
	if !slices.Equal(told, want) {
		t.Errorf("told is\n%s", strings.Join(told, "\n"))
	}
}

// TestWhatInstancesOfOtherNamespacesMayDo has somebody label a server so that a zone of another namespace selects it,
// and allow every zone.
func TestWhatInstancesOfOtherNamespacesMayDo(t *testing.T) {
	own, other := aServer("dns/own", "", "blue", ""), aServer("another/other", "", "blue", "*")
	own.Status.ServiceAddress, other.Status.ServiceAddress = "192.0.2.1", "192.0.2.2"
	for _, c := range []struct {
		name       string
		namespaces []string
		usages     []v1beta1.InstanceUsage
		primaries  string
		addresses  string
		barred     string
	}{
		{"the zone does not name its namespace", nil, nil, "dns/own", "192.0.2.1", ""},
		{"nor do usages alone", nil, []v1beta1.InstanceUsage{v1beta1.UsageAddresses, v1beta1.UsageSigning}, "dns/own",
			"192.0.2.1", ""},
		{"it names the namespace", []string{"another", "dns"}, nil, "another/other dns/own", "192.0.2.1", "another/other"},
		{"for addresses too", []string{"another", "dns"}, []v1beta1.InstanceUsage{v1beta1.UsageAddresses},
			"another/other dns/own", "192.0.2.2 192.0.2.1", "another/other"},
		{"for signatures too", []string{"another", "dns"}, []v1beta1.InstanceUsage{v1beta1.UsageSigning},
			"another/other dns/own", "192.0.2.1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := &v1beta1.DNSZone{Spec: v1beta1.DNSZoneSpec{Bind9InstancesFrom: []v1beta1.InstanceSelection{{
				Selection: v1beta1.Selection{Selector: withLabels(map[string]string{"team": "blue"})}, Namespaces: c.namespaces,
				Usages: c.usages,
			}}}}
			z.Namespace = "dns"
			got := fleetFor(z, []*v1beta1.Bind9Instance{own, other}, nil)
			for _, is := range []struct{ what, is, want string }{
				{"primaries", keyNames(got.primaries), c.primaries}, {"barred", keyNames(got.barred), c.barred},
				{"addresses", strings.Trim(fmt.Sprint(got.addresses), "[]"), c.addresses},
			} {
				if is.is != is.want {
					t.Errorf("the %s are %s, want %s", is.what, is.is, is.want)
				}
			}
			if got.refused != 0 {
				t.Errorf("%d instances of others are told of", got.refused)
			}
		})
	}
}

func keyNames(keys []client.ObjectKey) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.String()
	}
	return strings.Join(names, " ")
}

// TestWhoMaySignAZone has a server of another namespace be the first that could.
func TestWhoMaySignAZone(t *testing.T) {
	own, other, id := client.ObjectKey{Namespace: "dns", Name: "own"},
		client.ObjectKey{Namespace: "another", Name: "other"}, dialect.ZoneID("dns", "example")
	able, not := dialect.Signs{Policy: "ours"}, dialect.Signs{}
	for _, c := range []struct {
		name            string
		own, other      dialect.Signs
		barred          bool
		asked, was      string
		signed          bool
		signer, trouble string
		primaries       int
		gone            bool
	}{
		{"one of its own", able, able, true, "", "", false, "dns/own", "", 1, false},
		{"it may, and is the first", able, able, false, "", "", false, "another/other", "", 1, false},
		{"it would be the only one", not, able, true, "", "", false, "/", "may not", 2, false},
		{"it would be, and the zone is not to be signed", not, able, true, "none", "", false, "/", "", 2, false},
		{"it was, and has not signed yet", able, able, true, "", "another/other", false, "dns/own", "", 1, false},
		{"it was, and has the keys", able, able, true, "", "another/other", true, "another/other", "may not sign", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := &v1beta1.DNSZone{Spec: v1beta1.DNSZoneSpec{DNSSECPolicy: c.asked}}
			if c.was != "" {
				z.Status.DNSSEC = &v1beta1.ZoneDNSSEC{Signer: c.was, Signed: c.signed}
			}
			zones := &state{
				known: map[zone.ID]*known{id: {zone: z}}, fleets: map[zone.ID]fleetOf{},
				hosts: map[client.ObjectKey]*host{own: {signs: c.own}, other: {signs: c.other}},
			}
			f := fleetOf{primaries: []client.ObjectKey{other, own}}
			if c.barred {
				f.barred = []client.ObjectKey{other}
			}
			got := zones.withSigner(id, f)
			if s := got.signer; s.instance.String() != c.signer || !strings.Contains(s.trouble, c.trouble) ||
				(c.trouble == "") != (s.trouble == "") || s.gone != c.gone {
				t.Errorf("the signer is %+v", s)
			}
			if len(got.primaries) != c.primaries {
				t.Errorf("the primaries are %v", got.primaries)
			}
		})
	}
}

// TestASignerWithoutItsKeysDoesNotSign has the one that signs a zone be created again, or have another volume.
func TestASignerWithoutItsKeysDoesNotSign(t *testing.T) {
	key, id := client.ObjectKey{Namespace: "dns", Name: "main-primary-0"}, dialect.ZoneID("dns", "example")
	for _, c := range []struct {
		name, had, has string
		signed, gone   bool
		keysIn         string
	}{
		{"it has them", "uid-1", "uid-1", true, false, "uid-1"},
		{"an earlier version has noted the instance", "uid-of-instance", "uid-1", true, false, "uid-1"},
		{"it was created again", "uid-1", "uid-2", true, true, "uid-1"},
		{"it was before anything was signed", "uid-1", "uid-2", false, false, "uid-2"},
		{"an earlier version has noted none", "", "uid-1", true, false, "uid-1"},
		{"where it has them is not known", "uid-1", "", true, false, "uid-1"},
		{"it was created again with the claim that has them", "bindy-keys", "bindy-keys", true, false, "bindy-keys"},
		{"it has another claim", "bindy-keys", "bindy-others", true, true, "bindy-keys"},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := &v1beta1.DNSZone{}
			z.Status.DNSSEC = &v1beta1.ZoneDNSSEC{Signer: key.String(), Signed: c.signed, KeysIn: c.had}
			zones := &state{
				known: map[zone.ID]*known{id: {zone: z}}, fleets: map[zone.ID]fleetOf{},
				hosts: map[client.ObjectKey]*host{key: {signs: dialect.Signs{Policy: "ours", KeysIn: c.has,
					Former: "uid-of-instance"}}},
			}
			for range 2 { // the second time, it remembers
				got := zones.withSigner(id, fleetOf{primaries: []client.ObjectKey{key}})
				if s := got.signer; s.instance != key || s.gone != c.gone || (len(got.primaries) == 0) != c.gone ||
					strings.Contains(s.trouble, "has lost the keys of the zone") != c.gone {
					t.Errorf("the signer is %+v", s)
				}
				if is := zones.known[id].keysIn; is != c.keysIn {
					t.Errorf("the keys are in %q", is)
				}
			}
		})
	}
}

// TestTheSignerIsTheFirstThatCan has primaries become known one after the other: the last ones of a cluster go first
// when it has fewer.
func TestTheSignerIsTheFirstThatCan(t *testing.T) {
	able, not := &host{signs: dialect.Signs{Policy: "ours"}}, &host{signs: dialect.Signs{Policy: "ours", Trouble: "No."}}
	for _, c := range []struct {
		name, asked     string
		hosts           []*host // of the primaries; nil: it is not known yet
		signer, trouble string
	}{
		{"all are known", "", []*host{able, able, able}, "dns/main-primary-0", ""},
		{"the first is not known", "", []*host{nil, able, able}, "/", ""},
		{"the second is not known", "", []*host{able, nil, able}, "dns/main-primary-0", ""},
		{"the first cannot, and the second is not known", "", []*host{not, nil, able}, "/", ""},
		{"the first cannot", "", []*host{not, able, able}, "dns/main-primary-1", ""},
		{"the first has no policy of the name", "theirs", []*host{{}, able, able}, "/", "has no DNSSEC policy theirs"},
		{"none can", "", []*host{not, not, not}, "/", "No."},
	} {
		t.Run(c.name, func(t *testing.T) {
			zones, primaries := &state{hosts: map[client.ObjectKey]*host{}}, []client.ObjectKey{}
			for i, h := range c.hosts {
				key := client.ObjectKey{Namespace: "dns", Name: fmt.Sprintf("main-primary-%d", i)}
				primaries = append(primaries, key)
				if h != nil {
					zones.hosts[key] = h
				}
			}
			signer, trouble := zones.chooseSigner(c.asked, primaries)
			if signer.String() != c.signer || !strings.Contains(trouble, c.trouble) || (c.trouble == "") != (trouble == "") {
				t.Errorf("the signer is %s, with %q", signer, trouble)
			}
		})
	}
}
