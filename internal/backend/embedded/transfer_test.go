package embedded

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

const testSecret = "c2VjcmV0IG9mIHRoZSB0ZXN0cyBvZiB6b25lZm9sZA=="

func testKey(t testing.TB, name, algorithm string) *Key {
	return &Key{Name: mustName(t, name), Algorithm: algorithm, Secret: testSecret}
}

// loopback allows every client of a test.
func loopback() Rule { return Rule{Prefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}} }

// setPolicy sets the policy of group "test".
func setPolicy(t testing.TB, s *Server, p Policy) {
	t.Helper()
	if err := s.SetPolicy("test", p); err != nil {
		t.Fatal(err)
	}
}

// filled starts a server that has bench.example. with so many addresses, 4 for each name, and serial 1.
func filled(t testing.TB, opts Options, names int) (*Server, *Group, string) {
	t.Helper()
	s, addr := serve(t, opts)
	g := s.Group("test")
	changes := []plan.Change{put(t, "bench.example.", rr.TypeNS, 300, "ns.example.net.")}
	for i := range names {
		changes = append(changes, put(t, fmt.Sprintf("host-%d.bench.example.", i), rr.TypeA, 300, "192.0.2.1", "192.0.2.2",
			"192.0.2.3", "192.0.2.4"))
	}
	applyTo(t, g, mustName(t, "bench.example."), changes...)
	return s, g, addr
}

// fetch transfers a zone, and returns the records of all messages and how many messages there were.
func fetch(t testing.TB, addr string, m *dns.Msg, key *Key) ([]dns.RR, int, error) {
	t.Helper()
	var tr dns.Transfer
	if key != nil {
		m.SetTsig(key.Name.String(), key.Algorithm+".", 300, time.Now().Unix())
		tr.TsigSecret = map[string]string{key.Name.String(): key.Secret}
	}
	envelopes, err := tr.In(m, addr)
	if err != nil {
		t.Fatal(err)
	}
	var records []dns.RR
	n := 0
	for e := range envelopes {
		if e.Error != nil {
			err = e.Error
		}
		records = append(records, e.RR...)
		n++
	}
	return records, n, err
}

func axfr(zone string) *dns.Msg { return new(dns.Msg).SetAxfr(zone) }

func ixfr(zone string, serial uint32) *dns.Msg {
	return new(dns.Msg).SetIxfr(zone, serial, "ns.example.net.", "root.example.net.")
}

// sorted are records as text, without SOAs.
func sorted(records []dns.RR) []string {
	var lines []string
	for _, r := range records {
		if r.Header().Rrtype != dns.TypeSOA {
			lines = append(lines, strings.Join(strings.Fields(r.String()), " "))
		}
	}
	slices.Sort(lines)
	return lines
}

func TestTransfersAreWhole(t *testing.T) {
	s, g, addr := filled(t, Options{}, 20_000)
	setPolicy(t, s, Policy{Transfer: []Rule{loopback()}})
	var large []string
	for i := range 250 {
		large = append(large, fmt.Sprintf("%q", strings.Repeat(string(rune('a'+i%26)), 240)+fmt.Sprint(i)))
	}
	applyTo(t, g, mustName(t, "bench.example."), put(t, "large.bench.example.", rr.TypeTXT, 300, large...))
	for _, key := range []*Key{nil, testKey(t, "follower.", "hmac-sha256"), testKey(t, "follower.bench.example.",
		"hmac-sha512")} {
		if key != nil {
			setPolicy(t, s, Policy{Transfer: []Rule{{Key: key}}})
		}
		records, n, err := fetch(t, addr, axfr("bench.example."), key)
		if err != nil {
			t.Fatal(err)
		}
		found, err := g.Read(t.Context(), mustName(t, "bench.example."), backend.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		var want []dns.RR
		for set := range found.Sets.All() {
			rrs, err := set.RRs()
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, rrs...)
		}
		if !slices.Equal(sorted(records), sorted(want)) {
			t.Errorf("a transfer of %d records has %d", len(want), len(records)-2)
		}
		first, last := records[0], records[len(records)-1]
		if first.String() != last.String() || first.Header().Rrtype != dns.TypeSOA || n < 3 {
			t.Errorf("%d messages begin with %v and end with %v", n, first, last)
		}
	}
}

// TestSlowFollowersAreCutOff has one that takes nothing hold the only slot.
func TestSlowFollowersAreCutOff(t *testing.T) {
	seen := &outcomes{}
	s, _, addr := filled(t, Options{Observer: seen, RateLimit: -1, IdleTimeout: time.Second, MaxTransfers: 1}, 30_000)
	setPolicy(t, s, Policy{Transfer: []Rule{loopback()}})
	c := dial(t, addr)
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	msg, err := axfr("bench.example.").Pack()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // so that no buffers hold all that is to come
		if _, err := c.Write(framed(msg)); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(20 * time.Second)
	for seen.of("axfr broken") == 0 {
		if time.Now().After(deadline) {
			t.Fatalf("the slow follower is not cut off: %v", seen.counts)
		}
		if m, err := dns.Exchange(new(dns.Msg).SetQuestion("bench.example.", dns.TypeSOA), addr); err != nil ||
			len(m.Answer) != 1 {
			t.Fatalf("questions wait: %v %v", m, err)
		}
	}
	if records, _, err := fetch(t, addr, axfr("bench.example."), nil); err != nil || len(records) != 120_003 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestTransfersAndQuestionsShareAConnection(t *testing.T) {
	s, _, addr := filled(t, Options{}, 3000)
	setPolicy(t, s, Policy{Transfer: []Rule{loopback()}})
	question, transfer := new(dns.Msg).SetQuestion("bench.example.", dns.TypeSOA), axfr("bench.example.")
	var all []byte
	for i, m := range []*dns.Msg{question, transfer, question, transfer, question} {
		m.Id = uint16(i)
		msg, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, framed(msg)...)
	}
	c := dial(t, addr)
	if _, err := c.Write(all); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 12_003, 1, 12_003, 1} {
		for records := 0; records < want; {
			m := receive(t, c)
			if m.Id != uint16(i) || m.Rcode != dns.RcodeSuccess || len(m.Answer) == 0 {
				t.Fatalf("after %d of %d records for question %d: %v", records, want, i, m)
			}
			records += len(m.Answer)
		}
	}
}

func TestTransfersWaitForTheirTurn(t *testing.T) {
	seen := &outcomes{}
	s, _, addr := filled(t, Options{Observer: seen, MaxTransfers: 1, IdleTimeout: 100 * time.Millisecond}, 1)
	key := testKey(t, "follower.", "hmac-sha256")
	setPolicy(t, s, Policy{Transfer: []Rule{{Key: key}}})
	s.slots <- struct{}{} // somebody transfers
	c := dial(t, addr)
	msg, mac := signed(t, key, time.Now(), func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAXFR })
	if _, err := c.Write(framed(msg)); err != nil {
		t.Fatal(err)
	}
	size := make([]byte, 2)
	if _, err := io.ReadFull(c, size); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, binary.BigEndian.Uint16(size))
	if _, err := io.ReadFull(c, answer); err != nil {
		t.Fatal(err)
	}
	if m := unpack(t, answer); m.Rcode != dns.RcodeServerFailure || dns.TsigVerify(answer, testSecret, mac, false) != nil {
		t.Errorf("whose turn does not come gets %v", m)
	}
	seen.await(t, "axfr unavailable", 1)
	<-s.slots
	if _, _, err := fetch(t, addr, axfr("bench.example."), key); err != nil {
		t.Error(err)
	}
}
