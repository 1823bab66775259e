package guarded

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestATurnIsOfOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := NewInTurn(0)
		first, done, err := turn.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		*first = 1
		second := make(chan int)
		go func() {
			value, done, err := turn.Lock(t.Context())
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
		turn := NewInTurn(0)
		_, done, err := turn.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		over := errors.New("it takes too long")
		ctx, end := context.WithCancelCause(t.Context())
		failed := make(chan error)
		go func() {
			_, _, err := turn.Lock(ctx)
			failed <- err
		}()
		synctest.Wait()
		end(over)
		if err := <-failed; !errors.Is(err, over) {
			t.Errorf("who gives up hears %v", err)
		}
		done()
		if _, _, err := turn.Lock(t.Context()); err != nil {
			t.Errorf("nobody has it, and it cannot be taken: %v", err)
		}
	})
}

// TestTimeGoesOnWhileATurnLasts has two wait for a turn that lasts an hour of virtual time, and one have it at a time.
func TestTimeGoesOnWhileATurnLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var one Turn
		having := make(chan struct{}, 1)
		begin := time.Now()
		for range 3 {
			go func() {
				one.Lock()
				defer one.Unlock()
				select {
				case having <- struct{}{}:
				default:
					t.Error("two have the turn")
				}
				<-time.After(time.Hour)
				<-having
			}()
		}
		<-time.After(3*time.Hour + time.Second)
		one.Lock()
		if took := time.Since(begin); took > 4*time.Hour {
			t.Errorf("three turns of an hour take %v", took)
		}
		one.Unlock()
	})
}
