package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
)

// informers makes informers that nobody waits for any more when the process ends. A cache of several namespaces has
// goroutines that do, without an end if a kind has not been read by then (controller-runtime 0.25,
// newMultiNamespaceInformer).
func informers(process context.Context) func(toolscache.ListerWatcher, runtime.Object, time.Duration,
	toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(from toolscache.ListerWatcher, o runtime.Object, every time.Duration,
		by toolscache.Indexers) toolscache.SharedIndexInformer {
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
