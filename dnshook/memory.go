package dnshook

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
)

// Memory is a Provider that holds records and has nobody serve them, for tests of whatever asks a server. The zero
// value is empty and ready for use.
type Memory struct {
	mu      sync.Mutex
	records map[ID]Record
}

// Upsert implements Provider.
func (m *Memory) Upsert(_ context.Context, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[ID]Record{}
	}
	m.records[r.ID()] = r
	return nil
}

// Delete implements Provider.
func (m *Memory) Delete(_ context.Context, id ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.records[id]; !there {
		return ErrNotFound
	}
	delete(m.records, id)
	return nil
}

// Get implements Provider.
func (m *Memory) Get(_ context.Context, id ID) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, there := m.records[id]
	if !there {
		return Record{}, ErrNotFound
	}
	return r, nil
}

// Health implements Provider.
func (m *Memory) Health(context.Context) error { return nil }

// Records returns all records, by name and type.
func (m *Memory) Records() []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.records), func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.ID().FQDN(), b.ID().FQDN()), cmp.Compare(a.Type, b.Type))
	})
}
