package bindy

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func TestWhatAboutAServerDeservesALook(t *testing.T) {
	const hidden, open, unused = v1beta1.ReasonClientsHidden, v1beta1.ReasonOpenResolver, v1beta1.ReasonNotUsed
	for _, c := range []struct{ name, cluster, want string }{
		{"nothing said", `{}`, ""},
		{"a load balancer", `{primary: {service: {spec: {type: LoadBalancer}}}}`, hidden},
		{"ports of nodes", `{primary: {service: {spec: {type: NodePort, externalTrafficPolicy: Cluster}}}}`, hidden},
		{"one that keeps the addresses of clients",
			`{primary: {service: {spec: {type: LoadBalancer, externalTrafficPolicy: Local}}}}`, ""},
		{"recursion for those nearby, which is BIND's own default", `{global: {recursion: true}}`, ""},
		{"recursion for everybody", `{global: {recursion: true, allowQuery: [any]}}`, open},
		{"recursion for everybody, by a list",
			`{acls: {all: ["!192.0.2.1", 0.0.0.0/0]}, global: {recursion: true, allowQuery: [all]}}`, open},
		{"recursion for some", `{global: {recursion: true, allowQuery: [192.0.2.0/24, "!any"]}}`, ""},
		{"recursion for nobody", `{acls: {none_: []}, global: {recursion: true, allowQuery: [none_]}}`, ""},
		{"recursion where nodes stand for clients",
			`{global: {recursion: true}, primary: {service: {spec: {type: NodePort}}}}`, hidden + " " + open},
		{"no recursion for everybody", `{global: {allowQuery: [any]}}`, ""},
		{"keys that nothing uses", `{rndcSecretRefs: [{name: transfer-key}]}`, unused},
		{"keys that nothing uses, and recursion for everybody",
			`{rndcSecretRefs: [{name: transfer-key}], global: {recursion: true, allowQuery: [any]}}`, open + " " + unused},
		{"a key whose text is in the spec",
			`{primary: {rndcKey: {secret: {metadata: {name: mine}, stringData: {secret: c2VjcmV0}}}}}`, unused},
		{"a key whose text is in the spec, of the other role",
			`{secondary: {rndcKey: {secret: {metadata: {name: mine}, data: {secret: c2VjcmV0}}}}}`, ""},
		{"labels for the Secret of a key", `{primary: {rndcKey: {secret: {metadata: {name: mine, labels: {team: web}}}}}}`,
			""},
		{"options of the user's", `{configMapRefs: {namedConfOptions: mine}, global: {recursion: true, allowQuery: [any]}}`,
			""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var spec v1beta1.CommonSpec
			if err := yaml.UnmarshalStrict([]byte(c.cluster), &spec); err != nil {
				t.Fatal(err)
			}
			i := &v1beta1.Bind9Instance{Spec: v1beta1.Bind9InstanceSpec{Role: v1beta1.RolePrimary, ClusterRef: "dns"}}
			i.Namespace, i.Name = "a", "ns"
			p, err := PlanOf(i, &Parent{Kind: v1beta1.KindCluster, Name: "dns", Spec: &spec}, testSettings)
			if err != nil {
				t.Fatal(err)
			}
			var reasons []string
			for _, c := range p.Cautions("Bind9Instance a/ns") {
				reasons = append(reasons, c.Reason)
				if !strings.HasPrefix(c.Message, "Bind9Instance a/ns ") || !strings.Contains(c.Message, "; ") {
					t.Errorf("the message is %q", c.Message)
				}
			}
			if got := strings.Join(reasons, " "); got != c.want {
				t.Errorf("the reasons are %q, want %q", got, c.want)
			}
			spec.PrimaryReplicas = new(int32)
			*spec.PrimaryReplicas = 2
			notes := Notes(fleetCautions("Bind9Cluster dns", "dns", &spec, testSettings))
			for n, note := range notes {
				if !strings.HasPrefix(note, fmt.Sprintf("note (%s): Each primary of Bind9Cluster dns ", reasons[n])) {
					t.Errorf("of the cluster is said %q", note)
				}
			}
			if len(notes) != len(reasons) {
				t.Errorf("of the cluster is said %q", notes)
			}
		})
	}
}

func TestPrimaryServersAreNotUsed(t *testing.T) {
	i := &v1beta1.Bind9Instance{Spec: v1beta1.Bind9InstanceSpec{Role: v1beta1.RoleSecondary,
		PrimaryServers: v1beta1.Addresses{"192.0.2.10"}}}
	i.Namespace, i.Name = "a", "ns"
	p, err := PlanOf(i, nil, testSettings)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Cautions("Bind9Instance a/ns"); len(got) != 1 || got[0].Reason != v1beta1.ReasonNotUsed ||
		!strings.Contains(got[0].Message, "primaryServers") {
		t.Errorf("of primaryServers is said %v", got)
	}
}

func TestNamesOfTheServicesOfSidecars(t *testing.T) {
	long := strings.Repeat("a", 62)
	for _, c := range []struct{ instance, want string }{
		{"dns-primary-0", "dns-primary-0-bindcar"},
		{strings.Repeat("a", 55), strings.Repeat("a", 55) + "-bindcar"},
	} {
		if got := apiServiceName(c.instance); got != c.want {
			t.Errorf("that of %s is %s, want %s", c.instance, got, c.want)
		}
	}
	one, other := apiServiceName(long+"0"), apiServiceName(long+"1")
	if one == other || len(one) != maxServiceName || !strings.HasSuffix(one, "-bindcar") {
		t.Errorf("those of long names are %s and %s", one, other)
	}
}
