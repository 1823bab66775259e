// Package plan says what must change in a target so that it holds the wanted content of a zone, what of it may be
// touched at all (Scope), and in which order the changes are safe. It decides only; package engine acts.
package plan
