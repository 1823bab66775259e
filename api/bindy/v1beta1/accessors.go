package v1beta1

import (
	"fmt"
	"slices"
)

// DefaultVersion is the version of BIND where nobody names one.
const DefaultVersion = "9.18"

// VersionOrDefault returns the version of BIND.
func (s *CommonSpec) VersionOrDefault() string {
	if s.Version == "" {
		return DefaultVersion
	}
	return s.Version
}

// TargetNamespaces returns the namespaces that get a cluster, sorted and each
// once; fallback is the one where the spec names none. It is an error that both
// forms of the field are set and differ.
func (s *ClusterBind9ProviderSpec) TargetNamespaces(fallback string) ([]string, error) {
	switch {
	case s.Namespace == "" && len(s.Namespaces) == 0:
		return []string{fallback}, nil
	case s.Namespace == "":
		names := slices.Clone(s.Namespaces)
		slices.Sort(names)
		return slices.Compact(names), nil
	case len(s.Namespaces) == 0 || !slices.ContainsFunc(s.Namespaces, func(n string) bool { return n != s.Namespace }):
		return []string{s.Namespace}, nil
	}
	return nil, fmt.Errorf("spec.namespace is %s, and spec.namespaces lists others: remove one of the two", s.Namespace)
}

// Replicas returns how many servers of a role there are. It is an error that
// both forms of the field are set and differ.
func (s *CommonSpec) Replicas(role Role) (int32, error) {
	flat, name, def := s.PrimaryReplicas, "primary", int32(1)
	if role.Canonical() == RoleSecondary {
		flat, name, def = s.SecondaryReplicas, "secondary", 0
	}
	var nested *int32
	if c := s.ForRole(role); c != nil {
		nested = c.Replicas
	}
	switch {
	case flat == nil && nested == nil:
		return def, nil
	case flat == nil:
		return *nested, nil
	case nested == nil || *nested == *flat:
		return *flat, nil
	}
	return 0, fmt.Errorf("spec.%[1]sReplicas is %[2]d and spec.%[1]s.replicas is %[3]d: remove one of the two, or make them equal", name, *flat, *nested)
}

// ForRole returns what is particular to a role; it may be nil.
func (s *CommonSpec) ForRole(role Role) *RoleConfig {
	if role.Canonical() == RoleSecondary {
		return s.Secondary
	}
	return s.Primary
}

// ReplicasOrDefault returns how many pods the server has.
func (s *Bind9InstanceSpec) ReplicasOrDefault() int32 {
	if s.Replicas == nil {
		return 1
	}
	return *s.Replicas
}
