package guarded

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestATurnIsOfOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := NewTurn(0)
		first, done, err := turn.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		*first = 1
		second := make(chan int)
		go func() {
			value, done, err := turn.Take(t.Context())
			if err != nil {
				t.Error(err)
				close(second)
				return
			}
			defer done()
			second <- *value
		}()
		synctest.Wait()
		select {
		case <-second:
			t.Error("two have the value")
		default:
		}
		*first = 2
		done()
		if got := <-second; got != 2 {
			t.Errorf("the second finds %d, not what the first has left", got)
		}
	})
}

func TestWhoWaitsForATurnGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := NewTurn(0)
		_, done, err := turn.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		over := errors.New("it takes too long")
		ctx, end := context.WithCancelCause(t.Context())
		failed := make(chan error)
		go func() {
			_, _, err := turn.Take(ctx)
			failed <- err
		}()
		synctest.Wait()
		end(over)
		if err := <-failed; !errors.Is(err, over) {
			t.Errorf("who gives up hears %v", err)
		}
		done()
		if _, _, err := turn.Take(t.Context()); err != nil {
			t.Errorf("nobody has it, and it cannot be taken: %v", err)
		}
	})
}
