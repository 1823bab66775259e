package rig

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A Bare is a change that is brought to a server by hand.
type Bare[T client.Object] struct {
	Change
	Pause   time.Duration // before it
	Written func(T) bool  // whether an object is as it was written
}

// TimeBare measures n changes in the least that any controller has to do: the write, the event of it, one signed UPDATE
// over a kept connection, and the question.
func TimeBare[T client.Object](ctx context.Context, server *BIND, events watch.Interface, n int,
	change func(int) Bare[T]) (out figures.Times, err error) {
	asker, err := server.Asker()
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	updater, err := server.Updater()
	if err != nil {
		return nil, err
	}
	defer updater.Close()
	for i := range n {
		c := change(i)
		if err := figures.Pause(ctx, c.Pause); err != nil {
			return nil, err
		}
		began := time.Now()
		done, err := Notice(ctx, events, c.Write, c.Written)
		if err != nil {
			return nil, err
		}
		if err := updater.Change(server.zone.String(), c.Name, c.To); err != nil {
			return nil, err
		}
		if err := asker.Await(ctx, c.Name, c.To); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
		if err := <-done; err != nil {
			return nil, err
		}
	}
	return out, nil
}
