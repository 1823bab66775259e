package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestAServiceThatIsShownToTheOutsideForAWhile has the type change, and with it who may reach the sidecar.
func TestAServiceThatIsShownToTheOutsideForAWhile(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	s.Apply(bindytest.InstanceManifest, a, "ns", `role: Primary`)
	s.IsInstance(a, "ns", "True", "AllReady")
	const inside, outside = "dns-tcp dns-udp http http-80", "dns-tcp dns-udp"
	for _, step := range []struct{ spec, ports, warning string }{
		{`null`, inside, ""},
		{`{"type":"NodePort"}`, outside, v1beta1.ReasonClientsHidden},
		{`{"type":"LoadBalancer","externalTrafficPolicy":"Local"}`, outside, ""},
		{`{"type":"ClusterIP"}`, inside, ""},
	} {
		s.Patch(s.Instance(a, "ns"), `{"spec":{"bindcarConfig":{"serviceSpec":null}}}`)
		s.Patch(s.Instance(a, "ns"), `{"spec":{"bindcarConfig":{"serviceSpec":`+step.spec+`}}}`)
		s.Eventually("the Services with "+step.spec, func() string {
			dns, api := &corev1.Service{ObjectMeta: bindytest.Named(a, "ns")},
				&corev1.Service{ObjectMeta: bindytest.Named(a, "ns-bindcar")}
			if !s.Get(dns) || !s.Get(api) {
				return "one of them is not there"
			}
			var names []string
			for _, p := range dns.Spec.Ports {
				names = append(names, p.Name)
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != step.ports || api.Spec.Type != corev1.ServiceTypeClusterIP ||
				len(api.Spec.Ports) != 2 {
				return fmt.Sprintf("that for DNS has the ports %s, the other is %+v", got, api.Spec)
			}
			return ""
		})
		s.Eventually("the warning with "+step.spec, func() string {
			got := ""
			if c := meta.FindStatusCondition(s.Instance(a, "ns").Status.Conditions, controller.ConditionWarning); c != nil {
				got = c.Reason
			}
			if got != step.warning {
				return fmt.Sprintf("it is %q", got)
			}
			return ""
		})
	}
	s.IsInstance(a, "ns", "True", "AllReady")
}
