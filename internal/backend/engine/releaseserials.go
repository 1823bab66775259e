package engine

import (
	"github.com/zonefold/zonefold/internal/rr"
)

// ReleaseSerials gives back the serials below the ceiling that nothing was labelled with, if the wanted content has the
// last one that was used: the next change will store a new ceiling first. It returns false while something is under
// way, and while changes follow each other, so that not each of them waits for that.
//
// Whoever calls it stores the label together with its serial as the ceiling, unless Raise was called meanwhile. A later
// run then knows that no serial after it was ever served, which a server that keeps nothing (Limits.Volatile) cannot
// tell it: a restart changes nothing.
func (f *Feed) ReleaseSerials() (Label, bool) {
	in, unlock := f.lock()
	defer unlock()
	return in.releaseSerials()
}

func (f *feed) releaseSerials() (Label, bool) {
	l := f.label
	follow := f.step > shortestStep && f.scheduler.now().Sub(f.raised) < quickly
	if l.ID == "" || l.ID != f.wantID || l.Serial != f.last || f.raising != nil || follow {
		return Label{}, false
	}
	if f.ceiling != 0 && rr.SerialLess(l.Serial, f.ceiling) {
		f.ceiling = l.Serial
	}
	return l, true
}

// Exceeded reports whether a serial after the label was given: to a server that the zone is withdrawn from, maybe by
// another feed of its name. Nothing but the stored ceiling tells of it later, until the next content comes after it.
func (f *Feed) Exceeded() bool {
	in, unlock := f.lock()
	defer unlock()
	return in.label.ID != "" && rr.SerialLess(in.label.Serial, in.given.last)
}

// distrust is for a target that cannot tell which serials it has served: unless the last one is known, each one up to
// the stored ceiling may have been, and the wanted content gets one after that. Where it is known, it still stands for
// its content, but none before it for any: another target may lag behind with what is wanted under one.
func (f *Feed) distrust() {
	in, unlock := f.lock()
	defer unlock()
	in.distrust()
}

// distrustLost is distrust for a server that has no zone, and may have lost it: others may have from it what it served
// last. One that comes when all servers have told what they have is a new one.
func (f *Feed) distrustLost() {
	in, unlock := f.lock()
	defer unlock()
	if !in.told {
		in.distrust()
	}
}

// hear notes it when every server has the wanted content.
func (f *feed) hear() {
	if f.told || f.seq == 0 {
		return
	}
	for t := range f.attached {
		if t.holdingFeed() == f && t.standing.seq != f.seq {
			return
		}
	}
	f.told = true
}

func (f *feed) distrust() {
	if f.unserved == 0 {
		return
	}
	f.floor, f.unserved = f.unserved, 0
	if f.below(f.stored.Serial) {
		f.stored = Label{}
	}
	if f.label.ID == "" || !f.below(f.label.Serial) {
		return
	}
	f.label = Label{}
	for _, t := range f.holding() {
		f.scheduler.wake(t, wakeWant)
	}
}
