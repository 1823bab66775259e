package bindy

import (
	"context"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// isBehind reports whether an instance that a cluster made does not repeat yet what the cluster says. It is about to,
// which is an event: pods that were replaced before that would be replaced twice.
func (b *Controller) isBehind(ctx context.Context, i *v1beta1.Bind9Instance) (bool, error) {
	ref := metav1.GetControllerOf(i)
	if ref == nil || ref.Kind != v1beta1.KindCluster {
		return false, nil
	}
	var cluster v1beta1.Bind9Cluster
	if err := b.Client.Get(ctx, client.ObjectKey{Namespace: i.Namespace, Name: ref.Name}, &cluster); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	_, number, _ := dialect.CutLast(i.Name)
	index, err := strconv.ParseInt(number, 10, 32)
	if err != nil || !metav1.IsControlledBy(i, &cluster) || !cluster.DeletionTimestamp.IsZero() {
		return false, nil //nolint:nilerr // it is none of those that the cluster makes
	}
	want := dialect.InstanceFor(&cluster, i.Spec.Role.Canonical(), int32(index))
	if want.Name != i.Name {
		return false, nil
	}
	hash, err := b.children.Hash(&cluster, want)
	return err == nil && i.Annotations[v1beta1.AppliedAnnotation] != hash, err
}
