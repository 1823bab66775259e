package core

import (
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/zone"
)

func TestQuestionsLeaveTheWorldTimeForItself(t *testing.T) {
	for _, c := range []struct {
		sentence  string
		n         int
		took, gap time.Duration
		answered  int
	}{
		{"one after another is answered, as people apply several objects at once", 10, 30 * time.Millisecond, 0, 10},
		{"of many at once that take long, some are answered", 100, 100 * time.Millisecond, 0, 6},
		{"who asks for a fifth of the time is always answered", 100, 100 * time.Millisecond, 400 * time.Millisecond, 100},
		{"who asks for more is answered for about a fifth of the time", 1000, 100 * time.Millisecond,
			100 * time.Millisecond, 255},
		{"what takes no time is always answered", 10000, 0, 0, 10000},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			now := time.Unix(1700000000, 0)
			core := New(Config{Clock: func() time.Time { return now }})
			answered := 0
			for range c.n {
				core.answer(&question{ctx: t.Context(), done: make(chan struct{}), put: func(*zone.World) {
					answered++
					now = now.Add(c.took)
				}})
				now = now.Add(c.gap)
			}
			if answered != c.answered {
				t.Errorf("%d of %d questions were answered, want %d", answered, c.n, c.answered)
			}
		})
	}
}
