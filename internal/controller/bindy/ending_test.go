package bindy

import (
	"testing"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// linger has pods that are to go serve on, as kubelet has them, or end.
func (n *bindNode) linger(lingers bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lingers = lingers
}

// bound has the pod of an instance be on a node, which is asked before it goes.
func (n *bindNode) bound(instance string) *corev1.Pod {
	p := n.onePod(instance)
	to := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	if err := n.Live.SubResource("binding").Create(n.Ctx, p, to); err != nil {
		n.Fatal(err)
	}
	return p
}

// TestAPodThatIsToGoServesWhatIsNew has nobody who is still led to such a pod get what is old. kubelet hears late of
// its deletion, and has it serve for longer than the time that it was given.
func TestAPodThatIsToGoServesWhatIsNew(t *testing.T) {
	s, n := zoneStage(t, "ending")
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Apply(clusterWith, n.namespace, 1, 1)
	s.Eventually("every server", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.1") })
	n.linger(true)
	for i, instance := range []string{"dns-primary-0", "dns-secondary-0"} {
		s.Remove(n.bound(instance), client.GracePeriodSeconds(1))
		s.Eventually("the pod that takes over", func() string {
			return n.answers(3+i, "www.example.com.", dns.TypeA, "192.0.2.1")
		})
	}
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.2")
	s.Eventually("a change everywhere", func() string { return n.answers(4, "www.example.com.", dns.TypeA, "192.0.2.2") })
	s.Eventually("the same serial", func() string { return n.sameSerial(4) })
	s.recordIs(n.namespace, "www", metav1.ConditionTrue, v1beta1.ReasonReconcileSucceeded)
	n.linger(false)
	s.Eventually("those that stay", func() string { return n.answers(2, "www.example.com.", dns.TypeA, "192.0.2.2") })
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}
