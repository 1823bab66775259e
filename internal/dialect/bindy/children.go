package bindy

import (
	"cmp"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// InstancesFor are the instances of a cluster whose spec has been checked.
func InstancesFor(c *v1beta1.Bind9Cluster) []*v1beta1.Bind9Instance {
	var out []*v1beta1.Bind9Instance
	for _, role := range Roles() {
		count, err := c.Spec.Replicas(role)
		if err != nil {
			continue
		}
		for i := range count {
			out = append(out, InstanceFor(c, role, i))
		}
	}
	return out
}

// InstanceFor is one instance of a cluster. What its spec does not say, the instance takes from the cluster that it
// names.
func InstanceFor(c *v1beta1.Bind9Cluster, role v1beta1.Role, index int32) *v1beta1.Bind9Instance {
	var more map[string]string
	if r := c.Spec.ForRole(role); r != nil {
		more = r.Labels
	}
	labels := ObjectLabels(v1beta1.KindCluster, c.Name, more)
	labels[v1beta1.RoleLabel] = string(role)
	instance := &v1beta1.Bind9Instance{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: instanceName(c.Name, role, index), Labels: labels,
			Annotations: map[string]string{v1beta1.InstanceIndexAnnotation: strconv.Itoa(int(index))},
			Finalizers:  []string{v1beta1.InstanceFinalizer}, // at once, which saves a write
		},
		Spec: v1beta1.Bind9InstanceSpec{
			ClusterRef: c.Name, Role: role, Replicas: ptr.To[int32](1), Version: c.Spec.Version,
			Image: c.Spec.Image, ConfigMapRefs: c.Spec.ConfigMapRefs, Volumes: c.Spec.Volumes, VolumeMounts: c.Spec.VolumeMounts,
		},
	}
	if c.Spec.Global != nil {
		instance.Spec.BindcarConfig = c.Spec.Global.BindcarConfig
	}
	return instance
}

// WantedNames are the names of the instances that a cluster asks for; none if it contradicts itself.
func WantedNames(c *v1beta1.Bind9Cluster) []string {
	var out []string
	for _, i := range InstancesFor(c) {
		out = append(out, i.Name)
	}
	return out
}

// CompareInstances orders names by role and number, so that 10 comes after 9.
func CompareInstances(a, b string) int {
	restA, indexA, _ := CutLast(a)
	restB, indexB, _ := CutLast(b)
	numberA, _ := strconv.Atoi(indexA)
	numberB, _ := strconv.Atoi(indexB)
	return cmp.Or(cmp.Compare(restA, restB), cmp.Compare(numberA, numberB), cmp.Compare(a, b))
}

// SharedBy is what the instances of a cluster have in common, or an error that says what is wrong with the spec.
func SharedBy(c *v1beta1.Bind9Cluster) (*corev1.ConfigMap, []*policyv1.PodDisruptionBudget, error) {
	if err := CheckFleet(v1beta1.KindCluster, c.Name, &c.Spec.CommonSpec); err != nil {
		return nil, nil, err
	}
	config, err := configFor(c)
	if err != nil {
		return nil, nil, err
	}
	var budgets []*policyv1.PodDisruptionBudget
	for _, role := range Roles() {
		if count, err := c.Spec.Replicas(role); err == nil && count >= 2 {
			budgets = append(budgets, budgetFor(c, role))
		}
	}
	return config, budgets, nil
}

// budgetFor lets one server of a role be evicted at a time.
func budgetFor(c *v1beta1.Bind9Cluster, role v1beta1.Role) *policyv1.PodDisruptionBudget {
	labels := maps.Clone(SharedLabels(c.Name))
	labels[v1beta1.RoleLabel] = string(role)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: BudgetName(c.Name, role), Labels: labels},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromInt32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{
				v1beta1.ClusterLabel: c.Name, v1beta1.RoleLabel: string(role),
			}},
		},
	}
}
