package main

import (
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/watch"
)

// A watch that is stopped while an event waits to be taken leaves no goroutine: the bubble would not end otherwise.
func TestAWatchThatIsStoppedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := watch.NewFake()
		w := drained{watch.Filter(events, func(in watch.Event) (watch.Event, bool) { return in, true })}
		events.Add(nil)
		synctest.Wait()
		w.Stop()
	})
}
