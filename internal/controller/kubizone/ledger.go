package kubizone

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// ledgers has what is known of each Zone's ledger, and writes what that is stored in: slices, and pages of the journal.
type ledgers struct {
	client  client.Client // reads from the cache
	live    client.Reader
	objects *objects.Writer
	events  events.EventRecorder
	log     *slog.Logger
	term    string // in the names of what only this leader writes

	learn func(zone.ID, rr.Sets) // hears what servers may have besides
	look  func(zone.ID)          // has a Zone be looked at

	known guarded.Value[storage]
}

// storage is what is known of the slices and pages that there are.
type storage struct {
	zones   map[zone.ID]*storedZone
	leaving map[zone.ID]bool // Zones of which somebody deletes slices
}

// A storedZone is what is known of the slices and pages of one Zone, and leads to what they say.
type storedZone struct {
	ledger  *ledger
	slices  map[string]uint64 // versions of the slices that we wrote or found
	foreign bool              // somebody else wrote to a slice
	torn    bool              // somebody else took something from a page of the journal
	looked  bool              // the slices that an earlier run wrote have been compared
}

// zone returns what is known of a Zone.
func (m *storage) zone(id zone.ID) *storedZone {
	if m.zones == nil {
		m.zones = map[zone.ID]*storedZone{}
	}
	s := m.zones[id]
	if s == nil {
		s = &storedZone{ledger: &ledger{}, slices: map[string]uint64{}}
		m.zones[id] = s
	}
	return s
}

// of returns the ledger of a Zone.
func (b *ledgers) of(id zone.ID) *ledger {
	m, unlock := b.known.Lock()
	defer unlock()
	return m.zone(id).ledger
}

// entered returns how often something was entered into the journal of a Zone.
func (b *ledgers) entered(id zone.ID) uint64 {
	m, unlock := b.known.Lock()
	defer unlock()
	if s := m.zones[id]; s != nil {
		return s.ledger.entries.Load()
	}
	return 0
}

func (b *ledgers) forget(id zone.ID) {
	m, unlock := b.known.Lock()
	defer unlock()
	delete(m.zones, id)
}

// A ledger knows which sets the cluster has written down for a Zone: those of its
// status and slices, and those in the journal. A set is in it before it is published
// among foreign ones and until it is withdrawn, so that after any crash it is known
// which sets are ours.
type ledger struct {
	turn    guarded.Turn // of who uses what follows, or writes the journal
	loaded  bool
	base    rr.Sets  // status.entries and slices
	coming  *rr.Sets // what these are about to be, or may be already, instead of base; nil: they are base
	journal []page
	drops   []page        // of the journal, that say nothing any more: they may be there still, and nothing counts on it
	next    int           // index of the next page: no name is used twice
	entries atomic.Uint64 // how often something was entered into the journal

	inherited bool // base is what an earlier run has written down
	strays    bool // there may be slices that the status does not count
}

// A page of the journal is written by one leader, and has a name that no other leader
// uses: one that does not know yet that its term is over overwrites nothing.
type page struct {
	name  string
	index int
	open  bool // takes more; those of other leaders do not
	sets  rr.Sets
}

// pageSize is how many sets a page of the journal holds at most, and smallPage up to how
// many it is rewritten to take more: what is written grows with what is recorded, and
// there are few pages to delete.
const pageSize, smallPage = 500, 200

// valueOf returns what a content and pages know of a set: of name servers all values, in
// whatever part of them, of others the newest data.
func valueOf(key rr.Key, base rr.Sets, pages []page) (known rr.Set, ok bool) {
	known, ok = base.Get(key)
	for _, p := range pages {
		if set, there := p.sets.Get(key); there {
			known, ok = joined(known, set), true
		}
	}
	return known, ok
}

// joined returns b, and with it the name servers of a: where foreign sets are kept, the
// values tell which of a zone's name servers are ours, and until one is withdrawn it is.
func joined(a, b rr.Set) rr.Set {
	if b.Type != rr.TypeNS || len(a.Data) == 0 {
		return b
	}
	return rr.NewSet(b.Key(), b.TTL, append(slices.Clone(a.Data), b.Data...)...)
}

// covers reports whether there is nothing in set that known does not say already.
func covers(known, set rr.Set) bool {
	return set.Type != rr.TypeNS || slices.Equal(joined(known, set).Data, known.Data)
}

// has reports whether there is nothing in set that a content does not say already.
func has(content rr.Sets, set rr.Set) bool {
	known, ok := content.Get(set.Key())
	return ok && covers(known, set)
}

// all returns everything in the ledger.
func (l *ledger) all() rr.Sets {
	l.turn.Lock()
	defer l.turn.Unlock()
	all := l.base
	for _, p := range l.journal {
		all = merged(all, p.sets)
	}
	return all
}

// merged returns what a and b know together.
func merged(a, b rr.Sets) rr.Sets {
	txn := a.Txn()
	for set := range b.All() {
		old, _ := txn.Get(set.Key())
		txn.Put(joined(old, set))
	}
	return txn.Sets()
}

// comes notes which content is being written down instead of the one that is, and returns what was noted before. Where
// nobody knows whether an earlier write has been stored, nothing is sure to stay.
func (l *ledger) comes(content rr.Sets) (was *rr.Sets) {
	l.turn.Lock()
	defer l.turn.Unlock()
	was = l.coming
	if l.coming = &content; was != nil {
		l.coming = &rr.Sets{}
	}
	return was
}

// stays notes that a content was not written down, and that it is as it was before comes.
func (l *ledger) stays(was *rr.Sets) {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.coming = was
}

// lasting returns which of some sets are in the content that is written down, whatever comes of a write of another one.
// The turn is the caller's.
func (l *ledger) lasting(sets []rr.Set) rr.Sets {
	if l.coming == nil {
		return l.base
	}
	txn := rr.Sets{}.Txn()
	for _, set := range sets {
		if has(l.base, set) && has(*l.coming, set) {
			txn.Put(set)
		}
	}
	return txn.Sets()
}

// record writes sets into the journal that are not in the ledger yet.
func (b *ledgers) record(ctx context.Context, id zone.ID, z *v1alpha1.Zone, sets []rr.Set) error {
	l := b.of(id)
	l.turn.Lock()
	defer l.turn.Unlock()
	base := l.lasting(sets)
	return b.write(ctx, z, l, sets, base)
}

// write writes sets into the journal that neither it nor base has. The turn is the caller's.
func (b *ledgers) write(ctx context.Context, z *v1alpha1.Zone, l *ledger, sets []rr.Set, base rr.Sets) error {
	pages, dirty := b.enter(l, z, sets, base)
	if slices.ContainsFunc(sets, func(s rr.Set) bool { return !has(base, s) }) {
		l.entries.Add(1) // the journal is needed, also if it has them already: it must not be cleared away now
	}
	if len(dirty) == 0 {
		return nil
	}
	l.next += len(pages) - len(l.journal)
	for _, i := range dirty {
		if err := b.applySlice(ctx, dialect.ZoneID(z.Namespace, z.Name), z, journalPage(pages[i])); err != nil {
			for i := range l.journal { // what was sent may still arrive, and must not meet what is written next
				l.journal[i].open = false
			}
			return err
		}
		if i == len(l.journal) {
			l.journal = append(l.journal, page{})
		}
		l.journal[i] = pages[i]
	}
	return nil
}

// enter returns the journal as it is with those of some sets that base does not have, and
// which of its pages are to be written. The turn is the caller's.
func (b *ledgers) enter(l *ledger, z *v1alpha1.Zone, sets []rr.Set, base rr.Sets) (pages []page, dirty []int) {
	pages = slices.Clone(l.journal)
	for _, set := range sets {
		known, ok := valueOf(set.Key(), base, pages)
		if ok && covers(known, set) {
			continue
		}
		set = joined(known, set)
		last := len(pages) - 1
		fresh := slices.Contains(dirty, last)
		if last < 0 || !pages[last].open || pages[last].sets.Len() >= pageSize ||
			!fresh && pages[last].sets.Len() >= smallPage {
			last++
			index := l.next + last - len(l.journal)
			pages = append(pages, page{name: objects.PartName(z, "journal-"+b.term, index), index: index, open: true})
			fresh = false
		}
		if !fresh {
			dirty = append(dirty, last)
		}
		txn := pages[last].sets.Txn()
		txn.Put(set)
		pages[last].sets = txn.Sets()
	}
	return pages, dirty
}

// keepGone puts sets into the journal that are about to leave the status although a
// server may still have them.
func (k *Controller) keepGone(ctx context.Context, id zone.ID, z *v1alpha1.Zone, out outcome, now zone.Snapshot) error {
	if !out.Keeping {
		return nil
	}
	keys := slices.Clone(out.Lingering)
	if !out.Confirmed {
		m, unlock := k.memory.Lock()
		for key := range m.zoneState(id).gone {
			keys = append(keys, key)
		}
		unlock()
	}
	return k.ledgers.keep(ctx, z, keys, now, out.Confirmed)
}

// keep puts sets into the journal that are in the status, and those that a content which is not confirmed lacks.
func (b *ledgers) keep(ctx context.Context, z *v1alpha1.Zone, keys []rr.Key, now zone.Snapshot,
	confirmed bool) error {
	l := b.of(dialect.ZoneID(z.Namespace, z.Name))
	l.turn.Lock()
	defer l.turn.Unlock()
	if !confirmed && l.inherited { // nobody knows what left the content before this operator came
		for set := range l.base.All() {
			if _, there := now.Sets.Get(set.Key()); !there {
				keys = append(keys, set.Key())
			}
		}
	}
	apex := rr.Key{Name: now.Name, Type: rr.TypeNS}
	if servers, ok := now.Sets.Get(apex); ok && !confirmed {
		if old, _ := l.base.Get(apex); !covers(servers, old) {
			keys = append(keys, apex)
		}
	}
	var sets []rr.Set
	for _, key := range keys {
		if set, ok := l.base.Get(key); ok {
			sets = append(sets, set)
		}
	}
	return b.write(ctx, z, l, sets, rr.Sets{}) // although they are still in the status
}

// flushed notes that the cluster has written down a content, and clears away what is not needed beside it any more. The
// status of the Zone is as it was written. A content without a name is that of a Zone that no server has anything of.
func (k *Controller) flushed(ctx context.Context, id zone.ID, z *v1alpha1.Zone, s zone.Snapshot, out outcome) error {
	if err := k.ledgers.dropStrays(ctx, id, z); err != nil {
		return err
	}
	needed := !s.Name.IsZero() && (!out.Confirmed || len(out.Lingering) > 0)
	if !needed {
		m, unlock := k.memory.Lock()
		state := m.zoneState(id)
		if state.content.Hash == s.Hash { // else a newer one, which nobody has confirmed, lacks some of it
			clear(state.gone)
		}
		unlock()
	}
	return k.ledgers.rebase(ctx, z, s.Sets, needed, out.entries)
}

// rebase takes over a content that the cluster has written down, and clears the journal away unless it is needed beside
// it, or something has been entered since there were so many entries.
func (b *ledgers) rebase(ctx context.Context, z *v1alpha1.Zone, content rr.Sets, needed bool, entries uint64) error {
	id := dialect.ZoneID(z.Namespace, z.Name)
	l := b.of(id)
	l.turn.Lock()
	l.base, l.coming, l.inherited = content, nil, false
	needed = needed || l.entries.Load() != entries // for a newer content
	if !needed && !l.tidy(content) {
		l.drops, l.journal = append(l.drops, l.journal...), nil
	}
	drops := slices.Clone(l.drops)
	l.turn.Unlock()
	for _, p := range drops {
		if err := b.deleteSlice(ctx, id, pageObject(z, p)); err != nil {
			return err // it may be gone all the same
		}
		l.turn.Lock()
		l.drops = without(l.drops, p.name)
		l.turn.Unlock()
	}
	return nil
}

// without returns the pages that have another name.
func without(pages []page, name string) []page {
	return slices.DeleteFunc(pages, func(p page) bool { return p.name == name })
}

// tidy reports whether the journal is one page that says nothing which the content does
// not: it is about to be used again, and is left.
func (l *ledger) tidy(content rr.Sets) bool {
	return len(l.journal) == 1 && contained(l.journal[0].sets, content)
}

// cluttered reports whether the journal is more than that, beside a content that has been
// written down, or there are slices beside it.
func (l *ledger) cluttered() bool {
	l.turn.Lock()
	defer l.turn.Unlock()
	return l.coming != nil || l.strays || len(l.drops) > 0 || len(l.journal) > 0 && !l.tidy(l.base)
}

// setStrays notes whether there may be slices that the status does not count, and returns what was noted before.
func (l *ledger) setStrays(are bool) (were bool) {
	l.turn.Lock()
	defer l.turn.Unlock()
	were, l.strays = l.strays, are
	return were
}

// contained reports whether a says nothing that b does not.
func contained(a, b rr.Sets) bool {
	for set := range a.All() {
		if !has(b, set) {
			return false
		}
	}
	return true
}
