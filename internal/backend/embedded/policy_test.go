package embedded

import (
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
)

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
