package controller

import (
	"testing"
	"testing/synctest"
	"time"
)

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
