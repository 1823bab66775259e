package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/guarded"
)

// rollouts makes the Deployments of instances, and replaces their pods one server of a cluster at a time.
type rollouts struct {
	*owners
	settings dialect.Settings
	servers  *servers.Servers
	turn     guarded.Turn // held while it is decided whose pods are replaced
	line     line
	users    contents
}

// templateAnnotation on a Deployment is the template of its pods as we applied it last: what a server keeps while it
// waits for its turn.
const templateAnnotation = "zonefold.dev/template"

// wanted is the Deployment of a plan.
func (r *rollouts) wanted(ctx context.Context, p *dialect.Plan,
	account types.UID) (*appsv1.Deployment, *dialect.Trouble, error) {
	checksum, t, err := r.checksum(ctx, p, account)
	if t != nil || err != nil {
		return nil, t, err
	}
	out := p.Deployment(r.settings, checksum)
	template, err := json.Marshal(out.Spec.Template)
	if err != nil {
		return nil, nil, fmt.Errorf("encoding the template of %s: %w",
			dialect.Describe("Deployment", client.ObjectKeyFromObject(out)), err)
	}
	annotations := map[string]string{}
	maps.Copy(annotations, out.Annotations)
	annotations[templateAnnotation] = string(template)
	out.Annotations = annotations
	return out, nil, nil
}

// isCurrent reports whether a Deployment was applied with the template of a wanted one.
func isCurrent(live, want *appsv1.Deployment) bool {
	return live.Annotations[templateAnnotation] == want.Annotations[templateAnnotation]
}

// apply brings the Deployment of an instance to what is wanted, its template when it is the server's turn.
func (r *rollouts) apply(ctx context.Context, v *visit) error {
	key := client.ObjectKeyFromObject(v.instance)
	want, t, err := r.wanted(ctx, v.plan, v.account)
	if want == nil {
		if t != nil {
			v.troubles = append(v.troubles, *t)
		}
		v.kept = true
		r.line.leave(key)
		return err
	}
	var live appsv1.Deployment
	err = r.client.Get(ctx, key, &live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading %s: %w", dialect.Describe("Deployment", key), err)
	}
	if err == nil && metav1.IsControlledBy(&live, v.instance) && !isCurrent(&live, want) && v.plan.Parent != nil {
		return r.takeTurn(ctx, v, want)
	}
	r.line.leave(key)
	_, err = v.applyChild(ctx, want)
	return err
}

// takeTurn replaces the pods of a server if it may, and leaves everybody else out meanwhile. What is known of siblings
// is asked of the API server: two must not go at once.
func (r *rollouts) takeTurn(ctx context.Context, v *visit, want *appsv1.Deployment) error {
	key := client.ObjectKeyFromObject(v.instance)
	if err := r.turn.LockBefore(ctx); err != nil {
		return err
	}
	defer r.turn.Unlock()
	var all appsv1.DeploymentList
	if err := r.live.List(ctx, &all, client.InNamespace(key.Namespace),
		client.MatchingLabels{v1beta1.PartOfLabel: v1beta1.PartOfValue}); err != nil {
		return fmt.Errorf("listing the Deployments of Namespace %s: %w", key.Namespace, err)
	}
	self, siblings, err := r.members(ctx, v, all.Items)
	if err != nil {
		return err
	}
	d := mayRoll(self, siblings)
	if d.may {
		r.line.leave(key)
		_, err = v.applyChild(ctx, want)
		return err
	}
	r.line.join(v.plan.Parent, key, !self.settled)
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
		want.Spec.Template, want.Annotations[templateAnnotation] = template, kept
		_, err = v.applyChild(ctx, want)
		return err
	}
	return nil
}

// members are the servers of a cluster that have pods, for a decision.
func (r *rollouts) members(ctx context.Context, v *visit,
	deployments []appsv1.Deployment) (self member, siblings []member, err error) {
	self = member{name: v.instance.Name, due: true}
	for i := range deployments {
		d := &deployments[i]
		if d.Name == v.instance.Name {
			self.settled, self.rolling, self.serves = rolledOut(d), isRolling(d), d.Status.AvailableReplicas > 0
			continue
		}
		var sibling v1beta1.Bind9Instance
		err := r.client.Get(ctx, client.ObjectKeyFromObject(d), &sibling)
		if apierrors.IsNotFound(err) || err == nil && (!metav1.IsControlledBy(d, &sibling) ||
			!sibling.DeletionTimestamp.IsZero() || sibling.Spec.ClusterRef != v.instance.Spec.ClusterRef) {
			continue
		}
		if err != nil {
			return self, nil, fmt.Errorf("reading Bind9Instance %s: %w", d.Name, err)
		}
		m := member{name: d.Name, settled: rolledOut(d), rolling: isRolling(d), serves: d.Status.AvailableReplicas > 0}
		if m.due, err = r.due(ctx, &sibling, d, v.account); err != nil {
			return self, nil, err
		}
		siblings = append(siblings, m)
	}
	return self, siblings, nil
}

// due reports whether the pods of a sibling are to be replaced. One whose plan cannot be carried out keeps what it has,
// and nobody waits for it.
func (r *rollouts) due(ctx context.Context, sibling *v1beta1.Bind9Instance, live *appsv1.Deployment,
	account types.UID) (bool, error) {
	p, problem, err := r.servers.Plan(ctx, sibling)
	if problem != nil || err != nil {
		return false, err
	}
	if behind, err := r.isBehind(ctx, sibling); behind || err != nil {
		return behind, err
	}
	want, _, err := r.wanted(ctx, p, account)
	return want != nil && !isCurrent(live, want), err
}

// rolledOut reports whether a Deployment has as many ready pods as it asks for, all of its template, and no other.
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
