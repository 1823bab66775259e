package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestNothingIsReadBeforeAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name   string
			limits backend.Limits
			reads  int
		}{
			{"one reading back for each change", backend.Limits{}, 10},
			{"none where an answer is proof", backend.Limits{Confirms: true}, 0},
		} {
			_, s := serverWith(backendtest.Profile{Limits: c.limits}, zoneName)
			b := newBench(t, nil)
			f := b.feed(zoneName)
			f.Publish(version(0), nil)
			b.attachAll(f, s)
			b.pass(time.Minute)
			reads := s.reads
			for i := range 10 {
				f.Publish(version(i+1), wwwKey)
				b.pass(time.Minute)
			}
			if n := s.reads - reads; n != c.reads {
				t.Errorf("%s: 10 changes took %d reads, want %d", c.name, n, c.reads)
			}
		}
	})
}

func TestAWriterInALoopDoesNotMakeUsLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		n := 0
		s.setApply(func(backend.Batch) error {
			n++
			m.Foreign(mustParse(zoneName),
				[]rr.Set{set("foreign.example.org.", rr.TypeA, 300, fmt.Sprintf("203.0.113.%d", n%200))}, nil)
			return nil
		})
		f.Publish(version(1), nil)
		b.attachAll(f, s)
		b.pass(time.Minute)
		if s.sent() > 20 {
			t.Errorf("a minute of lost races took %d batches", s.sent())
		}
		if r := b.last("0"); backend.Class(r.Err) != backend.ErrConflict {
			t.Errorf("the last report: %+v", r)
		}
		s.setApply(nil)
		b.pass(10 * time.Minute)
		if r := b.last("0"); r.Err != nil || r.Seq == 0 {
			t.Errorf("after the other writer went: %+v", r)
		}
	})
}

// TestALostRaceIsToldWhenItLasts has somebody else be faster once, and then always.
func TestALostRaceIsToldWhenItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		n, races := 0, 1
		s.setApply(func(backend.Batch) error {
			if n++; n <= races {
				m.Foreign(mustParse(zoneName),
					[]rr.Set{set("foreign.example.org.", rr.TypeA, 300, fmt.Sprintf("203.0.113.%d", n%200))}, nil)
			}
			return nil
		})
		told := func() (conflicts int) {
			b.lock.Lock()
			defer b.lock.Unlock()
			for _, r := range b.reports {
				if backend.Class(r.Err) == backend.ErrConflict {
					conflicts++
				}
			}
			return conflicts
		}
		f.Publish(version(1), nil)
		b.attachAll(f, s)
		b.pass(time.Minute)
		if r := b.last("0"); n < 2 || r.Err != nil || r.Seq == 0 || told() > 0 {
			t.Errorf("after %d messages, of which one was too late, %d reports tell of a conflict, and the last is %+v", n,
				told(), r)
		}
		n, races = 0, 100
		f.Publish(version(2), nil)
		b.pass(10 * time.Second)
		if told() == 0 {
			t.Errorf("nobody is told of %d races that were lost", n)
		}
	})
}

func TestWhatAServerIgnoresIsNotConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		m.Foreign(mustParse(zoneName), []rr.Set{set("www.example.org.", rr.TypeTXT, 300, `"foreign"`)}, nil)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		alias := set("www.example.org.", rr.TypeCNAME, 300, "example.net.")
		f.Publish(contentOf(mustParse(zoneName), alias, set("a.example.org.", rr.TypeA, 300, "192.0.2.1")), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: true})
		b.pass(time.Minute)
		r := b.last("0")
		if r.Err != nil || !strings.Contains(r.Refused[alias.Key()].Reason, "does not have the set") || len(r.Refused) != 1 ||
			r.Foreign != 1 {
			t.Errorf("a CNAME that the server ignored: %+v", r)
		}
		m.Foreign(mustParse(zoneName), nil, []rr.Key{{Name: alias.Name, Type: rr.TypeTXT}})
		b.engine.Audit(target("s", zoneName))
		b.pass(time.Minute)
		if r := b.last("0"); r.Err != nil || len(r.Refused) != 0 || r.Foreign != 0 {
			t.Errorf("after the foreign set went: %+v", r)
		}
	})
}

// orderedLedger notes what was recorded when.
type orderedLedger struct {
	*backendtest.Store
	known map[rr.Key]bool
	fail  bool
}

func (l *orderedLedger) Record(ctx context.Context, feed string, sets []rr.Set) error {
	if l.fail {
		return backend.ErrUnavailable
	}
	for _, set := range sets {
		l.known[set.Key()] = true
	}
	return l.Store.Record(ctx, feed, sets)
}

func TestTheLedgerComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &orderedLedger{Store: &backendtest.Store{}, known: map[rr.Key]bool{}}
		b := newBench(t, func(c *engine.Config) { c.Ledger = ledger })
		_, s := serverWith(bindLike, zoneName)
		s.setApply(func(batch backend.Batch) error {
			for _, c := range batch.Changes {
				if !ledger.known[c.Key] {
					t.Errorf("%s is sent and not in the ledger", c.Key)
				}
			}
			return nil
		})
		f := b.feed(zoneName)
		ledger.fail = true
		f.Publish(version(1), nil)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: true})
		b.pass(5 * time.Second)
		if s.sent() != 0 || b.last("0").Err == nil {
			t.Errorf("without a ledger %d batches were sent", s.sent())
		}
		ledger.fail = false
		b.pass(5 * time.Minute)
		writes := ledger.Writes()
		for i := range 5 {
			f.Publish(version(i+2), wwwKey)
			b.pass(time.Minute)
		}
		if n := ledger.Writes() - writes; n != 0 {
			t.Errorf("changing sets that are in the ledger wrote %d times", n)
		}
		if r := b.last("0"); r.Err != nil || r.Seq == 0 {
			t.Errorf("the last report: %+v", r)
		}
	})
}

func TestAServersOwnSOATakesNoPartInSerials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ours := serverWith(bindLike, zoneName)
		theirs := backendtest.NewMemory(backendtest.Profile{Limits: backend.Limits{SOA: backend.SOAServer}})
		theirs.AddZone(mustParse(zoneName), rr.SOA{MName: mustParse(zoneName), RName: mustParse(zoneName),
			Serial: 4_000_000_000})
		b := newBench(t, nil)
		f := b.feed(zoneName)
		seq := f.Publish(version(1), nil)
		b.attachAll(f, ours, theirs.Client(true))
		b.pass(time.Minute)
		if r := b.last("0"); r.Serial != 2000010100 || r.Seq != seq {
			t.Errorf("ours: %+v", r)
		}
		if r := b.last("1"); r.Serial != 4_000_000_001 || r.Seq != seq {
			t.Errorf("the server's own: %+v", r)
		}
	})
}

func TestAFailedReadingDeletesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, s := serverWith(bindLike, zoneName)
		b := newBench(t, func(c *engine.Config) { c.Audit = time.Minute })
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.attachAll(f, s)
		b.pass(time.Second)
		before, sets, _ := m.Truth(mustParse(zoneName))
		m.SetDown(true)
		b.pass(time.Hour)
		m.SetDown(false)
		b.pass(time.Hour)
		after, now, _ := m.Truth(mustParse(zoneName))
		if before != after || sets.Len() != now.Len() || b.last("0").Err != nil {
			t.Errorf("an hour of failed audits changed the zone to %s: %+v", after.Data(), b.last("0"))
		}
	})
}

// TestALongLife runs one engine through thousands of random contents beside foreign sets and bad ones, so that what the
// worker believes is rebuilt many times, and holds it to what the server has.
func TestALongLife(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			p := bindLike
			p.Limits.MaxChanges = r.IntN(4)
			p.Bad = func(s rr.Set) bool { return s.Type == rr.TypeTXT && s.Data[0] == `"bad"` }
			m, s := serverWith(p, zoneName)
			foreign := set("theirs.example.org.", rr.TypeA, 300, "203.0.113.1")
			m.Foreign(mustParse(zoneName), []rr.Set{foreign}, nil)
			b := newBench(t, nil)
			f := b.feed(zoneName)
			b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: seed%2 == 0})
			last := map[string]rr.Set{}
			for range 150 {
				var sets []rr.Set
				var changed []rr.Key
				for i := range 6 {
					owner := fmt.Sprintf("n%d.example.org.", i)
					old := last[owner]
					now := old
					switch r.IntN(8) {
					case 0:
						now = rr.Set{}
					case 1:
						now = set(owner, rr.TypeA, 300, fmt.Sprintf("192.0.2.%d", r.IntN(3)))
					case 2:
						now = set(owner, rr.TypeCNAME, 300, fmt.Sprintf("t%d.example.net.", r.IntN(3)))
					case 3:
						now = set(owner, rr.TypeTXT, 300, []string{`"bad"`, `"good"`, `"fine"`}[r.IntN(3)])
					}
					if len(old.Data) > 0 && !old.Equal(now) {
						changed = append(changed, old.Key())
					}
					if len(now.Data) > 0 {
						sets = append(sets, now)
						changed = append(changed, now.Key())
					}
					last[owner] = now
				}
				want := contentOf(mustParse(zoneName), append(sets, set(zoneName, rr.TypeNS, 300, "server.example.net."))...)
				b.store.Wanted(zoneName, want)
				seq := f.Publish(want, append([]rr.Key{}, changed...))
				if r.IntN(3) == 0 {
					continue
				}
				b.pass(3 * time.Second)
				b.holds(m, want, seq, seed%2 == 0, foreign)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// holds compares a server with a content that is confirmed but for what is refused.
func (b *bench) holds(m *backendtest.Memory, want engine.Content, seq uint64, keep bool, foreign rr.Set) {
	report := b.last("0")
	_, truth, _ := m.Truth(mustParse(zoneName))
	if report.Err != nil || report.Seq != seq {
		b.Errorf("%d is not confirmed: %+v", seq, report)
	}
	for w := range want.Sets.All() {
		got, _ := truth.Get(w.Key())
		_, refused := report.Refused[w.Key()]
		if bad := w.Type == rr.TypeTXT && w.Data[0] == `"bad"`; refused != bad && !refused || !refused && !got.Equal(w) {
			b.Errorf("the server holds %v, want %v (refused: %v)", got, w, report.Refused)
		}
	}
	for got := range truth.All() {
		_, wanted := want.Sets.Get(got.Key())
		_, refused := report.Refused[got.Key()]
		if !wanted && !refused && (!keep || got.Key() != foreign.Key()) {
			b.Errorf("the server still holds %v", got)
		}
	}
	if _, ok := truth.Get(foreign.Key()); ok != keep {
		b.Errorf("keeping foreign sets is %v and theirs is there: %v", keep, ok)
	}
}

// deaf is a Backend that something happens to when it is read.
type deaf struct {
	backend.Backend
	read func() error
}

func (d *deaf) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if d.read != nil {
		if err := d.read(); err != nil {
			return backend.Observed{}, err
		}
	}
	return d.Backend.Read(ctx, zone, ask)
}

func TestAChangeThatAServerLosesBeforeItIsReadBackIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zone := mustParse(zoneName)
		m, s := serverWith(backendtest.Profile{}, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		d := &deaf{Backend: s}
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: d, Audit: -1})
		b.pass(time.Minute)
		before := m.Copy(zone)
		d.read = func() error { // it goes, and comes back as it was before
			d.read = nil
			m.Lose(zone, before)
			return backend.ErrUnavailable
		}
		f.Publish(version(1), wwwKey)
		b.pass(10 * time.Minute)
		_, sets, _ := m.Truth(zone)
		got, _ := sets.Get(wwwKey[0])
		if want, _ := version(1).Sets.Get(wwwKey[0]); !got.Equal(want) {
			t.Errorf("content %d is confirmed, and the server has %v, not %v", b.last("0").Seq, got, want)
		}
	})
}

// TestARunSaysNothingBeforeThereIsAContent of a server that has heard nothing yet.
func TestARunSaysNothingBeforeThereIsAContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		b.attachAll(f, s)
		b.pass(time.Minute)
		if b.count() != 0 {
			t.Errorf("before there is a content, the attachment hears %+v", b.last("0"))
		}
		f.Publish(version(0), nil)
		b.pass(time.Minute)
		if r := b.last("0"); r.Seq != 1 {
			t.Errorf("of the first content, the attachment hears %+v", r)
		}
	})
}

// TestAnAuditThatCannotBeIsNotTriedAllTheTime counts runs, of which each asks how late it is, and ends at the 100th.
func TestAnAuditThatCannotBeIsNotTriedAllTheTime(t *testing.T) {
	for _, c := range []struct {
		sentence string
		leaves   bool
		removes  bool // the server removes zones whole
		reads    int
	}{
		{"nothing is published yet", false, false, 0},
		{"the zone is withdrawn and not there, and a message of who led before may arrive", true, false, 2},
		{"the same at a server that removes zones", true, true, 2},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				profile := bindLike
				profile.Limits.Removes = c.removes
				_, s := serverWith(profile)
				var b *bench
				runs, until := 0, time.Time{}
				b = newBench(t, func(config *engine.Config) {
					config.Late = func() time.Time {
						if runs++; runs == 100 {
							go b.engine.Stop(context.Background())
						}
						return until
					}
				})
				until = b.Now().Add(time.Hour)
				b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: b.feed(zoneName), Backend: s,
					Withdraw: c.leaves})
				b.pass(time.Minute)
				b.engine.Audit(target("s", zoneName))
				b.pass(time.Minute)
				if runs != 2 || s.reads != c.reads {
					t.Errorf("there were %d runs, and the server was read %d times", runs, s.reads)
				}
			})
		})
	}
}

// TestAnAuditThatIsAskedForAfterARunHasReadIsDone also where that is the moment in which the run's own was asked for.
func TestAnAuditThatIsAskedForAfterARunHasReadIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true}}, zoneName)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		var reads []int // so far, at each batch
		s.setApply(func(backend.Batch) error {
			if reads = append(reads, s.reads); len(reads) == 1 {
				f.Publish(version(1), wwwKey) // the next run has this and its own audit to do
			}
			b.engine.Audit(target("s", zoneName))
			return nil
		})
		f.Publish(version(0), wwwKey)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Audit: -1})
		b.pass(time.Minute)
		if reads = append(reads, s.reads); len(reads) != 3 || reads[1] == reads[0] || reads[2] == reads[1] {
			t.Errorf("at each of two batches, and at the end, the server had been read %v times", reads)
		}
	})
}

func TestARunSaysNothingOfAnAttachmentThatCameLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(backendtest.Profile{Limits: backend.Limits{Confirms: true}}, zoneName)
		reads := 0 // before the first report
		b := newBench(t, func(c *engine.Config) {
			next := c.Report
			c.Report = func(r engine.Report) {
				if reads == 0 {
					reads = s.reads
				}
				next(r)
			}
		})
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		attachment := engine.Attachment{Name: "0", Feed: f, Backend: s, Audit: -1}
		again := false
		s.setApply(func(backend.Batch) error {
			if !again {
				again = true
				b.engine.Attach(target("s", zoneName), attachment) // as more was learnt of what the server may have
				b.engine.Audit(target("s", zoneName))
			}
			return nil
		})
		b.engine.Attach(target("s", zoneName), attachment)
		b.pass(time.Minute)
		if reads != 2 || b.last("0").Seq != 1 {
			t.Errorf("the attachment heard %+v after %d readings", b.last("0"), reads)
		}
	})
}
