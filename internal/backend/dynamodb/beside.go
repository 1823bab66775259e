package dynamodb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// beside is a Backend whose zones show the notes of a table among their sets. It is comparable: the same Backend beside
// the same Table, for the same owners, is the same one.
type beside struct {
	backend.Backend
	table  *Table
	owners string // whose place zonefold takes, each after a line feed
}

// Beside has a Backend show, and change, the notes of the table. Owners are those whose place zonefold takes.
func (t *Table) Beside(b backend.Backend, owners []string) backend.Backend {
	var text strings.Builder
	for _, owner := range owners {
		text.WriteString("\n" + owner)
	}
	return beside{b, t, text.String()}
}

// ours reports whether zonefold takes the place of an owner.
func (b beside) ours(owner string) bool {
	return owner != "" && slices.Contains(strings.Split(b.owners, "\n"), owner)
}

// Read reads the zone and then the table: external-dns enters a set into the table before it writes it.
func (b beside) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	inZone, keys := ask, []rr.Key(nil)
	if ask.Keys != nil {
		inZone.Keys = slices.DeleteFunc(slices.Clone(ask.Keys), registry.IsInTable)
		for _, k := range ask.Keys {
			if registry.IsInTable(k) {
				keys = append(keys, k)
			}
		}
	}
	if ask.Known != nil {
		inZone.Known = &backend.Known{SOA: ask.Known.SOA, Sets: withoutNotes(ask.Known.Sets)}
	}
	found, err := b.Backend.Read(ctx, zone, inZone)
	if err != nil {
		return found, err
	}
	found.Sets = withoutNotes(found.Sets)
	if ask.Keys != nil && len(keys) == 0 {
		return found, nil
	}
	notes, err := b.table.Notes(ctx)
	if err != nil {
		return backend.Observed{}, err
	}
	if ask.Keys != nil {
		notes = notes.Only(keys)
	}
	txn := found.Sets.Txn()
	for note := range notes.Under(zone) {
		txn.Put(note)
	}
	found.Sets = txn.Sets()
	found.Unchanged = found.Unchanged && ask.Keys == nil && found.Sets.Len() == ask.Known.Sets.Len()
	for note := range notes.Under(zone) {
		if found.Unchanged {
			was, _ := ask.Known.Sets.Get(note.Key())
			found.Unchanged = was.Equal(note)
		}
	}
	return found, nil
}

// withoutNotes leaves out what only a table has. Sets of a server at such names are not shown, as nobody needs them.
func withoutNotes(sets rr.Sets) rr.Sets {
	var keys []rr.Key
	for set := range sets.All() {
		if k := set.Key(); registry.IsInTable(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return sets
	}
	txn := sets.Txn()
	for _, k := range keys {
		txn.Delete(k)
	}
	return txn.Sets()
}

// Apply enters new sets into the table, changes the zone, and then takes out of the table what has left it, as
// external-dns does.
func (b beside) Apply(ctx context.Context, zone dnsname.Name, batch backend.Batch) (backend.Result, error) {
	if err := b.table.fresh(ctx); err != nil {
		return backend.Result{}, err
	}
	w, err := b.split(batch.Changes)
	if err == nil {
		err = b.table.execute(ctx, w.insert, func(has []item, i item) []item {
			return append(slices.DeleteFunc(has, func(one item) bool { return one == i }), i)
		})
	}
	if err != nil {
		return backend.Result{}, within(err, fmt.Sprintf("before zone %s is changed, in the table %s of DynamoDB", zone,
			b.table.client.table))
	}
	var result backend.Result
	batch.Changes = w.changes
	if len(w.changes) > 0 || batch.SOA != nil || batch.Create || batch.Remove || batch.Last && b.Limits().Creates {
		if result, err = b.Backend.Apply(ctx, zone, batch); err != nil {
			return result, err
		}
	}
	err = b.table.execute(ctx, w.remove, func(has []item, i item) []item {
		return slices.DeleteFunc(has, func(one item) bool { return one == i })
	})
	if err != nil { // the zone is changed: what has become of the rest, the next reading tells
		return backend.Result{}, &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf(
			"after zone %s was changed, in the table %s of DynamoDB: %w", zone, b.table.client.table, err)}
	}
	result.Rejected = append(result.Rejected, w.rejected...)
	return result, nil
}

// writing is one Apply.
type writing struct {
	changes        []plan.Change // of the zone
	insert, remove []statement
	rejected       []backend.Rejection
}

// split tells changes of the table from those of the zone. It fails if the table says by now that a set is somebody
// else's.
func (b beside) split(changes []plan.Change) (*writing, error) {
	t, w := b.table, &writing{}
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.index
	for _, c := range changes {
		if registry.IsInTable(c.Key) {
			if err := b.enter(w, c); err != nil {
				return nil, err
			}
			continue
		}
		if odd, is := x.odd[c.Key]; is {
			w.rejected = append(w.rejected, backend.Rejection{Key: c.Key, Cause: backend.CauseOwned, Temporary: true,
				Reason: fmt.Sprintf("it belongs to owner %q of external-dns, according to the table %s in DynamoDB", odd.owner,
					t.client.table)})
			continue
		}
		note, _ := x.note(c.Key)
		for _, i := range x.items[note] {
			if _, identifier, _ := i.about(); identifier != "" || !b.ours(i.owner) {
				return nil, &backend.Error{Class: backend.ErrConflict, Err: fmt.Errorf("the item %q now gives %s to owner %q",
					i.key, c.Key, i.owner)}
			}
		}
		w.changes = append(w.changes, c)
	}
	return w, nil
}

// enter makes the statements for a note that changes.
func (b beside) enter(w *writing, c plan.Change) error {
	t := b.table
	if c.Deletes() {
		gone := t.index.owners(c.Have)
		for _, i := range t.index.items[c.Key] {
			if _, identifier, _ := i.about(); identifier == "" && slices.Contains(gone, i.owner) && b.ours(i.owner) {
				w.remove = append(w.remove, t.deletion(c.Key, i))
			}
		}
		return nil
	}
	about, ok := registry.AboutInTable(c.Key)
	owners := t.index.owners(c.Want)
	if !ok || len(owners) != 1 || !b.ours(owners[0]) {
		w.rejected = append(w.rejected, backend.Rejection{Key: c.Key, Cause: backend.CauseInvalid,
			Reason: "its name is reserved for an item of external-dns' table in DynamoDB"})
		return nil
	}
	wanted := item{keyOf(about), owners[0]}
	switch has := t.index.items[c.Key]; {
	case len(has) == 0:
		w.insert = append(w.insert, t.insertion(c.Key, wanted))
	case !slices.ContainsFunc(has, func(i item) bool { return i.owner == wanted.owner }):
		return &backend.Error{Class: backend.ErrConflict, Err: fmt.Errorf("the item %q belongs to owner %q", has[0].key,
			has[0].owner)}
	}
	return nil
}
