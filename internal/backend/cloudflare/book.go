package cloudflare

import (
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// book is what is known of the records of a zone, and under which IDs.
type book struct {
	complete bool // all of the zone is there, as it was once
	entries  map[rr.Key][]entry
}

// entry is one record.
type entry struct {
	id      string
	data    string // canonical
	ttl     uint32 // seconds, or automatic
	proxied bool
}

// fill takes in a list of all records.
func (b *book) fill(found []record) error {
	*b = book{complete: true, entries: map[rr.Key][]entry{}}
	err := b.add(found)
	b.complete = err == nil
	return err
}

// replace takes in all records of a name.
func (b *book) replace(name dnsname.Name, found []record) error {
	if b.entries == nil {
		b.entries = map[rr.Key][]entry{}
	}
	for key := range b.entries {
		if key.Name == name {
			delete(b.entries, key)
		}
	}
	return b.add(found)
}

func (b *book) add(found []record) error {
	for _, r := range found {
		if r.Meta != nil && r.Meta.ReadOnly {
			continue // the service's own, for its other products; nobody can change it here
		}
		key, data, err := fromRecord(r)
		if err != nil {
			return unreadable(err)
		}
		if key.Type.Refused() == "" {
			b.entries[key] = append(b.entries[key], entryOf(r, data))
		}
	}
	return nil
}

func entryOf(r record, data string) entry {
	return entry{id: r.ID, data: data, ttl: r.TTL, proxied: r.Proxied != nil && *r.Proxied}
}

// proxiable are the types that the service's proxies answer for.
func proxiable(t rr.Type) bool { return t == rr.TypeA || t == rr.TypeAAAA || t == rr.TypeCNAME }

// set is what is known of a key, the zero Set if there is nothing. Records that differ in their TTL, or that are
// proxied where they should not be or are not where they should, make a set with the TTL 1, which is never wanted.
func (k *known) set(key rr.Key) rr.Set {
	entries := k.book.entries[key]
	if len(entries) == 0 {
		return rr.Set{}
	}
	ttl := k.zone.ttl(key.Type, entries[0])
	data := make([]string, len(entries))
	for i, e := range entries {
		data[i] = e.data
		if k.zone.ttl(key.Type, e) != ttl {
			ttl = automatic
		}
	}
	return rr.NewSet(key, ttl, data...)
}

func (z *Zone) ttl(t rr.Type, e entry) uint32 {
	wanted := z.client.proxied && proxiable(t)
	switch {
	case e.proxied != wanted:
		return automatic
	case wanted:
		return autoTTL
	}
	return e.ttl
}

// operations are those of one batch, in the order in which the service carries them out.
type operations struct {
	Deletes []record `json:"deletes,omitempty"`
	Patches []record `json:"patches,omitempty"`
	Posts   []record `json:"posts,omitempty"`
}

func (o *operations) count() int { return len(o.Deletes) + len(o.Patches) + len(o.Posts) }

// change adds what takes the records of a key to what is wanted. Records that stay in the set keep their IDs, and those
// that go are made into those that come, so that comments and tags stay.
func (k *known) change(o *operations, want rr.Set, key rr.Key) error {
	var free []entry
	missing := slices.Clone(want.Data)
	for _, e := range k.book.entries[key] {
		i := slices.Index(missing, e.data)
		if i < 0 {
			free = append(free, e)
			continue
		}
		missing = slices.Delete(missing, i, i+1)
		if k.zone.ttl(key.Type, e) == want.TTL {
			continue
		}
		if err := k.zone.put(o, want, e.data, e.id); err != nil {
			return err
		}
	}
	for _, data := range missing {
		id := ""
		if len(free) > 0 {
			id, free = free[0].id, free[1:]
		}
		if err := k.zone.put(o, want, data, id); err != nil {
			return err
		}
	}
	for _, e := range free {
		o.Deletes = append(o.Deletes, record{ID: e.id})
	}
	return nil
}

// put adds a record that is to be made, or made out of another.
func (z *Zone) put(o *operations, want rr.Set, data, id string) error {
	r, err := toRecord(want.Key(), data)
	if err != nil {
		return &backend.Error{Class: backend.ErrRejected, Err: err}
	}
	r.ID, r.TTL = id, want.TTL
	if proxiable(want.Type) {
		r.Proxied = &z.client.proxied
		if z.client.proxied {
			r.TTL = automatic
		}
	}
	if id == "" {
		o.Posts = append(o.Posts, r)
	} else {
		o.Patches = append(o.Patches, r)
	}
	return nil
}
