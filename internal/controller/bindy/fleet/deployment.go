package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

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
func (b *Controller) applyConfig(ctx context.Context, v *visit) (bool, error) {
	if !v.plan.SharesConfig() {
		return b.applyChild(ctx, v, v.plan.OwnConfig())
	}
	var m corev1.ConfigMap
	key := client.ObjectKey{Namespace: v.instance.Namespace, Name: v.plan.ConfigMap()}
	err := b.Client.Get(ctx, key, &m)
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
func (b *Controller) applyBudget(ctx context.Context, v *visit) error {
	s := v.plan.Server
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.instance.Namespace, Name: v.instance.Name, Labels: s.Labels()},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: s.Selector()},
		},
	}
	if s.Replicas >= 2 && (s.Parent == nil || s.Parent.Kind == v1beta1.KindProvider) {
		_, err := b.applyChild(ctx, v, budget)
		return err
	}
	return b.removeChild(ctx, v.instance, budget)
}

// removeChild deletes an object of this kind and name if the instance has it.
func (b *Controller) removeChild(ctx context.Context, i *v1beta1.Bind9Instance, child client.Object) error {
	err := b.Client.Get(ctx, client.ObjectKeyFromObject(child), child)
	if err == nil {
		_, err = b.children.Remove(ctx, i, child)
	}
	return client.IgnoreNotFound(err)
}

// removeLeftovers deletes what a server had of its own before it came to share, when no pod uses it any more.
func (b *Controller) removeLeftovers(ctx context.Context, v *visit) error {
	p := v.plan
	var live appsv1.Deployment
	err := b.Client.Get(ctx, client.ObjectKeyFromObject(v.instance), &live)
	if err != nil || v.kept || v.held != "" || !rolledOut(&live) {
		return client.IgnoreNotFound(err)
	}
	if p.ConfigMap() != dialect.ConfigName(v.instance.Name) {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: v.instance.Namespace,
			Name: dialect.ConfigName(v.instance.Name)}}
		if err := b.removeChild(ctx, v.instance, m); err != nil {
			return err
		}
	}
	if p.TransferSecret() != dialect.TransferName(v.instance.Name) {
		secret := servers.Metadata("Secret")
		secret.Namespace, secret.Name = v.instance.Namespace, dialect.TransferName(v.instance.Name)
		return b.removeChild(ctx, v.instance, secret)
	}
	return nil
}

// templateAnnotation on a Deployment is the template of its pods as we applied it last: what a server keeps while it
// waits for its turn.
const templateAnnotation = "zonefold.dev/template"

// wantedDeployment is that of a plan, and its template as text.
func (b *Controller) wantedDeployment(ctx context.Context, v *visit) (*appsv1.Deployment, string, error) {
	checksum, t, err := b.checksum(ctx, v.plan, v.account)
	if t != nil {
		v.troubles = append(v.troubles, *t)
	}
	if t != nil || err != nil {
		return nil, "", err
	}
	out := v.plan.Deployment(b.Settings, checksum)
	text, err := json.Marshal(out.Spec.Template)
	if err != nil {
		return nil, "", fmt.Errorf("encoding the template of %s: %w",
			dialect.Describe("Deployment", client.ObjectKeyFromObject(out)), err)
	}
	return out, string(text), nil
}

// applyDeployment brings the Deployment to what is wanted, its template when it is the server's turn.
func (b *Controller) applyDeployment(ctx context.Context, v *visit) error {
	key := client.ObjectKeyFromObject(v.instance)
	want, template, err := b.wantedDeployment(ctx, v)
	if want == nil {
		v.kept = true
		b.line.leave(key)
		return err
	}
	var live appsv1.Deployment
	err = b.Client.Get(ctx, key, &live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading %s: %w", dialect.Describe("Deployment", key), err)
	}
	v.wanted = template
	if err == nil && metav1.IsControlledBy(&live, v.instance) && live.Annotations[templateAnnotation] != template &&
		v.plan.Parent != nil {
		return b.takeTurn(ctx, v, want)
	}
	b.line.leave(key)
	return b.applyTemplate(ctx, v, want, template)
}

func (b *Controller) applyTemplate(ctx context.Context, v *visit, want *appsv1.Deployment, template string) error {
	want.Annotations = maps.Clone(want.Annotations)
	if want.Annotations == nil {
		want.Annotations = map[string]string{}
	}
	want.Annotations[templateAnnotation] = template
	_, err := b.applyChild(ctx, v, want)
	return err
}

// takeTurn replaces the pods of a server if it may, and leaves everybody else out meanwhile. What is known of siblings
// is asked of the API server: two must not go at once.
func (b *Controller) takeTurn(ctx context.Context, v *visit, want *appsv1.Deployment) error {
	key := client.ObjectKeyFromObject(v.instance)
	if err := b.rolling.LockBefore(ctx); err != nil {
		return err
	}
	defer b.rolling.Unlock()
	var all appsv1.DeploymentList
	if err := b.Live.List(ctx, &all, client.InNamespace(key.Namespace),
		client.MatchingLabels{v1beta1.PartOfLabel: v1beta1.PartOfValue}); err != nil {
		return fmt.Errorf("listing the Deployments of Namespace %s: %w", key.Namespace, err)
	}
	self, siblings, err := b.members(ctx, v, all.Items)
	if err != nil {
		return err
	}
	d := mayRoll(self, siblings)
	if d.may {
		b.line.leave(key)
		return b.applyTemplate(ctx, v, want, v.wanted)
	}
	b.line.join(v.plan.Parent, key, !self.settled)
	v.held = dialect.Sentence("It gets its new pods after Bind9Instance %s.", d.waitsFor)
	if d.unready {
		v.held = dialect.Sentence(
			"It gets its new pods when Bind9Instance %s is ready; see its conditions for why it is not.", d.waitsFor)
	}
	for i := range all.Items {
		kept := all.Items[i].Annotations[templateAnnotation]
		if all.Items[i].Name != key.Name || kept == "" {
			continue
		}
		var template corev1.PodTemplateSpec
		if err := json.Unmarshal([]byte(kept), &template); err != nil {
			return nil // somebody wrote there: what runs stays until it is this server's turn
		}
		want.Spec.Template = template
		return b.applyTemplate(ctx, v, want, kept)
	}
	return nil
}

// members are the servers of a cluster that have pods, for a decision.
func (b *Controller) members(ctx context.Context, v *visit,
	deployments []appsv1.Deployment) (self member, siblings []member, err error) {
	self = member{name: v.instance.Name, due: true}
	for i := range deployments {
		d := &deployments[i]
		if d.Name == v.instance.Name {
			self.settled, self.rolling, self.serves = rolledOut(d), isRolling(d), d.Status.AvailableReplicas > 0
			continue
		}
		var sibling v1beta1.Bind9Instance
		err := b.Client.Get(ctx, client.ObjectKeyFromObject(d), &sibling)
		if apierrors.IsNotFound(err) || err == nil && (!metav1.IsControlledBy(d, &sibling) ||
			!sibling.DeletionTimestamp.IsZero() || sibling.Spec.ClusterRef != v.instance.Spec.ClusterRef) {
			continue
		}
		if err != nil {
			return self, nil, fmt.Errorf("reading Bind9Instance %s: %w", d.Name, err)
		}
		m := member{name: d.Name, settled: rolledOut(d), rolling: isRolling(d), serves: d.Status.AvailableReplicas > 0}
		if m.due, err = b.due(ctx, &sibling, d, v); err != nil {
			return self, nil, err
		}
		siblings = append(siblings, m)
	}
	return self, siblings, nil
}

// due reports whether the pods of a sibling are to be replaced. One whose plan cannot be carried out keeps what it has,
// and nobody waits for it.
func (b *Controller) due(ctx context.Context, sibling *v1beta1.Bind9Instance, live *appsv1.Deployment,
	v *visit) (bool, error) {
	p, problem, err := b.Servers.Plan(ctx, sibling)
	if problem != nil || err != nil {
		return false, err
	}
	if behind, err := b.isBehind(ctx, sibling); behind || err != nil {
		return behind, err
	}
	want, template, err := b.wantedDeployment(ctx, &visit{instance: sibling, plan: p, account: v.account})
	return want != nil && live.Annotations[templateAnnotation] != template, err
}

// settled reports whether a Deployment has as many ready pods as it asks for, all of its template, and no other.
func rolledOut(d *appsv1.Deployment) bool {
	wanted, s := ptr.Deref(d.Spec.Replicas, 1), d.Status
	return s.ObservedGeneration >= d.Generation && s.Replicas == wanted && s.UpdatedReplicas == wanted &&
		s.AvailableReplicas == wanted
}

// isRolling reports whether pods of a Deployment are to be replaced, or have just been told to be.
func isRolling(d *appsv1.Deployment) bool {
	wanted, s := ptr.Deref(d.Spec.Replicas, 1), d.Status
	return s.ObservedGeneration < d.Generation || s.UpdatedReplicas < s.Replicas ||
		s.UpdatedReplicas < min(wanted, s.Replicas)
}
