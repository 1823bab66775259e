package v1beta1

import "strings"

// Role says whether a server has the zones from the operator or by transfer. The
// document writes `Primary`, the existing Bindy `primary`.
//
// +kubebuilder:validation:Enum=Primary;Secondary;primary;secondary
type Role string

// The roles in their canonical spelling: that of labels and of names.
const (
	RolePrimary   Role = "primary"
	RoleSecondary Role = "secondary"
)

// Canonical returns the role in lower case.
func (r Role) Canonical() Role { return Role(strings.ToLower(string(r))) }
