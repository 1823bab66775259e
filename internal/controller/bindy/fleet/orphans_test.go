package fleet

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

// TestWhatIsDeletedWithoutWhatItHasLeavesItRunning deletes, from the top, what has servers by kubectl delete
// --cascade=orphan.
func TestWhatIsDeletedWithoutWhatItHasLeavesItRunning(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	s.Apply(bindytest.ProviderManifest, s.Word, a, "primaryReplicas: 1, secondaryReplicas: 1")
	s.Eventually("the servers", func() string {
		return bindytest.Ready(s.Provider(s.Word).Status.Conditions, "True", "AllReady", "2 of 2")
	})
	names := []string{s.Word + "-primary-0", s.Word + "-secondary-0"}
	before := s.Deployment(a, names[0])
	account := &corev1.ServiceAccount{ObjectMeta: bindytest.Named(a, "bind9")}
	s.Has(account)
	for _, above := range []client.Object{s.Provider(s.Word), s.BindCluster(a, s.Word), s.Instance(a, names[0]),
		s.Instance(a, names[1])} {
		s.Remove(above, client.PropagationPolicy(metav1.DeletePropagationOrphan))
		s.Eventually("the end of "+above.GetName(), func() string { return s.IsGone(above) })
		s.Quiet()
		now := s.Deployment(a, names[0])
		if now.UID != before.UID || now.Generation != before.Generation || !now.DeletionTimestamp.IsZero() {
			t.Fatalf("the server did not outlive the %T %s", above, above.GetName())
		}
		if uid := account.UID; !s.Get(account) || account.UID != uid || !account.DeletionTimestamp.IsZero() {
			t.Fatalf("the ServiceAccount did not outlive the %T %s", above, above.GetName())
		}
	}
	for _, name := range names {
		s.Remove(&appsv1.Deployment{ObjectMeta: bindytest.Named(a, name)},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	s.Eventually("the end of the ServiceAccount", func() string { return s.IsGone(account) })
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
		a.Patch(child(), `{"metadata":{"ownerReferences":null}}`)
		a.settle(child())
	}
	off()
	a.does(child(), objects.Updated)
	off()
	a.Patch(a.Instance(a.ns, "one"), `{"metadata":{"finalizers":["example.org/wait"]}}`)
	a.Remove(a.Instance(a.ns, "one"))
	a.does(child(), objects.Unchanged)
	a.Patch(a.Instance(a.ns, "one"), `{"metadata":{"finalizers":null}}`)
	a.Eventually("the end of the owner", func() string { return a.IsGone(a.Instance(a.ns, "one")) })
	a.does(child(), objects.Unchanged)
	if now := child(); !a.Get(now) || len(now.OwnerReferences) > 0 {
		t.Errorf("it has the owners %v", now.OwnerReferences)
	}
}
