package bindy

import (
	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// Roles are those of the instances of a cluster, in the order in which they are made.
func Roles() []v1beta1.Role { return []v1beta1.Role{v1beta1.RolePrimary, v1beta1.RoleSecondary} }

// CheckFleet says why the spec of a provider or cluster cannot be carried out. An older schema, or none, may have let
// it in.
func CheckFleet(kind, name string, spec *v1beta1.CommonSpec) error {
	var counts [2]int32
	for i, role := range Roles() {
		n, err := spec.Replicas(role)
		if err != nil {
			return err
		}
		counts[i] = n
		if r := spec.ForRole(role); r != nil {
			if err := checkLabels("spec."+string(role)+".labels", r.Labels); err != nil {
				return err
			}
		}
	}
	if err := CheckClusterName(kind, name, counts[0], counts[1]); err != nil {
		return err
	}
	_, err := clusterFiles(spec)
	return err
}

// AskedFor is how many primary and secondary servers a spec asks for, for the columns of kubectl; nil where it
// contradicts itself.
func AskedFor(spec *v1beta1.CommonSpec) (primary, secondary *int32) {
	if n, err := spec.Replicas(v1beta1.RolePrimary); err == nil {
		primary = &n
	}
	if n, err := spec.Replicas(v1beta1.RoleSecondary); err == nil {
		secondary = &n
	}
	return primary, secondary
}

// InstancesIn is how many instances a spec asks for; 0 if it contradicts itself.
func InstancesIn(spec *v1beta1.CommonSpec) int {
	sum := 0
	for _, role := range Roles() {
		if n, err := spec.Replicas(role); err == nil {
			sum += int(n)
		}
	}
	return sum
}
