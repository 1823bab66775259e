package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// deploy has Deployments have the pods that they want: one more than that while they are replaced, or, with a volume,
// none.
func (n *nodes) deploy() {
	s := n.world.api.store
	defer n.tellWrong()
	s.mu.Lock()
	defer s.mu.Unlock()
	deployments := s.sorted(func(r ref, _ *unstructured.Unstructured) bool { return r.kind.Kind == "Deployment" })
	wanted := map[ref]types.UID{}
	for _, r := range deployments {
		object := s.objects[r]
		wanted[r] = object.GetUID()
		n.scale(r, object, n.planOf(r, object))
	}
	for _, p := range n.sorted() { // what kube-controller-manager's garbage collector does
		if wanted[p.of] == "" && p.leaves.IsZero() {
			s.end(p.ref)
		}
	}
	for r := range n.plans {
		if wanted[r] == "" {
			delete(n.plans, r)
		}
	}
}

// tellWrong notes what deploy has found, which it cannot while it holds the store.
func (n *nodes) tellWrong() {
	for _, text := range n.wrong {
		n.world.fail(text)
	}
	n.wrong = nil
}

// scale makes and removes pods of one Deployment, and says how many there are. store.mu is held, as for all of this
// file.
func (n *nodes) scale(r ref, object *unstructured.Unstructured, want *rollout) {
	s := n.world.api.store
	var fresh, old []*pod
	ending := 0
	for _, p := range n.sorted() {
		switch {
		case p.of != r:
		case s.objects[p.ref] == nil || s.objects[p.ref].GetDeletionTimestamp() != nil:
			ending++
		case p.hash == want.hash:
			fresh = append(fresh, p)
		default:
			old = append(old, p)
		}
	}
	count := func(pods []*pod) (ready int) {
		for _, p := range pods {
			if p.ready {
				ready++
			}
		}
		return ready
	}
	room := want.replicas - len(fresh)
	switch {
	case want.recreate && len(old) > 0:
		room = 0
		for _, p := range old {
			s.end(p.ref)
		}
		old = nil
	case want.recreate && ending > 0:
		room = 0
	case len(old) > 0:
		room = min(room, want.replicas+1-len(fresh)-len(old))
	}
	for range max(room, 0) {
		fresh = append(fresh, n.create(r, want))
	}
	unready := func(a, b *pod) int { return cmp.Compare(truth(a.ready), truth(b.ready)) }
	slices.SortStableFunc(old, unready)
	for len(old) > 0 && (!old[0].ready || count(old)+count(fresh) > want.replicas) {
		s.end(old[0].ref)
		old = old[1:]
	}
	slices.SortStableFunc(fresh, unready)
	for len(fresh) > want.replicas {
		s.end(fresh[0].ref)
		fresh = fresh[1:]
	}
	status := map[string]any{"observedGeneration": object.GetGeneration()}
	for name, number := range map[string]int{
		"replicas": len(fresh) + len(old), "updatedReplicas": len(fresh), "readyReplicas": count(fresh) + count(old),
		"availableReplicas": count(fresh) + count(old),
	} {
		if number > 0 {
			status[name] = int64(number)
		}
	}
	before, _, _ := unstructured.NestedMap(object.Object, "status")
	if maps.Equal(before, status) {
		return
	}
	next := object.DeepCopy()
	next.Object["status"] = status
	s.put(r, next)
	n.plans[r].version = next.GetResourceVersion()
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// create makes a pod.
func (n *nodes) create(r ref, want *rollout) *pod {
	s := n.world.api.store
	n.made++
	set := r.Name + "-" + want.hash
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod",
		"status": map[string]any{"phase": "Pending"}}}
	object.Object["spec"] = (&unstructured.Unstructured{Object: want.raw}).DeepCopy().Object["spec"]
	_ = unstructured.SetNestedField(object.Object, "node", "spec", "nodeName")
	object.SetNamespace(r.Namespace)
	object.SetName(fmt.Sprintf("%s-%05d", set, n.made))
	object.SetUID(s.uid(false))
	object.SetCreationTimestamp(metav1.NewTime(n.now().Truncate(time.Second)))
	labels := maps.Clone(want.template.Labels)
	labels["pod-template-hash"] = want.hash
	object.SetLabels(labels)
	object.SetAnnotations(want.template.Annotations)
	yes := true
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set,
		UID: types.UID("set-" + set), Controller: &yes, BlockOwnerDeletion: &yes}})
	p := &pod{
		nodes: n, uid: object.GetUID(), of: r, hash: want.hash, spec: &want.template.Spec,
		starts: n.now().Add(podStart + n.slow),
		ref:    ref{n.world.api.kinds.named("Pod"), types.NamespacedName{Namespace: r.Namespace, Name: object.GetName()}},
	}
	p.disk = n.diskOf(p)
	n.pods[p.uid] = p
	s.put(p.ref, object)
	return p
}

// diskOf is what a pod has its zones on: that of its PersistentVolumeClaim, or a new one.
func (n *nodes) diskOf(p *pod) *disk {
	for _, v := range p.spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		p.claim = true
		claim := n.world.api.store.objects[ref{n.world.api.kinds.named("PersistentVolumeClaim"),
			types.NamespacedName{Namespace: p.of.Namespace, Name: v.PersistentVolumeClaim.ClaimName}}]
		if claim == nil {
			continue
		}
		if n.disks[claim.GetUID()] == nil {
			n.disks[claim.GetUID()] = newDisk()
		}
		return n.disks[claim.GetUID()]
	}
	return newDisk()
}
