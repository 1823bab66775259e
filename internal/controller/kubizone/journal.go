package kubizone

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// loadLedger reads, once, what an earlier run has written down.
func (b *ledgers) loadLedger(id zone.ID, z *v1alpha1.Zone) rr.Sets {
	l := b.of(id)
	l.turn.Lock()
	if !l.loaded {
		l.loaded = true
		base := rr.Sets{}.Txn()
		dialect.PutEntries(base, z.Status.Entries)
		list, err := b.slicesOf(context.Background(), z)
		if err != nil {
			b.log.Error("reading the ledger", "zone", id.String(), "error", err)
		}
		for i := range list {
			if s := &list[i]; s.Journal {
				l.journal = append(l.journal, page{name: s.Name, index: int(s.Index), sets: pageSets(s)})
				b.sliceWritten(id, s.Name, objects.Version(s))
			} else {
				dialect.PutEntries(base, dialect.SliceEntries(s.Entries))
				l.strays = l.strays || stray(z, s)
			}
		}
		l.base, l.inherited = base.Sets(), true
	}
	l.turn.Unlock()
	return l.all()
}

// loadEntries reads what an earlier run has published, without what it was about to.
func (b *ledgers) loadEntries(id zone.ID, z *v1alpha1.Zone) rr.Sets {
	b.loadLedger(id, z)
	l := b.of(id)
	l.turn.Lock()
	defer l.turn.Unlock()
	return l.base
}

// published returns the content that the cluster has written down for a Zone, false if it is not complete.
func (b *ledgers) published(id zone.ID, z *v1alpha1.Zone) (zone.Snapshot, bool) {
	sets := b.loadEntries(id, z)
	if labelled(z).ID == "" || zone.HashOf(sets) != z.Status.Hash {
		return zone.Snapshot{}, false
	}
	name, err := dnsname.Parse(z.Status.Entries[0].FQDN)
	if err != nil {
		return zone.Snapshot{}, false
	}
	soa, err := rr.ParseSOA(z.Status.Entries[0].RData)
	if err != nil {
		return zone.Snapshot{}, false
	}
	soa.TTL, soa.Serial = uint32(z.Status.Entries[0].TTL), 0
	return zone.Snapshot{ID: id, Name: name, Sets: sets, SOA: soa, Hash: z.Status.Hash}, true
}

// journalPage returns a page as it is stored.
func journalPage(p page) *zonefold.ZoneSlice {
	var entries []v1alpha1.Entry
	for set := range p.sets.All() {
		entries = entriesOf(entries, set)
	}
	return &zonefold.ZoneSlice{
		ObjectMeta: metav1.ObjectMeta{Name: p.name}, Journal: true, Index: int32(p.index),
		Text: textOf(within(entries, maxStatus)),
	}
}

func pageSets(s *zonefold.ZoneSlice) rr.Sets {
	txn := rr.Sets{}.Txn()
	dialect.PutEntries(txn, dialect.EntriesIn(s.Text))
	return txn.Sets()
}

// pageObject names a page in the cluster.
func pageObject(z *v1alpha1.Zone, p page) *zonefold.ZoneSlice {
	return &zonefold.ZoneSlice{ObjectMeta: metav1.ObjectMeta{Namespace: z.Namespace, Name: p.name}}
}

// sawPage takes in a page of the journal that somebody else has written, or deleted: a
// leader whose term is over adds to what is ours, and nobody takes away from it. It
// reports whether the page lacks something now.
func (b *ledgers) sawPage(id zone.ID, s *zonefold.ZoneSlice, gone bool) (lacks bool) {
	z, err := zoneAt(context.Background(), b.client, id)
	if err != nil || !metav1.IsControlledBy(s, z) {
		return false // it is that of a Zone that is gone
	}
	l := b.of(id)
	l.turn.Lock()
	if !l.loaded { // then it is going to be read
		l.turn.Unlock()
		return false
	}
	var is rr.Sets
	if !gone {
		is = pageSets(s)
		b.sliceWritten(id, s.Name, objects.Version(s))
	}
	at := slices.IndexFunc(l.journal, func(p page) bool { return p.name == s.Name })
	switch {
	case at >= 0:
		p := &l.journal[at]
		lacks = !contained(p.sets, is)
		p.sets = merged(p.sets, is)
	case !gone:
		l.drops = without(l.drops, s.Name)
		l.journal = append(l.journal, page{name: s.Name, index: int(s.Index), sets: is})
	}
	l.entries.Add(1)
	l.turn.Unlock()
	b.learn(id, is)
	return lacks
}

// restorePages writes the pages of the journal again from which somebody else has taken
// something.
func (b *ledgers) restorePages(ctx context.Context, id zone.ID, z *v1alpha1.Zone) error {
	m, unlock := b.known.Lock()
	state := m.zone(id)
	torn := state.torn
	state.torn = false
	unlock()
	if !torn {
		return nil
	}
	err := b.objects.Restores(z, "journal")
	if err == nil {
		err = b.writePages(ctx, id, z)
	}
	if err != nil {
		_, unlock := b.known.Lock()
		state.torn = true
		unlock()
	}
	return err
}

// writePages writes all pages of the journal that the cluster has otherwise.
func (b *ledgers) writePages(ctx context.Context, id zone.ID, z *v1alpha1.Zone) error {
	l := b.of(id)
	l.turn.Lock()
	defer l.turn.Unlock()
	for _, p := range l.journal {
		if err := b.applySlice(ctx, id, z, journalPage(p)); err != nil {
			return err
		}
	}
	return nil
}
