package fleet

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// woken are the instances of a namespace, or of all, that something wakes.
func (b *Controller) woken(ctx context.Context, namespace string,
	is func(*v1beta1.Bind9Instance) bool) []client.ObjectKey {
	var all v1beta1.Bind9InstanceList
	if err := b.Client.List(ctx, &all, client.InNamespace(namespace)); err != nil {
		b.Log.Error("listing Bind9Instances", "namespace", namespace, "error", err)
		return nil
	}
	var out []client.ObjectKey
	for i := range all.Items {
		if is(&all.Items[i]) {
			out = append(out, client.ObjectKeyFromObject(&all.Items[i]))
		}
	}
	return out
}

// instancesOfCluster are those that do not have the settings of a cluster yet. Its status changes whenever one of them
// does, and concerns none.
func (b *Controller) instancesOfCluster(ctx context.Context, o client.Object) []client.ObjectKey {
	return b.woken(ctx, o.GetNamespace(), func(i *v1beta1.Bind9Instance) bool {
		return i.Spec.ClusterRef == o.GetName() && isNews(i, o, v1beta1.KindCluster)
	})
}

// instancesOfProvider are those that name it and have no cluster of that name in their namespace.
func (b *Controller) instancesOfProvider(ctx context.Context, o client.Object) []client.ObjectKey {
	return b.woken(ctx, "", func(i *v1beta1.Bind9Instance) bool {
		return i.Spec.ClusterRef == o.GetName() && isNews(i, o, v1beta1.KindProvider)
	})
}

func isNews(i *v1beta1.Bind9Instance, parent client.Object, kind string) bool {
	of := i.Status.ClusterRef
	return !parent.GetDeletionTimestamp().IsZero() || of == nil || of.Kind != kind ||
		i.Status.ObservedParentGeneration != parent.GetGeneration() ||
		dialect.HasReason(i.Status.Conditions, v1beta1.ReasonClusterNotFound)
}

// instanceOfPod is the instance whose selector finds a pod.
func instanceOfPod(_ context.Context, o client.Object) []client.ObjectKey {
	if name := o.GetLabels()[v1beta1.InstanceLabel]; name != "" {
		return []client.ObjectKey{{Namespace: o.GetNamespace(), Name: name}}
	}
	return nil
}

// instancesWithConfigMap are those that have configuration from a ConfigMap, or need its name.
func (b *Controller) instancesWithConfigMap(ctx context.Context, o client.Object) []client.ObjectKey {
	return b.woken(ctx, o.GetNamespace(), func(i *v1beta1.Bind9Instance) bool {
		switch name := o.GetName(); name {
		case dialect.ConfigName(i.Spec.ClusterRef), dialect.ConfigName(i.Name):
			return true
		default:
			return names(i.Spec.ConfigMapRefs, name) || i.Spec.ConfigMapRefs == nil && b.parentNames(ctx, i, name)
		}
	})
}

func names(refs *v1beta1.ConfigMapRefs, name string) bool {
	return refs != nil && (refs.NamedConf == name || refs.NamedConfOptions == name || refs.NamedConfZones == name)
}

func (b *Controller) parentNames(ctx context.Context, i *v1beta1.Bind9Instance, configMap string) bool {
	p, err := b.Servers.Parent(ctx, i)
	return err == nil && p != nil && names(p.Spec.ConfigMapRefs, configMap)
}

// instancesWithTransferKeys are those that have their transfer keys from the Secret of a cluster, or whose pods do
// until they are replaced.
func (b *Controller) instancesWithTransferKeys(ctx context.Context, o client.Object) []client.ObjectKey {
	cluster, ok := strings.CutSuffix(o.GetName(), dialect.TransferName(""))
	if !ok || cluster == "" {
		return nil
	}
	pods, err := b.clusterPods(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: cluster})
	if err != nil {
		b.Log.Error("looking for who has other keys for transfers", "error", err)
	}
	out := b.woken(ctx, o.GetNamespace(), func(i *v1beta1.Bind9Instance) bool { return i.Spec.ClusterRef == cluster })
	for i := range pods {
		out = append(out, instanceOfPod(ctx, &pods[i])...)
	}
	return out
}

// instancesWithAccount are all of the namespace of a ServiceAccount.
func (b *Controller) instancesWithAccount(ctx context.Context, o client.Object) []client.ObjectKey {
	if o.GetName() != dialect.ServiceAccount {
		return nil
	}
	return b.woken(ctx, o.GetNamespace(), func(*v1beta1.Bind9Instance) bool { return true })
}

// instancesWithBinding are those that missed the ClusterRoleBinding, or, as it goes, all.
func (b *Controller) instancesWithBinding(ctx context.Context, o client.Object) []client.ObjectKey {
	if o.GetName() != dialect.BindcarBinding {
		return nil
	}
	return b.woken(ctx, "", func(*v1beta1.Bind9Instance) bool { return true })
}

// progresses reports whether a change of an object is under way, or waits for its turn.
func progresses(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, v1beta1.ConditionProgressing)
}

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
