package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// serve starts a server of example.org. on loopback and stops it after the test.
func serve(t testing.TB, opts Options) (*Server, string) {
	t.Helper()
	if opts.Listen == nil {
		opts.Listen = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
	}
	s, err := Serve(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Publish(NewCatalogue().With(readZone(t, exampleOrg)))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), s.Addrs()[0].Port()).String()
}

// ask asks for www.example.org. A and fails if there is no answer.
func ask(t testing.TB, network, addr string) *dns.Msg {
	t.Helper()
	c := dns.Client{Net: network, Timeout: 10 * time.Second}
	m, _, err := c.Exchange(new(dns.Msg).SetQuestion("www.example.org.", dns.TypeA), addr)
	if err != nil || !m.Truncated && len(m.Answer) != 2 {
		t.Fatalf("asking over %s: %v %v", network, m, err)
	}
	return m
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// framed puts the length before a message, as TCP has it.
func framed(msg []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), msg...)
}

// closed fails unless the server closes a connection, without an answer.
func closed(t testing.TB, c net.Conn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || isTimeout(err) {
		t.Errorf("the connection is not closed: %d octets, %v", n, err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func TestServesUDPAndTCP(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::]:0"} {
		t.Run(listen, func(t *testing.T) {
			_, addr := serve(t, Options{Listen: []netip.AddrPort{netip.MustParseAddrPort(listen)}})
			ask(t, "udp", addr)
			ask(t, "tcp", addr)
			if listen == "127.0.0.1:0" {
				return
			}
			// The answer must come from where the question went.
			_, port, _ := net.SplitHostPort(addr)
			ask(t, "udp", "127.0.0.2:"+port)
		})
	}
}

func TestAPortIsNotShared(t *testing.T) {
	_, addr := serve(t, Options{})
	if s, err := Serve(t.Context(), Options{Listen: []netip.AddrPort{netip.MustParseAddrPort(addr)}}); err == nil {
		s.Close(t.Context())
		t.Fatal("two servers share a port")
	}
}

func TestPipelinedQuestionsAreAllAnswered(t *testing.T) {
	_, addr := serve(t, Options{})
	c := dial(t, addr)
	const n = 1000
	go func() {
		var all []byte
		for i := range n {
			all = append(all, framed(asked(t, func(m *dns.Msg) { m.Id = uint16(i) }))...)
		}
		for len(all) > 0 { // in pieces that do not end where messages do
			size := min(len(all), 1+rand.IntN(700))
			c.Write(all[:size])
			all = all[size:]
		}
	}()
	seen := map[uint16]bool{}
	for range n {
		m := receive(t, c)
		if len(m.Answer) != 2 || seen[m.Id] {
			t.Fatalf("answer %d is wrong or repeated: %v", m.Id, m)
		}
		seen[m.Id] = true
	}
}

func receive(t testing.TB, c net.Conn) *dns.Msg {
	t.Helper()
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		t.Fatal(err)
	}
	msg := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(c, msg); err != nil {
		t.Fatal(err)
	}
	m := new(dns.Msg)
	if err := m.Unpack(msg); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMalformedPackets(t *testing.T) {
	var faults strings.Builder
	s, addr := serve(t, Options{Log: slog.New(slog.NewTextHandler(&faults, nil))})
	key := testKey(t, "follower.", "hmac-sha256")
	setPolicy(t, s, Policy{Transfer: []Rule{loopback(), {Key: key}}})
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	increment, err := ixfr("bench.example.", 1).Pack()
	if err != nil {
		t.Fatal(err)
	}
	sig, _ := signed(t, key, time.Now(), nil)
	seeds := [][]byte{asked(t, edns(1232)), increment, sig}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		msg := slices.Clone(seeds[i%len(seeds)])
		for range 1 + random.IntN(4) {
			msg[random.IntN(len(msg))] = byte(random.Uint32())
		}
		c.Write(msg[:random.IntN(len(msg)+1)])
		if i%100 == 0 { // also so that no more come than the system keeps
			ask(t, "udp", addr)
		}
	}
	ask(t, "udp", addr)
	ask(t, "tcp", addr)
	if faults.Len() > 0 {
		t.Error(faults.String())
	}
}

func TestRateLimit(t *testing.T) {
	_, addr := serve(t, Options{RateLimit: 10})
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 60 {
		c.Write(asked(t, func(m *dns.Msg) { m.Question[0].Name = fmt.Sprintf("x%d.wild.example.org.", i) }))
	}
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	whole, buf := 0, make([]byte, 2000)
	for range 60 {
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		switch m := unpack(t, buf[:n]); {
		case !m.Truncated:
			whole++
		case len(m.Answer) > 0 || len(m.Question) != 1 || m.Rcode != dns.RcodeSuccess:
			t.Fatalf("what is over the limit is answered with %v", m)
		}
	}
	if whole < 10 || whole > 30 {
		t.Errorf("60 questions for one wildcard at 10 a second: %d answers", whole)
	}
	ask(t, "udp", addr) // another set has a limit of its own
}

func TestCloseAnswersWhatItHasTaken(t *testing.T) {
	s, err := Serve(t.Context(), Options{Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}})
	if err != nil {
		t.Fatal(err)
	}
	addr := s.Addrs()[0].String()
	quiet, asking := dial(t, addr), dial(t, addr)
	asking.Write(framed(asked(t, nil)))
	if m := receive(t, asking); m.Rcode != dns.RcodeRefused {
		t.Errorf("before anything is published: %v", m)
	}
	began := time.Now()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it waits for connections that say nothing: %s", took)
	}
	closed(t, quiet)
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("it still takes connections")
	}
}

func TestSlowAndWrongConnectionsAreClosed(t *testing.T) {
	const idle = 200 * time.Millisecond
	_, addr := serve(t, Options{IdleTimeout: idle})
	answerIgnored := func(t *testing.T, c net.Conn) {
		msg := framed(asked(t, nil))
		all := []byte(strings.Repeat(string(msg), 1000))
		for {
			if _, err := c.Write(all); err != nil { // nobody reads, so one day nothing is taken
				return
			}
		}
	}
	for name, do := range map[string]func(*testing.T, net.Conn){
		"says nothing":                     func(*testing.T, net.Conn) {},
		"never ends its message":           func(t *testing.T, c net.Conn) { c.Write(framed(asked(t, nil))[:20]) },
		"sends an octet at a time":         trickle,
		"asks and does not take answers":   answerIgnored,
		"announces a message that is huge": func(_ *testing.T, c net.Conn) { c.Write([]byte{0xff, 0xff, 1}) },
		"sends what is no question":        func(_ *testing.T, c net.Conn) { c.Write(framed([]byte("GET / HTTP/1.1"))[:16]) },
		"sends an empty message":           func(_ *testing.T, c net.Conn) { c.Write([]byte{0, 0}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, addr)
			do(t, c)
			if name == "sends what is no question" {
				receive(t, c) // it is one, of a kind that is not answered
			}
			if name != "asks and does not take answers" {
				closed(t, c)
			}
			ask(t, "tcp", addr)
		})
	}
}

// trickle sends so slowly that the time-out comes first.
func trickle(t *testing.T, c net.Conn) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, b := range framed(asked(t, nil)) {
		<-tick.C
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	_, addr := serve(t, Options{MaxConns: 4, MaxConnsPerClient: 3})
	from := func(ip string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Timeout: 10 * time.Second}
		c, err := d.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(20 * time.Second))
		return c
	}
	speak := func(c net.Conn) {
		c.Write(framed(asked(t, nil)))
		receive(t, c)
	}
	var mine []net.Conn
	for range 3 {
		mine = append(mine, from("127.0.0.1"))
		speak(mine[len(mine)-1])
	}
	closed(t, from("127.0.0.1")) // the fourth of one client
	other := from("127.0.0.2")
	speak(other)
	speak(mine[0]) // so that the second is quiet for longest
	another := from("127.0.0.3")
	speak(another)
	closed(t, mine[1])
	for _, c := range []net.Conn{mine[0], mine[2], other, another} {
		speak(c)
	}
}

// TestTenThousandConnections opens more than are kept and leaves all open.
func TestTenThousandConnections(t *testing.T) {
	_, addr := serve(t, Options{MaxConnsPerClient: 20_000, IdleTimeout: time.Minute})
	for i := range 10_000 {
		c, err := net.DialTimeout("tcp", addr, 10*time.Second)
		if err != nil {
			t.Fatalf("after %d connections: %v", i, err)
		}
		defer c.Close()
		if i%1000 == 999 {
			ask(t, "udp", addr)
			ask(t, "tcp", addr)
		}
	}
}
