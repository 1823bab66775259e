package engine

import (
	"slices"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// A job is what one run works on, taken in one moment.
type job struct {
	a       *Attachment
	through guarded.Part[scheduler, attachment] // the same in use
	feed    *Feed
	limits  backend.Limits
	order
	question
	result
}

// order is what the server is to hold.
type order struct {
	content Content // the zero Content when everything is withdrawn
	id      string  // Content.ID; "" when everything is withdrawn or nothing was published
	seq     uint64
	at      time.Time // when that was published
	ready   bool      // there is something to deliver: published, or withdrawn
	leaving bool      // everything is withdrawn
	ownsSOA bool      // the feed has an SOA to write

	approvals []string // plans of deletions, by whatever attachment
	lost      kept     // what a server that has no zone would have
}

// question is what of it is compared, and how.
type question struct {
	keys  []rr.Key  // to compare
	all   bool      // compare every set instead
	audit bool      // read from scratch
	again bool      // read for the second time: see Config.Late
	late  time.Time // when it is to be; zero: not any more
	due   time.Time // when the target was to be audited, as of now
}

// result is what came of a job so far.
type result struct {
	read     bool                      // the whole target was read
	asked    bool                      // the server was asked something
	changed  int                       // sets that the server took
	refused  int                       // sets that it does not take
	others   map[rr.Key]registry.Claim // sets that are others' by their registries
	restored bool                      // it has again what it had lost, as far as it may not go
}

// takeJob takes what there is to do. It returns false when nobody is attached.
func (w *worker) takeJob() (job, bool) {
	s := &w.state
	t, unlock := w.lock()
	defer unlock()
	a := t.holder()
	if a == nil {
		return job{}, false
	}
	j := job{a: &a.Attachment, through: guarded.PartOf[scheduler](a), feed: a.Feed, limits: a.Backend.Limits()}
	j.leaving, j.all, j.lost = a.leaving, t.all, a.lost()
	for _, o := range t.attachments {
		o.known, o.parting = true, o.leaving
		j.approvals = append(j.approvals, o.Approved...)
	}
	slices.Sort(j.approvals)
	j.approvals = slices.Compact(j.approvals)
	j.ready = a.leaving || a.feed.seq > 0
	j.ownsSOA = a.feed.want.SOA != (rr.SOA{})
	if !a.leaving {
		j.content, j.id, j.seq, j.at = a.feed.want, a.feed.wantID, a.feed.seq, a.feed.at
	}
	if s.holder != a.Feed {
		s.heir = s.heir || s.holder != nil
		s.holder, s.seq, j.all = a.Feed, 0, !w.overlay()
		s.pending, s.behind = nil, nil
		t.standing.seq = 0
	}
	now := t.scheduler.now()
	j.due, t.audit = t.audit, time.Time{}
	j.audit = !j.due.IsZero() && !now.Before(j.due)
	if late := w.engine.cfg.Late; late != nil && !w.overlay() && !a.Observe && !j.limits.Volatile {
		s.distrust(&j, late(), now)
	}
	apex := apexNS(a.Feed.zone)
	for _, of := range t.incoming {
		if j.limits.Read != backend.ReadZone && s.blindTo(of.sets, j.content.Sets) {
			s.known, s.raced = false, false
		}
		s.written = ledgers(s.written, of.sets, apex)
		s.heir = s.heir || of.feed != a.Feed
	}
	s.reclaim(t.exact(), t.claimed, apex)
	t.incoming, t.claimed = nil, nil
	if j.ready {
		j.keys = t.dirtyKeys()
	}
	if w.overlay() {
		t.sending = slices.DeleteFunc(append(s.refused.all(), j.keys...), func(k rr.Key) bool {
			return t.released(&j, k)
		})
	}
	return j, true
}

// blindTo reports whether a ledger has sets that the server, which does not show a whole zone, was not asked for, and
// that it is not sent.
func (s *state) blindTo(ledger, wanted rr.Sets) bool {
	for set := range ledger.All() {
		_, has := s.have.Get(set.Key())
		_, ours := s.written.Get(set.Key())
		_, sent := wanted.Get(set.Key())
		if !has && !ours && !sent {
			return true
		}
	}
	return false
}

func union(a, b rr.Sets) rr.Sets {
	if a.Len() == 0 {
		return b
	}
	txn := a.Txn()
	for s := range b.All() {
		txn.Put(s)
	}
	return txn.Sets()
}

// apexNS names the set of a zone's own name servers, of which others may have a part.
func apexNS(zone dnsname.Name) rr.Key { return rr.Key{Name: zone, Type: rr.TypeNS} }

// ledgers returns what two ledgers hold; of the name servers at the apex it has the values of both.
func ledgers(a, b rr.Sets, apex rr.Key) rr.Sets {
	both := union(a, b).Txn()
	one, ok := a.Get(apex)
	if other, too := b.Get(apex); ok && too {
		both.Put(withValues(one, other))
	}
	return both.Sets()
}

// isApexNS reports whether a key is that of the zone's own name servers.
func (j *job) isApexNS(k rr.Key) bool { return k.Type == rr.TypeNS && k.Name == j.feed.zone }

// giveBack marks what a job could not finish.
func (w *worker) giveBack(j *job) {
	t, unlock := w.lock()
	defer unlock()
	if j.all {
		t.markAllDirty()
		return
	}
	t.markDirty(j.keys, j.content.Sets.Len())
}

// writesSOA reports whether the job's SOA, with the serial of the feed, goes to the target.
func (j *job) writesSOA() bool {
	return j.limits.SOA == backend.SOAClient && j.ownsSOA
}

// soa returns the SOA to write, in place of the one that the server has. A withdrawn zone keeps its own.
func (j *job) soa(have rr.SOA, serial uint32) rr.SOA {
	soa := j.content.SOA
	if j.leaving {
		soa = have
	}
	soa.Serial = serial
	return soa
}

// sameSOA reports whether the server's SOA is the wanted one, but for the serial.
func (j *job) sameSOA(have rr.SOA) bool { return j.soa(have, 0) == zeroSerial(have) }

func zeroSerial(soa rr.SOA) rr.SOA {
	soa.Serial = 0
	return soa
}

// scope says what the job may touch.
func (j *job) scope(written rr.Sets) plan.Scope {
	s := plan.Scope{
		Apex: j.feed.zone, Keep: j.a.Keep, Written: written,
		MinTTL: j.limits.MinTTL, MaxTTL: j.limits.MaxTTL,
	}
	switch {
	case j.limits.ApexNS == backend.ApexNSServer:
		s.ApexNS = plan.ApexNSLeft
	case j.limits.ApexNS == backend.ApexNSRequired || j.leaving:
		s.ApexNS = plan.ApexNSRequired
	}
	return s
}

// nextAudit returns when to read the target again after a reading at now; zero: never.
func (j *job) nextAudit(cfg *Config, now time.Time) time.Time {
	d := j.a.Audit
	if d == 0 {
		d = cfg.Audit
	}
	if d <= 0 {
		return time.Time{}
	}
	return now.Add(backend.Jitter(d, cfg.Rand()))
}
