package scenario

import (
	"context"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nodeGrace is after how long without word of its kubelet the controller-manager of these tests takes a node for lost.
// Tests without kubelets have no nodes.
const nodeGrace = 5 * time.Second

// A kubelet is what one says of its node to the API server. No node and no Pod run: that nobody renews the Lease of a
// node is all that the API server hears when a kubelet is killed.
type kubelet struct {
	*scene
	node, pod, address string // the address is the node's
}

const podOnNode = `
apiVersion: v1
kind: Pod
metadata: {name: db-0, namespace: ~a, labels: {app: db}}
spec: {nodeName: node.example.org, automountServiceAccountToken: false, containers: [{name: db, image: none}]}
`

// starts has a node with a Pod be ready. It goes on to say so, each second, until the function that it returns is
// called.
func (k *kubelet) starts() (kill func()) {
	k.t.Helper()
	address := k.address
	ctx, kill := context.WithCancel(k.ctx)
	k.t.Cleanup(kill)
	go func() {
		for ; ctx.Err() == nil; pause(ctx, time.Second) {
			_ = k.says(ctx, address) // if it could not, the next time
		}
	}()
	return kill
}

// says renews the Lease of the node, and writes what is not so any more into the statuses of node and Pod: a machine
// under load may have had the controller-manager wait for longer than it does.
func (k *kubelet) says(ctx context.Context, address string) error {
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: k.node}}
	if err := client.IgnoreAlreadyExists(k.client.Create(ctx, lease)); err != nil {
		return err
	}
	if err := k.client.Get(ctx, client.ObjectKeyFromObject(lease), lease); err != nil {
		return err
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &k.node, &now
	if err := k.client.Update(ctx, lease); err != nil {
		return err
	}
	seconds := now.UTC().Format(time.RFC3339)
	ready := `"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"` + seconds + `"`
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.node}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: k.prefix + "a", Name: k.pod}}
	for object, status := range map[client.Object]string{
		node: `"addresses":[{"type":"ExternalIP","address":"` + address + `"}],` + ready +
			`,"reason":"KubeletReady","lastHeartbeatTime":"` + seconds + `"}]`,
		pod: `"phase":"Running","podIP":"10.9.9.9","podIPs":[{"ip":"10.9.9.9"}],` + ready + `}]`,
	} {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{`+status+`}}`))
		if err := k.client.Status().Patch(ctx, object, patch); err != nil {
			return err
		}
	}
	return nil
}

// isReady waits until the controller-manager has said of the node, its Pod and the Pod's endpoint what it makes of what
// the kubelet says.
func (k *kubelet) isReady(node, pod, endpoint string) {
	k.t.Helper()
	const ready = `jsonpath={.status.conditions[?(@.type=="Ready")].status}`
	k.eventually("node, Pod and endpoint", func() string {
		got := strings.Join([]string{k.kubectl("get", "node/"+k.node, "-o", ready),
			k.kubectl("get", "pod/"+k.pod, "-n", k.prefix+"a", "-o", ready),
			k.kubectl("get", "endpointslices", "-n", k.prefix+"a", "-l", "kubernetes.io/service-name=db", "-o",
				"jsonpath={.items[*].endpoints[*].conditions.ready}")}, " ")
		return unless(got == strings.Join([]string{node, pod, endpoint}, " "), "they are ready: "+got)
	})
}

// TestAKubeletThatIsKilled has what Services and a Node are published under hang on a kubelet, which falls silent and
// comes back. A real controller-manager draws the conclusions: the node's state is not known, and neither its Pod nor
// the Pod's endpoint is ready. A resolver hears nothing of it. The eviction of the Pod, five minutes later, is not
// waited for: its Service has lost the address by then.
func TestAKubeletThatIsKilled(t *testing.T) {
	s := newStage(t)
	s.sourceRights()
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	start := func() { s.start("--source=service,node") }
	start()
	s.apply(`zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: ` +
		`[{records: [{pattern: "*"}]}, {namespace: kube-system, records: [{pattern: node}]}]}`)
	k := &kubelet{scene: s, node: s.text("node.example.org"), pod: "db-0", address: "192.0.2.41"}
	s.manifest(`
apiVersion: v1
kind: Node
metadata: {name: node.example.org}
---
apiVersion: v1
kind: Service
metadata: {name: port, namespace: ~a, annotations: {external-dns.alpha.kubernetes.io/hostname: port.example.org}}
spec: {type: NodePort, ports: [{port: 80}], selector: {app: db}}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: ~a, annotations: {external-dns.alpha.kubernetes.io/hostname: db.example.org}}
spec: {clusterIP: None, ports: [{port: 5432}], selector: {app: db}}
`)
	t.Cleanup(func() {
		s.kubectlQuiet("delete", "pod/"+k.pod, "-n", s.prefix+"a", "--force", "--grace-period=0") // nobody ends it else
		s.kubectlQuiet("delete", "node/"+k.node)
		s.kubectlQuiet("delete", "lease/"+k.node, "-n", corev1.NamespaceNodeLease)
	})
	s.eventually("the ServiceAccount that Pods have", func() string {
		return unless(s.kubectl("get", "serviceaccounts", "-n", s.prefix+"a", "-o", "name") != "", "there is none")
	})
	s.manifest(podOnNode)
	kill := k.starts()
	stays := map[string]string{"node.example.org. A": "192.0.2.41", "port.example.org. A": "192.0.2.41",
		"db.example.org. A": "10.9.9.9"}
	for question, data := range stays {
		s.answers(question, data)
	}
	k.isReady("True", "True", "true")
	calm := s.steady(stays)

	s.step("it is killed", func() {
		kill()
		k.isReady("Unknown", "False", "false")
		s.warned("a", "Service", "db", "AddressLost")
	})
	s.step("the operator starts again meanwhile", func() {
		s.op.Kill()
		start()
		s.apply(`record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.9}`)
		s.answers("new.example.org. A", "192.0.2.9")
	})
	s.step("it is back", func() {
		kill = k.starts()
		k.isReady("True", "True", "true")
		calm()
		kill()
		k.address = "192.0.2.42"
		k.starts()
		s.answers("node.example.org. A", "192.0.2.42")
		s.answers("port.example.org. A", "192.0.2.42")
		s.answers("db.example.org. A", "10.9.9.9")
	})
}
