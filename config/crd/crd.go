// Package crd holds the CustomResourceDefinitions of the API, as generated from the
// types in api/, for programs that check objects against them.
package crd

import "embed"

// Files are the definitions, one a file.
//
//go:embed *.yaml
var Files embed.FS
