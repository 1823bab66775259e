package fleet

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// applyConfig makes the ConfigMap of a server that has one of its own. It reports whether the configuration is there:
// pods that start before the cluster's reconciler has brought the shared ConfigMap up to date would keep the former.
func (v *visit) applyConfig(ctx context.Context) (bool, error) {
	if !v.plan.SharesConfig() {
		return v.applyChild(ctx, v.plan.OwnConfig())
	}
	var m corev1.ConfigMap
	key := client.ObjectKey{Namespace: v.instance.Namespace, Name: v.plan.ConfigMap()}
	err := v.client.Get(ctx, key, &m)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading %s: %w", dialect.Describe("ConfigMap", key), err)
	}
	for name, text := range v.plan.Files {
		if m.Data[name] != text { // or there is none
			v.held = dialect.Sentence("The ConfigMap %s of Bind9Cluster %s is not up to date yet.", key.Name, v.plan.Cluster())
			return false, nil
		}
	}
	return true, nil
}

// applyBudget lets one pod of a server be evicted at a time, where no cluster has a PodDisruptionBudget for it. One
// that covers a single pod would keep its node from ever being drained.
func (v *visit) applyBudget(ctx context.Context) error {
	s := v.plan.Server
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.instance.Namespace, Name: v.instance.Name, Labels: s.Labels()},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: s.Selector()},
		},
	}
	if s.Replicas >= 2 && (s.Parent == nil || s.Parent.Kind == v1beta1.KindProvider) {
		_, err := v.applyChild(ctx, budget)
		return err
	}
	return v.removeChild(ctx, budget)
}

// applyClaim makes the claim of a server. A claim can only grow: everything else about it stays as it was made, and
// what the spec asks for in vain is told.
func (v *visit) applyClaim(ctx context.Context) (bool, error) {
	want := v.plan.Zones
	if want == nil {
		return true, nil
	}
	var live corev1.PersistentVolumeClaim
	err := v.client.Get(ctx, client.ObjectKeyFromObject(want), &live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading %s: %w", dialect.Describe("PersistentVolumeClaim",
			client.ObjectKeyFromObject(want)), err)
	}
	if err == nil && metav1.IsControlledBy(&live, v.instance) {
		if complaint := keep(want, &live); complaint != "" {
			v.troubles = append(v.troubles, dialect.Trouble{Reason: v1beta1.ReasonInvalidSpec, Message: complaint})
		}
	}
	_, err = v.children.Apply(ctx, v.instance, want)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) { // for instance, the storage class lets no volume grow
		v.again(afterRefusal)
		v.troubles = append(v.troubles, dialect.Trouble{Reason: v1beta1.ReasonInvalidSpec, Message: dialect.Sentence(
			"The API server refuses the claim that spec.storage describes; the current one stays in use: %v.", err)})
		return live.Name != "", nil
	}
	return v.addTrouble(err)
}

// keep puts into a wanted claim what cannot be changed of the live one, and says which wishes are not met.
func keep(want, live *corev1.PersistentVolumeClaim) string {
	var vain []string
	if want.Spec.StorageClassName != nil && ptr.Deref(live.Spec.StorageClassName, "") != *want.Spec.StorageClassName {
		vain = append(vain, fmt.Sprintf("its storage class %q cannot change to %q", ptr.Deref(live.Spec.StorageClassName,
			""), *want.Spec.StorageClassName))
	}
	want.Spec.StorageClassName = live.Spec.StorageClassName
	if !slices.Equal(want.Spec.AccessModes, live.Spec.AccessModes) {
		vain = append(vain, fmt.Sprintf("its access modes %v cannot change to %v", live.Spec.AccessModes,
			want.Spec.AccessModes))
		want.Spec.AccessModes = live.Spec.AccessModes
	}
	is, asked := live.Spec.Resources.Requests[corev1.ResourceStorage], want.Spec.Resources.Requests[corev1.ResourceStorage]
	if asked.Cmp(is) < 0 {
		vain = append(vain, fmt.Sprintf("its size %s cannot shrink to %s", &is, &asked))
		want.Spec.Resources.Requests[corev1.ResourceStorage] = is
	}
	if len(vain) == 0 {
		return ""
	}
	return dialect.Sentence("The PersistentVolumeClaim %s cannot be changed: %s. Undo the change of spec.storage, or "+
		"delete the claim and the pod; a new claim is empty until zones are written again, and has no keys of signed zones.",
		live.Name, dialect.List(vain))
}

// removeChild deletes an object of this kind and name if the instance has it.
func (v *visit) removeChild(ctx context.Context, child client.Object) error {
	err := v.client.Get(ctx, client.ObjectKeyFromObject(child), child)
	if err == nil {
		_, err = v.children.Remove(ctx, v.instance, child)
	}
	return client.IgnoreNotFound(err)
}

// removeLeftovers deletes what a server had of its own before it came to share, when no pod uses it any more.
func (v *visit) removeLeftovers(ctx context.Context) error {
	p := v.plan
	var live appsv1.Deployment
	err := v.client.Get(ctx, client.ObjectKeyFromObject(v.instance), &live)
	if err != nil || v.kept || v.held != "" || !rolledOut(&live) {
		return client.IgnoreNotFound(err)
	}
	if p.ConfigMap() != dialect.ConfigName(v.instance.Name) {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: v.instance.Namespace,
			Name: dialect.ConfigName(v.instance.Name)}}
		if err := v.removeChild(ctx, m); err != nil {
			return err
		}
	}
	if p.TransferSecret() != dialect.TransferName(v.instance.Name) {
		secret := servers.Metadata("Secret")
		secret.Namespace, secret.Name = v.instance.Namespace, dialect.TransferName(v.instance.Name)
		return v.removeChild(ctx, secret)
	}
	return nil
}
