package homelab

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
)

// slot returns a slot, which it makes if need be.
func (p *plan) slot(key slotKey) *slot {
	s := p.slots[key]
	if s == nil {
		s = &slot{key: key}
		p.slots[key] = s
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
		m.needNot(key.class, r)
	}
	var now []slotKey
	add := func(key slotKey) *slot {
		if !slices.Contains(now, key) {
			now = append(now, key)
		}
		return m.slot(key)
	}
	if m.records[r.id] == r {
		if r.key != (slotKey{}) {
			add(r.key).claims.put(r)
			if r.hopes() && !m.classes[r.key.class].turnsAway(r) {
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

// reads takes over a newer object with the status that is stored of it, and has the classes stay that it needs now.
func (m *model) reads(r *record, o client.Object, status *v1alpha1.DNSRecordStatus) {
	before := r.written()
	m.k.Numbers.moved(r.status.State, status.State)
	r.status = status
	r.know(o)
	if !slices.EqualFunc(before, r.written(), func(a, b v1alpha1.Applied) bool { return slotOf(a) == slotOf(b) }) {
		m.reindex(r)
	}
}

// need notes that a class has to stay for a record.
func (m *model) need(class string, r *record) {
	if m.needs[class] == nil {
		m.needs[class] = map[*record]struct{}{}
		m.k.classWriter.Enqueue(dialect.ClassID(class))
	}
	m.needs[class][r] = struct{}{}
}

// needNot notes that a class need not stay for a record.
func (m *model) needNot(class string, r *record) {
	needs := m.needs[class]
	if delete(needs, r); needs != nil && len(needs) == 0 {
		delete(m.needs, class)
		m.k.classWriter.Enqueue(dialect.ClassID(class))
	}
}
