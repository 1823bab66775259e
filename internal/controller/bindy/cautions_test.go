package bindy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

func TestWhatAboutAServerDeservesALook(t *testing.T) {
	const hidden, open, unused = v1beta1.ReasonClientsHidden, v1beta1.ReasonOpenResolver, v1beta1.ReasonNotUsed
	for _, c := range []struct{ name, cluster, want string }{
		{"nothing said", `{}`, ""},
		{"a load balancer", `{primary: {service: {spec: {type: LoadBalancer}}}}`, hidden},
		{"ports of nodes", `{primary: {service: {spec: {type: NodePort, externalTrafficPolicy: Cluster}}}}`, hidden},
		{"one that keeps the addresses of clients", `{primary: {service: {spec: {type: LoadBalancer, externalTrafficPolicy: Local}}}}`, ""},
		{"recursion for those nearby, which is BIND's own default", `{global: {recursion: true}}`, ""},
		{"recursion for everybody", `{global: {recursion: true, allowQuery: [any]}}`, open},
		{"recursion for everybody, by a list", `{acls: {all: ["!192.0.2.1", 0.0.0.0/0]}, global: {recursion: true, allowQuery: [all]}}`, open},
		{"recursion for some", `{global: {recursion: true, allowQuery: [192.0.2.0/24, "!any"]}}`, ""},
		{"recursion for nobody", `{acls: {none_: []}, global: {recursion: true, allowQuery: [none_]}}`, ""},
		{"recursion where nodes stand for clients", `{global: {recursion: true}, primary: {service: {spec: {type: NodePort}}}}`, hidden + " " + open},
		{"no recursion for everybody", `{global: {allowQuery: [any]}}`, ""},
		{"keys that nothing uses", `{rndcSecretRefs: [{name: transfer-key}]}`, unused},
		{"keys that nothing uses, and recursion for everybody", `{rndcSecretRefs: [{name: transfer-key}], global: {recursion: true, allowQuery: [any]}}`, open + " " + unused},
		{"options of the user's", `{configMapRefs: {namedConfOptions: mine}, global: {recursion: true, allowQuery: [any]}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var spec v1beta1.CommonSpec
			if err := yaml.UnmarshalStrict([]byte(c.cluster), &spec); err != nil {
				t.Fatal(err)
			}
			i := &v1beta1.Bind9Instance{Spec: v1beta1.Bind9InstanceSpec{Role: v1beta1.RolePrimary, ClusterRef: "dns"}}
			i.Namespace, i.Name = "a", "ns"
			p, err := planOf(i, &parent{kind: v1beta1.KindCluster, name: "dns", spec: &spec}, testSettings)
			if err != nil {
				t.Fatal(err)
			}
			var reasons []string
			for _, c := range p.cautions("Bind9Instance a/ns") {
				reasons = append(reasons, c.reason)
				if !strings.HasPrefix(c.message, "Bind9Instance a/ns ") || !strings.Contains(c.message, "; ") {
					t.Errorf("the message is %q", c.message)
				}
			}
			if got := strings.Join(reasons, " "); got != c.want {
				t.Errorf("the reasons are %q, want %q", got, c.want)
			}
			spec.PrimaryReplicas = new(int32)
			*spec.PrimaryReplicas = 2
			notes := notes(fleetCautions("Bind9Cluster dns", "dns", &spec, testSettings))
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
	i := &v1beta1.Bind9Instance{Spec: v1beta1.Bind9InstanceSpec{Role: v1beta1.RoleSecondary, PrimaryServers: v1beta1.Addresses{"192.0.2.10"}}}
	i.Namespace, i.Name = "a", "ns"
	p, err := planOf(i, nil, testSettings)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.cautions("Bind9Instance a/ns"); len(got) != 1 || got[0].reason != v1beta1.ReasonNotUsed || !strings.Contains(got[0].message, "primaryServers") {
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

// TestAServiceThatIsShownToTheOutsideForAWhile has the type change, and with it who may reach the sidecar.
func TestAServiceThatIsShownToTheOutsideForAWhile(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	s.apply(instanceManifest, a, "ns", `role: Primary`)
	s.isInstance(a, "ns", "True", "AllReady")
	const inside, outside = "dns-tcp dns-udp http http-80", "dns-tcp dns-udp"
	for _, step := range []struct{ spec, ports, warning string }{
		{`null`, inside, ""},
		{`{"type":"NodePort"}`, outside, v1beta1.ReasonClientsHidden},
		{`{"type":"LoadBalancer","externalTrafficPolicy":"Local"}`, outside, ""},
		{`{"type":"ClusterIP"}`, inside, ""},
	} {
		s.patch(s.instance(a, "ns"), `{"spec":{"bindcarConfig":{"serviceSpec":null}}}`)
		s.patch(s.instance(a, "ns"), `{"spec":{"bindcarConfig":{"serviceSpec":`+step.spec+`}}}`)
		s.eventually("the Services with "+step.spec, func() string {
			dns, api := &corev1.Service{ObjectMeta: named(a, "ns")}, &corev1.Service{ObjectMeta: named(a, "ns-bindcar")}
			if !s.get(dns) || !s.get(api) {
				return "one of them is not there"
			}
			var names []string
			for _, p := range dns.Spec.Ports {
				names = append(names, p.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != step.ports || api.Spec.Type != corev1.ServiceTypeClusterIP || len(api.Spec.Ports) != 2 {
				return fmt.Sprintf("that for DNS has the ports %s, the other is %+v", got, api.Spec)
			}
			return ""
		})
		s.eventually("the warning with "+step.spec, func() string {
			got := ""
			if c := meta.FindStatusCondition(s.instance(a, "ns").Status.Conditions, controller.ConditionWarning); c != nil {
				got = c.Reason
			}
			if got != step.warning {
				return fmt.Sprintf("it is %q", got)
			}
			return ""
		})
	}
	s.isInstance(a, "ns", "True", "AllReady")
}
