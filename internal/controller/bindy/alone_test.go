package bindy

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

// TestAnInstanceWhoseClusterIsNotThere has the document's instance without its cluster: it has all that the document
// lists. It joins the cluster when that comes, and keeps what it has when that goes.
func TestAnInstanceWhoseClusterIsNotThere(t *testing.T) {
	s := fleetStage(t)
	a := s.namespace("a")
	s.kubelet(a, everyPod)
	const name = "my-cluster-primary-0"
	s.apply(instanceManifest, a, name, `role: Primary, clusterRef: my-cluster, replicas: 1`)
	own := []client.Object{&corev1.ConfigMap{ObjectMeta: named(a, name+"-config")},
		&corev1.Secret{ObjectMeta: named(a, name+"-transfer-key")}}
	service := &corev1.Service{ObjectMeta: named(a, name)}
	for _, o := range append([]client.Object{&corev1.Secret{ObjectMeta: named(a, name+"-rndc-key")},
		&appsv1.Deployment{ObjectMeta: named(a, name)}, service}, own...) {
		s.has(o)
		if !metav1.IsControlledBy(o, s.instance(a, name)) {
			t.Errorf("%T %s has the owners %v", o, o.GetName(), o.GetOwnerReferences())
		}
	}
	s.has(&corev1.ServiceAccount{ObjectMeta: named(a, "bind9")})
	s.isInstance(a, name, "False", "ClusterNotFound", "neither a Bind9Cluster "+a+
		"/my-cluster nor a ClusterBind9Provider my-cluster", "Until then it is a server of its own")
	gone := service.UID
	s.remove(service)
	s.eventually("the Service again", func() string {
		if !s.get(service) || service.UID == gone {
			return "it is not there again"
		}
		return ""
	})

	s.apply(clusterManifest, a, "my-cluster", `global: {recursion: false}`)
	s.isInstance(a, name, "True", "AllReady")
	if got := s.deployment(a, name).Labels[v1beta1.ClusterLabel]; got != "my-cluster" {
		t.Errorf("it is labelled as one of the cluster %q", got)
	}
	for _, o := range own {
		s.eventually("the end of what it had of its own", func() string { return s.isGone(o) })
	}
	before := s.deployment(a, name)
	s.remove(s.bindCluster(a, "my-cluster"))
	s.isInstance(a, name, "False", "ClusterNotFound", "What runs is left as it is")
	s.quiet()
	if now := s.deployment(a, name); now.Generation != before.Generation || now.UID != before.UID {
		t.Error("what runs was changed")
	}
}

// late is a cache that has heard of no cluster yet.
type late struct{ client.Client }

func (l late) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	switch o.(type) {
	case *v1beta1.Bind9Cluster, *v1beta1.ClusterBind9Provider:
		return apierrors.NewNotFound(schema.GroupResource{Group: v1beta1.GroupVersion.Group}, key.Name)
	}
	return l.Client.Get(ctx, key, o, opts...)
}

// TestAClusterThatTheCacheHearsOfLate is about an instance that is made beside its cluster: as a server of its own it
// would be replaced a moment later.
func TestAClusterThatTheCacheHearsOfLate(t *testing.T) {
	s := newStage(t)
	a := s.namespace("a")
	s.apply(clusterManifest, a, "my-cluster", `global: {recursion: false}`)
	s.apply(instanceManifest, a, "one", `role: Primary, clusterRef: my-cluster`)
	b := New(Config{Client: late{s.live}, Live: s.live, Metrics: controller.NewMetrics()})
	plan, trouble, err := b.planFor(s.ctx, s.instance(a, "one"))
	if err != nil || trouble != nil || plan.Parent == nil || plan.Parent.Name != "my-cluster" {
		t.Errorf("the plan is %+v, with the trouble %v: %v", plan, trouble, err)
	}
}
