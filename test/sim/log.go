package sim

import (
	"context"
	"log/slog"
	"time"
)

// A slowLog is where operators write what they judge, when a step says so, and it takes its time. What else they write
// is dropped: some of it is written under locks, and time stands still in a bubble while somebody waits for a lock.
type slowLog struct{ world *World }

// judgedMessage is what the Core says of each object.
const judgedMessage = "an object is judged"

// Enabled implements slog.Handler.
func (l slowLog) Enabled(context.Context, slog.Level) bool { return l.takes() > 0 }

// Handle implements slog.Handler.
func (l slowLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == judgedMessage {
		<-time.After(l.takes())
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (l slowLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l slowLog) WithGroup(string) slog.Handler { return l }

// takes is how long a line takes; 0: nothing is written.
func (l slowLog) takes() time.Duration {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	return l.world.verbose
}
