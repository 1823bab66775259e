package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// inProcess is a server that keeps zones in the operator's memory.
var inProcess = backendtest.Profile{Limits: backend.Limits{Creates: true, Confirms: true, Volatile: true}}

// makesZones is a server that shows its zones, and is told which it has.
var makesZones = backendtest.Profile{Limits: backend.Limits{Atomic: backend.AtomicBatch, Read: backend.ReadZone,
	SOA: backend.SOAClient, Creates: true, Confirms: true}}

func TestARestartOfWhatKeepsNothing(t *testing.T) {
	const today = 2000010100 // in a bubble
	zone := mustParse(zoneName)
	tests := []struct {
		name            string
		stored, ceiling uint32
		copy            uint32 // the serial of the older copy that another replica has; 0: there is none
		want            uint32
		writes          int // in the cluster
	}{
		{"what is known to be the last serial is served again", today + 5, today + 5, 0, today + 5, 0},
		{"and nothing happens to a replica that has it", today + 5, today + 5, today + 5, today + 5, 0},
		{"a replica that lags behind catches up", today + 5, today + 5, today + 4, today + 5, 0},
		{"serials that may have been served are skipped", today + 5, today + 20, 0, today + 21, 1},
		{"also where a replica has the stored one", today + 5, today + 20, today + 5, today + 21, 1},
		{"also where a replica has a later one", today + 5, today + 20, today + 9, today + 21, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				m := backendtest.NewMemory(inProcess)
				content := version(1)
				if tt.copy != 0 {
					m.AddZone(zone, soaAt(content, tt.copy), slices.Collect(content.Sets.All())...)
				}
				f := b.engine.NewFeed(engine.FeedConfig{ID: zoneName, Zone: zone, Serial: tt.stored, Ceiling: tt.ceiling,
					Content: content.ID()})
				f.Publish(content, nil)
				b.attachAll(f, m.Client(true))
				b.pass(time.Minute)
				if soa, sets, _ := m.Truth(zone); soa.Serial != tt.want || sets.Len() != content.Sets.Len() {
					t.Errorf("serial %d with %d sets is served, want %d with %d", soa.Serial, sets.Len(), tt.want, content.Sets.Len())
				}
				if label, ok := f.Label(); !ok || label.Serial != tt.want || b.last("0").Serial != tt.want {
					t.Errorf("the label is %v, the report says %d, want %d", label, b.last("0").Serial, tt.want)
				}
				if n := b.store.Writes(); n != tt.writes {
					t.Errorf("%d writes, want %d", n, tt.writes)
				}
			})
		})
	}
}

// TestARestartBesideAServerThatHasLostItsZone: others may have what it has served last.
func TestARestartBesideAServerThatHasLostItsZone(t *testing.T) {
	const today = 2000010100 // in a bubble
	zone := mustParse(zoneName)
	tests := []struct {
		name        string
		ceiling     uint32 // the last serial that is known is today+5
		lost, whole bool   // which servers there are: one that has lost its zone, one that has it
		later       bool   // the one that has lost its zone comes when the other one has been seen
		want        uint32
	}{
		{"what is known to be the last serial is served again", today + 5, true, false, false, today + 5},
		{"serials that may have been served are skipped", today + 20, true, false, false, today + 21},
		{"also where another server has the stored one", today + 20, true, true, false, today + 21},
		{"a server that has it tells enough", today + 20, false, true, false, today + 5},
		{"a server that comes when all have told is new", today + 20, true, true, true, today + 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				content := version(1)
				lost, whole := backendtest.NewMemory(makesZones), backendtest.NewMemory(makesZones)
				whole.AddZone(zone, soaAt(content, today+5), slices.Collect(content.Sets.All())...)
				f := b.engine.NewFeed(engine.FeedConfig{ID: zoneName, Zone: zone, Serial: today + 5, Ceiling: tt.ceiling,
					Content: content.ID()})
				f.Publish(content, nil)
				if tt.lost && !tt.later {
					b.attachAllAt(f, 0, lost.Client(true))
				}
				if tt.whole {
					b.attachAllAt(f, 1, whole.Client(true))
				}
				b.pass(time.Minute)
				if tt.later {
					b.attachAllAt(f, 0, lost.Client(true))
					b.pass(time.Minute)
				}
				for i, m := range map[int]*backendtest.Memory{0: lost, 1: whole} {
					if soa, _, _ := m.Truth(zone); (i == 0 && tt.lost || i == 1 && tt.whole) && soa.Serial != tt.want {
						t.Errorf("server %d has serial %d, want %d", i, soa.Serial, tt.want)
					}
				}
			})
		})
	}
}

// TestASerialFromBeforeTheLastOneIsNotTakenUpAgain: a server lags behind with a content that is wanted again, under a
// serial after which another one was served where nothing was kept.
func TestASerialFromBeforeTheLastOneIsNotTakenUpAgain(t *testing.T) {
	const today = 2000010100 // in a bubble
	tests := []struct {
		name    string
		ceiling uint32 // the last serial that is known is today+5
		order   []int  // in which the servers come: the one that lags behind is 0
		want    uint32
	}{
		{"the last serial is known and the server that lags behind comes first", today + 5, []int{0, 1}, today + 6},
		{"the last serial is known and the server without memory comes first", today + 5, []int{1, 0}, today + 6},
		{"the last serial is not known and the server that lags behind comes first", today + 20, []int{0, 1}, today + 21},
		{"the last serial is not known and the server without memory comes first", today + 20, []int{1, 0}, today + 21},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				lagging, forgetful := backendtest.NewMemory(bindLike), backendtest.NewMemory(inProcess)
				lagging.AddZone(mustParse(zoneName), soaAt(version(1), today+3), slices.Collect(version(1).Sets.All())...)
				f := b.engine.NewFeed(engine.FeedConfig{
					ID: zoneName, Zone: mustParse(zoneName), Serial: today + 5, Ceiling: tt.ceiling, Content: version(2).ID(),
				})
				f.Publish(version(1), nil)
				clients := []backend.Backend{lagging.Client(true), forgetful.Client(true)}
				for _, i := range tt.order {
					b.attachAllAt(f, i, clients[i])
					b.pass(time.Minute)
				}
				for i, m := range []*backendtest.Memory{lagging, forgetful} {
					if soa, _, _ := m.Truth(mustParse(zoneName)); soa.Serial != tt.want {
						t.Errorf("server %d has serial %d, want %d", i, soa.Serial, tt.want)
					}
				}
			})
		})
	}
}

func soaAt(c engine.Content, serial uint32) rr.SOA {
	soa := c.SOA
	soa.Serial = serial
	return soa
}

// TestASerialThatIsTakenUpIsStoredBeforeOthersServeIt: a server without memory could not tell that it has served it.
func TestASerialThatIsTakenUpIsStoredBeforeOthersServeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const theirs = 3_000_000_000
		b := newBench(t, nil)
		there, forgetful := backendtest.NewMemory(bindLike), backendtest.NewMemory(inProcess)
		there.AddZone(mustParse(zoneName), soaAt(version(1), theirs), slices.Collect(version(1).Sets.All())...)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.attachAllAt(f, 0, there.Client(true))
		b.pass(time.Minute)
		if soa, _, _ := there.Truth(mustParse(zoneName)); soa.Serial != theirs || b.store.Writes() != 0 {
			t.Fatalf("serial %d after %d writes, want none and %d", soa.Serial, b.store.Writes(), uint32(theirs))
		}
		b.store.SetBroken(true)
		f.ReleaseSerials()
		b.attachAllAt(f, 1, forgetful.Client(true))
		b.pass(time.Minute)
		if soa, _, there := forgetful.Truth(mustParse(zoneName)); there {
			t.Errorf("serial %d is served, and no ceiling is stored", soa.Serial)
		}
		b.store.SetBroken(false)
		b.pass(time.Hour)
		stored, _ := b.store.Restart(engine.FeedConfig{ID: zoneName})
		if soa, _, _ := forgetful.Truth(mustParse(zoneName)); soa.Serial != theirs || rr.SerialLess(stored.Ceiling, theirs) {
			t.Errorf("serial %d is served below the ceiling %d, want %d", soa.Serial, stored.Ceiling, uint32(theirs))
		}
	})
}

// TestASerialOfAnotherOwnerIsNotTakenUpWithoutACeiling: a server without memory has the content from the owner whose
// place this one takes. A later run would know nothing of that serial.
func TestASerialOfAnotherOwnerIsNotTakenUpWithoutACeiling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const theirs = 2000010105
		b := newBench(t, nil)
		forgetful := backendtest.NewMemory(inProcess)
		forgetful.AddZone(mustParse(zoneName), soaAt(version(1), theirs), slices.Collect(version(1).Sets.All())...)
		f := b.feed(zoneName)
		f.Publish(version(1), nil)
		b.store.SetBroken(true)
		b.attachAll(f, forgetful.Client(true))
		b.pass(time.Minute)
		if label, ok := f.Label(); ok {
			t.Errorf("serial %d stands for the content, and no ceiling is stored", label.Serial)
		}
		b.store.SetBroken(false)
		b.pass(time.Hour)
		stored, _ := b.store.Restart(engine.FeedConfig{ID: zoneName})
		soa, _, _ := forgetful.Truth(mustParse(zoneName))
		if soa.Serial != theirs+1 || rr.SerialLess(stored.Ceiling, theirs+1) {
			t.Errorf("serial %d is served below the ceiling %d, want %d", soa.Serial, stored.Ceiling, theirs+1)
		}
	})
}

func TestASettledFeedStoresACeilingBeforeItsNextSerial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := backendtest.NewMemory(inProcess)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		if _, ok := f.ReleaseSerials(); ok {
			t.Error("a feed without content is settled")
		}
		f.Publish(version(0), nil)
		b.attachAll(f, m.Client(true))
		b.pass(time.Minute)
		label, ok := f.ReleaseSerials()
		if soa, _, _ := m.Truth(mustParse(zoneName)); !ok || label.Serial != soa.Serial {
			t.Fatalf("settled at %v (%v), served is %d", label, ok, soa.Serial)
		}
		writes := b.store.Writes()
		b.store.SetBroken(true)
		f.Publish(version(1), wwwKey)
		b.pass(time.Second)
		if _, ok := f.ReleaseSerials(); ok {
			t.Error("a feed whose content is not labelled yet is settled")
		}
		if soa, _, _ := m.Truth(mustParse(zoneName)); soa.Serial != label.Serial {
			t.Errorf("serial %d is served, and no ceiling above %d is stored", soa.Serial, label.Serial)
		}
		b.store.SetBroken(false)
		b.pass(time.Hour)
		if soa, _, _ := m.Truth(mustParse(zoneName)); soa.Serial != label.Serial+1 || b.store.Writes() == writes {
			t.Errorf("serial %d is served after %d, with %d writes", soa.Serial, label.Serial, b.store.Writes()-writes)
		}
	})
}

// overtakenStore is one into which another operator has put a ceiling.
type overtakenStore struct {
	*backendtest.Store
	ceiling uint32
}

func (o overtakenStore) Raise(ctx context.Context, feed string, ceiling uint32) error {
	if !rr.SerialLess(o.ceiling, ceiling) || ceiling-o.ceiling < 16 {
		return &engine.Overtaken{Ceiling: o.ceiling}
	}
	return o.Store.Raise(ctx, feed, ceiling)
}

func TestSerialsOfAnotherOperatorAreNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = 2000010177
		b := newBench(t, func(c *engine.Config) { c.Ceilings = overtakenStore{c.Ceilings.(*backendtest.Store), other} })
		m := backendtest.NewMemory(inProcess)
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		b.attachAll(f, m.Client(true))
		b.pass(time.Minute)
		if soa, _, _ := m.Truth(mustParse(zoneName)); soa.Serial != other+1 {
			t.Errorf("serial %d is served, want the one after %d", soa.Serial, other)
		}
	})
}

// TestChangesThatFollowEachOtherDoNotWaitForACeilingEach has every change written down at once, as those of a client
// that waits for its answer are.
func TestChangesThatFollowEachOtherDoNotWaitForACeilingEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := backendtest.NewMemory(inProcess)
		b := newBench(t, nil)
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		b.attachAll(f, m.Client(true))
		b.pass(time.Minute)
		f.ReleaseSerials()
		writes := b.store.Writes()
		const changes = 20
		for i := range changes {
			f.Publish(version(i+1), wwwKey)
			b.pass(100 * time.Millisecond)
			f.ReleaseSerials()
		}
		if n := b.store.Writes() - writes; n > 4 {
			t.Errorf("%d changes store %d ceilings", changes, n)
		}
		b.pass(time.Minute)
		label, ok := f.ReleaseSerials()
		if soa, _, _ := m.Truth(mustParse(zoneName)); !ok || label.Serial != soa.Serial {
			t.Errorf("after a minute it is settled at %v (%v), served is %d", label, ok, soa.Serial)
		}
	})
}
