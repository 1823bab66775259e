package bindy

import (
	"context"
	"maps"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A line is who waits for a turn to replace pods, cluster by cluster, so that the next one is woken when one is through.
type line struct {
	mu      sync.Mutex
	waiting map[client.ObjectKey]string // the cluster of each instance that waits
}

func (l *line) join(p *parent, instance client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = map[client.ObjectKey]string{}
	}
	l.waiting[instance] = p.name
}

func (l *line) leave(instance client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, instance)
}

// first are those that go first in each cluster of a namespace.
func (l *line) first(namespace string) []client.ObjectKey {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := map[string]client.ObjectKey{}
	for key, cluster := range l.waiting {
		before, ok := first[cluster]
		if key.Namespace == namespace && (!ok || compareInstances(key.Name, before.Name) < 0) {
			first[cluster] = key
		}
	}
	return slices.Collect(maps.Values(first))
}

// nextInLine wakes whoever goes first of those that wait, when a Deployment or an instance of the namespace changes.
func (b *Controller) nextInLine(_ context.Context, o client.Object) []client.ObjectKey {
	return b.line.first(o.GetNamespace())
}
