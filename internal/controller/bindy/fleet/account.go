package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/guarded"
)

// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=serviceaccounts,resourceNames=bind9,verbs=delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterrolebindings,resourceNames=zonefold-bindcar,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=zonefold-bindcar,verbs=bind

// accounts makes and removes the ServiceAccounts of servers.
type accounts struct {
	*owners
	turn guarded.Turn // held while one is made or removed
}

// part reconciles the ServiceAccount that the servers of a namespace share: it belongs to none of them, so that
// nobody else removes it when it has served its time.
func (a *accounts) part() part {
	return part{
		kind:      &corev1.ServiceAccount{},
		watches:   []watch{{&v1beta1.Bind9Instance{}, accountOfNamespace}, {&appsv1.Deployment{}, accountOfNamespace}},
		reconcile: a.reconcile,
	}
}

func accountOfNamespace(_ context.Context, o client.Object) []client.ObjectKey {
	return []client.ObjectKey{{Namespace: o.GetNamespace(), Name: dialect.ServiceAccount}}
}

// reconcile removes the ServiceAccount of a namespace that has no instances any more, and no servers that were left
// running. Instances make it, see applyAccount.
func (a *accounts) reconcile(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	if key.Name != dialect.ServiceAccount {
		return 0, nil
	}
	if err := a.turn.LockBefore(ctx); err != nil {
		return 0, err
	}
	defer a.turn.Unlock()
	var account corev1.ServiceAccount
	if err := a.client.Get(ctx, key, &account); apierrors.IsNotFound(err) {
		a.children.Forget(corev1.SchemeGroupVersion.WithKind(rbacv1.ServiceAccountKind).GroupKind(), key)
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	var instances v1beta1.Bind9InstanceList
	if err := a.client.List(ctx, &instances, client.InNamespace(key.Namespace),
		client.UnsafeDisableDeepCopy); err != nil || len(instances.Items) > 0 {
		return 0, err // they may say that they have thousands of zones, and are only counted
	}
	if !account.DeletionTimestamp.IsZero() || account.Annotations[v1beta1.AppliedAnnotation] == "" ||
		len(account.OwnerReferences) > 0 {
		return 0, nil
	}
	// A new one would be another one for the API server, and pods would have to be replaced: the cache may be late.
	if err := a.live.List(ctx, &instances, client.InNamespace(key.Namespace), client.Limit(1)); err != nil ||
		len(instances.Items) > 0 {
		return 0, err
	}
	if left, err := a.serversLeft(ctx, key.Namespace); left || err != nil {
		return 0, err
	}
	err := a.objects.Delete(ctx, &account)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return 0, nil
	}
	return 0, err
}

// serversLeft reports whether a namespace has servers that stay: those of instances that were deleted without what they
// have. No pod of theirs could be made anew without the ServiceAccount.
func (a *accounts) serversLeft(ctx context.Context, namespace string) (bool, error) {
	var all appsv1.DeploymentList
	if err := a.live.List(ctx, &all, client.InNamespace(namespace),
		client.MatchingLabels{v1beta1.PartOfLabel: v1beta1.PartOfValue}); err != nil {
		return false, fmt.Errorf("listing the Deployments of Namespace %s: %w", namespace, err)
	}
	return slices.ContainsFunc(all.Items, func(d appsv1.Deployment) bool {
		return d.DeletionTimestamp.IsZero() && metav1.GetControllerOf(&d) == nil
	}), nil
}

// applyAccount makes the ServiceAccount of an instance's namespace, and notes which one it is. One that somebody else
// made is used as it is.
func (v *visit) applyAccount(ctx context.Context) (bool, error) {
	if err := v.accounts.turn.LockBefore(ctx); err != nil { // several instances begin at once
		return false, err
	}
	defer v.accounts.turn.Unlock()
	want := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: v.instance.Namespace, Name: dialect.ServiceAccount,
		Labels: map[string]string{
			v1beta1.AppLabel: v1beta1.AppValue, v1beta1.NameLabel: v1beta1.NameValue,
			v1beta1.AppManagedBy: v1beta1.AppManagedValue, v1beta1.PartOfLabel: v1beta1.PartOfValue,
		},
	}}
	account, err := v.accounts.of(ctx, v.instance.Namespace)
	if err != nil {
		return false, err
	}
	if account == nil || account.Annotations[v1beta1.AppliedAnnotation] != "" {
		what, err := v.children.Apply(ctx, nil, want)
		if what == objects.Ending {
			return false, nil // its end is an event
		}
		if ok, err := v.addTrouble(err); !ok {
			return false, err
		}
		if account == nil {
			if account, err = v.accounts.of(ctx, v.instance.Namespace); err != nil || account == nil {
				return false, err
			}
		}
	}
	v.account = account.UID
	return true, nil
}

// of is the ServiceAccount of a namespace, whoever made it; nil if there is none. Only ours is in the cache.
func (a *accounts) of(ctx context.Context, namespace string) (*corev1.ServiceAccount, error) {
	key := client.ObjectKey{Namespace: namespace, Name: dialect.ServiceAccount}
	for _, from := range []client.Reader{a.client, a.live} {
		var account corev1.ServiceAccount
		err := from.Get(ctx, key, &account)
		if err == nil {
			return &account, nil
		}
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("reading %s: %w", dialect.Describe("ServiceAccount", key), err)
		}
	}
	return nil, nil
}

// bindings lets the ServiceAccounts of servers ask who calls their sidecars.
type bindings struct{ *owners }

// part reconciles the subjects of the ClusterRoleBinding of the sidecars.
func (b *bindings) part() part {
	return part{
		kind: &rbacv1.ClusterRoleBinding{},
		watches: []watch{{&v1beta1.Bind9Instance{}, func(context.Context, client.Object) []client.ObjectKey {
			return []client.ObjectKey{{Name: dialect.BindcarBinding}}
		}}},
		reconcile: b.reconcile,
	}
}

func (b *bindings) reconcile(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
	if key.Name != dialect.BindcarBinding {
		return 0, nil
	}
	var binding rbacv1.ClusterRoleBinding
	if err := b.client.Get(ctx, key, &binding); err != nil || !binding.DeletionTimestamp.IsZero() {
		return 0, client.IgnoreNotFound(err)
	}
	var instances v1beta1.Bind9InstanceList
	if err := b.client.List(ctx, &instances); err != nil {
		return 0, fmt.Errorf("listing Bind9Instances: %w", err)
	}
	subjects := subjectsOf(instances.Items, binding.Subjects)
	if slices.Equal(subjects, binding.Subjects) {
		return 0, nil
	}
	_, err := b.objects.Change(ctx, &binding, "subjects", subjects)
	return 0, client.IgnoreNotFound(err)
}

// subjectsOf are the ServiceAccounts of the namespaces with instances, after what others put there.
func subjectsOf(instances []v1beta1.Bind9Instance, are []rbacv1.Subject) []rbacv1.Subject {
	out := slices.DeleteFunc(slices.Clone(are), func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Name == dialect.ServiceAccount
	})
	var namespaces []string
	for i := range instances {
		namespaces = append(namespaces, instances[i].Namespace)
	}
	slices.SortFunc(namespaces, strings.Compare)
	for _, namespace := range slices.Compact(namespaces) {
		out = append(out, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: dialect.ServiceAccount})
	}
	return out
}

// checkBinding notes when sidecars cannot ask who the operator is.
func (v *visit) checkBinding(ctx context.Context) error {
	var binding rbacv1.ClusterRoleBinding
	err := v.client.Get(ctx, client.ObjectKey{Name: dialect.BindcarBinding}, &binding)
	if apierrors.IsNotFound(err) {
		v.troubles = append(v.troubles, dialect.Trouble{Reason: v1beta1.ReasonBindingNotFound, Message: dialect.Sentence(
			"ClusterRoleBinding %s is missing, so the sidecars refuse all calls; install it again with helm upgrade or "+
				"kubectl apply -f config/install/zonefold.yaml.", dialect.BindcarBinding)})
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterRoleBinding %s: %w", dialect.BindcarBinding, err)
	}
	return nil
}
