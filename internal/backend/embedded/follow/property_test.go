package follow_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A truth is what every serial of every zone stands for, as secondaries of all replicas have seen it.
type truth struct {
	t testing.TB

	mu       sync.Mutex
	contents map[string]string // by zone and serial
	seen     int
}

func (w *truth) saw(zone string, soa rr.SOA, sets rr.Sets) {
	w.mu.Lock()
	defer w.mu.Unlock()
	version, content := fmt.Sprint(zone, soa.Serial), fmt.Sprint(soa, slices.Collect(sets.All()))
	if before, known := w.contents[version]; known && before != content {
		w.t.Errorf("serial %d of %s stands for\n%s and for\n%s", soa.Serial, zone, before, content)
	}
	w.contents[version] = content
	w.seen++
}

// A seconding transfers zones from one replica until it is stopped.
type seconding struct {
	*truth
	replica *replica
	known   map[string]*backend.Known
	highest map[string]uint32
}

// transfer transfers a zone once.
func (s *seconding) transfer(zone string, whole bool) {
	known := s.known[zone]
	if whole {
		known = nil
	}
	var soa *rr.SOA
	var sets rr.Sets
	if known != nil {
		soa, sets = &known.SOA, known.Sets
	}
	got, err := pull(s.t, s.replica, zone, soa)
	if err != nil {
		delete(s.known, zone)
		return // it is not there, or the replica is not ready, or is killed
	}
	for _, step := range got.Steps {
		var fits bool
		if sets, fits = step.Over(sets); !fits {
			s.t.Errorf("an increment of %s to serial %d does not fit", zone, step.SOA.Serial)
			return
		}
		s.saw(zone, step.SOA, sets)
	}
	if !got.Same && got.Steps == nil {
		sets = got.Sets
	}
	s.saw(zone, got.SOA, sets)
	if last := s.highest[zone]; last != 0 && rr.SerialLess(got.SOA.Serial, last) {
		s.t.Errorf("serial %d of %s falls to %d", last, zone, got.SOA.Serial)
	}
	s.highest[zone] = got.SOA.Serial
	s.known[zone] = &backend.Known{SOA: got.SOA, Sets: sets}
}

// A cluster is replicas of which one leads, and what users want.
type cluster struct {
	*truth
	random   *rand.Rand
	replicas []*replica
	wires    []*wire
	stops    []func() // of who transfers from them
	leader   int
	serials  map[string]uint32 // by zone, the last one used
	wanted   map[string]map[string]string
}

var zones = []string{"a.example.", "b.example.", "c.example.", "d.example."}

func newCluster(t testing.TB, seed uint64) *cluster {
	c := &cluster{
		truth: &truth{t: t, contents: map[string]string{}}, random: rand.New(rand.NewPCG(seed, 1)),
		serials: map[string]uint32{}, wanted: map[string]map[string]string{},
	}
	for range 3 {
		r := start(t)
		c.replicas, c.wires, c.stops = append(c.replicas, r), append(c.wires, newWire(t, r)), append(c.stops, nil)
		c.second(len(c.replicas) - 1)
	}
	t.Cleanup(func() {
		for _, stop := range c.stops {
			stop()
		}
	})
	for _, w := range c.wires {
		w.set(c.replicas[0], 0)
	}
	c.replicas[0].lead()
	c.replicas[1].follow(c.wires[1].lead)
	c.replicas[2].follow(c.wires[2].lead)
	return c
}

// second transfers everything from a replica all the time.
func (c *cluster) second(i int) {
	s := &seconding{truth: c.truth, replica: c.replicas[i], known: map[string]*backend.Known{},
		highest: map[string]uint32{}}
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				s.transfer(append(zones, "catalog.invalid.")[n%5], n%7 == 0)
			}
		}
	})
	c.stops[i] = sync.OnceFunc(func() {
		close(stop)
		running.Wait()
	})
}

// deliver brings a zone to what is wanted, as the engine does.
func (c *cluster) deliver(zone string) {
	l := c.replicas[c.leader]
	name := mustName(c.t, zone)
	held, err := l.Group(group).Read(c.t.Context(), name, backend.Ask{})
	if backend.Class(err) != backend.ErrNoZone && err != nil {
		c.t.Fatal(err)
	}
	var all []plan.Change
	for set := range held.Sets.All() {
		if _, stays := c.wanted[zone][set.Name.String()]; !stays {
			all = append(all, plan.Change{Key: set.Key()})
		}
	}
	for owner, address := range c.wanted[zone] {
		all = append(all, put(c.t, owner, rr.TypeA, address))
	}
	c.serials[zone]++
	l.apply(zone, c.serials[zone], all...)
}

// act does something at random.
func (c *cluster) act() {
	zone := zones[c.random.IntN(len(zones))]
	i := c.random.IntN(len(c.replicas))
	switch n := c.random.IntN(100); {
	case n < 60 || c.wanted[zone] == nil:
		if c.wanted[zone] == nil {
			c.wanted[zone] = map[string]string{}
		}
		for range 1 + c.random.IntN(3) {
			owner := fmt.Sprintf("x%d.%s", c.random.IntN(20), zone)
			c.wanted[zone][owner] = fmt.Sprintf("192.0.2.%d", c.random.IntN(256))
			if c.random.IntN(4) == 0 {
				delete(c.wanted[zone], owner)
			}
		}
		c.deliver(zone)
	case n < 65:
		delete(c.wanted, zone)
		c.replicas[c.leader].remove(zone)
	case n < 75:
		c.wires[i].cut()
	case n < 82:
		c.wires[i].set(c.replicas[c.leader], c.random.IntN(3000))
	case n < 85:
		c.elect((c.leader + 1 + c.random.IntN(2)) % 3)
	case n < 88:
		c.kill(i)
	default:
		i = (c.leader + 1 + c.random.IntN(2)) % 3
		c.wires[i].set(c.replicas[c.leader], 0)
		becomes(c.t, "a follower is the same", func() bool { return c.replicas[i].same(c.replicas[c.leader]) })
	}
}

// elect makes another replica the leader.
func (c *cluster) elect(next int) {
	if old := c.leader; old != next {
		c.replicas[old].follow(c.wires[old].lead)
	}
	c.leader = next
	l := c.replicas[next]
	l.stop()
	for _, zone := range slices.Sorted(maps.Keys(c.wanted)) {
		c.deliver(zone)
	}
	l.Retain(func(m embedded.Member) bool { return c.wanted[m.Zone.String()] != nil })
	l.lead()
	for _, w := range c.wires {
		w.set(l, 0)
		w.cut()
	}
}

// kill replaces a replica by one that has nothing.
func (c *cluster) kill(i int) {
	c.replicas[i].close()
	c.stops[i]()
	c.replicas[i] = start(c.t)
	c.second(i)
	c.replicas[i].follow(c.wires[i].lead)
	if i == c.leader {
		c.elect((i + 1 + c.random.IntN(2)) % 3)
	}
}

// Whatever breaks and whoever leads: in the end all replicas are the same, and meanwhile no serial fell on any of them,
// and none stood for two contents.
func TestReplicasAgree(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newCluster(t, seed)
			for range 1000 {
				c.act()
			}
			l := c.replicas[c.leader]
			for _, w := range c.wires {
				w.set(l, 0)
				w.cut()
			}
			for _, r := range c.replicas {
				becomes(t, "all are the same", func() bool { return r.same(l) && r.Opened() })
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			t.Logf("%d transfers of %d versions", c.seen, len(c.contents))
			if c.seen == 0 || len(c.contents) < 20 {
				t.Error("that is too few to show anything")
			}
		})
	}
}
