package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// informers makes informers that nobody waits for any more when the process ends. A cache of several namespaces has
// goroutines that do, without an end if a kind has not been read by then (controller-runtime 0.25,
// newMultiNamespaceInformer).
func informers(process context.Context) func(toolscache.ListerWatcher, runtime.Object, time.Duration,
	toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(from toolscache.ListerWatcher, o runtime.Object, every time.Duration,
		by toolscache.Indexers) toolscache.SharedIndexInformer {
		if l, ok := from.(*toolscache.ListWatch); ok && l.WatchFuncWithContext != nil {
			from = leavingNothing(*l)
		}
		return &endingInformer{toolscache.NewSharedIndexInformer(from, o, every, by), process}
	}
}

type endingInformer struct {
	toolscache.SharedIndexInformer
	process context.Context
}

// HasSyncedChecker implements toolscache.SharedIndexInformer.
func (i *endingInformer) HasSyncedChecker() toolscache.DoneChecker {
	return ends{i.SharedIndexInformer.HasSyncedChecker(), i.process}
}

// ends is done when the process ends, at the latest.
type ends struct {
	toolscache.DoneChecker
	process context.Context
}

// Done implements toolscache.DoneChecker.
func (e ends) Done() <-chan struct{} {
	done, cancel := context.WithCancel(e.process)
	go func() {
		defer cancel()
		select {
		case <-e.DoneChecker.Done():
		case <-done.Done():
		}
	}()
	return done.Done()
}

// leavingNothing has watches end that are stopped. Those of metadata are filtered (controller-runtime 0.25,
// newGVKFixupWatcher), and a filter waits for ever for somebody to take an event that it has by then (apimachinery
// 0.37, filteredWatch.loop).
func leavingNothing(l toolscache.ListWatch) *toolscache.ListWatch {
	begin := l.WatchFuncWithContext
	l.WatchFuncWithContext = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		w, err := begin(ctx, o)
		if err != nil {
			return nil, err
		}
		return drained{w}, nil
	}
	return &l
}

// drained is a watch whose events somebody takes when it is stopped.
type drained struct{ watch.Interface }

// Stop implements watch.Interface.
func (d drained) Stop() {
	d.Interface.Stop()
	go func() {
		for range d.ResultChan() { //nolint:revive // nobody wants them any more
		}
	}()
}
