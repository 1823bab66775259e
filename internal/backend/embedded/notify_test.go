package embedded

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// A testClock is a time that passes only when a test says so. It calls back in the test's goroutine.
type testClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*testTimer
}

type testTimer struct {
	clock *testClock
	due   time.Time
	f     func()
}

func newTestClock() *testClock { return &testClock{now: time.Unix(1_700_000_000, 500_000_000)} }

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) AfterFunc(d time.Duration, f func()) backend.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &testTimer{c, c.now.Add(d), f}
	c.timers = append(c.timers, t)
	return t
}

func (t *testTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	n := len(t.clock.timers)
	t.clock.timers = slices.DeleteFunc(t.clock.timers, func(o *testTimer) bool { return o == t })
	return len(t.clock.timers) < n
}

// pass lets time pass: timers fire one after the other, each at its time.
func (c *testClock) pass(d time.Duration) {
	end := c.Now().Add(d)
	for {
		t := c.first(end)
		if t == nil {
			return
		}
		t.f()
	}
}

func (c *testClock) first(end time.Time) *testTimer {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := -1
	for i, t := range c.timers {
		if !t.due.After(end) && (at < 0 || t.due.Before(c.timers[at].due)) {
			at = i
		}
	}
	if at < 0 {
		c.now = end
		return nil
	}
	t := c.timers[at]
	c.timers = slices.Delete(c.timers, at, at+1)
	if t.due.After(c.now) {
		c.now = t.due
	}
	return t
}

// A notified server has a follower, which is a socket of the test.
type notified struct {
	testing.TB
	clock    *testClock
	server   *Server
	group    *Group
	seen     *outcomes
	follower *net.UDPConn
	from     net.Addr
}

// newNotified starts a server that tells a follower of changes, and has told it of zone example.org. with serial 1.
func newNotified(t testing.TB, key *Key) *notified {
	t.Helper()
	n := &notified{TB: t, clock: newTestClock(), seen: &outcomes{}}
	var err error
	if n.server, err = Serve(t.Context(), Options{Clock: n.clock, Observer: n.seen}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if n.follower, err = net.ListenUDP("udp4",
		net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0"))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.follower.Close() })
	setPolicy(t, n.server, Policy{Notify: []Destination{{Addr: n.follower.LocalAddr().(*net.UDPAddr).AddrPort(),
		Key: key}}})
	n.group = n.server.Group("test")
	n.change()
	return n
}

// change makes the next version of the zone.
func (n *notified) change() {
	n.Helper()
	applyTo(n, n.group, mustName(n, "example.org."), put(n, "www.example.org.", rr.TypeA,
		uint32(n.clock.Now().Nanosecond()), "192.0.2.1"))
}

// receive returns the next message, as it came and read.
func (n *notified) receive() ([]byte, *dns.Msg) {
	n.Helper()
	buf := make([]byte, 2000)
	n.follower.SetReadDeadline(time.Now().Add(20 * time.Second))
	size, from, err := n.follower.ReadFrom(buf)
	if err != nil {
		n.Fatal(err)
	}
	n.from = from
	return buf[:size], unpack(n, buf[:size])
}

// silent fails if anything was sent.
func (n *notified) silent() {
	n.Helper()
	n.follower.SetReadDeadline(time.Now().Add(10 * time.Millisecond)) // loopback delivers at once
	if size, _, err := n.follower.ReadFrom(make([]byte, 2000)); err == nil {
		n.Errorf("%d octets were sent", size)
	}
}

// serial receives a NOTIFY and returns its serial.
func (n *notified) serial() uint32 {
	n.Helper()
	_, m := n.receive()
	return m.Answer[0].(*dns.SOA).Serial
}

// answer answers a message with a rcode.
func (n *notified) answer(m *dns.Msg, rcode int) {
	n.Helper()
	reply := new(dns.Msg).SetRcode(m, rcode)
	wire, err := reply.Pack()
	if err != nil {
		n.Fatal(err)
	}
	n.send(wire)
}

func (n *notified) send(wire []byte) {
	n.Helper()
	if _, err := n.follower.WriteTo(wire, n.from); err != nil {
		n.Fatal(err)
	}
}

func TestNotifyIsRepeatedUntilItIsGivenUp(t *testing.T) {
	n := newNotified(t, nil)
	wire, m := n.receive()
	if m.Opcode != dns.OpcodeNotify || m.Response || !m.Authoritative || len(m.Extra) > 0 ||
		m.Question[0] != (dns.Question{Name: "example.org.", Qtype: dns.TypeSOA, Qclass: dns.ClassINET}) {
		t.Errorf("the message is\n%x\n%v", wire, m)
	}
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second,
		32 * time.Second, time.Minute} {
		n.clock.pass(pause - 1)
		n.silent()
		n.clock.pass(1)
		if got := n.serial(); got != 1 {
			t.Errorf("after %s serial %d is told", pause, got)
		}
	}
	n.clock.pass(time.Hour)
	n.silent()
	n.seen.await(t, NotifyUnanswered, 1)
	all, unlock := n.server.notifier.state.Lock()
	left := len(all.of) + len(all.open)
	unlock()
	if len(n.clock.timers) > 0 || left > 0 {
		t.Error("something is left of it")
	}
	n.change()
	if n.serial() != 2 {
		t.Error("the next change is not told")
	}
}

func TestManyChangesAreOneNotify(t *testing.T) {
	n := newNotified(t, nil)
	_, m := n.receive()
	for range 50 {
		n.change()
	}
	n.answer(m, dns.RcodeSuccess)
	n.seen.await(t, NotifyAnswered, 1)
	n.silent()
	n.clock.pass(notifyRest)
	_, m = n.receive()
	if got := m.Answer[0].(*dns.SOA).Serial; got != 51 {
		t.Errorf("told of serial %d", got)
	}
	n.answer(m, dns.RcodeSuccess)
	n.seen.await(t, NotifyAnswered, 2)
	n.clock.pass(time.Hour)
	n.silent()
	all, unlock := n.server.notifier.state.Lock()
	left := len(all.of) + len(all.open)
	unlock()
	if len(n.clock.timers) > 0 || left > 0 {
		t.Error("something is left of it")
	}
}

func TestANewChangeIsToldSoonToWhoDoesNotAnswer(t *testing.T) {
	n := newNotified(t, nil)
	n.serial()
	n.clock.pass(20 * time.Second) // it was told five times, and the next is due in 11 seconds
	for range 4 {
		n.serial()
	}
	n.change()
	n.clock.pass(0)
	if n.serial() != 2 {
		t.Error("told of the wrong serial")
	}
	for range 100 {
		n.clock.pass(10 * time.Millisecond)
		n.change()
	}
	if got := n.serial(); got != 101 {
		t.Errorf("told of serial %d", got)
	}
	n.silent()
}

func TestANewChangeIsToldAsOftenAsTheFirst(t *testing.T) {
	n := newNotified(t, nil)
	n.serial()
	for range notifyTries {
		n.change()
		n.clock.pass(notifyPause)
		n.serial()
	}
	n.seen.await(t, NotifyUnanswered, 1) // so often, whatever it was that was told
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second,
		32 * time.Second, time.Minute} {
		n.clock.pass(pause)
		if got := n.serial(); got != 1+notifyTries {
			t.Errorf("after %s serial %d is told", pause, got)
		}
	}
	n.clock.pass(time.Hour)
	n.silent()
	n.seen.await(t, NotifyUnanswered, 2)
}

func TestWhatIsNoAnswerToANotify(t *testing.T) {
	n := newNotified(t, nil)
	wire, m := n.receive()
	other := m.Copy()
	other.Id++
	n.answer(other, dns.RcodeSuccess)
	n.send(wire)        // no answer
	n.send(wire[:11])   // no message
	n.send([]byte{0x0}) // nothing
	other = m.Copy()
	other.Opcode = dns.OpcodeQuery
	n.answer(other, dns.RcodeSuccess)
	stranger, err := net.Dial("udp4", n.from.String())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	good, err := new(dns.Msg).SetReply(m).Pack()
	if err != nil {
		t.Fatal(err)
	}
	stranger.Write(good)
	n.answer(m, dns.RcodeRefused)
	n.seen.await(t, NotifyRefused, 1)
	if n.seen.of(NotifyAnswered) > 0 {
		t.Error("something else was taken for an answer")
	}
}

func TestSignedNotifies(t *testing.T) {
	key := testKey(t, "follower.", "hmac-sha384")
	n := newNotified(t, key)
	n.receive()
	n.clock.now = time.Now() // by which the other implementation signs
	n.change()
	n.clock.pass(0)
	wire, m := n.receive()
	if err := dns.TsigVerify(wire, testSecret, "", false); err != nil {
		t.Fatal(err)
	}
	n.answer(m, dns.RcodeSuccess) // unsigned
	reply := func(mac string, rcode int) []byte {
		r := new(dns.Msg).SetRcode(m, rcode)
		r.SetTsig("follower.", "hmac-sha384.", 300, time.Now().Unix())
		out, _, err := dns.TsigGenerate(r, testSecret, mac, false)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	n.send(reply("", dns.RcodeSuccess)) // not for this one
	n.send(reply(m.IsTsig().MAC, dns.RcodeSuccess))
	n.seen.await(t, NotifyAnswered, 1)
	n.clock.pass(time.Hour)
	n.change()
	_, m = n.receive()
	n.answer(m, dns.RcodeServerFailure) // unsigned
	n.answer(m, dns.RcodeNotAuth)       // who does not know the key cannot sign
	n.seen.await(t, NotifyRefused, 1)
}

func TestNewFollowersAreToldOfAllZones(t *testing.T) {
	n := newNotified(t, nil)
	n.serial()
	applyTo(t, n.group, mustName(t, "example.com."))
	n.serial()
	late, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	both := []Destination{{Addr: n.follower.LocalAddr().(*net.UDPAddr).AddrPort()},
		{Addr: late.LocalAddr().(*net.UDPAddr).AddrPort()}}
	setPolicy(t, n.server, Policy{Notify: both})
	n.silent()
	n.follower = late
	told := map[string]bool{}
	for range 2 {
		_, m := n.receive()
		told[m.Question[0].Name] = true
	}
	if !told["example.org."] || !told["example.com."] {
		t.Errorf("told of %v", told)
	}
	if _, err := n.group.Apply(t.Context(), mustName(t, "example.com."), backend.Batch{Remove: true}); err != nil {
		t.Fatal(err)
	}
	n.clock.pass(time.Second)
	if _, m := n.receive(); m.Question[0].Name != "example.org." {
		t.Errorf("told of %v", m)
	}
	n.silent()
}

func TestManyNotifiesAtATimeAreToldApart(t *testing.T) {
	n := newNotified(t, nil)
	const zones = 2000
	for i := range zones {
		applyTo(t, n.group, mustName(t, fmt.Sprintf("z%d.example.", i)))
	}
	all, unlock := n.server.notifier.state.Lock()
	defer unlock()
	if len(all.of) != 1+zones || len(all.open) != len(all.of) {
		t.Errorf("of %d notifies %d answers are awaited", len(all.of), len(all.open))
	}
}

// A follower that knew another key has refused what it was told.
func TestFollowersWithAnotherKeyAreToldOfAllZones(t *testing.T) {
	n := newNotified(t, testKey(t, "former.", "hmac-sha256"))
	_, m := n.receive()
	n.answer(m, dns.RcodeNotAuth)
	n.seen.await(t, NotifyRefused, 1)
	n.clock.pass(time.Hour)
	to := Destination{Addr: n.follower.LocalAddr().(*net.UDPAddr).AddrPort(), Key: testKey(t, "follower.", "hmac-sha256")}
	setPolicy(t, n.server, Policy{Notify: []Destination{to}})
	if _, m := n.receive(); m.IsTsig() == nil || m.IsTsig().Hdr.Name != "follower." {
		t.Errorf("it is told with %v", m.IsTsig())
	}
	n.clock.pass(time.Hour)
	for range notifyTries - 1 {
		n.receive()
	}
	setPolicy(t, n.server, Policy{Notify: []Destination{to}})
	n.silent()
}

// FuzzNotifyAnswer sends anything in answer to a signed NOTIFY.
func FuzzNotifyAnswer(f *testing.F) {
	n := newNotified(f, testKey(f, "follower.", "hmac-sha256"))
	_, m := n.receive()
	good, err := new(dns.Msg).SetReply(m).Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	msg, _ := signed(f, testKey(f, "follower.", "hmac-sha256"), time.Now(), nil)
	msg[2] |= 0x80 | dns.OpcodeNotify<<3
	f.Add(msg)
	to := n.follower.LocalAddr().(*net.UDPAddr).AddrPort()
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) >= headerSize {
			binary.BigEndian.PutUint16(msg, m.Id)
		}
		if n.server.notifier.take(msg, to); n.seen.of(NotifyAnswered) > 0 {
			t.Fatalf("a signature was guessed:\n%x", msg)
		}
	})
}
