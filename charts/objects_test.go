package charts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// decode reads each document of a manifest into its API type, where unknown and repeated fields are errors.
func decode(t *testing.T, manifest string) []runtime.Object {
	t.Helper()
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensions.AddToScheme} {
		if err := add(types); err != nil {
			t.Fatal(err)
		}
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, types, types,
		json.SerializerOptions{Yaml: true, Strict: true})
	var objects []runtime.Object
	for _, text := range documents(manifest) {
		object, kind, err := strict.Decode([]byte(text), nil, nil)
		if runtime.IsNotRegisteredError(err) && slices.Contains([]string{"monitoring.coreos.com", "cert-manager.io",
			"apiregistration.k8s.io"}, kind.Group) {
			u := &unstructured.Unstructured{} // client-go does not have this type
			err = yaml.UnmarshalStrict([]byte(text), &u.Object)
			object = u
		}
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		objects = append(objects, object)
	}
	return objects
}

// documents splits a manifest; what has comments only is none.
func documents(manifest string) []string {
	var out []string
	for _, text := range regexp.MustCompile(`(?m)^---$`).Split(manifest, -1) {
		if regexp.MustCompile(`(?m)^kind:`).MatchString(text) {
			out = append(out, text)
		}
	}
	return out
}

// name is how tests call an object: kind and name, with its namespace if that is not the release's.
func name(t *testing.T, object runtime.Object) string {
	t.Helper()
	m, err := meta.Accessor(object)
	if err != nil {
		t.Fatal(err)
	}
	out := object.GetObjectKind().GroupVersionKind().Kind + " "
	if m.GetNamespace() != "" && m.GetNamespace() != namespace {
		out += m.GetNamespace() + "/"
	}
	return out + m.GetName()
}

func (r rendering) names(t *testing.T) map[string]runtime.Object {
	t.Helper()
	out := map[string]runtime.Object{}
	for _, object := range r.objects {
		name := name(t, object)
		if out[name] != nil {
			t.Errorf("%s is rendered twice", name)
		}
		out[name] = object
	}
	return out
}

// find returns the one object of its kind that has this name.
func find[T runtime.Object](t *testing.T, r rendering, named string) T {
	t.Helper()
	object, ok := r.names(t)[named].(T)
	if !ok {
		t.Fatalf("there is no %s among %d objects", named, len(r.objects))
	}
	return object
}

func deployment(t *testing.T, r rendering) *apps.Deployment {
	t.Helper()
	return find[*apps.Deployment](t, r, "Deployment zonefold-operator")
}

func container(t *testing.T, r rendering) corev1.Container {
	t.Helper()
	return deployment(t, r).Spec.Template.Spec.Containers[0]
}

// everything are values that turn on whatever there is.
const everything = `
dialects: {kubizone: true, bindy: true, homelab: true, gardener: true}
gardenerExtension: {types: [powerdns], classes: [garden, shoot], ignoreOperationAnnotation: true, admission: true, crds: true}
gardener: {seed: {name: a}, version: v1.149.3}
homelab: {healthCheckInterval: 1h30m, retryBaseDelay: 1s, retryMaxDelay: 2m, retryMaxAttempts: "0", missingClassWarns: true}
image: {digest: "sha256:` + digest + `", pullSecrets: [{name: registry}]}
bindy: {admission: {images: [registry.example.org/dns/, zonefold/]}}
dns: {service: {type: LoadBalancer, annotations: {a: b}, clusterIP: 10.0.0.53, loadBalancerClass: x, loadBalancerSourceRanges: [192.0.2.0/24], externalTrafficPolicy: Local}}
credentialsNamespaces: [team-a, team-b]
metrics: {protected: true, certificate: metrics-tls, service: {enabled: true, annotations: {a: b}}, serviceMonitor: {enabled: true, force: true, labels: {release: prometheus}}, prometheusRule: {enabled: true, force: true, labels: {release: prometheus}, runbook: "https://wiki.example.org/dns"}}
dashboards: {enabled: true, annotations: {grafana_folder: DNS}}
networkPolicy:
  dnsFrom: [{ipBlock: {cidr: 192.0.2.0/24}}]
  metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
  egress: [{ports: [{port: 443, protocol: TCP}]}]
console: {enabled: true, edit: true, hosts: [console.example.org], certificate: console-tls, audiences: [zonefold], serviceAnnotations: {a: b}}
serviceAccount: {annotations: {a: b}}
priorityClassName: system-cluster-critical
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: a, operator: Exists}]
affinity: {nodeAffinity: {}}
podLabels: {a: b, app.kubernetes.io/name: another}
podAnnotations: {a: b}
resources: {limits: {memory: 1Gi}}
extraArgs: [--audit-interval=10m]
extraEnv: [{name: GOGC, value: "100"}]
`

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestPodsKeepTheRestrictedStandard(t *testing.T) {
	registry, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range []string{"", only("bindy"), everything} {
		for name, object := range mustRender(t, values).names(t) {
			deployment, ok := object.(*apps.Deployment)
			if !ok {
				continue
			}
			template := deployment.Spec.Template
			level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
			if result := policy.AggregateCheckResults(registry.EvaluatePod(level, &template.ObjectMeta,
				&template.Spec)); !result.Allowed {
				t.Errorf("the Pods of %s with %q: %s: %s", name, values, result.ForbiddenReason(), result.ForbiddenDetail())
			}
			for _, c := range template.Spec.Containers {
				if s := c.SecurityContext; s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
					t.Errorf("the container %s may write to its image", c.Name)
				}
			}
		}
	}
}

func TestEveryObjectIsInTheReleaseNamespaceAndLabeled(t *testing.T) {
	for name, object := range mustRender(t, everything).names(t) {
		m, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "CustomResourceDefinition ") {
			if labels := m.GetLabels(); len(labels) > 1 ||
				len(labels) == 1 && labels["gardener.cloud/deletion-protected"] != "true" {
				// what selects ours by labels leaves them out: they belong to the cluster
				t.Errorf("%s has the labels %v", name, m.GetLabels())
			}
			continue
		}
		if m.GetLabels()["app.kubernetes.io/part-of"] != "zonefold" ||
			m.GetLabels()["app.kubernetes.io/name"] != "zonefold-operator" {
			t.Errorf("%s has the labels %v", name, m.GetLabels())
		}
		cluster := strings.HasPrefix(name, "Cluster") || strings.HasPrefix(name, "Validating")
		if cluster != (m.GetNamespace() == "") {
			t.Errorf("%s is in the namespace %q", name, m.GetNamespace())
		}
	}
}

func TestWithSecretsNamespacesNoRightToSecretsIsTheClusters(t *testing.T) {
	verbs := map[string][]string{} // by namespace; "": everywhere
	for _, o := range mustRender(t, everything+"\nsecretsNamespaces: [team-a]").objects {
		var rules []rbacv1.PolicyRule
		var namespace string
		switch role := o.(type) {
		case *rbacv1.ClusterRole:
			rules = role.Rules
		case *rbacv1.Role:
			if role.Name == "zonefold-operator-secrets" {
				rules, namespace = role.Rules, role.Namespace
			}
		}
		for _, rule := range rules {
			if slices.Contains(rule.Resources, "secrets") {
				verbs[namespace] = append(verbs[namespace], rule.Verbs...)
			}
		}
	}
	slices.Sort(verbs["team-a"])
	want := []string{"create", "delete", "get", "list", "patch", "watch"}
	if got := slices.Compact(verbs["team-a"]); !slices.Equal(got, want) || len(verbs) != 1 {
		t.Errorf("the rights to Secrets are %v, want %v in team-a alone", verbs, want)
	}
}
