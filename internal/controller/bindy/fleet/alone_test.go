package fleet

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

// TestAnInstanceWhoseClusterIsNotThere has the document's instance without its cluster: it has all that the document
// lists. It joins the cluster when that comes, and keeps what it has when that goes.
func TestAnInstanceWhoseClusterIsNotThere(t *testing.T) {
	s := fleetStage(t)
	a := s.Namespace("a")
	s.Kubelet(a, bindytest.EveryPod)
	const name = "my-cluster-primary-0"
	s.Apply(bindytest.InstanceManifest, a, name, `role: Primary, clusterRef: my-cluster, replicas: 1`)
	own := []client.Object{&corev1.ConfigMap{ObjectMeta: bindytest.Named(a, name+"-config")},
		&corev1.Secret{ObjectMeta: bindytest.Named(a, name+"-transfer-key")}}
	service := &corev1.Service{ObjectMeta: bindytest.Named(a, name)}
	for _, o := range append([]client.Object{&corev1.Secret{ObjectMeta: bindytest.Named(a, name+"-rndc-key")},
		&appsv1.Deployment{ObjectMeta: bindytest.Named(a, name)}, service}, own...) {
		s.Has(o)
		if !metav1.IsControlledBy(o, s.Instance(a, name)) {
			t.Errorf("%T %s has the owners %v", o, o.GetName(), o.GetOwnerReferences())
		}
	}
	s.Has(&corev1.ServiceAccount{ObjectMeta: bindytest.Named(a, "bind9")})
	s.IsInstance(a, name, "False", "ClusterNotFound", "Neither Bind9Cluster "+a+
		"/my-cluster nor ClusterBind9Provider my-cluster exists", "Until then it runs as a standalone server")
	gone := service.UID
	s.Remove(service)
	s.Eventually("the Service again", func() string {
		if !s.Get(service) || service.UID == gone {
			return "it is not there again"
		}
		return ""
	})

	s.Apply(bindytest.ClusterManifest, a, "my-cluster", `global: {recursion: false}`)
	s.IsInstance(a, name, "True", "AllReady")
	s.Eventually("a Deployment of the cluster", func() string { // it may wait for its turn, with all pods ready
		if got := s.Deployment(a, name).Labels[v1beta1.ClusterLabel]; got != "my-cluster" {
			return fmt.Sprintf("it is labelled as one of the cluster %q", got)
		}
		return ""
	})
	for _, o := range own {
		s.Eventually("the end of what it had of its own", func() string { return s.IsGone(o) })
	}
	before := s.Deployment(a, name)
	s.Remove(s.BindCluster(a, "my-cluster"))
	s.IsInstance(a, name, "False", "ClusterNotFound", "Everything that runs stays as it is")
	s.Quiet()
	if now := s.Deployment(a, name); now.Generation != before.Generation || now.UID != before.UID {
		t.Error("what runs was changed")
	}
}
