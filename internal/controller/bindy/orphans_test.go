package bindy

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

// TestWhatIsDeletedWithoutWhatItHasLeavesItRunning deletes, from the top, what has servers by kubectl delete
// --cascade=orphan.
func TestWhatIsDeletedWithoutWhatItHasLeavesItRunning(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	s.apply(providerManifest, s.word, a, "primaryReplicas: 1, secondaryReplicas: 1")
	s.eventually("the servers", func() string {
		return ready(s.provider(s.word).Status.Conditions, "True", "AllReady", "2 of 2")
	})
	names := []string{s.word + "-primary-0", s.word + "-secondary-0"}
	before := s.deployment(a, names[0])
	account := &corev1.ServiceAccount{ObjectMeta: named(a, "bind9")}
	s.has(account)
	for _, above := range []client.Object{s.provider(s.word), s.bindCluster(a, s.word), s.instance(a, names[0]),
		s.instance(a, names[1])} {
		s.remove(above, client.PropagationPolicy(metav1.DeletePropagationOrphan))
		s.eventually("the end of "+above.GetName(), func() string { return s.isGone(above) })
		s.quiet()
		now := s.deployment(a, names[0])
		if now.UID != before.UID || now.Generation != before.Generation || !now.DeletionTimestamp.IsZero() {
			t.Fatalf("the server did not outlive the %T %s", above, above.GetName())
		}
		if uid := account.UID; !s.get(account) || account.UID != uid || !account.DeletionTimestamp.IsZero() {
			t.Fatalf("the ServiceAccount did not outlive the %T %s", above, above.GetName())
		}
	}
	for _, name := range names {
		s.remove(&appsv1.Deployment{ObjectMeta: named(a, name)}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	s.eventually("the end of the ServiceAccount", func() string { return s.isGone(account) })
}

// TestAnOwnerThatIsDeletedTakesNothingBack has an operator that does not know yet that an owner is being deleted, and
// sees that a child has lost its owner reference: the garbage collector takes it off what shall stay. With a new one it
// would delete the child.
func TestAnOwnerThatIsDeletedTakesNothingBack(t *testing.T) {
	a := newApplying(t)
	child := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.ns, Name: "child",
			Labels: map[string]string{v1beta1.PartOfLabel: v1beta1.PartOfValue}}}
	}
	a.does(child(), objects.Created)
	off := func() {
		a.patch(child(), `{"metadata":{"ownerReferences":null}}`)
		a.settle(child())
	}
	off()
	a.does(child(), objects.Updated)
	off()
	a.patch(a.instance(a.ns, "one"), `{"metadata":{"finalizers":["example.org/wait"]}}`)
	a.remove(a.instance(a.ns, "one"))
	a.does(child(), objects.Unchanged)
	a.patch(a.instance(a.ns, "one"), `{"metadata":{"finalizers":null}}`)
	a.eventually("the end of the owner", func() string { return a.isGone(a.instance(a.ns, "one")) })
	a.does(child(), objects.Unchanged)
	if now := child(); !a.get(now) || len(now.OwnerReferences) > 0 {
		t.Errorf("it has the owners %v", now.OwnerReferences)
	}
}
