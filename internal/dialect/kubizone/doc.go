// Package kubizone says what objects of kubi.zone mean: a Zone becomes a zone of the core with its rules, a Record a
// claim. What cannot be understood is refused with a reason; it is never left out in silence.
package kubizone
