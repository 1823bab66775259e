package sim

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// hears looks at what an object's status says at this moment: a server has what is said to be there, or had it since
// the object says what it says now, and nobody has looked since. mu is held.
func (w *witness) hears(r ref, object *unstructured.Unstructured) {
	since := later(w.born[r].at, w.lastAudit())
	set, says := w.said(r, object, since)
	if !says || len(set.Data) == 0 || len(w.scopes) == 0 && r.kind.Kind == "Record" {
		return // in a life without name servers those of a fleet have it: see serves
	}
	if !w.anyHas(set, since) {
		w.notef("%s is said to be served, and no server has, or had, %s %q since it is wanted", r, set.Key(), set.Data)
	}
}

// lastAudit is from when on servers have been read, at the latest. mu is held.
func (w *witness) lastAudit() time.Time {
	since := w.now().Add(-auditAfter)
	if w.unread.After(since) && w.lost.Before(since) {
		return w.lost
	}
	return since
}

// loses notes that a server has come back with what was kept, or may take what it refused: an audit finds that.
func (w *witness) loses() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if !now.Before(w.unread.Add(auditAfter)) {
		w.lost = now
	}
	w.unread = now
}

// putOff notes a fault: who takes over counts the time to an audit anew.
func (w *witness) putOff() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hurt = w.now()
	if w.hurt.Before(w.unread.Add(auditAfter)) {
		w.unread = w.hurt
	}
}

// untilAudit is how long it takes until all servers have been read since one lost something.
func (w *witness) untilAudit() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unread.Add(auditAfter).Sub(w.now())
}

// said returns what an object's status says that a server has, or had since then, as the object is now.
func (w *witness) said(r ref, object *unstructured.Unstructured, since time.Time) (set rr.Set, says bool) {
	if succeeded(r, object) {
		kind, _, _ := unstructured.NestedString(object.Object, "status", "lastOperation", "type")
		set, there := w.wishes.overlaid[r]
		return set, there && kind != "Delete"
	}
	claim, there := w.wishes.claims[r]
	known := since.Add(-together) // from then on operators may know where Zones are
	if w.now().Before(w.mixed) {
		known = since.Add(-latest)
	}
	if !there || claim.Invalid != nil || claim.Where.Name.IsZero() || !readyNow(object) ||
		w.wishes.answeredByOperators(claim.ID, since, known) {
		return rr.Set{}, false
	}
	return rr.NewSet(rr.Key{Name: claim.Where.Name, Type: claim.Type}, 0, claim.Data...), true
}

// anyHas reports whether any server has all values of a set, or has lost them after some time.
func (w *witness) anyHas(set rr.Set, since time.Time) bool {
	for at, zones := range w.held {
		for zone, h := range zones {
			if w.scopes[at].ApexNS == plan.ApexNSLeft && set.Type == rr.TypeNS && set.Name.String() == zone {
				return true // name servers are the service's own there
			}
			if !slices.ContainsFunc(set.Data, func(data string) bool { return !h.hadSince(value{set.Key(), data}, since) }) {
				return true
			}
		}
	}
	return false
}

func (h *holding) hadSince(v value, since time.Time) bool {
	set, _ := h.sets.Get(v.Key)
	return slices.Contains(set.Data, v.data) || !h.lost[v].Before(since)
}

// hooked is told of each request that changes what a server of a DNSClass has, and of what it loses.
func (w *witness) hooked(at string, before, after []dnshook.Record, lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := backendtest.Message{Zone: dnsname.Root, Before: setsOf(before), After: setsOf(after)}
	for _, key := range keysOf(m.Before, m.After) {
		is, _ := m.After.Get(key)
		if was, _ := m.Before.Get(key); !was.Equal(is) {
			m.Batch.Changes = append(m.Batch.Changes, plan.Change{Key: key, Have: was, Want: is})
		}
	}
	if len(m.Batch.Changes) == 0 {
		return
	}
	t := notice{witness: w, want: w.wishes.heapAt(at), holding: w.holding(at, ""), at: at, zone: "its class"}
	if !lost {
		t.judge(m)
		t.judgeAliases(m.After)
	}
	var changed []rr.Key
	for _, c := range m.Batch.Changes {
		changed = append(changed, c.Key)
	}
	t.enter(m, changed, lost)
}

// judgeAliases looks whether a CNAME stands beside something else (RFC 1034 §3.6.2), which most servers refuse, unless
// that may be what a backup has undone.
func (t notice) judgeAliases(sets rr.Sets) {
	if t.undone {
		return
	}
	beside := map[dnsname.Name]int{}
	for set := range sets.All() {
		beside[set.Name]++
	}
	for set := range sets.All() {
		if set.Type == rr.TypeCNAME && beside[set.Name] > 1 {
			t.notef("%s has %s beside other sets", t.at, set.Key())
		}
	}
}

// setsOf are records of the protocol of DNSClasses as sets.
func setsOf(records []dnshook.Record) rr.Sets {
	txn := rr.Sets{}.Txn()
	for _, r := range records {
		name, err := dnsname.Parse(r.ID().FQDN() + ".")
		typ, typeErr := rr.ParseType(r.Type)
		data, dataErr := r.Data()
		if err == nil && typeErr == nil && dataErr == nil {
			txn.Put(rr.NewSet(rr.Key{Name: name, Type: typ}, r.TTL, data...))
		}
	}
	return txn.Sets()
}

// judged has a name server's messages be seen by a witness.
func judged(w *witness, at string, p backendtest.Profile) backendtest.Profile {
	w.know(at, p.Limits)
	p.Seen = func(m backendtest.Message) { w.told(at, m) }
	return p
}
