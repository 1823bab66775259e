package zones

import (
	"errors"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
)

// TestAPodThatDoesNotAnswerIsLeftAlone has calls to a pod that takes its time to fail wait, and not keep those who call
// others.
func TestAPodThatDoesNotAnswerIsLeftAlone(t *testing.T) {
	var p Pod
	now := time.Unix(1e9, 0)
	for range callsAtOnce {
		if p.enter(now) != 0 {
			t.Fatal("a pod that works takes no calls")
		}
	}
	if p.enter(now) == 0 {
		t.Error("a pod takes more calls at once than it is to")
	}
	late := now.Add(servers.CallTime)
	failed := &controller.Later{Err: errors.New("no answer")}
	for range callsAtOnce {
		p.leave(now, late, failed)
	}
	if p.enter(late) == 0 {
		t.Error("a pod that did not answer is asked again at once")
	}
	late = late.Add(time.Minute)
	if p.enter(late) != 0 || p.enter(late) == 0 {
		t.Error("a pod that did not answer is to be tried by one call")
	}
	p.leave(late, late.Add(time.Millisecond), nil)
	for range callsAtOnce - 1 {
		if p.enter(late) != 0 {
			t.Error("a pod that answers again is to take calls")
		}
	}
	p.leave(late, late, &controller.Later{Err: errors.New("not yet")})
	if p.enter(late) != 0 {
		t.Error("a pod that fails at once costs nobody time")
	}
}
