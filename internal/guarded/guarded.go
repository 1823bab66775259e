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

// A Shared has a T for one goroutine that changes it, or for any number of those that only read it. The zero Shared has
// the zero T. It is not copied.
type Shared[T any] struct {
	mu    sync.RWMutex
	value T
}

// Lock returns the value when nobody else has it, as that of a Value.
func (s *Shared[T]) Lock() (value *T, unlock func()) {
	s.mu.Lock()
	return &s.value, s.mu.Unlock
}

// RLock returns the value when nobody changes it. Who has it only reads it, and calls unlock once when done.
func (s *Shared[T]) RLock() (value *T, unlock func()) {
	s.mu.RLock()
	return &s.value, s.mu.RUnlock
}

// A Part leads to something that a Value of V guards: only who has that Value gets there.
type Part[V, T any] struct {
	part *T
}

// PartOf returns the Part for who has no lock, of something that a Value of V guards.
func PartOf[V, T any](part *T) Part[V, T] { return Part[V, T]{part} }

// In returns what who has the Value may use until it is unlocked.
func (p Part[V, T]) In(*V) *T { return p.part }
