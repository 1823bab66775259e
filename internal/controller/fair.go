package controller

import (
	"k8s.io/client-go/util/workqueue"

	"github.com/zonefold/zonefold/internal/zone"
)

// fair is a queue in which namespaces take turns: what changes thousands of objects in one does not hold up the one
// object of another.
type fair struct {
	waiting map[string][]zone.ID
	turns   []string // of the namespaces that have any
	size    int
}

var _ workqueue.Queue[zone.ID] = (*fair)(nil)

func newFair() *fair { return &fair{waiting: map[string][]zone.ID{}} }

// Touch implements workqueue.Queue: who waits keeps the place.
func (f *fair) Touch(zone.ID) {}

// Push adds an object.
func (f *fair) Push(id zone.ID) {
	if len(f.waiting[id.Namespace]) == 0 {
		f.turns = append(f.turns, id.Namespace)
	}
	f.waiting[id.Namespace] = append(f.waiting[id.Namespace], id)
	f.size++
}

// Len is how many wait.
func (f *fair) Len() int { return f.size }

// Pop takes the oldest object of the namespace whose turn it is.
func (f *fair) Pop() zone.ID {
	namespace := f.turns[0]
	f.turns = f.turns[1:]
	id, rest := f.waiting[namespace][0], f.waiting[namespace][1:]
	f.size--
	if len(rest) == 0 {
		delete(f.waiting, namespace)
	} else {
		f.waiting[namespace] = rest
		f.turns = append(f.turns, namespace)
	}
	return id
}
