package homelab

import "time"

// A pause is what a server has asked for in an answer about one record. It holds for all records of the class: what is
// due meanwhile waits here. When it is over one slot goes alone, and the others follow unless that one is put off
// again.
type pause struct {
	until time.Time // nothing is sent before; zero: there is none
	first slotKey   // it goes alone, to see; zero: none yet
	slots map[slotKey]struct{}
}

// lets reports whether something may be sent for a slot now. One that may not waits for [Controller.resume].
func (p *pause) lets(key slotKey, now time.Time) bool {
	switch {
	case p.until.IsZero() || p.first == key:
		return true
	case p.first == slotKey{} && !now.Before(p.until):
		p.first = key
		delete(p.slots, key)
		return true
	}
	if p.slots == nil {
		p.slots = map[slotKey]struct{}{}
	}
	p.slots[key] = struct{}{}
	return false
}

// end is no slot: it stands in the queue of a class for the end of its pause.
func (p *pause) end(class string) slotKey { return slotKey{class: class} }

// pause has a class wait, but never longer than a server waits that is asked for its health.
func (m *model) pause(c *class, after time.Duration) {
	after = min(after, m.k.Retry.Slow)
	if until := m.k.Clock.Now().Add(after); until.After(c.pause.until) {
		c.pause.until = until
		m.later(c.pause.end(c.name), after)
	}
}

// resume has one of the slots go that wait, if the pause is over.
func (m *model) resume(c *class) {
	if c.pause.until.IsZero() || c.pause.first != (slotKey{}) {
		return
	}
	if left := c.pause.until.Sub(m.k.Clock.Now()); left > 0 {
		m.later(c.pause.end(c.name), left)
		return
	}
	for key := range c.pause.slots {
		delete(c.pause.slots, key)
		m.wake(key)
		return
	}
	c.pause = pause{} // nobody waits
}

// returned notes that what was to be sent for a slot was sent.
func (m *model) returned(c *class, key slotKey) {
	if c.pause.first != key || key == (slotKey{}) {
		return
	}
	if c.pause.first = (slotKey{}); m.k.Clock.Now().Before(c.pause.until) {
		return // it was put off again
	}
	m.open(c)
}

// open ends the pause of a class.
func (m *model) open(c *class) {
	waiting := c.pause.slots
	c.pause = pause{}
	for key := range waiting {
		m.wake(key)
	}
}
