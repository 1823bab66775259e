package sim

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// A Kind is a kind of faults.
type Kind string

// The kinds of faults.
const (
	None        Kind = ""
	CrashBefore Kind = "crash before" // an effect
	CrashAfter  Kind = "crash after"  // an effect, of which nobody hears what came of it
	// the process is stopped, and goes on when its successor is done: before a write to the API server, after a message
	Pause      Kind = "pause"
	PauseAfter Kind = "pause after" // the same after the write, whose answer is there when the process goes on
	ShortPause Kind = "short pause" // the same, and it goes on before its Lease is over
	LongPause  Kind = "long pause"  // the same as Pause, for longer than most retries
)

// stops are how long a process is stopped. The Lease is between the first and the second.
var stops = map[Kind]time.Duration{ShortPause: 5 * time.Second, Pause: time.Minute, PauseAfter: time.Minute,
	LongPause: 10 * time.Minute}

// A Fault happens once, at an effect.
type Fault struct {
	Kind   Kind
	At     int    // the number of the effect, from 1 on
	Effect string // its name: At counts those of this name; "": all
}

// String is a fault as a life names it.
func (f Fault) String() string {
	if f.Kind == None {
		return "no fault"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", f.Kind, f.At, f.Effect))
}

// parseFault reads what String writes.
func parseFault(words []string) (Fault, error) {
	for i, word := range words {
		if at, err := strconv.Atoi(word); err == nil {
			return Fault{Kind(strings.Join(words[:i], " ")), at, strings.Join(words[i+1:], " ")}, nil
		}
	}
	return Fault{}, fmt.Errorf("a fault says at the how many-th effect it happens, not %q", words)
}

// named is the fault at one of the effects that a life had, by its name: another run may have the same in another
// order.
func named(kind Kind, effects []string, at int) Fault {
	f := Fault{Kind: kind, Effect: effects[at]}
	for _, e := range effects[:at+1] {
		if e == f.Effect {
			f.At++
		}
	}
	return f
}

// rightAfter is how soon an effect comes that nothing but the answer to the one before was waited for.
const rightAfter = 10 * time.Millisecond

// count notes an effect, and returns the fault that is due with it.
func (w *World) count(what string) Kind {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects = append(w.effects, what)
	w.follows, w.last = append(w.follows, w.now().Sub(w.last) < rightAfter), w.now()
	w.happens()
	w.times[what]++
	w.hurry(what)
	for _, f := range w.faults {
		if f.Effect == "" && f.At == len(w.effects) || f.Effect == what && f.At == w.times[what] {
			w.met, w.hurt = w.met+1, w.api.store.now()
			w.eyes.putOff()
			return f.Kind
		}
	}
	return None
}

// acts has no effect come right after another: people or servers do something.
func (w *World) acts() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Time{}
}

// pause stops an operator for a while, in which, if it is not a short one, another one takes over: one that waits to
// lead if there is any, else one that is started.
func (o *operator) pause(kind Kind) {
	holds, waits := make(chan struct{}), o.world.crew.waits(o)
	o.mu.Lock()
	if o.holds != nil || o.dead { // it is stopped already
		o.mu.Unlock()
		return
	}
	followed := o.ended || waits || kind == ShortPause
	o.holds, o.ended, o.again = holds, o.ended || !followed, waits
	o.mu.Unlock()
	if !followed {
		select {
		case o.world.crashed <- struct{}{}: // a successor is started
		default:
		}
	}
	time.AfterFunc(stops[kind], func() {
		o.mu.Lock()
		o.holds = nil
		o.mu.Unlock()
		if kind != ShortPause {
			o.world.crew.goesOn(o.world.api.store.now())
		}
		close(holds)
	})
}

// onTheWire has a message arrive, whoever leads by then.
func onTheWire(ctx context.Context) context.Context {
	return backend.WithLeads(ctx, func() bool { return true })
}
