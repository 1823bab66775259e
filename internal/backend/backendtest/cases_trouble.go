package backendtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// refusedOnly checks that a report refuses exactly these keys, with a reason.
func (r *rig) refusedOnly(report engine.Report, keys ...rr.Key) {
	r.Helper()
	for _, k := range keys {
		if strings.TrimSpace(report.Refused[k].Reason) == "" {
			r.Errorf("%s is not refused with a reason", k)
		}
	}
	if len(report.Refused) != len(keys) {
		r.Errorf("%d sets are refused, want %d: %v", len(report.Refused), len(keys), report.Refused)
	}
}

func (r *rig) addresses(n int) []string {
	data := make([]string, n)
	for i := range data {
		data[i] = fmt.Sprintf("198.51.%d.%d", 100+i/250, i%250+1)
	}
	return data
}

func (r *rig) tooLarge() {
	r.sync(r.base())
	large := r.set("large", rr.TypeA, r.addresses(r.MaxSet+50)...)
	report := r.sync(r.base(large, r.set("a", rr.TypeA, "192.0.2.1"), r.set("z", rr.TypeTXT, `"fine"`)))
	r.refusedOnly(report, large.Key())
	r.restart()
	report = r.sync(r.base(r.set("large", rr.TypeA, r.addresses(r.MaxSet)...), r.set("z", rr.TypeTXT, `"still fine"`)))
	r.refusedOnly(report)
}

func (r *rig) oneBad() {
	r.sync(r.base())
	txn := r.base().Txn()
	for i := range 500 {
		txn.Put(r.set(fmt.Sprintf("n%03d", i), rr.TypeA, "192.0.2.1"))
	}
	bad := r.Bad(r.name("n250x"))
	txn.Put(bad)
	applies := r.applies.Load()
	report := r.sync(txn.Sets())
	r.refusedOnly(report, bad.Key())
	if n := r.applies.Load() - applies; n > 60 && r.limits.Atomic == backend.AtomicBatch {
		r.Errorf("finding one bad record among 500 took %d batches", n)
	}
	r.restart()
	report = r.sync(r.base(bad, r.Bad(r.name("other"))))
	r.refusedOnly(report, bad.Key(), r.Bad(r.name("other")).Key())
}

func (r *rig) badMended() {
	r.sync(r.base())
	bad := r.Bad(r.name("x"))
	r.refusedOnly(r.sync(r.base(bad)), bad.Key())
	applies := r.applies.Load()
	r.refusedOnly(r.sync(r.base(bad, r.set("y", rr.TypeA, "192.0.2.1"))), bad.Key())
	if n := r.applies.Load() - applies; n > 2 && r.limits.Atomic == backend.AtomicBatch && r.limits.MaxChanges == 0 {
		r.Errorf("a change beside a refused set took %d batches", n)
	}
	r.refusedOnly(r.sync(r.base(r.set("x", rr.TypeTXT, `"mended"`), r.set("y", rr.TypeA, "192.0.2.1"))))
	r.restart()
}

func (r *rig) badSwitch() {
	bad := r.Bad(r.name("x"))
	if !bad.Type.Exclusive() {
		bad = r.Bad(r.name("y"))
	}
	r.sync(r.base(r.set("x", rr.TypeA, "192.0.2.1"), r.set("y", rr.TypeA, "192.0.2.1")))
	report := r.sync(r.base(bad, r.set("x", rr.TypeA, "192.0.2.2")))
	if _, ok := report.Refused[bad.Key()]; !ok {
		r.Errorf("%s is not refused", bad.Key())
	}
	report = r.sync(r.base(r.set("x", rr.TypeCNAME, "target.example.net."),
		r.set("y", rr.TypeCNAME, "target.example.net.")))
	r.refusedOnly(report)
}

func (r *rig) foreignDeleted() {
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.1")))
	r.Foreign([]rr.Set{r.set("intruder", rr.TypeA, "203.0.113.1"), r.set("www", rr.TypeA, "203.0.113.2")}, nil)
	r.syncOver(r.base(r.set("www", rr.TypeA, "192.0.2.1"), r.set("new", rr.TypeA, "192.0.2.2")))
	r.Foreign([]rr.Set{r.set("intruder", rr.TypeA, "203.0.113.1")}, []rr.Key{r.set("new", rr.TypeA, "192.0.2.2").Key()})
	r.syncOver(r.base(r.set("www", rr.TypeCNAME, "new."+r.zone.String()), r.set("new", rr.TypeA, "192.0.2.2")))
	r.restart()
}

// syncOver is sync after a foreign change, which a server with a compare-and-swap notices and others at the next audit.
func (r *rig) syncOver(sets rr.Sets) {
	r.Helper()
	if r.limits.SOA == backend.SOAClient && r.limits.Atomic == backend.AtomicBatch {
		r.sync(sets)
		return
	}
	report := r.confirmed(r.publish(sets))
	r.engine.Audit(r.key())
	r.eventually("undid the foreign change", func() bool {
		_, truth, _ := r.Truth(r.zone)
		for s := range sets.All() {
			if got, _ := truth.Get(s.Key()); !got.Equal(s) && !r.isServersNS(s.Key()) {
				return false
			}
		}
		return r.ours(truth) == r.ours(sets)
	})
	r.check(sets, report)
}

// ours counts sets without apex NS that the server does not give away, which it may not even show.
func (r *rig) ours(sets rr.Sets) int {
	n := 0
	for s := range sets.All() {
		if !r.isServersNS(s.Key()) {
			n++
		}
	}
	return n
}

// keep makes the rig's attachment keep foreign sets.
func (r *rig) keep() {
	r.attach.Keep = true
	r.attachAs(r.attach)
}

func (r *rig) foreignKept() {
	foreign := []rr.Set{r.set("theirs", rr.TypeA, "203.0.113.1"), r.set("www", rr.TypeTXT, `"theirs"`)}
	claimed := r.set("claimed", rr.TypeA, "203.0.113.3")
	r.Foreign(append(foreign, claimed), nil)
	_, before, _ := r.Truth(r.zone)
	r.keep()
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.1"), r.set("claimed", rr.TypeA, "192.0.2.3")))
	r.holds(foreign...)
	r.restart()
	r.Foreign([]rr.Set{r.set("later", rr.TypeA, "203.0.113.9")}, nil)
	foreign = append(foreign, r.set("later", rr.TypeA, "203.0.113.9"))
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.2")))
	r.holds(foreign...)
	r.lacks(claimed.Key())
	ns, _ := before.Get(rr.Key{Name: r.zone, Type: rr.TypeNS})
	r.holds(r.beside(ns, "ns1."+r.zone.String()))
	r.restart()
	r.sync(setsOf(r.set("@", rr.TypeNS, "ns.example.net.")))
	r.holds(append(foreign, r.beside(ns, "ns.example.net."))...)
	r.lacks(r.set("www", rr.TypeA, "192.0.2.2").Key())
}

// beside returns the server's apex NS with a wanted one added, which is left out where the server owns the set or has
// none.
func (r *rig) beside(servers rr.Set, wanted string) rr.Set {
	if r.limits.ApexNS == backend.ApexNSServer {
		return servers
	}
	if len(servers.Data) == 0 {
		return r.set("@", rr.TypeNS, wanted)
	}
	return rr.NewSet(servers.Key(), servers.TTL, append([]string{wanted}, servers.Data...)...)
}

// holds checks that the server has sets.
func (r *rig) holds(sets ...rr.Set) {
	r.Helper()
	_, truth, _ := r.Truth(r.zone)
	for _, want := range sets {
		if got, _ := truth.Get(want.Key()); !got.Equal(want) {
			r.Errorf("the server holds %v, want %v", got, want)
		}
	}
}

// lacks checks that the server does not have keys.
func (r *rig) lacks(keys ...rr.Key) {
	r.Helper()
	_, truth, _ := r.Truth(r.zone)
	for _, k := range keys {
		if got, ok := truth.Get(k); ok {
			r.Errorf("the server still holds %v", got)
		}
	}
}

func (r *rig) foreignAudited() {
	report := r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.1")))
	r.Foreign([]rr.Set{r.set("www", rr.TypeA, "203.0.113.2")}, nil)
	r.engine.Audit(r.key())
	if r.limits.SOA == backend.SOAServer {
		r.eventually("undid the change", func() bool {
			_, truth, _ := r.Truth(r.zone)
			got, _ := truth.Get(r.set("www", rr.TypeA, "192.0.2.1").Key())
			return got.Equal(r.set("www", rr.TypeA, "192.0.2.1"))
		})
		return
	}
	report = r.await("one", "undid the change", func(now engine.Report) bool { return now.Serial > report.Serial+1 })
	r.check(r.want.Sets, report)
	r.restart()
}

func (r *rig) downAtStart() {
	r.Stop()
	seq := r.publish(r.base(r.set("www", rr.TypeA, "192.0.2.1")))
	r.await("one", "reported the server as unavailable", func(report engine.Report) bool {
		return backend.Class(report.Err) == backend.ErrUnavailable
	})
	r.Start()
	r.check(r.want.Sets, r.confirmed(seq))
	r.restart()
}

func (r *rig) restartsInBetween() {
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.1")))
	for i := range 3 {
		r.Stop()
		seq := r.publish(r.base(r.set("www", rr.TypeA, fmt.Sprintf("192.0.2.%d", i+2))))
		r.await("one", "failed or confirmed", func(report engine.Report) bool {
			return report.Err != nil || report.Seq >= seq
		})
		r.Start()
		r.check(r.want.Sets, r.confirmed(seq))
	}
	r.restart()
}

func (r *rig) wrongKey() {
	wrong := r.attach
	wrong.Backend = r.WrongKey()
	r.attachAs(wrong)
	_, before, _ := r.Truth(r.zone)
	seq := r.publish(r.base(r.set("www", rr.TypeA, "192.0.2.1")))
	r.await("one", "reported the wrong credentials", func(report engine.Report) bool {
		return errors.Is(report.Err, backend.ErrNotAuthorised)
	})
	if _, now, _ := r.Truth(r.zone); !equalSets(before, now) {
		r.Errorf("wrong credentials changed the zone")
	}
	r.attachAs(r.attach)
	r.check(r.want.Sets, r.confirmed(seq))
	r.restart()
}

func (r *rig) oneWrongKey() {
	wrong := r.attach
	wrong.Backend = r.WrongKey()
	r.attachAs(wrong)
	right := r.attach
	right.Name = "two"
	right.Since = right.Since.AddDate(1, 0, 0)
	r.attachAs(right)
	seq := r.publish(r.base(r.set("www", rr.TypeA, "192.0.2.1")))
	report := r.await("two", "confirmed", func(report engine.Report) bool {
		return report.Seq >= seq && report.Err == nil
	})
	r.check(r.want.Sets, report)
	r.await("one", "reported the wrong credentials", func(report engine.Report) bool {
		return errors.Is(report.Err, backend.ErrNotAuthorised)
	})
}

func (r *rig) ceiling() {
	r.sync(r.base())
	r.restart()
	r.store.SetBroken(true)
	before, _, _ := r.Truth(r.zone)
	r.feed.Publish(r.content(r.base(r.set("www", rr.TypeA, "192.0.2.1"))), nil)
	report := r.await("one", "failed to store a ceiling", func(report engine.Report) bool { return report.Err != nil })
	if after, _, _ := r.Truth(r.zone); after.Serial != before.Serial {
		r.Errorf("serial %d was used without a ceiling: %v", after.Serial, report.Err)
	}
	r.store.SetBroken(false)
	r.sync(r.base(r.set("www", rr.TypeA, "192.0.2.2")))
}

// late has an Apply go on until it would send, when somebody else has become the leader.
func (r *rig) late() {
	r.sync(r.base())
	soa, _, _ := r.Truth(r.zone)
	set := r.set("late", rr.TypeA, "192.0.2.1")
	batch := backend.Batch{Changes: []plan.Change{{Key: set.Key(), Want: set}}, Last: true}
	if r.limits.SOA == backend.SOAClient {
		next := soa
		next.Serial++
		batch.SOA, batch.Expect = &next, &soa
	}
	asked := false
	ctx := backend.WithLeads(r.Context(), func() bool {
		asked = true
		return false
	})
	if _, err := r.attach.Backend.Apply(ctx, r.zone, batch); backend.Class(err) != backend.ErrUnavailable || !asked {
		r.Errorf("sending comes to %v, and whether it may be sent was asked: %t", err, asked)
	}
	_, sets, _ := r.Truth(r.zone)
	if _, sent := sets.Get(set.Key()); sent {
		r.Error("it was sent")
	}
}
