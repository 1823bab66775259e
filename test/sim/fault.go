package sim

import "fmt"

// A Kind is a kind of faults.
type Kind string

// The kinds of faults.
const (
	None        Kind = ""
	CrashBefore Kind = "crash before" // an effect
	CrashAfter  Kind = "crash after"  // an effect, of which nobody hears what came of it
	// the process is stopped, and goes on when its successor is done: before a write to the API server, after a message
	Pause Kind = "pause"
)

// A Fault happens once, at an effect.
type Fault struct {
	Kind Kind
	At   int // the number of the effect, from 1 on
}

// String is a fault as a life names it.
func (f Fault) String() string {
	if f.Kind == None {
		return "no fault"
	}
	return fmt.Sprintf("%s %d", f.Kind, f.At)
}
