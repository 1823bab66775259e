package kubizone

import (
	"time"

	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A zoneState is what the controller knows about the content of one Zone.
type zoneState struct {
	content zone.Snapshot
	parts   *division     // nil: not divided
	changed time.Time     // when content last changed
	flushed time.Time     // when content was last written to the cluster
	pause   time.Duration // until it may be written again
	// minted is when a serial was asked for last, for a content that no server takes. There may be none yet, or that of an
	// older content, and each attempt has the status be looked at again.
	minted  time.Time
	gone    map[rr.Key]bool // keys that left the content since it was written
	held    []delivery.Delivered
	holding bool // held is what we wrote last, the cache may lag behind

	unasked map[placedKey]time.Time // since when Backends do not take what no Record asks for
}

// A placedKey is a set at one Backend.
type placedKey struct {
	place string
	key   rr.Key
}

// zoneState returns the state of a Zone.
func (m *memory) zoneState(id zone.ID) *zoneState {
	s := m.zoneStates[id]
	if s == nil {
		s = &zoneState{gone: map[rr.Key]bool{}}
		m.zoneStates[id] = s
	}
	return s
}

// unheld forgets that a Zone is held: the cluster says otherwise.
func (k *Controller) unheld(id zone.ID) {
	m, unlock := k.memory.Lock()
	defer unlock()
	s := m.zoneState(id)
	s.holding, s.held = false, nil
}

func (k *Controller) forgetZone(id zone.ID) {
	m, unlock := k.memory.Lock()
	defer unlock()
	delete(m.zoneStates, id)
	k.ledgers.forget(id)
	k.ceilings.Forget(id)
	k.past.Forget(id)
}

// follow keeps the content of the Zones that are written to the cluster.
func (k *Controller) follow(s core.Settlement) {
	for _, delta := range s.Delta.Zones {
		snapshot, ok := s.View.Snapshot(delta.ID)
		if !ok {
			continue
		}
		k.outgoing.Lock()
		if held, frozen := k.Deliveries.Outgoing(delta.ID); frozen {
			snapshot, delta.Fresh, delta.Changed = held, true, nil
		}
		k.followZone(snapshot, delta, s.At)
		k.outgoing.Unlock()
		k.enqueue(delta.ID)
	}
}

// republished follows a Zone that was frozen or thawed.
func (k *Controller) republished(id zone.ID) {
	k.outgoing.Lock()
	snapshot, _ := k.Deliveries.Outgoing(id)
	k.followZone(snapshot, zone.ZoneDelta{ID: id, Fresh: true}, k.Clock.Now())
	k.outgoing.Unlock()
	k.enqueue(id)
}

// followZone keeps the content of one Zone, in the turn of outgoing: what was asked for last is kept last.
func (k *Controller) followZone(now zone.Snapshot, delta zone.ZoneDelta, at time.Time) {
	if now.Hash == "" {
		return // it is nothing, or not known yet
	}
	m, unlock := k.memory.Lock()
	defer unlock()
	z := m.zoneState(delta.ID)
	old := z.content
	if old.Hash == now.Hash && old.SOA == now.SOA && old.Name == now.Name {
		return
	}
	z.content, z.changed = now, at
	k.past.Note(delta)
	if old.Name != now.Name || delta.Fresh {
		z.parts = nil
	}
	if z.parts != nil {
		z.parts.update(old.Sets, now.Sets, delta.Changed)
	}
	changed := delta.Changed
	if delta.Fresh && old.Name == now.Name {
		changed = nil
		for set := range old.Sets.All() {
			changed = append(changed, set.Key())
		}
	}
	for _, key := range changed {
		if _, there := now.Sets.Get(key); there {
			delete(z.gone, key)
		} else {
			z.gone[key] = true
		}
	}
}
