package embedded

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded/tree"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Zone is the content of one zone at one moment, ready to be asked. It never changes: With makes another one, at the
// cost of what is different.
type Zone struct {
	name  dnsname.Name
	path  path // of name
	soa   rr.SOA
	apex  *node
	names tree.Tree[*node] // all that exist
	sets  int              // with the SOA

	records int      // of all sets
	filled  []rr.Key // sets that nobody asked for, see fill
	private bool     // a catalog zone: only for those who may transfer it
	history history
}

// NewZone returns a zone that holds its SOA and nothing else.
func NewZone(name dnsname.Name, soa rr.SOA) (*Zone, error) {
	z := &Zone{name: name, soa: soa, names: tree.New[*node]()}
	z.path.set(wireOf(name))
	z.apex = &node{name: string(z.path.wire)}
	t := z.names.Txn()
	t.Put(z.apex)
	z.names = t.Commit()
	next, _, err := z.With(&soa, nil)
	return next, err
}

// Name returns the zone's name.
func (z *Zone) Name() dnsname.Name { return z.name }

// SOA returns the zone's SOA.
func (z *Zone) SOA() rr.SOA { return z.soa }

// With returns the zone after changes, and those that it cannot hold. A nil soa leaves the SOA.
func (z *Zone) With(soa *rr.SOA, changes []plan.Change) (*Zone, []backend.Rejection, error) {
	next := *z
	t := zoneTxn{names: z.names.Txn(), apex: z.path.wire, sets: z.sets, records: z.records}
	if soa != nil {
		s, err := packSet(rr.Set{Name: z.name, Type: rr.TypeSOA, TTL: soa.TTL, Data: []string{soa.Data()}})
		if err != nil {
			return nil, nil, fmt.Errorf("the SOA of %s: %w", z.name, err)
		}
		next.soa = *soa
		t.put(z.path.wire, s)
	}
	var rejected []backend.Rejection
	for _, c := range changes {
		if err := t.change(z.name, c); err != nil {
			rejected = append(rejected, backend.Rejection{Key: c.Key, Reason: err.Error()})
		}
	}
	next.names, next.sets, next.records = t.names.Commit(), t.sets, t.records
	next.apex = next.names.Get(z.path.wire)
	return &next, rejected, nil
}

// A zoneTxn changes the names of a zone.
type zoneTxn struct {
	names   *tree.Txn[*node]
	apex    []byte
	sets    int
	records int
}

// change makes one change, or says why not.
func (t *zoneTxn) change(zone dnsname.Name, c plan.Change) error {
	switch why := c.Key.Type.Refused(); {
	case !c.Key.Name.Under(zone):
		return errors.New("the name is not in the zone " + zone.String())
	case why != "":
		return fmt.Errorf("%s cannot be written: %s", c.Key.Type, why)
	}
	s := set{typ: c.Key.Type}
	if !c.Deletes() {
		var err error
		if s, err = packSet(c.Want); err != nil {
			return err
		}
	}
	t.put(wireOf(c.Key.Name), s)
	return nil
}

// put adds a set to a name; one without records removes the one of its type.
func (t *zoneTxn) put(name []byte, s set) {
	n := t.names.Get(name)
	if n == nil {
		if s.count == 0 {
			return
		}
		n = t.add(string(name))
	}
	n = t.own(n)
	before := len(n.sets)
	if old := n.find(s.typ); old != nil {
		t.records -= int(old.count)
	}
	n.sets = n.with(s)
	t.sets += len(n.sets) - before
	t.records += int(s.count)
	t.prune(n)
}

// own returns a node that this transaction may change.
func (t *zoneTxn) own(n *node) *node {
	if n.owner == t.names.Edit {
		return n
	}
	n = &node{name: n.name, sets: slices.Clip(n.sets), below: n.below, owner: t.names.Edit}
	t.names.Put(n)
	return n
}

// add makes a name exist, and the names between it and the apex.
func (t *zoneTxn) add(name string) *node {
	n := &node{name: name, owner: t.names.Edit}
	t.names.Put(n)
	above := parentOf(name)
	up := t.names.Get([]byte(above))
	if up == nil {
		up = t.add(above)
	}
	t.own(up).below++
	return n
}

// prune removes a name that has nothing at it or below it, and so on upwards.
func (t *zoneTxn) prune(n *node) {
	for len(n.sets) == 0 && n.below == 0 && n.name != string(t.apex) {
		t.names.Remove([]byte(n.name))
		n = t.own(t.names.Get([]byte(parentOf(n.name))))
		n.below--
	}
}
