package homelab

import (
	"slices"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
)

// slot returns a slot, which it makes if need be.
func (m *model) slot(key slotKey) *slot {
	s := m.slots[key]
	if s == nil {
		s = &slot{key: key}
		m.slots[key] = s
	}
	return s
}

// index notes which slots and classes a record concerns now.
func (m *model) index(r *record) {
	before := r.slots
	for _, key := range before {
		if s := m.slots[key]; s != nil {
			s.claims.drop(r)
			s.holders.drop(r)
		}
		m.users.drop(key.class, r)
		if m.needs.drop(key.class, r) {
			m.k.classWriter.Enqueue(dialect.ClassID(key.class))
		}
	}
	var now []slotKey
	add := func(key slotKey) *slot {
		if !slices.Contains(now, key) {
			now = append(now, key)
		}
		m.users.put(key.class, r)
		return m.slot(key)
	}
	if m.records[r.id] == r {
		if r.key != (slotKey{}) {
			add(r.key).claims.put(r)
			if r.hopes() {
				m.need(r.key.class, r)
			}
		}
		for _, a := range r.evidence() {
			add(slotOf(a)).holders.put(r)
			m.need(a.Class, r)
		}
		for _, a := range r.written() {
			if key := slotOf(a); !slices.Contains(now, key) {
				now = append(now, key)
			}
			m.need(a.Class, r)
		}
	}
	for _, key := range before {
		if s := m.slots[key]; s != nil && len(s.claims)+len(s.holders)+len(s.again) == 0 {
			delete(m.slots, key)
		}
	}
	r.slots = now
}

// reindex follows a change of what a record asks for or has applied, and looks at all slots that this concerns.
func (m *model) reindex(r *record) {
	before := r.slots
	m.index(r)
	for _, key := range slices.Concat(before, r.slots) {
		m.wake(key)
	}
}

// follow has the classes stay that a record needs after a change of what is stored of it; was is what that said before.
func (m *model) follow(r *record, was []v1alpha1.Applied) {
	if !slices.EqualFunc(was, r.written(), func(a, b v1alpha1.Applied) bool { return slotOf(a) == slotOf(b) }) {
		m.reindex(r)
	}
}

// members are records by class.
type members map[string]map[*record]struct{}

// put adds a record, and reports whether it is the first of its class.
func (m members) put(class string, r *record) bool {
	if m[class] == nil {
		m[class] = map[*record]struct{}{}
	}
	m[class][r] = struct{}{}
	return len(m[class]) == 1
}

// drop takes a record away, and reports whether it was the last of its class.
func (m members) drop(class string, r *record) bool {
	if _, there := m[class][r]; !there {
		return false
	}
	if delete(m[class], r); len(m[class]) > 0 {
		return false
	}
	delete(m, class)
	return true
}

// need notes that a class has to stay for a record.
func (m *model) need(class string, r *record) {
	if m.needs.put(class, r) {
		m.k.classWriter.Enqueue(dialect.ClassID(class))
	}
}
