package homelab

import "slices"

// slot returns a slot, which it makes if need be. k.mu is held.
func (k *Controller) slot(key slotKey) *slot {
	s := k.slots[key]
	if s == nil {
		s = &slot{key: key, claims: map[*record]struct{}{}, holders: map[*record]struct{}{}}
		k.slots[key] = s
	}
	return s
}

// index notes which slots and classes a record concerns now; before is what it returned last. k.mu is held.
func (k *Controller) index(r *record, before []slotKey) []slotKey {
	for _, key := range before {
		if s := k.slots[key]; s != nil {
			delete(s.claims, r)
			delete(s.holders, r)
		}
		k.unuse(key.class, r)
	}
	var now []slotKey
	add := func(key slotKey) *slot {
		if !slices.Contains(now, key) {
			now = append(now, key)
		}
		k.use(key.class, r)
		return k.slot(key)
	}
	if k.records[r.id] == r {
		if r.key != (slotKey{}) {
			add(r.key).claims[r] = struct{}{}
		}
		for _, a := range r.evidence() {
			add(slotOf(a)).holders[r] = struct{}{}
		}
	}
	for _, key := range before {
		if s := k.slots[key]; s != nil && len(s.claims)+len(s.holders) == 0 {
			delete(k.slots, key)
		}
	}
	return now
}

// reindex follows a change of what a record asks for or has applied, and looks at all slots that this concerns. k.mu is held.
func (k *Controller) reindex(r *record) {
	before := k.touched[r]
	now := k.index(r, before)
	if k.touched[r] = now; k.records[r.id] != r {
		delete(k.touched, r)
	}
	for _, key := range append(slices.Clone(before), now...) {
		k.wake(key)
	}
}

// use notes that a record needs a class. k.mu is held.
func (k *Controller) use(class string, r *record) {
	users := k.users[class]
	if users == nil {
		users = map[*record]struct{}{}
		k.users[class] = users
	}
	if _, known := users[r]; !known {
		users[r] = struct{}{}
		if len(users) == 1 {
			k.classWriter.Enqueue(ClassID(class))
		}
	}
}

func (k *Controller) unuse(class string, r *record) {
	if users := k.users[class]; users != nil {
		if delete(users, r); len(users) == 0 {
			delete(k.users, class)
			k.classWriter.Enqueue(ClassID(class))
		}
	}
}
