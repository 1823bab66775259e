package backendtest

import (
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// testCase is one story; needs says whether the server can play it.
type testCase struct {
	name  string
	needs func(*rig) bool
	run   func(*rig)
}

func listed(r *rig) bool     { return r.limits.Read == backend.ReadZone }
func restarts(r *rig) bool   { return r.Stop != nil && r.Start != nil }
func hasForeign(r *rig) bool { return listed(r) && r.Foreign != nil }

var cases = []testCase{
	{"whole zones follow one another and a restart changes nothing", nil, (*rig).steps},
	{"apex NS change by value and are never gone", func(r *rig) bool {
		return r.limits.ApexNS != backend.ApexNSServer
	}, (*rig).apexNS},
	{"many sets at once", nil, (*rig).many},
	{"changes that come while one is under way go together", nil, (*rig).gather},
	{"a set that is too large is refused alone", func(r *rig) bool { return r.MaxSet > 0 }, (*rig).tooLarge},
	{"one bad record among 500 is refused alone", func(r *rig) bool { return r.Bad != nil }, (*rig).oneBad},
	{"a refused set is tried again when it is wanted otherwise", func(r *rig) bool { return r.Bad != nil },
		(*rig).badMended},
	{"an alias that is refused leaves the addresses in place", func(r *rig) bool { return r.Bad != nil },
		(*rig).badSwitch},
	{"a foreign change is undone where zonefold owns the zone", hasForeign, (*rig).foreignDeleted},
	{"a foreign change stays where foreign sets are kept", hasForeign, (*rig).foreignKept},
	{"a foreign change of a claimed set is undone by the audit", hasForeign, (*rig).foreignAudited},
	{"the server is down at start", restarts, (*rig).downAtStart},
	{"the server restarts in between", restarts, (*rig).restartsInBetween},
	{"wrong credentials are reported and new ones work at once", func(r *rig) bool { return r.WrongKey != nil },
		(*rig).wrongKey},
	{"of two attachments the one whose credentials work does the work", func(r *rig) bool {
		return r.WrongKey != nil
	}, (*rig).oneWrongKey},
	{"a missing zone is created or reported", func(r *rig) bool {
		return !r.Missing.IsZero() && r.limits.Read != backend.ReadNone
	}, (*rig).missingZone},
	{"observing writes nothing", func(r *rig) bool { return r.limits.Read != backend.ReadNone }, (*rig).observe},
	{"withdrawing empties or removes a zone that is owned", nil, (*rig).withdraw},
	{"withdrawing leaves foreign sets", hasForeign, (*rig).withdrawKept},
	{"two attachments of one zone share a target", nil, (*rig).twoAttachments},
	{"of two zones the older has the target, and the younger inherits it", nil, (*rig).twoZones},
	{"nothing is sent above a ceiling that is not stored", func(r *rig) bool {
		return r.limits.SOA == backend.SOAClient && r.limits.Read != backend.ReadNone
	}, (*rig).ceiling},
	{"nothing is sent when somebody else may lead", nil, (*rig).late},
}

// base is what every zone of the suite has: apex NS and an address for them.
func (r *rig) base(more ...rr.Set) rr.Sets {
	return setsOf(append(more, r.set("@", rr.TypeNS, "ns1."+r.zone.String()), r.set("ns1", rr.TypeA, "192.0.2.53"))...)
}

func (r *rig) steps() {
	target := "target." + r.zone.String()
	for _, sets := range []rr.Sets{
		r.base(),
		r.base(r.set("www", rr.TypeA, "192.0.2.1", "192.0.2.2"), r.set("www", rr.TypeAAAA, "2001:db8::1"),
			r.set("old", rr.TypeTXT, `"x"`)),
		r.base(r.set("www", rr.TypeA, "192.0.2.2", "192.0.2.3"), r.set("www", rr.TypeAAAA, "2001:db8::1"),
			r.set("@", rr.TypeMX, "10 "+target), r.set("*.wild", rr.TypeTXT, `"one; two" "three"`),
			r.set("_sip._tcp", rr.TypeSRV, "1 2 5060 "+target)),
		r.base(r.set("www", rr.TypeCNAME, target), r.set("target", rr.TypeA, "192.0.2.9"),
			r.set("@", rr.TypeCAA, `0 issue "ca.example.net"`)),
		r.base(r.set("www", rr.TypeA, "192.0.2.1"), r.set("www", rr.TypeTXT, `"back"`)),
		r.base(r.set("sub", rr.TypeNS, "ns.sub."+r.zone.String(), "ns.example.net."), r.set("ns.sub", rr.TypeA, "192.0.2.77"),
			r.set("sub", rr.TypeDS, "1 13 2 "+strings.Repeat("0A", 32))),
		r.base(r.set("sub", rr.TypeA, "192.0.2.5"), r.set("x.sub", rr.TypeAAAA, "2001:db8::5")),
		r.base(),
	} {
		r.sync(sets)
		r.restart()
	}
}

func (r *rig) apexNS() {
	r.sync(r.base())
	two := setsOf(r.set("@", rr.TypeNS, "ns1."+r.zone.String(), "ns2."+r.zone.String()),
		r.set("ns1", rr.TypeA, "192.0.2.53"), r.set("ns2", rr.TypeA, "192.0.2.54"))
	r.sync(two)
	r.sync(setsOf(r.set("@", rr.TypeNS, "ns2."+r.zone.String()), r.set("ns2", rr.TypeA, "192.0.2.54")))
	r.sync(setsOf(r.set("@", rr.TypeNS, "ns.example.net.")))
	r.restart()
	if r.limits.ApexNS != backend.ApexNSRequired {
		return
	}
	report := r.sync(rr.Sets{})
	if len(report.Refused) > 0 {
		r.Errorf("a zone without name servers of its own is refused: %v", report.Refused)
	}
	if _, truth, _ := r.Truth(r.zone); truth.Len() != 1 {
		r.Errorf("the zone has %d sets, want the NS that it had", truth.Len())
	}
}

func (r *rig) many() {
	r.sync(r.base())
	applies := r.applies.Load()
	sets := r.base()
	txn := sets.Txn()
	n := 20_000
	if r.limits.Atomic != backend.AtomicBatch {
		n = 2_000
	}
	for i := range n {
		txn.Put(r.set(fmt.Sprintf("host-%05d", i), rr.TypeA, fmt.Sprintf("10.0.%d.%d", i/256, i%256)))
	}
	r.sync(txn.Sets())
	applies = r.applies.Load() - applies
	r.Logf("%d sets took %d batches", n, applies)
	if r.MaxApplies > 0 && applies > int64(r.MaxApplies) {
		r.Errorf("%d sets took %d batches, want at most %d", n, applies, r.MaxApplies)
	}
	r.restart()
	r.sync(r.base())
}

func (r *rig) gather() {
	r.sync(r.base())
	applies := r.applies.Load()
	var seq uint64
	for i := range 300 {
		seq = r.publish(r.base(r.set("www", rr.TypeA, fmt.Sprintf("192.0.2.%d", i%250+1)),
			r.set(fmt.Sprintf("n%d", i), rr.TypeA, "192.0.2.1")))
	}
	report := r.confirmed(seq)
	r.check(r.want.Sets, report)
	r.Logf("300 contents took %d batches", r.applies.Load()-applies)
	r.restart()
}
