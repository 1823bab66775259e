package bindy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// maxServiceName is how long a Service's name may be (RFC 1035 §2.3.4): an instance has one of its own name.
const maxServiceName = 63

// instanceName is that of one of a cluster's instances, counted from 0.
func instanceName(cluster string, role v1beta1.Role, index int32) string {
	return fmt.Sprintf("%s-%s-%d", cluster, role.Canonical(), index)
}

// ClusterOf returns the cluster whose instance would have this name.
func ClusterOf(instance string) (cluster string, ok bool) {
	rest, index, ok := CutLast(instance)
	if _, err := strconv.ParseUint(index, 10, 31); err != nil || !ok {
		return "", false
	}
	cluster, role, ok := CutLast(rest)
	known := role == string(v1beta1.RolePrimary) || role == string(v1beta1.RoleSecondary)
	return cluster, ok && known && cluster != ""
}

// CutLast cuts a name at its last hyphen.
func CutLast(s string) (before, after string, found bool) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// CheckClusterName says why the instances of a cluster cannot have names made of the cluster's.
func CheckClusterName(kind, name string, primaries, secondaries int32) error {
	longest := instanceName(name, v1beta1.RoleSecondary, max(secondaries-1, 0))
	if other := instanceName(name, v1beta1.RolePrimary, max(primaries-1, 0)); len(other) > len(longest) {
		longest = other
	}
	if over := len(longest) - maxServiceName; over > 0 {
		return fmt.Errorf(
			"the name %s is too long: a Service such as %s may have %d characters; use a %s whose name is at least %d shorter",
			name, longest, maxServiceName, kind, over)
	}
	if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
		return fmt.Errorf("no Service can be named after %s: %s; make a %s whose name is only letters, digits and hyphens "+
			"and begins with a letter",
			name, strings.Join(problems, ", "), kind)
	}
	return nil
}

// checkInstanceName says why an instance cannot have a Service of its own name. New ones are refused; an older schema
// let them in.
func checkInstanceName(name string) error {
	if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
		return fmt.Errorf("no Service can be named %s, as this instance is: %s; make a Bind9Instance whose name has at "+
			"most %d letters, digits and hyphens and begins with a letter",
			name, strings.Join(problems, ", "), maxServiceName)
	}
	return nil
}

// apiServiceName is that of the Service of a sidecar's API. Where it would be too long, a part of it stands for the
// rest.
func apiServiceName(instance string) string {
	const suffix, sum = "-bindcar", 8
	if len(instance)+len(suffix) <= maxServiceName {
		return instance + suffix
	}
	hash := sha256.Sum256([]byte(instance))
	return instance[:maxServiceName-len(suffix)-sum-1] + "-" + hex.EncodeToString(hash[:sum/2]) + suffix
}

// ConfigName is that of the ConfigMap that the instances of a cluster share.
func ConfigName(cluster string) string { return cluster + "-config" }

// BudgetName is that of the PodDisruptionBudget of a cluster's servers of one role.
func BudgetName(cluster string, role v1beta1.Role) string {
	return cluster + "-" + string(role.Canonical())
}

// ObjectLabels are on everything that the dialect makes; more are laid over others, which cannot take their place.
func ObjectLabels(managedBy, cluster string, others map[string]string) map[string]string {
	out := maps.Clone(others)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, map[string]string{
		v1beta1.ManagedByLabel: managedBy, v1beta1.ClusterLabel: cluster,
		v1beta1.AppManagedBy: v1beta1.AppManagedValue, v1beta1.PartOfLabel: v1beta1.PartOfValue,
	})
	return out
}

// SharedLabels are on what the instances of a cluster share: its ConfigMap, its PodDisruptionBudgets, its transfer key.
func SharedLabels(cluster string) map[string]string {
	return ObjectLabels(v1beta1.KindCluster, cluster, map[string]string{
		v1beta1.AppLabel: v1beta1.AppValue, v1beta1.ClusterOfLabel: cluster,
		v1beta1.NameLabel: v1beta1.NameValue, v1beta1.AppInstance: cluster, v1beta1.ComponentLabel: v1beta1.ComponentCluster,
	})
}
