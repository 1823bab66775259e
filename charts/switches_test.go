package charts_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const mutating = "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"

const (
	monitoring = "monitoring.coreos.com/v1/ServiceMonitor"
	alerting   = "monitoring.coreos.com/v1/PrometheusRule"
)

// policies are ValidatingAdmissionPolicies and what binds them, by what they restrict.
func policies(about ...string) (names []string) {
	for _, what := range about {
		names = append(names, "ValidatingAdmissionPolicy zonefold-"+what, "ValidatingAdmissionPolicyBinding zonefold-"+what)
	}
	return names
}

// fleetPolicies are those that the dialect bindy brings.
func fleetPolicies() []string {
	return policies("children", "fleets", "services", "workloads", "accounts", "bindings")
}

func TestSwitchesAddAndRemoveObjects(t *testing.T) {
	usual := mustRender(t, "").names(t)
	hooks := []string{"CustomResourceDefinition dnsclasses.dns.homelab.mortenolsen.pro",
		"CustomResourceDefinition dnsrecords.dns.homelab.mortenolsen.pro",
		"MutatingAdmissionPolicy zonefold-dnsrecords", "MutatingAdmissionPolicyBinding zonefold-dnsrecords"}
	zones := []string{"Service zonefold-dns", "CustomResourceDefinition zones.kubi.zone",
		"CustomResourceDefinition records.kubi.zone", "CustomResourceDefinition backends.zonefold.dev",
		"CustomResourceDefinition zoneslices.zonefold.dev"}
	others := append(append(policies("freezes"), "CustomResourceDefinition zonerevisions.zonefold.dev"), zones...)
	for name, c := range map[string]struct {
		values  string
		apis    []string
		added   []string
		removed []string
	}{
		"nothing is said": {},
		"no name server":  {values: "dns: {enabled: false}", removed: []string{"Service zonefold-dns"}},
		"dashboards": {values: "dashboards: {enabled: true}", added: []string{"ConfigMap zonefold-dashboard-account",
			"ConfigMap zonefold-dashboard-fleet", "ConfigMap zonefold-dashboard-overview", "ConfigMap zonefold-dashboard-server",
			"ConfigMap zonefold-dashboard-way", "ConfigMap zonefold-dashboard-webhook"}},
		"dashboards without metrics": {values: "dashboards: {enabled: true}\nmetrics: {enabled: false}"},
		"no zones to answer for": {values: only("bindy"), removed: zones,
			added: append(fleetKinds(t), append(fleetPolicies(), "ClusterRole zonefold-bindcar",
				"ClusterRoleBinding zonefold-bindcar")...)},
		"servers without admission policies": {values: "dialects: {bindy: true}\nbindy: {admission: {enabled: false, " +
			"images: [a/]}}",
			added: append(fleetKinds(t), append(fleetPolicies(), "ClusterRole zonefold-bindcar",
				"ClusterRoleBinding zonefold-bindcar")...)},
		"no policies":     {values: "rbac: {policies: false}", removed: policies("specs", "secrets", "freezes")},
		"dynamic updates": {values: "updates: true", added: policies("updates")},
		"the protocol of external-dns": {values: "externalDNS: {enabled: true}",
			added: append(policies("updates"), "Service zonefold-external-dns")},
		"the protocol of external-dns without a name server": {
			values:  "externalDNS: {enabled: true}\ndns: {enabled: false}",
			removed: []string{"Service zonefold-dns"}},
		"images of some registries": {values: "dialects: {bindy: true}\nbindy: {admission: {images: [a/]}}",
			added: append(fleetKinds(t), append(append(fleetPolicies(), policies("images")...), "ClusterRole zonefold-bindcar",
				"ClusterRoleBinding zonefold-bindcar")...)},
		"no admission": {values: "admission: {enabled: false}", removed: []string{"ValidatingWebhookConfiguration zonefold",
			"Service zonefold-admission"}},
		"an API to inspect objects": {values: "inspect: {enabled: true}", added: append(policies("inspect"),
			"APIService v1alpha1.inspect.zonefold.dev", "ClusterRole zonefold-inspect", "ClusterRoleBinding zonefold-inspect",
			"RoleBinding kube-system/zonefold-operator-authentication")},
		"an API to inspect objects without a certificate": {
			values:  "inspect: {enabled: true}\nadmission: {enabled: false}",
			removed: []string{"ValidatingWebhookConfiguration zonefold", "Service zonefold-admission"}},
		"the console": {values: "console: {enabled: true}", added: consoleObjects},
		"the console without rights and network policy": {
			values: "{console: {enabled: true}, rbac: {create: false}, networkPolicy: {enabled: false}}",
			added:  []string{"ServiceAccount zonefold-console", "Deployment zonefold-console", "Service zonefold-console"},
			removed: []string{"ClusterRole zonefold-operator", "ClusterRoleBinding zonefold-operator",
				"Role zonefold-operator", "RoleBinding zonefold-operator", "NetworkPolicy zonefold-operator"}},
		"certificates of cert-manager": {values: "admission: {certManager: {enabled: true}}", added: []string{
			"Certificate zonefold-admission", "Issuer zonefold-admission",
		}},
		"certificates of an Issuer that there is": {
			values: "admission: {certManager: {enabled: true, issuerRef: {kind: ClusterIssuer, name: ca}}}", added: []string{
				"Certificate zonefold-admission"},
		},
		"no network policy": {
			values: "networkPolicy: {enabled: false}", removed: []string{"NetworkPolicy zonefold-operator"},
		},
		"no budget": {
			values: "podDisruptionBudget: {enabled: false}", removed: []string{"PodDisruptionBudget zonefold-operator"},
		},
		"another ServiceAccount": {
			values: "serviceAccount: {create: false, name: mine}", removed: []string{"ServiceAccount zonefold-operator"},
		},
		"rights of somebody else": {values: "rbac: {create: false}", removed: []string{
			"ClusterRole zonefold-operator", "ClusterRoleBinding zonefold-operator", "Role zonefold-operator",
			"RoleBinding zonefold-operator",
		}},
		"DNSRecords that the API server marks": {values: only("homelab") + "\nhomelab: {marks: true}",
			apis: []string{mutating}, added: hooks, removed: others},
		"an API server that cannot mark them": {values: only("homelab") + "\nhomelab: {marks: true}", added: hooks[:2],
			removed: others},
		"DNSRecords that nobody marks": {values: only("homelab"), apis: []string{mutating}, added: hooks[:2],
			removed: others},
		"marks where there are no DNSRecords": {values: "homelab: {marks: true}", apis: []string{mutating}},
		"a Service for figures": {values: "metrics: {service: {enabled: true}}", added: []string{
			"Service zonefold-metrics"}},
		"a ServiceMonitor where the API is": {
			values: "metrics: {serviceMonitor: {enabled: true}}", apis: []string{monitoring},
			added: []string{"Service zonefold-metrics", "ServiceMonitor zonefold-operator"},
		},
		"a ServiceMonitor where the API is not": {values: "metrics: {serviceMonitor: {enabled: true}}"},
		"a ServiceMonitor in any case": {
			values: "metrics: {serviceMonitor: {enabled: true, force: true}}",
			added:  []string{"Service zonefold-metrics", "ServiceMonitor zonefold-operator"},
		},
		"alerts where the API is": {values: "metrics: {prometheusRule: {enabled: true}}", apis: []string{alerting},
			added: []string{"PrometheusRule zonefold-operator"}},
		"alerts where the API is not": {values: "metrics: {prometheusRule: {enabled: true}}"},
		"alerts in any case": {values: "metrics: {prometheusRule: {enabled: true, force: true}}",
			added: []string{"PrometheusRule zonefold-operator"}},
		"alerts without figures": {
			values: "metrics: {enabled: false, prometheusRule: {enabled: true, force: true}}",
		},
		"figures for those who may": {values: "metrics: {protected: true}",
			added: []string{"ClusterRole zonefold-metrics"}},
		"the API without being asked": {apis: []string{monitoring, alerting}},
		"a ServiceMonitor without figures": {
			values: "metrics: {enabled: false, service: {enabled: true}, serviceMonitor: {enabled: true, force: true}}",
		},
		"Secrets of two namespaces alone": {
			values: only("homelab") + "\nsecretsNamespaces: [a, b]", removed: others, added: append(slices.Clone(hooks[:2]),
				"Role a/zonefold-operator-secrets", "RoleBinding a/zonefold-operator-secrets", "Role b/zonefold-operator-secrets",
				"RoleBinding b/zonefold-operator-secrets"),
		},
		"credentials of another namespace": {
			values: "credentialsNamespaces: [a]",
			added:  []string{"Role a/zonefold-operator-credentials", "RoleBinding a/zonefold-operator-credentials"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := maps.Clone(usual)
			for _, name := range c.removed {
				if want[name] == nil {
					t.Fatalf("%s is not there in the first place", name)
				}
				delete(want, name)
			}
			for _, name := range c.added {
				want[name] = nil
			}
			got := mustRender(t, c.values, c.apis...).names(t)
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
				t.Errorf("with %q there is (-want +got):\n%s", c.values, diff)
			}
		})
	}
}

// fleetKinds are the CustomResourceDefinitions of the dialect bindy.
func fleetKinds(t *testing.T) []string {
	t.Helper()
	var out []string
	for file := range configured(t, "crd") {
		if group, plural, _ := strings.Cut(strings.TrimSuffix(file, ".yaml"), "_"); group == "bindy.firestoned.io" {
			out = append(out, "CustomResourceDefinition "+plural+"."+group)
		}
	}
	return out
}

func TestTheNotesSayWhatIsMissing(t *testing.T) {
	if notes := mustRender(t, "metrics: {serviceMonitor: {enabled: true}}").notes; !strings.Contains(notes,
		"There is no ServiceMonitor") {
		t.Errorf("the notes do not say that there is no ServiceMonitor:\n%s", notes)
	}
	if notes := mustRender(t, everything).notes; strings.Contains(notes, "There is no ServiceMonitor") ||
		!strings.Contains(notes, "bindy, gardener, homelab, kubizone") {
		t.Errorf("the notes are:\n%s", notes)
	}
}

func TestTheNotesSayWhetherTheClusterIsOpen(t *testing.T) {
	const open, restricted = "This cluster is open while no Backend has grants",
		"No namespace has a root Zone before a Backend grants it one"
	for _, c := range []struct {
		name, values, says, hides string
	}{
		{"by default it is", "", open, restricted},
		{"with grants required it is not", "requireGrants: true", restricted, open},
		{"without Zones there is nothing to say", only("homelab"), "", "root Zone"},
	} {
		if notes := mustRender(t, c.values).notes; !strings.Contains(notes, c.says) || strings.Contains(notes, c.hides) {
			t.Errorf("%s: the notes are:\n%s", c.name, notes)
		}
	}
}

func TestTheEnvironmentOfHomelab(t *testing.T) {
	variables := func(values string) map[string]string {
		out := map[string]string{}
		for _, v := range container(t, mustRender(t, values)).Env {
			if strings.HasPrefix(v.Name, "DNS_") {
				out[v.Name] = v.Value
			}
		}
		return out
	}
	want := map[string]string{"DNS_CLASS_HEALTH_CHECK_INTERVAL": "1h30m", "DNS_RECORD_RETRY_BASE_DELAY": "1s",
		"DNS_RECORD_RETRY_MAX_DELAY": "2m", "DNS_RECORD_RETRY_MAX_ATTEMPTS": "0"}
	if diff := cmp.Diff(want, variables(everything)); diff != "" {
		t.Errorf("the environment (-want +got):\n%s", diff)
	}
	for _, values := range []string{only("homelab"), "homelab: {retryBaseDelay: 1s}"} {
		if got := variables(values); len(got) > 0 {
			t.Errorf("with %q there is %v", values, got)
		}
	}
}

func TestFlagsFollowTheValues(t *testing.T) {
	const reviewed = "--admission-bind-address=:9443"
	for values, want := range map[string][]string{
		"": {"--leader-elect", "--dialects=kubizone", "--dns-bind-address=:5353",
			"--metrics-bind-address=:8080", reviewed},
		"dns: {enabled: false}": {"--leader-elect", "--dialects=kubizone", "--dns-bind-address=0",
			"--metrics-bind-address=:8080", reviewed},
		"metrics: {protected: true, certificate: tls}": {"--leader-elect", "--dialects=kubizone", "--dns-bind-address=:5353",
			"--metrics-bind-address=:8080", "--metrics-protected",
			"--metrics-cert-dir=/etc/zonefold/metrics", reviewed},
		"dns: {service: {type: LoadBalancer}}": {"--leader-elect", "--dialects=kubizone",
			"--dns-bind-address=:5353", "--dns-clients-hidden", "--metrics-bind-address=:8080", reviewed},
		"dns: {service: {type: LoadBalancer, externalTrafficPolicy: Local}}": {"--leader-elect", "--dialects=kubizone",
			"--dns-bind-address=:5353", "--metrics-bind-address=:8080", reviewed},
		"metrics: {enabled: false}": {"--leader-elect", "--dialects=kubizone",
			"--dns-bind-address=:5353", "--metrics-bind-address=0", reviewed},
		"credentialsNamespaces: [a, b]": {"--leader-elect", "--dialects=kubizone",
			"--dns-bind-address=:5353", "--metrics-bind-address=:8080", reviewed, "--credentials-namespaces=a,b"},
		"admission: {enabled: false}": {"--leader-elect", "--dialects=kubizone",
			"--dns-bind-address=:5353", "--metrics-bind-address=:8080"},
		"admission: {certManager: {enabled: true}}": {"--leader-elect", "--dialects=kubizone", "--dns-bind-address=:5353",
			"--metrics-bind-address=:8080", reviewed,
			"--admission-cert-dir=/etc/zonefold/admission"},
		only("homelab") + "\nhomelab: {missingClassWarns: true}": {"--leader-elect", "--dialects=homelab",
			"--dns-bind-address=0", "--metrics-bind-address=:8080", reviewed,
			"--admission-missing-class-warns"},
		only("bindy"): {"--leader-elect", "--dialects=bindy", "--dns-bind-address=0", "--metrics-bind-address=:8080",
			reviewed, "--bindy-namespace=dns-system",
			"--bind9-image=internetsystemsconsortium/bind9"},
		only("gardener"): {"--leader-elect", "--dialects=gardener", "--dns-bind-address=0", "--metrics-bind-address=:8080",
			reviewed, "--gardener-classes=shoot"},
		only("gardener") + "\ngardenerExtension: {types: [powerdns, rfc2136], endpoints: {b: 'https://b', a: 'https://a'}, " +
			"seed: true, admission: true, ignoreOperationAnnotation: true}": {"--leader-elect", "--dialects=gardener",
			"--dns-bind-address=0", "--metrics-bind-address=:8080", reviewed, "--gardener-types=powerdns,rfc2136",
			"--gardener-endpoints=a=https://a,b=https://b", "--gardener-classes=shoot",
			"--gardener-ignore-operation-annotation", "--gardener-seed", "--gardener-heartbeat-interval=30s",
			"--gardener-admission"},
		"requireGrants: true": {"--leader-elect", "--dialects=kubizone", "--dns-bind-address=:5353",
			"--metrics-bind-address=:8080", reviewed, "--require-grants"},
		"extraArgs: [--verbose, --a=10]": {"--leader-elect", "--dialects=kubizone", "--dns-bind-address=:5353",
			"--metrics-bind-address=:8080", reviewed, "--verbose", "--a=10"},
	} {
		if diff := cmp.Diff(want, container(t, mustRender(t, values)).Args); diff != "" {
			t.Errorf("the flags with %q (-want +got):\n%s", values, diff)
		}
	}
}

func TestANameServerThatGoesAnswersForAMoment(t *testing.T) {
	for values, want := range map[string]*corev1.Lifecycle{
		"":                                 {PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 5}}},
		"dns: {enabled: false}":            nil,
		only("bindy"):                      nil,
		"terminationGracePeriodSeconds: 3": nil, // the API server refuses a longer sleep
	} {
		if diff := cmp.Diff(want, container(t, mustRender(t, values)).Lifecycle); diff != "" {
			t.Errorf("what a container does before it ends with %q (-want +got):\n%s", values, diff)
		}
	}
}

func TestImagesAreNamedByDigestElseByTag(t *testing.T) {
	for values, want := range map[string]string{
		"": "zonefold/operator:" + load(t).AppVersion(),
		"image: {repository: example.org:5000/dns/operator, tag: dev}": "example.org:5000/dns/operator:dev",
		"image: {tag: 1}":        "zonefold/operator:1", // as --set image.tag=1 has it
		"image: {tag: 0}":        "zonefold/operator:0",
		"image: {tag: null}":     "zonefold/operator:" + load(t).AppVersion(),
		"image: {tag: 20261123}": "zonefold/operator:20261123",
		`image: {tag: dev, digest: "sha256:` + digest + `"}`: "zonefold/operator@sha256:" + digest,
	} {
		if got := container(t, mustRender(t, values)).Image; got != want {
			t.Errorf("the image with %q is %s, and should be %s", values, got, want)
		}
	}
}

func TestPodsSpreadAsTheirConstraintsSay(t *testing.T) {
	for values, want := range map[string]*metav1.LabelSelector{
		"": {MatchLabels: map[string]string{"app.kubernetes.io/name": "zonefold-operator"}},
		"labelSelector: {matchExpressions: [{key: a, operator: Exists}]}": {
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}},
		"labelSelector: {matchLabels: {a: b}}": {MatchLabels: map[string]string{"a": "b"}},
		"labelSelector: {}":                    {},
	} {
		r := mustRender(t, "topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, "+values+"}]")
		got := deployment(t, r).Spec.Template.Spec.TopologySpreadConstraints
		if len(got) != 1 || got[0].TopologyKey != "rack" || !cmp.Equal(got[0].LabelSelector, want) {
			t.Errorf("with %q the Pods spread by %+v, not by %v", values, got, want)
		}
	}
}

func TestPodsGetWhatIsSaidOfThem(t *testing.T) {
	r := mustRender(t, everything)
	d := deployment(t, r)
	pod, c := d.Spec.Template.Spec, container(t, r)
	if *d.Spec.Replicas != 2 || pod.PriorityClassName != "system-cluster-critical" ||
		pod.NodeSelector["kubernetes.io/os"] != "linux" ||
		len(pod.Tolerations) != 1 || pod.Affinity.NodeAffinity == nil || pod.ImagePullSecrets[0].Name != "registry" {
		t.Errorf("the Pods are %+v", pod)
	}
	if l := d.Spec.Template.Labels; l["a"] != "b" ||
		l["app.kubernetes.io/name"] != d.Spec.Selector.MatchLabels["app.kubernetes.io/name"] {
		t.Errorf("the Pods' labels are %v", l)
	}
	fields := map[string]string{}
	for _, variable := range c.Env {
		if variable.ValueFrom == nil {
			fields[variable.Name] = variable.Value
		} else {
			fields[variable.Name] = variable.ValueFrom.FieldRef.FieldPath
		}
	}
	want := map[string]string{"POD_IP": "status.podIP", "POD_NAMESPACE": "metadata.namespace",
		"POD_SERVICE_ACCOUNT": "spec.serviceAccountName", "GOGC": "100",
		"DNS_CLASS_HEALTH_CHECK_INTERVAL": "1h30m", "DNS_RECORD_RETRY_BASE_DELAY": "1s", "DNS_RECORD_RETRY_MAX_DELAY": "2m",
		"DNS_RECORD_RETRY_MAX_ATTEMPTS": "0"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("the environment (-want +got):\n%s", diff)
	}
	if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("the probes are %v and %v", c.LivenessProbe, c.ReadinessProbe)
	}
	if memory := c.Resources.Limits.Memory().String(); memory != "1Gi" {
		t.Errorf("the limit of memory is %s", memory)
	}
	for _, constraint := range pod.TopologySpreadConstraints {
		if diff := cmp.Diff(d.Spec.Selector, constraint.LabelSelector); diff != "" ||
			constraint.WhenUnsatisfiable != corev1.ScheduleAnyway {
			t.Errorf("the Pods spread by %+v", constraint)
		}
	}
	if len(pod.TopologySpreadConstraints) != 2 {
		t.Errorf("the Pods spread by %v", pod.TopologySpreadConstraints)
	}
	if service := find[*corev1.Service](t, r, "Service zonefold-dns").Spec; service.Type != "LoadBalancer" ||
		service.ClusterIP != "10.0.0.53" ||
		*service.LoadBalancerClass != "x" || service.ExternalTrafficPolicy != "Local" ||
		service.LoadBalancerSourceRanges[0] != "192.0.2.0/24" {
		t.Errorf("the Service is %+v", service)
	}
	if monitor := find[*unstructured.Unstructured](t, r,
		"ServiceMonitor zonefold-operator"); monitor.GetLabels()["release"] != "prometheus" {
		t.Errorf("the ServiceMonitor has the labels %v", monitor.GetLabels())
	}
	if budget := find[*policy.PodDisruptionBudget](t, mustRender(t, `podDisruptionBudget: {maxUnavailable: "50%"}`),
		"PodDisruptionBudget zonefold-operator"); budget.Spec.MaxUnavailable.String() != "50%" {
		t.Errorf("the budget is %+v", budget.Spec)
	}
}

func TestBindingsNameTheServiceAccount(t *testing.T) {
	r := mustRender(t, "serviceAccount: {create: false, name: mine}\ncredentialsNamespaces: [a]")
	want := []rbac.Subject{{Kind: "ServiceAccount", Name: "mine", Namespace: namespace}}
	for name, got := range map[string][]rbac.Subject{
		"all":         find[*rbac.ClusterRoleBinding](t, r, "ClusterRoleBinding zonefold-operator").Subjects,
		"own":         find[*rbac.RoleBinding](t, r, "RoleBinding zonefold-operator").Subjects,
		"credentials": find[*rbac.RoleBinding](t, r, "RoleBinding a/zonefold-operator-credentials").Subjects,
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the binding of %s (-want +got):\n%s", name, diff)
		}
	}
	if got := deployment(t, r).Spec.Template.Spec.ServiceAccountName; got != "mine" {
		t.Errorf("the Pods run as %s", got)
	}
}

// TestTheNetworkPolicyLetsNeededPortsIn names every port that the Pods have, and who may reach it.
func TestTheNetworkPolicyLetsNeededPortsIn(t *testing.T) {
	type rule struct {
		ports string
		peers int // 0: everybody
	}
	ingress := func(values string) []rule {
		var out []rule
		for _, in := range find[*networking.NetworkPolicy](t, mustRender(t, values),
			"NetworkPolicy zonefold-operator").Spec.Ingress {
			var ports []string
			for _, port := range in.Ports {
				ports = append(ports, port.Port.String()+"/"+string(*port.Protocol))
			}
			out = append(out, rule{strings.Join(ports, " "), len(in.From)})
		}
		return out
	}
	const dns, figures, reviews, health = "5353/UDP 5353/TCP", "8080/TCP", "9443/TCP", "8081/TCP"
	for values, want := range map[string][]rule{
		"": {{dns, 0}, {figures, 0}, {reviews, 0}, {health, 0}},
		"{dns: {enabled: false}, metrics: {enabled: false}, admission: {enabled: false}}": {{health, 0}},
		everything: {{dns, 2}, {figures, 1}, {reviews, 0}, {health, 0}}, // the replicas too copy zones
	} {
		if diff := cmp.Diff(want, ingress(values), cmp.AllowUnexported(rule{})); diff != "" {
			t.Errorf("who is let in with %q (-want +got):\n%s", values, diff)
		}
	}
	open := find[*networking.NetworkPolicy](t, mustRender(t, ""), "NetworkPolicy zonefold-operator").Spec
	closed := find[*networking.NetworkPolicy](t, mustRender(t, everything), "NetworkPolicy zonefold-operator").Spec
	if len(open.PolicyTypes) != 1 || len(closed.PolicyTypes) != 2 || len(closed.Egress) != 2 {
		t.Errorf("what is let out is %v, and with rules %v", open, closed)
	}
}
