package bindy

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// planFor makes the plan of an instance, or says what people have to put right first.
func (b *Controller) planFor(ctx context.Context, i *v1beta1.Bind9Instance) (*dialect.Plan, *dialect.Trouble, error) {
	p, err := b.parentOf(ctx, i)
	if err != nil {
		return nil, nil, err
	}
	if p == nil && i.Spec.ClusterRef != "" {
		return nil, &dialect.Trouble{Reason: v1beta1.ReasonClusterNotFound, Message: dialect.Sentence("There is neither a Bind9Cluster %s/%s nor a ClusterBind9Provider %[2]s: "+
			"create one, or correct spec.clusterRef. What runs is left as it is.", i.Namespace, i.Spec.ClusterRef)}, nil
	}
	out, err := dialect.PlanOf(i, p, b.Settings)
	if err != nil {
		return nil, &dialect.Trouble{Reason: v1beta1.ReasonInvalidSpec, Message: dialect.Sentence("Nothing was changed: %v.", err)}, nil
	}
	return out, nil, nil
}

// parentOf is what an instance is part of: nil if it names nothing, or nothing that exists.
func (b *Controller) parentOf(ctx context.Context, i *v1beta1.Bind9Instance) (*dialect.Parent, error) {
	if i.Spec.ClusterRef == "" {
		return nil, nil
	}
	var cluster v1beta1.Bind9Cluster
	err := b.Client.Get(ctx, client.ObjectKey{Namespace: i.Namespace, Name: i.Spec.ClusterRef}, &cluster)
	if err == nil {
		return &dialect.Parent{Kind: v1beta1.KindCluster, Name: cluster.Name, Generation: cluster.Generation, Spec: &cluster.Spec.CommonSpec}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading Bind9Cluster %s/%s: %w", i.Namespace, i.Spec.ClusterRef, err)
	}
	var provider v1beta1.ClusterBind9Provider
	err = b.Client.Get(ctx, client.ObjectKey{Name: i.Spec.ClusterRef}, &provider)
	if err == nil {
		return &dialect.Parent{Kind: v1beta1.KindProvider, Name: provider.Name, Generation: provider.Generation, Spec: &provider.Spec.CommonSpec}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading ClusterBind9Provider %s: %w", i.Spec.ClusterRef, err)
	}
	return nil, nil
}
