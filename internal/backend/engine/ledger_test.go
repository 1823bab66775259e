package engine_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Where foreign sets are kept, zonefold's name servers at the apex stand beside the server's own, and only the ledger
// tells them apart: it has to know every value before it is published.
func TestEveryNameServerIsInTheLedgerBeforeItIsPublished(t *testing.T) {
	for _, c := range []struct {
		name  string
		lives [][]string // what is published, one after the other, before each crash
		want  string
	}{
		{"a value that was replaced goes", [][]string{{"a", "b"}}, "b server"},
		{"a value that replaced another before a crash goes when it is replaced", [][]string{{"a", "b"}, {"c"}}, "c server"},
		{"a value that joined another before a crash goes", [][]string{{"a", "a b"}, {"a"}}, "a server"},
		{"a value that replaced another long before a crash goes", [][]string{{"a", "b"}, {"b"}, {"b", "c"}, {"d"}},
			"d server"},
		{"all values go with the set", [][]string{{"a", "b"}, {""}}, "server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(bindLike, zoneName)
				store := &backendtest.Store{}
				for _, life := range c.lives {
					b := newBench(t, func(c *engine.Config) { c.Ceilings, c.Ledger = store, store })
					config, written := store.Restart(engine.FeedConfig{ID: zoneName, Zone: mustParse(zoneName)})
					f := b.engine.NewFeed(config)
					for i, hosts := range life {
						content := nameServers(hosts)
						store.Wanted(zoneName, content)
						f.Publish(content, []rr.Key{apexNS})
						if i == 0 {
							b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: true,
								Written: written})
						}
						b.pass(time.Minute)
						if r := b.last("0"); r.Err != nil || len(r.Refused) > 0 {
							t.Fatalf("after %q: %+v", hosts, r)
						}
					}
					b.stop() // nobody noted what was confirmed
				}
				_, sets, _ := m.Truth(mustParse(zoneName))
				ns, _ := sets.Get(apexNS)
				if got := strings.ReplaceAll(strings.Join(ns.Data, " "), ".example.net.", ""); got != c.want {
					t.Errorf("the server has the name servers %q, want %q", got, c.want)
				}
			})
		})
	}
}

// Servers that sign make sets of some types themselves, which stay: nothing but what was sent tells ours from these.
func TestWhatServersMakeTooGoesWhenItWasOurs(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(map[bool]string{true: "beside foreign sets", false: "in a zone of its own"}[keep], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(bindLike, zoneName)
				theirs := set(zoneName, rr.TypeCDNSKEY, 300, "0 3 0 AA==")
				m.Foreign(mustParse(zoneName), []rr.Set{theirs}, nil)
				b := newBench(t, nil)
				f := b.feed(zoneName)
				www := set("www.example.org.", rr.TypeA, 300, "192.0.2.1")
				ours := set(zoneName, rr.TypeCDS, 300, "0 0 0 00")
				f.Publish(contentOf(mustParse(zoneName), www, ours), nil)
				b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: keep})
				b.pass(time.Minute)
				if _, sets, _ := m.Truth(mustParse(zoneName)); !holds(sets, ours.Key()) {
					t.Fatal("the server lacks what was published")
				}
				f.Publish(contentOf(mustParse(zoneName), www), []rr.Key{ours.Key()})
				b.pass(time.Minute)
				_, sets, _ := m.Truth(mustParse(zoneName))
				if holds(sets, ours.Key()) {
					t.Error("the server has what nobody wants any more")
				}
				if !holds(sets, theirs.Key()) {
					t.Error("the server has lost what it has made itself")
				}
			})
		})
	}
}

func holds(sets rr.Sets, k rr.Key) bool {
	_, is := sets.Get(k)
	return is
}

var apexNS = rr.Key{Name: mustParse(zoneName), Type: rr.TypeNS}

// nameServers is a content with hosts of example.net. as name servers.
func nameServers(hosts string) engine.Content {
	sets := []rr.Set{set("www.example.org.", rr.TypeA, 300, "192.0.2.1")}
	var data []string
	for _, host := range strings.Fields(hosts) {
		data = append(data, host+".example.net.")
	}
	if data != nil {
		sets = append(sets, set(zoneName, rr.TypeNS, 300, data...))
	}
	return contentOf(mustParse(zoneName), sets...)
}

// TestALedgerThatComesLate has a Zone that goes tell what it has at a server when its successor has been there already.
func TestALedgerThatComesLate(t *testing.T) {
	mine, theirs := set("mine.example.org.", rr.TypeA, 300, "192.0.2.1"), set("x.example.org.", rr.TypeA, 300, "192.0.2.2")
	old := set("old.example.org.", rr.TypeA, 300, "192.0.2.9")
	for read, sentence := range map[backend.Readable]string{
		backend.ReadZone: "a server that shows the whole zone",
		backend.ReadSet:  "a server that shows what it is asked for",
		backend.ReadNone: "a server that shows nothing",
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(backendtest.Profile{Limits: backend.Limits{Read: read}}, zoneName)
				m.Foreign(mustParse(zoneName), []rr.Set{old, theirs}, nil)
				b := newBench(t, nil)
				next := b.feed(zoneName)
				before := b.engine.NewFeed(engine.FeedConfig{ID: "before", Zone: mustParse(zoneName)})
				next.Publish(contentOf(mustParse(zoneName), mine), nil)
				b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "next", Feed: next, Backend: s, Keep: true})
				b.pass(time.Minute)
				b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "before", Feed: before, Backend: s, Keep: true,
					Withdraw: true, Written: contentOf(mustParse(zoneName), mine, old).Sets})
				b.pass(time.Minute)
				_, sets, _ := m.Truth(mustParse(zoneName))
				if !holdsKey(sets, mine) || !holdsKey(sets, theirs) || holdsKey(sets, old) {
					t.Errorf("the server has %v", slices.Collect(sets.All()))
				}
				if r := b.last("before"); !r.Withdrawn {
					t.Errorf("the last report of who goes is %+v", r)
				}
			})
		})
	}
}

// TestALateMessageOfWhoLedBefore has a message reach a server after the next leader has read what is there.
func TestALateMessageOfWhoLedBefore(t *testing.T) {
	hidden := backendtest.Profile{Limits: backend.Limits{Read: backend.ReadNone}}
	removes := backendtest.Profile{Limits: backend.Limits{Creates: true, Removes: true}}
	late := set("late.example.org.", rr.TypeA, 300, "192.0.2.9")
	for _, c := range []struct {
		sentence       string
		profile        backendtest.Profile
		keep, leaves   bool
		wants, remains bool // the late set
	}{
		{sentence: "a zone that is delivered", profile: bindLike},
		{sentence: "one beside foreign sets", profile: bindLike, keep: true},
		{sentence: "one with the set", profile: bindLike, wants: true, remains: true},
		{sentence: "a zone that is withdrawn", profile: bindLike, leaves: true},
		{sentence: "one that is withdrawn beside foreign sets", profile: bindLike, keep: true, leaves: true},
		{sentence: "one that is removed, and made anew", profile: removes, leaves: true},
		{sentence: "one that is withdrawn from a server that shows nothing", profile: hidden, keep: true, leaves: true},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(c.profile, zoneName)
				var until time.Time
				b := newBench(t, func(config *engine.Config) { config.Late = func() time.Time { return until } })
				until = b.Now().Add(15 * time.Second)
				f := b.feed(zoneName)
				a := engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: c.keep, Withdraw: c.leaves,
					Written: contentOf(mustParse(zoneName), late).Sets}
				switch {
				case c.wants:
					f.Publish(contentOf(mustParse(zoneName), late), nil)
				case !c.leaves:
					f.Publish(version(1), nil)
				}
				b.engine.Attach(target("s", zoneName), a)
				b.pass(10 * time.Second)
				if _, err := m.Client(true).Apply(t.Context(), mustParse(zoneName),
					backend.Batch{Changes: []plan.Change{{Key: late.Key(), Want: late}}, Create: true}); err != nil {
					t.Fatal(err)
				}
				if b.last("0").Withdrawn {
					t.Error("it is withdrawn while a message may arrive")
				}
				b.pass(10 * time.Second)
				_, sets, _ := m.Truth(mustParse(zoneName))
				if there := holdsKey(sets, late); there != c.remains {
					t.Errorf("the late set is there: %t", there)
				}
				if got := b.last("0"); got.Withdrawn != c.leaves {
					t.Errorf("the last report is %+v", got)
				}
				if c.keep && !c.leaves { // what somebody else makes from now on is theirs
					m.Foreign(mustParse(zoneName), []rr.Set{late}, nil)
					b.engine.Audit(target("s", zoneName))
					b.pass(time.Minute)
					if _, sets, _ := m.Truth(mustParse(zoneName)); !holdsKey(sets, late) {
						t.Error("the set of somebody else is gone")
					}
				}
				reads, sent := s.reads, s.sent()
				b.pass(time.Hour)
				if s.reads != reads || s.sent() != sent {
					t.Errorf("an idle hour costs %d readings and %d messages", s.reads-reads, s.sent()-sent)
				}
			})
		})
	}
}

// TestWhatAPolicyLeavesIsNotWaitedFor although a message of who led before may arrive: nothing is removed.
func TestWhatAPolicyLeavesIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		var until time.Time
		b := newBench(t, func(config *engine.Config) { config.Late = func() time.Time { return until } })
		until = b.Now().Add(15 * time.Second)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: b.feed(zoneName), Backend: s,
			Withdraw: true, Protection: plan.Protection{Policy: plan.PolicyUpsertOnly}})
		b.pass(time.Minute)
		if r := b.last("0"); !r.Withdrawn || s.sent() > 0 {
			t.Errorf("%d batches are sent, and the attachment hears %+v", s.sent(), r)
		}
	})
}

// TestARunThatTakesUntilNothingArrives from who led before: what it has removed is looked at once more all the same.
func TestARunThatTakesUntilNothingArrives(t *testing.T) {
	for sentence, profile := range map[string]backendtest.Profile{
		"a zone that is emptied": bindLike,
		"one that is removed":    {Limits: backend.Limits{Creates: true, Removes: true}},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := serverWith(profile, zoneName)
				m.Foreign(mustParse(zoneName), []rr.Set{set("www.example.org.", rr.TypeA, 300, "192.0.2.1")}, nil)
				var until time.Time
				b := newBench(t, func(config *engine.Config) { config.Late = func() time.Time { return until } })
				until = b.Now().Add(5 * time.Second)
				sends := make(chan struct{})
				s.setApply(func(backend.Batch) error {
					<-sends
					return nil
				})
				b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: b.feed(zoneName), Backend: s,
					Withdraw: true})
				b.pass(10 * time.Second)
				close(sends)
				b.pass(time.Minute)
				if r := b.last("0"); !r.Withdrawn {
					t.Errorf("a minute later the attachment hears %+v", r)
				}
			})
		})
	}
}

func holdsKey(sets rr.Sets, s rr.Set) bool {
	_, there := sets.Get(s.Key())
	return there
}

// TestASetThatComesAgainIsInTheLedger although a message of who led before may arrive still: by the report that
// confirmed the content without it, it has left the ledger that is stored.
func TestASetThatComesAgainIsInTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := serverWith(bindLike, zoneName)
		store, until := &backendtest.Store{}, time.Time{}
		b := newBench(t, func(c *engine.Config) {
			told := c.Report
			c.Ledger, c.Late = store, func() time.Time { return until }
			c.Report = func(r engine.Report) { store.Note(r); told(r) }
		})
		until = b.Now().Add(time.Minute)
		again := set("again.example.org.", rr.TypeA, 300, "192.0.2.9")
		with, without := contentOf(mustParse(zoneName), again), contentOf(mustParse(zoneName))
		s.setApply(func(batch backend.Batch) error {
			for _, c := range batch.Changes {
				if written := store.Written(zoneName); !c.Deletes() && !holdsKey(written, c.Want) {
					t.Errorf("the server is told %s, which is not in the ledger", c.Key)
				}
			}
			return nil
		})
		f := b.feed(zoneName)
		b.engine.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s, Keep: true})
		for _, content := range []engine.Content{with, without, with} {
			store.Wanted(zoneName, content)
			store.Published(zoneName, f.Publish(content, []rr.Key{again.Key()}), content)
			b.pass(5 * time.Second)
			if now := b.last("0"); now.Err != nil || now.Seq == 0 {
				t.Fatalf("the last report is %+v", now)
			}
		}
	})
}
