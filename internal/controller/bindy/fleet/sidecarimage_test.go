package fleet

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

func TestWhoseSidecarAnImageIs(t *testing.T) {
	for _, c := range []struct {
		name, image string
		theirs      bool
	}{
		{"as the existing Bindy has it", "ghcr.io/firestoned/bindcar:v0.7.2", true},
		{"by its digest", "ghcr.io/firestoned/bindcar@sha256:0123456789abcdef", true},
		{"by tag and digest", "ghcr.io/firestoned/bindcar:v0.7.2@sha256:0123456789abcdef", true},
		{"without a tag", "ghcr.io/firestoned/bindcar", true},
		{"without a registry", "firestoned/bindcar:latest", true},
		{"a mirror", "mirror.example.org:5000/ghcr.io/firestoned/bindcar:v0.7.2", true},
		{"a mirror with one name for a path", "mirror.example.org/ghcr.io-firestoned-bindcar:v0.7.2", true},
		{"another variant", "ghcr.io/firestoned/bindcar-distroless:v0.7.2", true},
		{"in capitals", "ghcr.io/Firestoned/Bindcar:v0.7.2", true},
		{"ours", "zonefold/bindcar:1", false},
		{"ours in a mirror", "mirror.example.org:5000/zonefold/bindcar:1", false},
		{"ours with one name for a path", "registry.example.org/you/zonefold-bindcar:1", false},
		{"a copy under the last name alone, which pods tell apart", "registry.example/bindcar:v0.7.2", false},
		{"a tag that is called so", "registry.example/x:firestoned-bindcar", false},
		{"a registry that is called so", "firestoned.example/zonefold/bindcar:1", false},
		{"another program of theirs", "ghcr.io/firestoned/bindy:v0.6.2", false},
		{"nothing", "", false},
	} {
		if err := dialect.CheckSidecarImage(c.image); (err != nil) != c.theirs {
			t.Errorf("%s: of %q is said %v", c.name, c.image, err)
		}
	}
}

// TestThePinnedSidecarOfTheExistingBindyIsRefused asks the list that admission, check and the conditions share.
func TestThePinnedSidecarOfTheExistingBindyIsRefused(t *testing.T) {
	const pinned = `bindcarConfig: {image: "ghcr.io/firestoned/bindcar:v0.7.2"}`
	spec := v1beta1.CommonSpec{}
	if err := yaml.UnmarshalStrict([]byte(`{primaryReplicas: 1, global: {`+pinned+`}}`), &spec); err != nil {
		t.Fatal(err)
	}
	instance := &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "ns"}}
	if err := yaml.UnmarshalStrict([]byte(`{role: primary, `+pinned+`}`), &instance.Spec); err != nil {
		t.Fatal(err)
	}
	member := instance.DeepCopy()
	member.Spec.BindcarConfig, member.Spec.ClusterRef = nil, "dns"
	for _, c := range []struct {
		name   string
		object client.Object
	}{
		{"a provider", &v1beta1.ClusterBind9Provider{ObjectMeta: metav1.ObjectMeta{Name: "dns"},
			Spec: v1beta1.ClusterBind9ProviderSpec{CommonSpec: spec}}},
		{"a cluster", &v1beta1.Bind9Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "dns"},
			Spec: v1beta1.Bind9ClusterSpec{CommonSpec: spec}}},
		{"an instance", instance},
		{"an instance that has it from its cluster", member},
	} {
		settings := dialect.Settings{Namespace: "ops", ServiceAccount: "op", BIND9Image: "example/bind9",
			BindcarImage: "example/bindcar:1"}
		faults := dialect.Faults(c.object, settings, func(string, string) (string, *v1beta1.CommonSpec) {
			return v1beta1.KindCluster, &spec
		})
		if len(faults) != 1 || !strings.Contains(faults[0], "cannot be carried out: bindcarConfig.image cannot be used: "+
			"the image ghcr.io/firestoned/bindcar:v0.7.2 is the sidecar of the existing Bindy") ||
			!strings.HasSuffix(faults[0], "remove it to use the operator's own, or use one of zonefold's images.") {
			t.Errorf("%s: %q", c.name, faults)
		}
	}
}

// TestThePinnedSidecarOfTheExistingBindyHasNoPods has one that was stored before anybody refused it.
func TestThePinnedSidecarOfTheExistingBindyHasNoPods(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	s.Apply(bindytest.InstanceManifest, a, "ns", `role: Primary, bindcarConfig: {image: "ghcr.io/firestoned/bindcar:v0.7.2"}`)
	s.IsInstance(a, "ns", "False", v1beta1.ReasonInvalidSpec)
	s.Patch(s.Instance(a, "ns"), `{"spec":{"bindcarConfig":null}}`)
	s.IsInstance(a, "ns", "True", v1beta1.ReasonAllReady)
}
