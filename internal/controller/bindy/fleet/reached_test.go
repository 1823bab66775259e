package fleet

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestAServerTellsWhereItIsReached has a Service of both families get a load balancer.
func TestAServerTellsWhereItIsReached(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	s.Apply(bindytest.InstanceManifest, a, "ns",
		`role: Primary, bindcarConfig: {serviceSpec: {type: LoadBalancer, externalTrafficPolicy: Local}}`)
	s.IsInstance(a, "ns", "True", "AllReady")
	service := &corev1.Service{ObjectMeta: bindytest.Named(a, "ns")}
	s.Has(service)
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.2"}, {IP: "2001:db8::2"}}
	if err := s.Live.Status().Update(s.Ctx, service); err != nil {
		t.Fatal(err)
	}
	want := []v1beta1.ServerAddress{{Type: "ClusterIP", Address: service.Spec.ClusterIP},
		{Type: "LoadBalancer", Address: "192.0.2.2"}, {Type: "LoadBalancer", Address: "2001:db8::2"}}
	s.Eventually("the addresses of the server", func() string {
		if got := s.Instance(a, "ns").Status.Addresses; !slices.Equal(got, want) {
			return fmt.Sprintf("they are %v, want %v", got, want)
		}
		return ""
	})
}
