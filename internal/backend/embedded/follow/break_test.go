package follow_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A wire is a way to a replica that can be cut.
type wire struct {
	t        testing.TB
	listener net.Listener

	mu    sync.Mutex
	to    netip.AddrPort
	most  int // octets of answers on each connection; 0: any number
	conns map[net.Conn]struct{}
	cuts  int
	ended bool // what was accepted and is not carried yet is not carried any more
}

func newWire(t testing.TB, to *replica) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, listener: l, to: to.addr, conns: map[net.Conn]struct{}{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.carry(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		w.end()
		running.Wait()
	})
	return w
}

func (w *wire) addr() netip.AddrPort { return w.listener.Addr().(*net.TCPAddr).AddrPort() }

// lead is a leader at the other end.
func (w *wire) lead() (netip.AddrPort, bool) { return w.addr(), true }

// set says where the wire leads, and how much it carries on a connection.
func (w *wire) set(to *replica, most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to, w.most = to.addr, most
}

// cut breaks all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.Close()
	}
}

// end breaks all connections, and those that come.
func (w *wire) end() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.cut()
}

// cutShort returns how many connections have carried as much as they may.
func (w *wire) cutShort() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cuts
}

func (w *wire) carry(near net.Conn) {
	defer near.Close()
	far, most := w.connect(near)
	if far == nil {
		return
	}
	go func() {
		io.Copy(far, near)
		far.Close()
	}()
	var answers io.Reader = far
	if most > 0 {
		answers = io.LimitReader(far, int64(most))
	}
	n, _ := io.Copy(near, answers)
	far.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, near)
	delete(w.conns, far)
	if most > 0 && n == int64(most) {
		w.cuts++
	}
}

// connect connects what came to the other end, and returns how much the connection carries. It returns nil if the other
// end is not there, or the wire has ended.
func (w *wire) connect(near net.Conn) (far net.Conn, most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil, 0
	}
	far, err := net.Dial("tcp", w.to.String())
	if err != nil {
		return nil, 0
	}
	w.conns[near], w.conns[far] = struct{}{}, struct{}{}
	return far, w.most
}

// many are changes that do not fit into one message.
func many(t testing.TB, text string) []plan.Change {
	var all []plan.Change
	for i := range 3000 {
		all = append(all, put(t, fmt.Sprintf("x%d.example.org.", i), rr.TypeTXT, fmt.Sprintf("%q", fmt.Sprint(text, i))))
	}
	return all
}

func TestATransferThatBreaksOffChangesNothing(t *testing.T) {
	t.Parallel()
	leader, follower := start(t), start(t)
	leader.apply("example.org.", 1, many(t, "one")...)
	leader.lead()
	w := newWire(t, leader)
	w.set(leader, 50_000)
	follower.follow(w.lead)
	becomes(t, "three transfers have broken off", func() bool { return w.cutShort() >= 3 })
	zone := embedded.Member{Group: group, Zone: mustName(t, "example.org.")}
	if c, _, found := follower.Copy(zone, nil); found || follower.Opened() {
		t.Errorf("it has %v", c)
	}
	w.set(leader, 0)
	w.cut()
	becomes(t, "the follower is the same", func() bool { return follower.same(leader) })
	becomes(t, "it is ready", follower.Opened)

	before := w.cutShort()
	w.set(leader, 50_000)
	w.cut()
	leader.apply("example.org.", 2, many(t, "two")...)
	becomes(t, "three more have", func() bool { return w.cutShort() >= before+3 })
	c, sets, _ := follower.Copy(zone, nil)
	first, _ := sets.Get(rr.Key{Name: mustName(t, "x0.example.org."), Type: rr.TypeTXT})
	if c.SOA.Serial != 1 || sets.Len() != 3001 || len(first.Data) != 1 || first.Data[0] != `"one0"` {
		t.Errorf("it has %v with %d sets, and %v", c, sets.Len(), first)
	}
	w.set(leader, 0)
	w.cut()
	becomes(t, "the follower is the same again", func() bool { return follower.same(leader) })
}

func TestALeaderThatIsKilledWhileItTransfers(t *testing.T) {
	t.Parallel()
	leader, follower, next := start(t), start(t), start(t)
	leader.apply("example.org.", 1, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	leader.lead()
	w := newWire(t, leader)
	follower.follow(w.lead)
	becomes(t, "the follower is ready", follower.Opened)
	w.set(leader, 50_000)
	w.cut()
	leader.apply("example.org.", 2, many(t, "two")...)
	becomes(t, "a transfer has broken off", func() bool { return w.cutShort() >= 1 })
	leader.close()
	w.cut()
	if got := follower.ask("www.example.org."); got != "192.0.2.1" {
		t.Errorf("it answers %s", got)
	}
	next.apply("example.org.", 17, put(t, "www.example.org.", rr.TypeA, "192.0.2.17"))
	next.lead()
	w.set(next, 0)
	becomes(t, "the follower has what the next leader has", func() bool { return follower.same(next) })
}

// The listing of a server that is no replica is a zone as any other, and may say anything.
func TestListingsThatCannotBeTrue(t *testing.T) {
	t.Parallel()
	good, follower := start(t), start(t)
	good.apply("example.org.", 5, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	good.lead()
	w := newWire(t, good)
	var mu sync.Mutex
	asked := 0
	follower.follow(func() (netip.AddrPort, bool) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return w.addr(), true
	})
	becomes(t, "the follower is ready", follower.Opened)
	held := follower.Copies()
	id := held[embedded.Member{Group: group, Zone: mustName(t, "example.org.")}].ID
	for _, c := range []struct{ name, listing string }{
		{"another form", id + ` PTR example.org.; ` + id + ` TXT "2" "6" "main" "zone"`},
		{"too few fields", id + ` PTR example.org.; ` + id + ` TXT "1" "6" "main"`},
		{"a serial that is none", id + ` PTR example.org.; ` + id + ` TXT "1" "x" "main" "zone"`},
		{"no zone", id + ` TXT "1" "6" "main" "zone"`},
		{"no serial", id + ` PTR example.org.`},
		{"two zones", id + ` PTR example.org. example.net.; ` + id + ` TXT "1" "6" "main" "zone"`},
		{"one member twice",
			`a PTR example.org.; a TXT "1" "6" "main" "zone"; b PTR example.org.; b TXT "1" "6" "main" "zone"`},
		{"a name too deep", `a.b PTR example.org.; a.b TXT "1" "6" "main" "zone"`},
	} {
		bad := start(t)
		key := internal(t)
		// It has no key of replicas: so it offers no listing of its own, and lets this be transferred.
		s, err := embedded.Serve(t.Context(),
			embedded.Options{Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}})
		if err != nil {
			t.Fatal(err)
		}
		bad.close()
		bad.Server, bad.addr = s, s.Addrs()[0]
		if err := s.SetPolicy(group, embedded.Policy{Transfer: []embedded.Rule{{Key: &key}}}); err != nil {
			t.Fatal(err)
		}
		bad.apply(embedded.Listing().String(), 1, entries(t, c.listing)...)
		mu.Lock()
		before := asked
		mu.Unlock()
		w.set(bad, 0)
		w.cut()
		becomes(t, "the listing was read twice", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return asked >= before+3
		})
		if got := follower.Copies(); fmt.Sprint(got) != fmt.Sprint(held) {
			t.Errorf("a listing with %s leaves %v", c.name, got)
		}
	}
	good.apply("example.org.", 6, put(t, "www.example.org.", rr.TypeA, "192.0.2.2"))
	w.set(good, 0)
	becomes(t, "the follower is the same again", func() bool { return follower.same(good) })
}

// entries are changes that make a listing of lines such as "name TYPE data".
func entries(t testing.TB, text string) []plan.Change {
	t.Helper()
	var all []plan.Change
	for line := range strings.SplitSeq(text, ";") {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		typ, data, _ := strings.Cut(rest, " ")
		values := []string{data}
		key, err := rr.ParseType(typ)
		if err != nil {
			t.Fatal(err)
		}
		if key == rr.TypePTR {
			values = strings.Fields(data)
		}
		all = append(all, put(t, name+"."+embedded.Listing().String(), key, values...))
	}
	return all
}

func TestALowerSerialIsNotTaken(t *testing.T) {
	t.Parallel()
	leader, follower := start(t), start(t)
	leader.apply("example.org.", 5, put(t, "www.example.org.", rr.TypeA, "192.0.2.1"))
	leader.lead()
	follower.follow(only(leader))
	becomes(t, "the follower is ready", follower.Opened)
	follower.stop()
	zone := embedded.Member{Group: group, Zone: mustName(t, "example.org.")}
	have, _, _ := follower.Copy(zone, nil)
	for _, serial := range []uint32{4, 5} {
		next := have
		next.SOA.Serial = serial
		if err := follower.Take(zone, have, next,
			[]plan.Change{put(t, "www.example.org.", rr.TypeA, "192.0.2.2")}); backend.Class(err) != backend.ErrRejected {
			t.Errorf("serial %d after 5: %v", serial, err)
		}
	}
	next := have
	next.SOA.Serial = 7
	if err := follower.Take(zone, have, next, nil); err != nil {
		t.Fatal(err)
	}
	leader.apply("example.org.", 6, put(t, "www.example.org.", rr.TypeA, "192.0.2.6"))
	follower.follow(only(leader))
	leader.apply("example.net.", 1, put(t, "www.example.net.", rr.TypeA, "192.0.2.1"))
	becomes(t, "the follower has what came later", func() bool { return follower.ask("www.example.net.") == "192.0.2.1" })
	if c, _, _ := follower.Copy(zone, nil); c.SOA.Serial != 7 {
		t.Errorf("it has serial %d", c.SOA.Serial)
	}
	leader.apply("example.org.", 8, put(t, "www.example.org.", rr.TypeA, "192.0.2.8"))
	becomes(t, "a higher one is taken", func() bool { return follower.ask("www.example.org.") == "192.0.2.8" })
}

func TestAFollowerThatIsStoppedChangesNothing(t *testing.T) {
	t.Parallel()
	leader, follower := start(t), start(t)
	leader.lead()
	follower.follow(only(leader))
	becomes(t, "the follower is ready", follower.Opened)
	stopped := make(chan struct{})
	go func() {
		follower.stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not stop")
	}
	leader.apply("example.org.", 1)
	if got := follower.Copies(); len(got) > 1 {
		t.Errorf("it has %v", got)
	}
}
