package backendtest_test

import (
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func bad(s rr.Set) bool { return s.Type == rr.TypeTXT && s.Data[0] == `"bad"` }

// profiles are the kinds of servers that there are.
var profiles = map[string]backendtest.Profile{
	"a whole-zone server such as BIND": {
		Limits: backend.Limits{ApexNS: backend.ApexNSRequired, MaxBytes: 64_000}, MaxSet: 100,
	},
	"a set-level API such as PowerDNS": {Limits: backend.Limits{Creates: true, Confirms: true, ListsZones: true}},
	"a server that removes zones": {Limits: backend.Limits{Creates: true, Removes: true, Confirms: true,
		ListsZones: true}},
	"no listing":      {Limits: backend.Limits{Read: backend.ReadSet, ApexNS: backend.ApexNSRequired}},
	"nothing to read": {Limits: backend.Limits{Read: backend.ReadNone, ApexNS: backend.ApexNSRequired}},
	"sets are atomic, batches are not": {
		Limits: backend.Limits{Atomic: backend.AtomicSet, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer}, Break: 97,
	},
	"one set a call": {Limits: backend.Limits{Atomic: backend.AtomicSet, SOA: backend.SOAServer, MaxChanges: 1}},
	"one value a call": {Limits: backend.Limits{Atomic: backend.AtomicValue, SOA: backend.SOAServer, MaxChanges: 1},
		Break: 41},
	"asynchronous":        {Limits: backend.Limits{ApexNS: backend.ApexNSRequired}, Async: 2},
	"the server's SOA":    {Limits: backend.Limits{SOA: backend.SOAServer}},
	"throttling":          {Limits: backend.Limits{SOA: backend.SOAServer, Atomic: backend.AtomicSet}, Throttle: 3},
	"a limit of set size": {Limits: backend.Limits{MaxSetSize: 100}, MaxSet: 100},
}

func parse(t *testing.T, s string) dnsname.Name {
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMemory(t *testing.T) {
	for name, profile := range profiles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backendtest.Run(t, func(t *testing.T) backendtest.Harness { return memoryHarness(t, profile) })
		})
	}
}

func memoryHarness(t *testing.T, profile backendtest.Profile) backendtest.Harness {
	profile.Bad = bad
	m := backendtest.NewMemory(profile)
	zone := parse(t, "example.org.")
	ns := rr.NewSet(rr.Key{Name: zone, Type: rr.TypeNS}, 300, "server.example.net.")
	m.AddZone(zone, rr.SOA{MName: zone, RName: zone, Serial: 1, TTL: 300}, ns)
	t.Cleanup(func() {
		for _, broken := range m.Broken(zone) {
			t.Error(broken)
		}
	})
	return backendtest.Harness{
		Zone: zone, Missing: parse(t, "missing.example."),
		Backend:  func() backend.Backend { return m.Client(true) },
		WrongKey: func() backend.Backend { return m.Client(false) },
		Truth:    m.Truth,
		Foreign:  func(put []rr.Set, gone []rr.Key) { m.Foreign(zone, put, gone) },
		Stop:     func() { m.SetDown(true) },
		Start:    func() { m.SetDown(false) },
		Bad: func(owner dnsname.Name) rr.Set {
			return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 300, `"bad"`)
		},
		MaxSet: profile.MaxSet, MaxApplies: map[bool]int{true: 30}[profile.Limits.Atomic == backend.AtomicBatch],
	}
}
