// Package backends says what the spec of a Backend means.
package backends
