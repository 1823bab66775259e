package servers

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
)

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
	a := s.Namespace("a")
	s.Apply(bindytest.ClusterManifest, a, "my-cluster", `global: {recursion: false}`)
	s.Apply(bindytest.InstanceManifest, a, "one", `role: Primary, clusterRef: my-cluster`)
	b := New(Config{Client: late{s.Live}, Live: s.Live})
	plan, trouble, err := b.Plan(s.Ctx, s.Instance(a, "one"))
	if err != nil || trouble != nil || plan.Parent == nil || plan.Parent.Name != "my-cluster" {
		t.Errorf("the plan is %+v, with the trouble %v: %v", plan, trouble, err)
	}
}
