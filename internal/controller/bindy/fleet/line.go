package fleet

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/guarded"
)

// A line is who waits for a turn to replace pods, cluster by cluster, so that the next one is woken when one is
// through.
type line struct {
	guarded.Value[map[client.ObjectKey]waiter]
}

// A waiter is an instance that waits.
type waiter struct {
	cluster string
	broken  bool // not all of its pods are ready, so that it may go out of turn
}

func (l *line) join(p *dialect.Parent, instance client.ObjectKey, broken bool) {
	waiting, unlock := l.Lock()
	defer unlock()
	if *waiting == nil {
		*waiting = map[client.ObjectKey]waiter{}
	}
	(*waiting)[instance] = waiter{p.Name, broken}
}

func (l *line) leave(instance client.ObjectKey) {
	waiting, unlock := l.Lock()
	defer unlock()
	delete(*waiting, instance)
}

// first are those that go first in each cluster of a namespace, and those that go out of turn.
func (l *line) first(namespace string) []client.ObjectKey {
	waiting, unlock := l.Lock()
	defer unlock()
	first := map[string]client.ObjectKey{}
	var out []client.ObjectKey
	for key, w := range *waiting {
		if key.Namespace != namespace {
			continue
		}
		if w.broken {
			out = append(out, key)
		}
		before, ok := first[w.cluster]
		if !ok || dialect.CompareInstances(key.Name, before.Name) < 0 {
			first[w.cluster] = key
		}
	}
	return slices.AppendSeq(out, maps.Values(first))
}

// next wakes whoever goes first of those that wait, when a Deployment or an instance of the namespace changes.
func (r *rollouts) next(_ context.Context, o client.Object) []client.ObjectKey {
	return r.line.first(o.GetNamespace())
}
