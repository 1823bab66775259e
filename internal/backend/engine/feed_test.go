package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// attachAll attaches a feed to servers named by their index.
func (b *bench) attachAll(f *engine.Feed, servers ...backend.Backend) {
	for i, s := range servers {
		b.engine.Attach(target(fmt.Sprint(i), zoneName), engine.Attachment{Name: fmt.Sprint(i), Feed: f, Backend: s})
	}
}

func TestAllTargetsCarryOneSerialAndASlowOneSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, quick := serverWith(bindLike, zoneName)
		slow, tired := serverWith(bindLike, zoneName)
		b := newBench(t, nil)
		tired.clock, tired.lasts = b.clock, 3*time.Second
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		b.attachAll(f, quick, tired)
		b.pass(time.Minute)
		for i := range 20 {
			f.Publish(version(i+1), wwwKey)
			b.pass(time.Second)
		}
		b.pass(time.Minute)
		a, contentA, _ := fast.Truth(mustParse(zoneName))
		c, contentC, _ := slow.Truth(mustParse(zoneName))
		if a != c || contentA.Len() != contentC.Len() {
			t.Errorf("the SOAs differ: %s, %s", a.Data(), c.Data())
		}
		if quick.sent() < 20 || tired.sent() > 10 {
			t.Errorf("the fast server got %d batches, the slow one %d", quick.sent(), tired.sent())
		}
		served := fast.History(mustParse(zoneName))
		for serial, content := range slow.History(mustParse(zoneName)) {
			if served[serial] != content {
				t.Errorf("serial %d is something else on the slow server", serial)
			}
		}
	})
}

func TestLabels(t *testing.T) {
	const today = 2000010100 // in a bubble
	zone := mustParse(zoneName)
	soa := version(1).SOA
	type server struct {
		serial uint32
		have   int // version
	}
	for _, c := range []struct {
		name            string
		stored, ceiling uint32
		content         int // that stored stands for
		servers         []server
		want            uint32
		batches         []int // at most
	}{
		{"a new zone gets the date", 0, 0, 0, []server{{1, 0}}, today, []int{1}},
		{"a server that has the content keeps its serial", 0, 0, 0, []server{{77, 1}}, 77, []int{0}},
		{"after a restart nothing that is right is written", 500, 516, 1, []server{{500, 1}, {500, 1}}, 500, []int{0, 0}},
		{"after a restart with an old status too", 490, 516, 2, []server{{500, 1}, {500, 1}}, 500, []int{0, 0}},
		{"a server that lags behind what is stored gets it under the stored serial", 500, 516, 1,
			[]server{{499, 0}, {500, 1}}, 500, []int{1, 0}},
		{"of two servers with the content the higher serial counts", 0, 0, 0, []server{{70, 1}, {80, 1}}, 80, []int{1, 0}},
		{"a new content comes above the stored ceiling", today + 5, today + 20, 2, []server{{today + 5, 2}}, today + 21,
			[]int{1}},
		// two if it was first to be read
		{"a new content comes above every server", 500, 516, 2, []server{{500, 2}, {today + 300, 2}}, today + 301,
			[]int{2, 1}},
		{"a stored serial that stood for another content is not adopted", 500, 516, 2, []server{{500, 1}}, today, []int{1}},
		{"serials wrap around", 0, 0, 0, []server{{1<<32 - 1, 0}}, today, []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				config := engine.FeedConfig{ID: zoneName, Zone: zone, Serial: c.stored, Ceiling: c.ceiling}
				if c.content > 0 {
					config.Content = version(c.content).ID()
				}
				f := b.engine.NewFeed(config)
				var spies []*spy
				var memories []*backendtest.Memory
				for _, s := range c.servers {
					m := backendtest.NewMemory(bindLike)
					had := soa
					had.Serial = s.serial
					m.AddZone(zone, had, slices.Collect(version(s.have).Sets.All())...)
					memories, spies = append(memories, m), append(spies, &spy{Backend: m.Client(true)})
				}
				f.Publish(version(1), nil)
				for i, s := range spies {
					b.attachAllAt(f, i, s)
				}
				b.pass(time.Minute)
				for i, m := range memories {
					got, sets, _ := m.Truth(zone)
					if got.Serial != c.want {
						t.Errorf("server %d has serial %d, want %d", i, got.Serial, c.want)
					}
					if www, _ := sets.Get(wwwKey[0]); !www.Equal(set("www.example.org.", rr.TypeA, 300, "192.0.2.1")) {
						t.Errorf("server %d has %v", i, www)
					}
					if n := spies[i].sent(); n > c.batches[i] {
						t.Errorf("server %d got %d batches, want at most %d", i, n, c.batches[i])
					}
					for _, broken := range m.Broken(zone) {
						t.Errorf("server %d: %s", i, broken)
					}
				}
				if label, ok := f.Label(); !ok || label.Serial != c.want || label.ID != version(1).ID() {
					t.Errorf("the label is %+v", label)
				}
			})
		})
	}
}

func (b *bench) attachAllAt(f *engine.Feed, i int, s backend.Backend) {
	b.engine.Attach(target(fmt.Sprint(i), zoneName), engine.Attachment{Name: fmt.Sprint(i), Feed: f, Backend: s})
}

// TestSerialsAllAroundTheCircle: of three servers each has a serial that comes after another's (RFC 1982 §3.2).
func TestSerialsAllAroundTheCircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		f := b.feed(zoneName)
		var spies []*spy
		var memories []*backendtest.Memory
		for i, serial := range []uint32{5, 1_500_000_000, 3_000_000_000} {
			m := backendtest.NewMemory(bindLike)
			m.AddZone(mustParse(zoneName), rr.SOA{Serial: serial, MName: mustParse(zoneName), RName: mustParse(zoneName)},
				slices.Collect(version(i).Sets.All())...)
			memories, spies = append(memories, m), append(spies, &spy{Backend: m.Client(true)})
		}
		f.Publish(version(9), nil)
		b.attachAll(f, spies[0], spies[1], spies[2])
		b.pass(time.Hour)
		var serials []uint32
		for i, m := range memories {
			soa, _, _ := m.Truth(mustParse(zoneName))
			serials = append(serials, soa.Serial)
			if spies[i].sent() > 8 {
				t.Errorf("server %d got %d batches", i, spies[i].sent())
			}
			if broken := m.Broken(mustParse(zoneName)); len(broken) > 0 {
				t.Errorf("server %d: %v", i, broken)
			}
		}
		if slices.Min(serials) != slices.Max(serials) {
			t.Errorf("the serials are %v", serials)
		}
	})
}

// watchedStore checks that nothing is served above the stored ceiling.
type watchedStore struct {
	*backendtest.Store
	clock   *clock
	ceiling uint32
	raises  int
	lasts   time.Duration
	fail    bool
}

func (w *watchedStore) Raise(ctx context.Context, feed string, ceiling uint32) error {
	w.clock.wait(w.lasts)
	if w.fail {
		return errors.New("the API server does not answer")
	}
	w.ceiling, w.raises = ceiling, w.raises+1
	return w.Store.Raise(ctx, feed, ceiling)
}

func TestCeilingsAreRaisedAheadOfNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &watchedStore{Store: &backendtest.Store{}, lasts: 5 * time.Millisecond}
		b := newBench(t, func(c *engine.Config) { c.Ceilings = store })
		store.clock = b.clock
		m, s := serverWith(bindLike, zoneName)
		s.setApply(func(batch backend.Batch) error {
			if rr.SerialLess(store.ceiling, batch.SOA.Serial) {
				t.Errorf("serial %d is above the ceiling %d", batch.SOA.Serial, store.ceiling)
			}
			return nil
		})
		s.clock, s.lasts = b.clock, time.Millisecond
		f := b.feed(zoneName)
		f.Publish(version(0), nil)
		b.attachAll(f, s)
		b.pass(time.Minute)
		var worst time.Duration
		for i := range 2000 {
			start := b.Now()
			f.Publish(version(i%200+1), wwwKey)
			b.pass(100 * time.Millisecond)
			worst = max(worst, s.lastCall.Sub(start))
		}
		if worst > 5*time.Millisecond {
			t.Errorf("a change waited %s for a ceiling", worst)
		}
		if store.raises > 100 {
			t.Errorf("2000 changes in 200 s took %d raises", store.raises)
		}
		raises := store.raises
		for i := range 100 {
			f.Publish(version(i%200+1), wwwKey)
			b.pass(time.Minute)
		}
		if soa, _, _ := m.Truth(mustParse(zoneName)); store.ceiling-soa.Serial > 64 {
			t.Errorf("after a quiet hour a crash would skip %d serials", store.ceiling-soa.Serial)
		}
		if n := store.raises - raises; n > 100/8+1 {
			t.Errorf("100 changes in 100 minutes took %d raises", n)
		}
	})
}

func TestAZoneThatNobodyTakesGetsALabelWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		f := b.feed(zoneName)
		if _, err := f.Mint(context.Background()); err == nil {
			t.Error("a zone without content got a label")
		}
		seq := f.Publish(version(1), nil)
		if _, ok := f.Label(); ok {
			t.Error("it has a label before it was asked for")
		}
		first, err := f.Mint(context.Background())
		again, err2 := f.Mint(context.Background())
		if err != nil || err2 != nil || first != again || first.Seq != seq || first.Serial != 2000010100 {
			t.Errorf("labels %+v and %+v, %v, %v", first, again, err, err2)
		}
		if same := f.Publish(version(1), wwwKey); same != seq {
			t.Errorf("the same content got another sequence number: %d, %d", seq, same)
		}
		f.Publish(version(2), wwwKey)
		second, err := f.Mint(context.Background())
		if err != nil || second.Serial != first.Serial+1 || second.ID != version(2).ID() {
			t.Errorf("the second label is %+v, %v", second, err)
		}
	})
}

// TestACeilingThatCannotBeStoredIsNotAskedForAllTheTime has another operator, or a cache that is late, stand in the way
// for a minute.
func TestACeilingThatCannotBeStoredIsNotAskedForAllTheTime(t *testing.T) {
	for _, class := range []backend.ErrorClass{backend.ErrConflict, backend.ErrUnavailable} {
		t.Run(string(class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &refusingStore{Store: &backendtest.Store{}, err: &backend.Error{Class: class}}
				b := newBench(t, func(c *engine.Config) { c.Ceilings = store })
				store.clock = b.clock
				m, s := serverWith(bindLike, zoneName)
				f := b.feed(zoneName)
				f.Publish(version(1), nil)
				b.attachAll(f, s)
				b.pass(time.Minute)
				if store.asked > 15 {
					t.Errorf("in a minute it was asked for %d times", store.asked)
				}
				store.err = nil
				b.pass(10 * time.Minute)
				soa, _, _ := m.Truth(mustParse(zoneName))
				if store.ceiling-soa.Serial > 16 {
					t.Errorf("at last it is %d above the serial %d", store.ceiling-soa.Serial, soa.Serial)
				}
			})
		})
	}
}

// refusingStore takes a moment, and no ceiling while it has an error.
type refusingStore struct {
	*backendtest.Store
	clock   *clock
	err     error
	asked   int
	ceiling uint32
}

func (r *refusingStore) Raise(ctx context.Context, feed string, ceiling uint32) error {
	r.clock.wait(5 * time.Millisecond)
	r.asked++
	if r.err != nil {
		return r.err
	}
	r.ceiling = ceiling
	return r.Store.Raise(ctx, feed, ceiling)
}

func TestAFailedCeilingIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &watchedStore{Store: &backendtest.Store{}, fail: true}
		b := newBench(t, func(c *engine.Config) { c.Ceilings = store })
		store.clock = b.clock
		_, s := serverWith(bindLike, zoneName)
		f := b.feed(zoneName)
		seq := f.Publish(version(1), nil)
		b.attachAll(f, s)
		b.pass(10 * time.Second)
		if r := b.last("0"); r.Err == nil || s.sent() > 0 {
			t.Errorf("without a ceiling %d batches were sent: %v", s.sent(), r.Err)
		}
		store.fail = false
		b.pass(10 * time.Minute)
		if r := b.last("0"); r.Err != nil || r.Seq != seq {
			t.Errorf("it is not tried again: %+v", r)
		}
	})
}

// silentStore never answers as long as it is asked, until it has been asked once.
type silentStore struct {
	*backendtest.Store
	asked bool
}

func (s *silentStore) Raise(ctx context.Context, feed string, ceiling uint32) error {
	if !s.asked {
		s.asked = true
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Raise(ctx, feed, ceiling)
}

func TestACeilingThatNobodyAnswersForIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(c *engine.Config) { c.Ceilings = &silentStore{Store: &backendtest.Store{}} })
		_, s := serverWith(bindLike, zoneName)
		f := b.feed(zoneName)
		seq := f.Publish(version(1), nil)
		b.attachAll(f, s)
		<-time.After(time.Minute) // of the call, which has the bubble's time
		b.pass(time.Minute)
		if r := b.last("0"); r.Err != nil || r.Seq != seq {
			t.Errorf("the last report is %+v", r)
		}
	})
}
