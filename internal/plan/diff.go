package plan

import (
	"iter"
	"slices"

	"github.com/zonefold/zonefold/internal/rr"
)

// Plan is what a target needs.
type Plan struct {
	// Changes in safe order (see Order).
	Changes []Change

	// Left are the sets of the target that are not wanted and stay because of the scope, in canonical order, apart from
	// those of types that nobody may write. Only Diff fills it.
	Left []rr.Set

	// Foreign counts those of Left that some other writer made, not the server. Only Diff fills it.
	Foreign int
}

// Diff returns what takes a target that holds have to want, as far as scope goes. It is linear: one walk over both.
func Diff(have, want rr.Sets, scope Scope) Plan {
	var p Plan
	scope.survey(have, want)
	next, stop := iter.Pull(have.All())
	defer stop()
	h, ok := next()
	for w := range want.All() {
		for ok && h.Name != w.Name && h.Name.Compare(w.Name) < 0 || ok && h.Name == w.Name && h.Type < w.Type {
			p.unwanted(h, &scope)
			h, ok = next()
		}
		if ok && h.Name == w.Name && h.Type == w.Type {
			p.wanted(h, w, &scope)
			h, ok = next()
			continue
		}
		p.wanted(rr.Set{}, w, &scope)
	}
	for ; ok; h, ok = next() {
		p.unwanted(h, &scope)
	}
	p.Changes = Order(p.Changes)
	return p
}

// DiffKeys is Diff for some keys only, whatever the size of the zone. Keys may be in any order and repeat.
func DiffKeys(have, want rr.Sets, keys []rr.Key, scope Scope) Plan {
	scope.survey(have, want)
	keys = slices.Clone(keys)
	if apex := (rr.Key{Name: scope.Apex, Type: rr.TypeNS}); slices.Contains(keys, apex) {
		ns, _ := have.Get(apex)
		for _, host := range hosts(ns) { // their addresses may not be needed any more
			keys = append(keys, rr.Key{Name: host, Type: rr.TypeA}, rr.Key{Name: host, Type: rr.TypeAAAA})
		}
	}
	slices.SortFunc(keys, rr.Key.Compare)
	var p Plan
	for _, k := range slices.Compact(keys) {
		h, _ := have.Get(k)
		if w, ok := want.Get(k); ok {
			p.wanted(h, w, &scope)
		} else if len(h.Data) > 0 {
			p.remove(h, &scope)
		}
	}
	p.Changes = Order(p.Changes)
	return p
}

// add doubles the room when it is used up: append would copy large plans five times as they grow.
func (p *Plan) add(c Change) {
	if len(p.Changes) == cap(p.Changes) {
		p.Changes = slices.Grow(p.Changes, max(len(p.Changes), 4))
	}
	p.Changes = append(p.Changes, c)
}

// wanted adds the change from have, which may be zero, to want.
func (p *Plan) wanted(have, want rr.Set, scope *Scope) {
	want = scope.Goal(have, want)
	if have.TTL == want.TTL && slices.Equal(have.Data, want.Data) || !scope.mayPut(want) {
		return
	}
	p.add(Change{Key: want.Key(), Have: have, Want: want})
}

// unwanted deletes have or leaves it.
func (p *Plan) unwanted(have rr.Set, scope *Scope) {
	if p.remove(have, scope) || have.Type.Refused() != "" {
		return
	}
	p.Left = append(p.Left, have)
	if !ServerMade(have.Type) && !scope.isApexNS(have.Key()) && !scope.needed[have.Name] {
		p.Foreign++
	}
}

// remove deletes have, if it may, and reports whether it does. Of an apex NS set of which values are the server's own
// the others go.
func (p *Plan) remove(have rr.Set, scope *Scope) bool {
	if scope.mayDelete(have) {
		p.add(Change{Key: have.Key(), Have: have})
		return true
	}
	own := scope.serversNS(have)
	if own != nil && len(own) < len(have.Data) && scope.ApexNS != ApexNSLeft {
		p.Changes = append(p.Changes, Change{Key: have.Key(), Have: have, Want: rr.NewSet(have.Key(), have.TTL, own...)})
	}
	return false
}

// Apply returns have after the changes.
func Apply(have rr.Sets, changes []Change) rr.Sets {
	if len(changes) == 0 {
		return have
	}
	txn := have.Txn()
	for _, c := range changes {
		if c.Deletes() {
			txn.Delete(c.Key)
		} else {
			txn.Put(c.Want)
		}
	}
	return txn.Sets()
}
