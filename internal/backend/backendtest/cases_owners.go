package backendtest

import (
	"errors"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// eventually waits for a condition that no report tells.
func (r *rig) eventually(what string, ok func() bool) {
	r.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			r.Fatalf("never %s", what)
		}
	}
}

func (r *rig) missingZone() {
	r.stop()
	r.zone, r.want = r.Missing, engine.Content{}
	r.start()
	want := r.base(r.set("www", rr.TypeA, "192.0.2.1"))
	if r.limits.Creates {
		r.sync(want)
		r.restart()
		return
	}
	r.publish(want)
	r.await("one", "reported the missing zone", func(report engine.Report) bool {
		return errors.Is(report.Err, backend.ErrNoZone) && report.Seq == 0
	})
}

func (r *rig) observe() {
	r.sync(r.base(r.set("same", rr.TypeA, "192.0.2.1"), r.set("changed", rr.TypeA, "192.0.2.1"), r.set("gone", rr.TypeA,
		"192.0.2.1")))
	soa, before, _ := r.Truth(r.zone)
	applies := r.applies.Load()
	r.attach.Observe = true
	r.attachAs(r.attach)
	found := func(seq uint64) engine.Difference {
		report := r.await("one", "reported the difference", func(report engine.Report) bool {
			return report.Difference != nil && report.Seq >= seq
		})
		return *report.Difference
	}
	d := found(r.publish(r.base(r.set("same", rr.TypeA, "192.0.2.1"), r.set("changed", rr.TypeA, "192.0.2.2"),
		r.set("new", rr.TypeA, "192.0.2.1"))))
	if d.Added != 1 || d.Changed != 1 || d.Deleted != 1 || d.Have.Len() != 2 || d.Want.Len() != 2 {
		r.Errorf("the difference is %d added, %d changed, %d deleted (%d have, %d want), want 1 of each", d.Added, d.Changed,
			d.Deleted,
			d.Have.Len(), d.Want.Len())
	}
	d = found(r.publish(r.base(r.set("same", rr.TypeA, "192.0.2.1"), r.set("changed", rr.TypeA, "192.0.2.1"),
		r.set("gone", rr.TypeA, "192.0.2.1"))))
	if d.Added+d.Changed+d.Deleted+d.Have.Len()+d.Want.Len() != 0 {
		r.Errorf("what is equal differs: %+v", d)
	}
	after, now, _ := r.Truth(r.zone)
	if n := r.applies.Load() - applies; n != 0 || soa != after || !equalSets(before, now) {
		r.Errorf("observing sent %d batches", n)
	}
	r.attach.Observe = false
	r.attachAs(r.attach)
	r.sync(r.base(r.set("new", rr.TypeA, "192.0.2.1")))
}

// withdrawn withdraws attachment "one" and waits for the confirmation.
func (r *rig) withdrawn() {
	r.Helper()
	if !r.engine.Withdraw(r.key(), "one") {
		r.Fatal("nothing is attached")
	}
	r.await("one", "withdrew", func(report engine.Report) bool { return report.Withdrawn })
}

func (r *rig) withdraw() {
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.1"), r.set("sub", rr.TypeNS, "ns.example.net.")))
	soa, _, _ := r.Truth(r.zone)
	r.withdrawn()
	after, truth, ok := r.Truth(r.zone)
	if r.limits.Removes {
		if ok {
			r.Error("the server still has the zone")
		}
		r.attachAgain()
		return
	}
	for got := range truth.All() {
		if !r.isApexNS(got.Key()) && !r.needed(truth, got.Key()) && r.ever[got.Key()] {
			r.Errorf("the server still holds %v", got)
		}
	}
	if !ok || after.MName != soa.MName || rr.SerialLess(after.Serial, soa.Serial) {
		r.Errorf("withdrawing changed the SOA from %s to %s", soa.Data(), after.Data())
	}
	r.attachAgain()
}

// attachAgain brings back what was withdrawn.
func (r *rig) attachAgain() {
	if r.engine.Withdraw(r.key(), "one") {
		r.Error("the attachment is still there after it was withdrawn")
	}
	r.attachAs(r.attach)
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.2")))
}

func (r *rig) withdrawKept() {
	foreign := r.set("theirs", rr.TypeA, "203.0.113.1")
	r.Foreign([]rr.Set{foreign}, nil)
	r.keep()
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.1")))
	r.stop()
	r.start()
	r.withdrawn()
	r.holds(foreign)
	r.lacks(r.set("www", rr.TypeA, "192.0.2.1").Key())
}

func (r *rig) twoAttachments() {
	two := r.attach
	two.Name, two.Since = "two", time.Unix(9, 0)
	r.attachAs(two)
	applies := r.applies.Load()
	seq := r.publish(r.base(r.set("www", rr.TypeA, "192.0.2.1")))
	for _, name := range []string{"one", "two"} {
		r.await(name, "confirmed", func(report engine.Report) bool { return report.Seq >= seq && report.Err == nil })
	}
	if n := r.applies.Load() - applies; n > 1 && r.limits.Atomic == backend.AtomicBatch {
		r.Errorf("two attachments made %d batches of one change", n)
	}
	r.withdrawn()
	r.attach.Name = "two"
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.2")))
}

func (r *rig) twoZones() {
	older := r.feed
	r.sync(r.base(r.set("both", rr.TypeA, "192.0.2.1"), r.set("older", rr.TypeA, "192.0.2.1")))
	younger := r.engine.NewFeed(engine.FeedConfig{ID: "team/younger", Zone: r.zone, Created: time.Unix(2, 0)})
	r.feed = younger
	two := r.attach
	two.Name = "two"
	r.attachAs(two)
	want := r.content(r.base(r.set("both", rr.TypeA, "192.0.2.2"), r.set("younger", rr.TypeA, "192.0.2.2")))
	r.store.Wanted("team/younger", want)
	r.ever[r.set("younger", rr.TypeA, "192.0.2.2").Key()] = true
	seq := younger.Publish(want, nil)
	r.await("two", "heard that the target is held", func(report engine.Report) bool {
		return errors.Is(report.Err, backend.ErrHeld)
	})
	r.feed = older
	r.sync(r.base(r.set("both", rr.TypeA, "192.0.2.3"), r.set("older", rr.TypeA, "192.0.2.1")))
	r.withdrawn()
	report := r.await("two", "took over", func(report engine.Report) bool {
		return report.Seq >= seq && report.Err == nil
	})
	r.check(want.Sets, report)
}
