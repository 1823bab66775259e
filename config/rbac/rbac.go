// Package rbac holds the rights of the operator, as generated from the markers in the controllers, for programs that
// see whether an account has them.
package rbac

import "embed"

// Files are the roles, a file for each part of the operator.
//
//go:embed *.yaml
var Files embed.FS
