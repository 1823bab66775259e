package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// ownLabels and ownOwner are those of a pod of the Deployment of the instance dns.
func ownLabels() map[string]string {
	return map[string]string{v1beta1.InstanceLabel: "dns", appsv1.DefaultDeploymentUniqueLabelKey: "5d4f8c7b9"}
}

func ownOwner() []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "dns-5d4f8c7b9", UID: "set",
		Controller: ptr.To(true)}}
}

// TestAnAddressThatAnotherPodHas has a pod that is gone, of which the operator has not heard, and whose address another
// server got.
func TestAnAddressThatAnotherPodHas(t *testing.T) {
	server := newBindPod(t, "later", ownSecrets(t)...)
	for _, token := range []string{bindytest.SidecarToken, "another"} {
		b, s := caller(t, token)
		gone := server.pod.DeepCopy()
		gone.Name, gone.UID = "earlier", "earlier"
		began := gone.Status.ContainerStatuses[0].State.Running.StartedAt
		b.declared.clock = func() time.Time { return began.Add(time.Hour) }

		gone.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		after, troubles := b.declared.declare(t.Context(), s, []corev1.Pod{*gone})
		if after == 0 || after > mostRetry || len(troubles) > 0 {
			t.Errorf("with the token %q: look again in %s, and %v", token, after, troubles)
		}
		task := &keyTask{keeper: b.keys, pods: []corev1.Pod{*gone}}
		if e := task.ask(t.Context(), b.declared.clock()); e.complete || len(e.lists) > 0 || len(e.troubles) > 0 {
			t.Errorf("with the token %q: another pod's keys are evidence: %+v", token, e)
		}
		if content, err := server.sidecar().Content(t.Context()); err != nil || content.Declared {
			t.Errorf("with the token %q: another pod was told: %+v, %v", token, content, err)
		}

		// It lasts, and the pod does not serve.
		gone.Status.Conditions[0].Status = corev1.ConditionFalse
		_, troubles = b.declared.declare(t.Context(), s, []corev1.Pod{*gone})
		if len(troubles) != 1 || !strings.Contains(troubles[0].Message,
			"At 127.0.0.1, the address of Pod n/earlier, another pod answers.") || strings.Contains(troubles[0].Message,
			"ServiceAccount") {
			t.Errorf("with the token %q: the troubles are %v", token, troubles)
		}
	}

	// Now it has heard.
	b, s := caller(t, bindytest.SidecarToken)
	if after, troubles := b.declared.declare(t.Context(), s, []corev1.Pod{server.pod}); after != 0 || len(troubles) > 0 {
		t.Errorf("the pod that is there: look again in %s, and %v", after, troubles)
	}
	if content, err := server.sidecar().Content(t.Context()); err != nil || !content.Declared {
		t.Errorf("the pod that is there was not told: %+v, %v", content, err)
	}
}

func TestPodsOfOthersAreShownNoToken(t *testing.T) {
	other := newBindPod(t, "other", ownSecrets(t)...)
	for _, tt := range []struct {
		name   string
		change func(p *corev1.Pod)
		calls  bool
	}{
		{"it is of the Deployment", func(*corev1.Pod) {}, true},
		{"somebody made it himself", func(p *corev1.Pod) { p.OwnerReferences = nil }, false},
		{"it is of another Deployment", func(p *corev1.Pod) { p.OwnerReferences[0].Name = "web-5d4f8c7b9" }, false},
		{"it is of a ReplicaSet of no Deployment", func(p *corev1.Pod) { p.OwnerReferences[0].Name = "dns" }, false},
		{"it is of a Job", func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Job" }, false},
		{"it is of something that is called so too", func(p *corev1.Pod) {
			p.OwnerReferences[0].APIVersion = "example.org/v1"
		}, false},
		{"its owner does not control it", func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, false},
	} {
		b, s := caller(t, bindytest.SidecarToken)
		p := other.pod.DeepCopy()
		tt.change(p)
		before := other.calls.Load()
		if after, troubles := b.declared.declare(t.Context(), s, []corev1.Pod{*p}); after != 0 || len(troubles) > 0 {
			t.Errorf("%s: look again in %s, and %v", tt.name, after, troubles)
		}
		evidence := (&keyTask{keeper: b.keys, pods: []corev1.Pod{*p}}).ask(t.Context(), time.Now())
		if called := other.calls.Load() > before; called != tt.calls || len(evidence.lists) > 0 != tt.calls ||
			!evidence.complete {
			t.Errorf("%s: it was called: %v; %+v", tt.name, called, evidence)
		}
	}
}

func TestPodsOfADeploymentAreItsServers(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Apply(bindytest.InstanceManifest, a, "dns-ns-1", `role: Primary, replicas: 2`)
	s.Apply(
		`{apiVersion: v1, kind: Pod, metadata: {namespace: %s, name: mine, labels: {app: bind9, instance: dns-ns-1}}, spec: {containers: [{name: api, image: x}]}}`, a)
	s.Eventually("the pods", func() string {
		var pods corev1.PodList
		if err := s.Live.List(s.Ctx, &pods, client.InNamespace(a)); err != nil {
			return err.Error()
		}
		var servers []string
		for i := range pods.Items {
			if dialect.IsServer(&pods.Items[i]) {
				servers = append(servers, pods.Items[i].Name)
			}
		}
		if len(servers) != 2 || slices.Contains(servers, "mine") {
			return fmt.Sprintf("the servers are %v of %d", servers, len(pods.Items))
		}
		return ""
	})
}
