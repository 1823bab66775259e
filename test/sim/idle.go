package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
)

// calm waits for an hour in which nobody is to write anything but the Lease. One in which an operator meets a fault, at
// a health check, is none.
func (w *World) calm() {
	for {
		w.audited()
		before, met := w.past()
		<-time.After(idleFor)
		w.audited()
		if _, now := w.past(); now == met {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.judgeIdle("although nothing happens: ", w.effects[before:])
			return
		}
	}
}

// past counts the effects that there were, and the faults that were met.
func (w *World) past() (effects, met int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.effects), w.met
}

// audited waits until all servers have been read since they lost something, and until somebody leads again after a
// fault: who takes over fills its own name server.
func (w *World) audited() {
	for wait := w.unrest(); wait > 0; wait = w.unrest() {
		<-time.After(wait)
	}
}

func (w *World) unrest() time.Duration {
	w.mu.Lock()
	led := w.hurt.Add(aloneLease)
	w.mu.Unlock()
	return max(w.eyes.untilAudit(), led.Sub(w.api.store.now()))
}

// succeed has all operators crash, and waits for an hour in which others lead. They find all as it is to be.
func (w *World) succeed() {
	before, _ := w.past()
	w.desert(0)
	<-time.After(aloneLease + idleFor)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.judgeIdle("although nothing has happened, who takes over: ",
		slices.DeleteFunc(slices.Clone(w.effects[before:]), w.fills))
	w.effects = w.effects[:before]
}

// aloneLease is how long the Lease of an operator lasts at most that nobody was to follow.
const aloneLease = 30 * time.Minute

// judgeIdle looks at what was done when nothing was to be done. mu is held.
func (w *World) judgeIdle(when string, effects []string) {
	for _, e := range effects {
		if strings.Contains(e, "/dnsclasses/") && strings.HasSuffix(e, "/status") {
			continue // of each health check it says when it was
		}
		if !slices.Contains(w.wrong, when+e) {
			w.wrong = append(w.wrong, when+e)
		}
	}
}

// fills reports whether an effect is what a new leader has to do: it tells all to its own name server, and to those
// that do not say what they have, and Zones with which serial. A secondary that answers nothing of a zone may have old
// content of it on its volume, and is to lose that. mu is held.
func (w *World) fills(effect string) bool {
	if w.embedded && strings.Contains(effect, "/kubi.zone/") && strings.HasSuffix(effect, "/status") {
		return true
	}
	if strings.HasPrefix(effect, "UPDATE DELETE /api/v1/zones/") {
		return true
	}
	_, at, _ := strings.Cut(effect, " at ")
	s := w.servers[at]
	return at == "its own name server" || s != nil && s.Client(true).Limits().Read == backend.ReadNone
}
