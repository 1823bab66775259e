// Package fold gives objects to a World, as the operator does, and reads off what it decides: a Composition, with the
// content and verdict of each Zone, the verdict of each record, and where Zones go. It asks nobody, and prints nothing.
package fold
