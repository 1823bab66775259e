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
func (r *instances) woken(ctx context.Context, namespace string,
	is func(*v1beta1.Bind9Instance) bool) []client.ObjectKey {
	var all v1beta1.Bind9InstanceList
	if err := r.client.List(ctx, &all, client.InNamespace(namespace)); err != nil {
		r.log.Error("listing Bind9Instances", "namespace", namespace, "error", err)
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

// ofCluster are those that do not have the settings of a cluster yet. Its status changes whenever one of them does, and
// concerns none.
func (r *instances) ofCluster(ctx context.Context, o client.Object) []client.ObjectKey {
	return r.woken(ctx, o.GetNamespace(), func(i *v1beta1.Bind9Instance) bool {
		return i.Spec.ClusterRef == o.GetName() && isNews(i, o, v1beta1.KindCluster)
	})
}

// ofProvider are those that name it and have no cluster of that name in their namespace.
func (r *instances) ofProvider(ctx context.Context, o client.Object) []client.ObjectKey {
	return r.woken(ctx, "", func(i *v1beta1.Bind9Instance) bool {
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

// withConfigMap are those that have configuration from a ConfigMap, or need its name.
func (r *instances) withConfigMap(ctx context.Context, o client.Object) []client.ObjectKey {
	return r.woken(ctx, o.GetNamespace(), func(i *v1beta1.Bind9Instance) bool {
		switch name := o.GetName(); name {
		case dialect.ConfigName(i.Spec.ClusterRef), dialect.ConfigName(i.Name):
			return true
		default:
			return names(i.Spec.ConfigMapRefs, name) || i.Spec.ConfigMapRefs == nil && r.parentNames(ctx, i, name)
		}
	})
}

func names(refs *v1beta1.ConfigMapRefs, name string) bool {
	return refs != nil && (refs.NamedConf == name || refs.NamedConfOptions == name || refs.NamedConfZones == name)
}

func (r *instances) parentNames(ctx context.Context, i *v1beta1.Bind9Instance, configMap string) bool {
	p, err := r.servers.Parent(ctx, i)
	return err == nil && p != nil && names(p.Spec.ConfigMapRefs, configMap)
}

// withTransferKeys are those that have their transfer keys from the Secret of a cluster, or whose pods do until they
// are replaced.
func (r *instances) withTransferKeys(ctx context.Context, o client.Object) []client.ObjectKey {
	cluster, ok := strings.CutSuffix(o.GetName(), dialect.TransferName(""))
	if !ok || cluster == "" {
		return nil
	}
	pods, err := r.keys.clusterPods(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: cluster})
	if err != nil {
		r.log.Error("looking for who has other keys for transfers", "error", err)
	}
	out := r.woken(ctx, o.GetNamespace(), func(i *v1beta1.Bind9Instance) bool { return i.Spec.ClusterRef == cluster })
	for i := range pods {
		out = append(out, instanceOfPod(ctx, &pods[i])...)
	}
	return out
}

// withAccount are all of the namespace of a ServiceAccount.
func (r *instances) withAccount(ctx context.Context, o client.Object) []client.ObjectKey {
	if o.GetName() != dialect.ServiceAccount {
		return nil
	}
	return r.woken(ctx, o.GetNamespace(), func(*v1beta1.Bind9Instance) bool { return true })
}

// withBinding are those that missed the ClusterRoleBinding, or, as it goes, all.
func (r *instances) withBinding(ctx context.Context, o client.Object) []client.ObjectKey {
	if o.GetName() != dialect.BindcarBinding {
		return nil
	}
	return r.woken(ctx, "", func(*v1beta1.Bind9Instance) bool { return true })
}

// progresses reports whether a change of an object is under way, or waits for its turn.
func progresses(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, v1beta1.ConditionProgressing)
}

// withSecret are the instances that a Secret is about: its owner, the one whose Secret has that name, and those that
// have their key from it.
func (r *instances) withSecret(_ context.Context, o client.Object) []client.ObjectKey {
	out := r.keys.memory.referring(client.ObjectKeyFromObject(o))
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
