package servers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// Plan makes the plan of an instance, or says what people have to put right first.
func (s *Servers) Plan(ctx context.Context, i *v1beta1.Bind9Instance) (*dialect.Plan, *dialect.Trouble, error) {
	p, err := s.Parent(ctx, i)
	if err != nil {
		return nil, nil, err
	}
	if p == nil && i.Spec.ClusterRef != "" { // the cache may hear of the cluster later than of the instance
		if p, err = parentFrom(ctx, s.Live, i); err != nil {
			return nil, nil, err
		}
	}
	if p == nil && i.Spec.ClusterRef != "" {
		alone, err := s.standsAlone(ctx, i)
		if err != nil || !alone {
			return nil, clusterNotFound(i, "Everything that runs stays as it is."), err
		}
	}
	out, err := dialect.PlanOf(i, p, s.Settings)
	if err != nil {
		return nil, &dialect.Trouble{Reason: v1beta1.ReasonInvalidSpec, Message: dialect.Sentence("Nothing was changed: %v.",
			err)}, nil
	}
	return out, nil, nil
}

// clusterNotFound says that the cluster of an instance is not there, and what comes of that.
func clusterNotFound(i *v1beta1.Bind9Instance, meanwhile string) *dialect.Trouble {
	return &dialect.Trouble{Reason: v1beta1.ReasonClusterNotFound, Message: dialect.Sentence(
		"Neither Bind9Cluster %s/%s nor ClusterBind9Provider %[2]s exists; create one, or correct spec.clusterRef. "+
			"%s", i.Namespace, i.Spec.ClusterRef, meanwhile)}
}

// MissesCluster says that an instance is a server of its own because its cluster is not there; nil if that is not so.
func MissesCluster(i *v1beta1.Bind9Instance, p *dialect.Plan) *dialect.Trouble {
	if i.Spec.ClusterRef == "" || p.Parent != nil {
		return nil
	}
	return clusterNotFound(i, "Until then it runs as a standalone server.")
}

// standsAlone reports whether an instance whose cluster is not there is a server of its own until it is. One that was
// part of a cluster keeps what it has from there, and one that a cluster made goes with that.
func (s *Servers) standsAlone(ctx context.Context, i *v1beta1.Bind9Instance) (bool, error) {
	if metav1.GetControllerOf(i) != nil {
		return false, nil
	}
	for _, from := range []client.Reader{s.Client, s.Live} { // only ours is in the cache, by a label that may be lost
		var live appsv1.Deployment
		err := from.Get(ctx, client.ObjectKeyFromObject(i), &live)
		if err == nil {
			return !metav1.IsControlledBy(&live, i) || live.Labels[v1beta1.ClusterLabel] == "", nil
		}
		if !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("reading the Deployment of Bind9Instance %s/%s: %w", i.Namespace, i.Name, err)
		}
	}
	return true, nil
}

// Standing is the server that an instance is while its spec cannot be carried out; nil where its cluster is not there,
// since that says whether zones are signed.
func (s *Servers) Standing(ctx context.Context, i *v1beta1.Bind9Instance) (*dialect.Server, error) {
	p, err := s.Parent(ctx, i)
	if err != nil || p == nil && i.Spec.ClusterRef != "" {
		return nil, err
	}
	return dialect.Standing(i, p), nil
}

// Parent is what an instance is part of: nil if it names nothing, or nothing that exists.
func (s *Servers) Parent(ctx context.Context, i *v1beta1.Bind9Instance) (*dialect.Parent, error) {
	return parentFrom(ctx, s.Client, i)
}

func parentFrom(ctx context.Context, from client.Reader, i *v1beta1.Bind9Instance) (*dialect.Parent, error) {
	if i.Spec.ClusterRef == "" {
		return nil, nil
	}
	var cluster v1beta1.Bind9Cluster
	err := from.Get(ctx, client.ObjectKey{Namespace: i.Namespace, Name: i.Spec.ClusterRef}, &cluster)
	if err == nil {
		return &dialect.Parent{Kind: v1beta1.KindCluster, Name: cluster.Name, Generation: cluster.Generation,
			Spec: &cluster.Spec.CommonSpec}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading Bind9Cluster %s/%s: %w", i.Namespace, i.Spec.ClusterRef, err)
	}
	var provider v1beta1.ClusterBind9Provider
	err = from.Get(ctx, client.ObjectKey{Name: i.Spec.ClusterRef}, &provider)
	if err == nil {
		return &dialect.Parent{Kind: v1beta1.KindProvider, Name: provider.Name, Generation: provider.Generation,
			Spec: &provider.Spec.CommonSpec}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading ClusterBind9Provider %s: %w", i.Spec.ClusterRef, err)
	}
	return nil, nil
}
