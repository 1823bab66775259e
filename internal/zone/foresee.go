package zone

import "maps"

// A Forecast is what would come of an object that is not there, or not like that.
type Forecast struct {
	Verdict Verdict  // of the object itself
	Others  []Effect // what others would be told then, in no order
	OfZone  bool     // the object is a Zone, not a claim
	Alone   bool     // it concerns more than was to be looked at: nothing is said of others
}

// An Effect is what an object is told, and what it would be told.
type Effect struct {
	ID            ID
	Before, After Verdict
}

// ForeseeZone says what would come of a Zone, without a trace: everything is, and goes on, as if nobody had asked. It
// looks at no more than limit names and objects; of a Zone that concerns more it says at most what is decided about
// itself. It is false when even that is not known. The World has to be settled.
func (w *World) ForeseeZone(z Zone, limit int) (Forecast, bool) {
	name, _ := w.nameOf(z.ID, z.Where)
	s := scale{objects: &w.objects, left: limit, seen: map[ID]bool{}}
	if z.Reverse != nil && !w.addresses.observing {
		s.left -= len(w.claims)
	}
	if !s.under(w.tree, name) || !s.zone(z.ID) {
		v, ok := w.ruleOn(z)
		return Forecast{Verdict: v, OfZone: true, Alone: true}, ok
	}
	undo := func() { w.DeleteZone(z.ID) }
	if w.going[z.ID] {
		undo = func() { w.WithdrawZone(z.ID) }
	}
	if old := w.zones[z.ID]; old != nil {
		was := old.Zone
		undo = func() { w.PutZone(was) }
	}
	w.PutZone(z)
	f := w.foresee(z.ID, undo)
	f.OfZone = true
	return f, true
}

// ForeseeClaim says what would come of a claim, likewise.
func (w *World) ForeseeClaim(c Claim, limit int) (Forecast, bool) {
	s := scale{objects: &w.objects, left: limit, seen: map[ID]bool{}}
	name, _ := w.nameOf(c.ID, c.Where)
	if !s.claim(w.treeOf(c.Where.Ref).find(name), c) {
		return Forecast{}, false
	}
	undo := func() { w.DeleteClaim(c.ID) }
	if old := w.claims[c.ID]; old != nil {
		if !s.claim(old.node, old.Claim) {
			return Forecast{}, false
		}
		undo = func() { w.PutClaim(old.Claim) }
	}
	w.PutClaim(c)
	return w.foresee(c.ID, undo), true
}

// ForeseeGrants returns the accepted Zones that would have no grant any more if a Backend granted that.
func (o *objects) ForeseeGrants(backend string, grants []Grant) []ID {
	then := objects{opts: o.opts, grants: maps.Clone(o.grants)}
	if then.grants[backend] = grants; len(grants) == 0 {
		delete(then.grants, backend)
	}
	var out []ID
	for id, z := range o.zones {
		if z.root() && z.Policy.needsGrant() && !then.granted(z) {
			out = append(out, id)
		}
	}
	return out
}

// foresee settles what was put, takes it back, and returns the difference.
func (w *World) foresee(id ID, undo func()) Forecast {
	var f Forecast
	changed := w.Settle().Verdicts
	f.Verdict, _ = w.Verdict(id)
	for _, other := range changed {
		if v, ok := w.Verdict(other); ok && other != id {
			f.Others = append(f.Others, Effect{ID: other, After: v})
		}
	}
	undo()
	w.Settle()
	for i := range f.Others {
		f.Others[i].Before, _ = w.Verdict(f.Others[i].ID)
	}
	return f
}

// ruleOn says what is decided about a Zone itself, from the Zones around it and nothing else. It is false where more
// would change with it than can be told so.
func (o *objects) ruleOn(z Zone) (Verdict, bool) {
	if old := o.zones[z.ID]; old != nil {
		return old.verdict, old.Zone.placedAs(&z) && z.Invalid == nil
	}
	s := &zoneState{Zone: z, tree: o.tree, created: ageOf(z.Created)}
	problem := s.fault()
	name, unnamed := o.nameOf(z.ID, z.Where)
	if problem == nil {
		problem = unnamed
	}
	if problem != nil || z.Policy.alone() {
		return Verdict{}, false
	}
	if s.node = o.tree.find(name); s.node == nil {
		s.node = newNode(name)
		s.node.parent, _ = o.tree.above(name)
	}
	s.ruling, _ = o.judgeZone(s, nil)
	if owner := s.node.owner; s.accepted() && owner != nil && owner.older(s) {
		s.ruling = ruling{reason: DuplicateZone, by: owner}
	}
	return s.inWords(), true
}
