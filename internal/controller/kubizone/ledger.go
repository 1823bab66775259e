package kubizone

import (
	"context"
	"slices"
	"sync"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A ledger knows which sets the cluster has written down for a Zone: those of its
// status and slices, and those in the journal. A set is in it before it is published
// among foreign ones and until it is withdrawn, so that after any crash it is known
// which sets are ours.
type ledger struct {
	mu      sync.Mutex // held while the journal is written
	base    rr.Sets    // status.entries and slices
	journal []rr.Sets  // by page
}

// pageSize is how many sets a page of the journal holds at most, and smallPage up to how
// many it is rewritten to take more: what is written grows with what is recorded, and
// there are few pages to delete.
const pageSize, smallPage = 500, 200

// value returns what the ledger knows of a set: of name servers all values, in whatever
// part of it, of others the newest data.
func (l *ledger) value(key rr.Key, pages []rr.Sets) (known rr.Set, ok bool) {
	for _, part := range append([]rr.Sets{l.base}, pages...) {
		if set, there := part.Get(key); there {
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

// all returns everything in the ledger.
func (l *ledger) all() rr.Sets {
	l.mu.Lock()
	defer l.mu.Unlock()
	txn := l.base.Txn()
	for _, page := range l.journal {
		for set := range page.All() {
			old, _ := txn.Get(set.Key())
			txn.Put(joined(old, set))
		}
	}
	return txn.Sets()
}

// record writes sets into the journal that are not in the ledger yet.
func (k *Controller) record(ctx context.Context, id zone.ID, z *v1alpha1.Zone, sets []rr.Set) error {
	l := k.ledgerOf(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	dirty := map[int]bool{}
	pages := append([]rr.Sets(nil), l.journal...)
	for _, set := range sets {
		known, ok := l.value(set.Key(), pages)
		if ok && covers(known, set) {
			continue
		}
		set = joined(known, set)
		last := len(pages) - 1
		if last < 0 || pages[last].Len() >= pageSize || !dirty[last] && pages[last].Len() >= smallPage {
			pages = append(pages, rr.Sets{})
			last++
		}
		txn := pages[last].Txn()
		txn.Put(set)
		pages[last] = txn.Sets()
		dirty[last] = true
	}
	for i := range pages {
		if dirty[i] {
			if err := k.applySlice(ctx, id, z, journalPage(i, pages[i])); err != nil {
				return err
			}
		}
	}
	l.journal = pages
	return nil
}

func journalPage(index int, sets rr.Sets) *zonefold.ZoneSlice {
	var entries []v1alpha1.Entry
	for set := range sets.All() {
		entries = entriesOf(entries, set)
	}
	return &zonefold.ZoneSlice{Journal: true, Index: int32(index), Text: textOf(entries)}
}

// keepGone puts sets into the journal that are about to leave the status although a
// server may still have them.
func (k *Controller) keepGone(ctx context.Context, id zone.ID, z *v1alpha1.Zone, out controller.ZoneOutcome, now zone.Snapshot) error {
	if !out.Keeping {
		return nil
	}
	l := k.ledgerOf(id)
	keys := append([]rr.Key(nil), out.Lingering...)
	if !out.Confirmed {
		k.mu.Lock()
		for key := range k.zoneState(id).gone {
			keys = append(keys, key)
		}
		k.mu.Unlock()
	}
	apex := rr.Key{Name: now.Name, Type: rr.TypeNS}
	if servers, ok := now.Sets.Get(apex); ok && !out.Confirmed {
		l.mu.Lock()
		if old, _ := l.base.Get(apex); !covers(servers, old) {
			keys = append(keys, apex)
		}
		l.mu.Unlock()
	}
	var sets []rr.Set
	l.mu.Lock()
	for _, key := range keys {
		if set, ok := l.base.Get(key); ok {
			sets = append(sets, set)
		}
	}
	base := l.base
	l.base = rr.Sets{} // so that they are written although they are still in the status
	l.mu.Unlock()
	err := k.record(ctx, id, z, sets)
	l.mu.Lock()
	l.base = base
	l.mu.Unlock()
	return err
}

// flushed notes that the cluster has written down a content, and clears away what is
// not needed beside it any more.
func (k *Controller) flushed(ctx context.Context, id zone.ID, z *v1alpha1.Zone, s zone.Snapshot, out controller.ZoneOutcome) error {
	k.mu.Lock()
	state := k.zoneState(id)
	keep := state.kept
	k.mu.Unlock()
	if z.Status.Slices > 0 || keep > 0 {
		if err := k.dropSlices(ctx, id, z, keep); err != nil {
			return err
		}
	}
	l := k.ledgerOf(id)
	l.mu.Lock()
	l.base = s.Sets
	needed := !out.Confirmed || len(out.Lingering) > 0
	tidy := len(l.journal) == 1 && contained(l.journal[0], s.Sets)
	drop := !needed && !tidy && len(l.journal) > 0
	if drop {
		l.journal = nil
	}
	l.mu.Unlock()
	if !needed {
		k.mu.Lock()
		clear(state.gone)
		k.mu.Unlock()
	}
	if !drop {
		return nil
	}
	list, err := k.slicesOf(ctx, z)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Journal {
			if err := k.deleteSlice(ctx, id, &list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// contained reports whether a says nothing that b does not.
func contained(a, b rr.Sets) bool {
	for set := range a.All() {
		if known, ok := b.Get(set.Key()); !ok || !covers(known, set) {
			return false
		}
	}
	return true
}

func (k *Controller) ledgerOf(id zone.ID) *ledger {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &k.zoneState(id).ledger
}
