package bindy

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// instancesWithSecret are the instances that a Secret is about: its owner, the one whose Secret has that name, and
// those that have their key from it.
func (b *Controller) instancesWithSecret(_ context.Context, o client.Object) []client.ObjectKey {
	out := b.keys.referring(client.ObjectKeyFromObject(o))
	for _, suffix := range []string{dialect.KeySecret(""), dialect.TransferName("")} {
		if name, ok := strings.CutSuffix(o.GetName(), suffix); ok && name != "" {
			out = append(out, client.ObjectKey{Namespace: o.GetNamespace(), Name: name})
		}
	}
	if ref := metav1.GetControllerOf(o); ref != nil && ref.Kind == v1beta1.KindInstance {
		out = append(out, client.ObjectKey{Namespace: o.GetNamespace(), Name: ref.Name})
	}
	return out
}

// clustersWithSecret are the clusters whose Secret has that name.
func clustersWithSecret(_ context.Context, o client.Object) []client.ObjectKey {
	if name, ok := strings.CutSuffix(o.GetName(), dialect.TransferName("")); ok && name != "" {
		return []client.ObjectKey{{Namespace: o.GetNamespace(), Name: name}}
	}
	return nil
}
