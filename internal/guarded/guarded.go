// Package guarded has values that can only be reached under their lock: a type says what a comment would have to.
package guarded

import "sync"

// A Value has a T for one goroutine at a time. The zero Value has the zero T. It is not copied.
type Value[T any] struct {
	mu    sync.Mutex
	value T
}

// Lock returns the value when nobody else has it. Who has it does not keep it, and calls unlock once when done.
func (v *Value[T]) Lock() (value *T, unlock func()) {
	v.mu.Lock()
	return &v.value, v.mu.Unlock
}

// A Part leads to something that a Value of V guards: only who has that Value gets there.
type Part[V, T any] struct {
	part *T
}

// PartOf returns the Part for who has no lock, of something that a Value of V guards.
func PartOf[V, T any](part *T) Part[V, T] { return Part[V, T]{part} }

// In returns what who has the Value may use until it is unlocked.
func (p Part[V, T]) In(*V) *T { return p.part }
