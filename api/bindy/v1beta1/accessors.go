package v1beta1

import (
	"fmt"
	"slices"
	"strconv"
	"time"
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
	names := slices.Clone(s.Namespaces)
	switch {
	case s.Namespace == "" && len(names) == 0:
		names = []string{fallback}
	case s.Namespace != "" && len(names) == 0:
		names = []string{s.Namespace}
	case s.Namespace != "" && slices.ContainsFunc(names, func(n string) bool { return n != s.Namespace }):
		return nil, fmt.Errorf("spec.namespace is %s, and spec.namespaces lists others; remove one of the two", s.Namespace)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Replicas returns how many servers of a role there are. It is an error that
// both forms of the field are set and differ.
func (s *CommonSpec) Replicas(role Role) (int32, error) {
	flat := s.PrimaryReplicas
	if role.Canonical() == RoleSecondary {
		flat = s.SecondaryReplicas
	}
	var nested *int32
	if c := s.ForRole(role); c != nil {
		nested = c.Replicas
	}
	switch {
	case flat == nil && nested == nil:
		return 0, nil
	case flat == nil:
		return *nested, nil
	case nested == nil || *nested == *flat:
		return *flat, nil
	}
	return 0, fmt.Errorf(
		"spec.%[1]sReplicas is %[2]d and spec.%[1]s.replicas is %[3]d; remove one of the two, or make them equal",
		role.Canonical(), *flat, *nested)
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

// KeySecret returns the Secret with the server's key that somebody else made,
// nil if the operator makes the key.
func (s *Bind9InstanceSpec) KeySecret() (*RNDCSecretRef, error) {
	return oneSecret(s.RNDCSecretRef, s.RNDCKey)
}

// KeySecret returns the Secret with the key of the role's servers that somebody
// else made, nil if the operator makes the keys.
func (c *RoleConfig) KeySecret() (*RNDCSecretRef, error) {
	if c == nil {
		return nil, nil
	}
	return oneSecret(c.RNDCSecretRef, c.RNDCKey)
}

func oneSecret(older *RNDCSecretRef, key *RNDCKeyConfig) (*RNDCSecretRef, error) {
	if key == nil || key.SecretRef == nil {
		return older, nil
	}
	if older != nil && older.OrDefault() != key.SecretRef.OrDefault() {
		return nil, fmt.Errorf(
			"rndcSecretRef names the Secret %s and rndcKey.secretRef %s, or another part of it; remove one of the two",
			older.Name, key.SecretRef.Name)
	}
	return key.SecretRef, nil
}

// OrDefault returns the reference with its defaults filled in.
func (r RNDCSecretRef) OrDefault() RNDCSecretRef {
	if r.Algorithm == "" {
		r.Algorithm = DefaultRNDCAlgorithm
	}
	if r.KeyNameKey == "" {
		r.KeyNameKey = "key-name"
	}
	if r.SecretKey == "" {
		r.SecretKey = "secret"
	}
	return r
}

// The bounds and the default of the age at which a key is replaced.
const (
	MinRotateAfter     = time.Hour
	MaxRotateAfter     = 8760 * time.Hour
	DefaultRotateAfter = 720 * time.Hour
)

// Rotation returns the age at which a key is replaced, 0 if it is not.
func (c *RNDCKeyConfig) Rotation() (time.Duration, error) {
	if c == nil || !c.AutoRotate {
		return 0, nil
	}
	if c.RotateAfter == "" {
		return DefaultRotateAfter, nil
	}
	last := len(c.RotateAfter) - 1
	unit, known := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour,
		'w': 7 * 24 * time.Hour}[c.RotateAfter[last]]
	n, err := strconv.ParseUint(c.RotateAfter[:last], 10, 16)
	if after := time.Duration(n) * unit; known && err == nil && after >= MinRotateAfter && after <= MaxRotateAfter {
		return after, nil
	}
	return 0, notRotateAfter(c.RotateAfter)
}

func notRotateAfter(text string) error {
	return fmt.Errorf(
		"rotateAfter is %.40q; it must be from 1h to 8760h in hours, days or weeks, such as 720h, 30d or 4w", text)
}
