package embedded

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
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

// outcomes counts what an Observer is told.
type outcomes struct {
	mu     sync.Mutex
	counts map[string]int
}

func (o *outcomes) count(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	o.counts[what]++
}

func (o *outcomes) of(what string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts[what]
}

// await waits until something was counted so often, for it is counted after it was sent.
func (o *outcomes) await(t testing.TB, what string, n int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); o.of(what) < n; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%q was counted %d times, want %d", what, o.of(what), n)
		}
	}
	if got := o.of(what); got > n {
		t.Errorf("%q was counted %d times, want %d", what, got, n)
	}
}

func (o *outcomes) Answered(tcp bool, rcode int) { o.count(fmt.Sprint(tcp, " ", rcode)) }

func (o *outcomes) Transferred(kind, outcome string) { o.count(kind + " " + outcome) }

func (o *outcomes) Notified(outcome string) { o.count(outcome) }

func TestWhoMayTransfer(t *testing.T) {
	seen := &outcomes{}
	s, _, addr := filled(t, Options{Observer: seen}, 1)
	key, other := testKey(t, "follower.", "hmac-sha256"), testKey(t, "other.", "hmac-sha512")
	far := Rule{Prefixes: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}}
	both := func(r Rule, k *Key) Rule { r.Key = k; return r }
	exact := Rule{Prefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}} // bits set beyond the length
	for _, c := range []struct {
		name  string
		rules []Rule
		key   *Key
		want  string
	}{
		{"nobody may by default", nil, nil, "REFUSED"},
		{"a rule without anything in it allows nobody", []Rule{{}}, nil, "REFUSED"},
		{"an address", []Rule{loopback()}, nil, "NOERROR"},
		{"an address with bits beyond its length", []Rule{exact}, nil, "NOERROR"},
		{"another address", []Rule{far}, nil, "REFUSED"},
		{"any of the rules", []Rule{far, loopback()}, nil, "NOERROR"},
		{"a key", []Rule{{Key: key}}, key, "NOERROR"},
		{"a key is needed", []Rule{{Key: key}}, nil, "REFUSED"},
		{"the key of another rule is not enough", []Rule{{Key: key}, both(far, other)}, other, "REFUSED"},
		{"an unknown key", []Rule{{Key: key}}, other, "NOTAUTH"},
		{"an unknown key is no use even from a good address", []Rule{loopback()}, other, "NOTAUTH"},
		{"address and key", []Rule{both(loopback(), key)}, key, "NOERROR"},
		{"the address without the key", []Rule{both(loopback(), key)}, nil, "REFUSED"},
		{"the key without the address", []Rule{both(far, key)}, key, "REFUSED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			setPolicy(t, s, Policy{Transfer: c.rules})
			for _, m := range []*dns.Msg{axfr("bench.example."), ixfr("bench.example.", 0)} {
				_, _, err := fetch(t, addr, m, c.key)
				got := "NOERROR"
				if err != nil {
					got = err.Error()
				}
				if got != map[string]string{"NOERROR": "NOERROR", "REFUSED": "dns: bad xfr rcode: 5",
					"NOTAUTH": "dns: bad authentication"}[c.want] {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
	s.DropPolicy("test")
	if _, _, err := fetch(t, addr, axfr("bench.example."), nil); err == nil {
		t.Error("a policy that was dropped allows still")
	}
	for what, n := range map[string]int{"axfr whole": 5, "ixfr whole": 5, "axfr refused": 8, "ixfr refused": 7,
		"true 9": 4, "true 5": 15} {
		seen.await(t, what, n)
	}
}

func TestTheNameOfAnInterfaceIsNoPartOfAnAddress(t *testing.T) {
	p, err := compile(Policy{Transfer: []Rule{{Prefixes: []netip.Prefix{netip.MustParsePrefix("fe80::/10")}}}})
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]bool{"fe80::1%eth0": true, "fe80::1": true, "2001:db8::1": false,
		"192.0.2.1": false} {
		if got := p.allows(asker{addr: netip.MustParseAddr(addr)}); got != want {
			t.Errorf("%s may transfer: %v", addr, got)
		}
	}
}

func TestPoliciesWithErrorsChangeNothing(t *testing.T) {
	s, _, addr := filled(t, Options{}, 1)
	setPolicy(t, s, Policy{Transfer: []Rule{loopback()}})
	long := mustName(t, strings.Repeat("a.", 110)+"example.")
	for name, p := range map[string]Policy{
		"a secret that is not base64":  {Transfer: []Rule{{Key: &Key{Name: long, Secret: "!"}}}},
		"a key without a name":         {Notify: []Destination{{Addr: netip.MustParseAddrPort("192.0.2.1:53"), Key: &Key{}}}},
		"an algorithm that nobody has": {Transfer: []Rule{{Key: testKey(t, "a.", "hmac-md5")}}},
		"a prefix of nothing":          {Transfer: []Rule{{Prefixes: make([]netip.Prefix, 1)}}},
		"nobody to notify":             {Notify: []Destination{{}}},
		"no port":                      {Notify: []Destination{{Addr: netip.MustParseAddrPort("192.0.2.1:0")}}},
		"a catalog that is too long":   {Catalog: long},
		"the root as catalog":          {Catalog: dnsname.Root},
	} {
		if err := s.SetPolicy("test", p); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	if _, _, err := fetch(t, addr, axfr("bench.example."), nil); err != nil {
		t.Error(err)
	}
}
