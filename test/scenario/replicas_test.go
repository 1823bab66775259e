package scenario

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// followed is a Backend whose zones may be transferred with the key of all tests, with a catalog zone.
func followed(name, catalog string) string {
	return fmt.Sprintf(`backend %s: {embedded: {catalogZone: %s, transfer: [{tsig: {keyName: zonefold., secretRef: {name: ~key}}}]}}
`, name, catalog)
}

// apexNS gives a zone a name server, so that it is transferred as it stands in the status.
const apexNS = "record a/ns: {domainName: example.org., type: NS, rdata: ns.example.net.}\n"

func TestReplicasAnswerAlike(t *testing.T) {
	s := newStage(t)
	// Nobody loses the Lease but by giving it up, however slow the machine is.
	all := s.replicas(3, "--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s",
		"--leader-elect-retry-period=500ms")
	seen := newHistory()
	all[0].run()
	s.apply(followed("b", "catalog.example.") + www("b") + apexNS)
	s.ready("zone a/org", "record a/www", "record a/ns")
	calm := s.watchAll(seen, all)

	s.step("one that comes later answers when it has everything, and not before", func() {
		leader := s.leads(all...)
		leader.signal(syscall.SIGSTOP)
		all[1].run()
		s.eventually("it answers", func() string { return s.unanswered(all[1]) })
		s.eventually("it runs", func() string { return unless(all[1].process().Live(), "it does not") })
		if all[1].process().Ready() {
			s.t.Error("it is ready without having anything")
		}
		leader.signal(syscall.SIGCONT)
		s.opens(all[1])
		all[2].run()
		s.opens(all[2])
		s.alike("example.org.", all...)
		s.alike("catalog.example.", all...)
	})

	s.step("what changes, comes and goes does so at all of them", func() {
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.shown(all, "www.example.org. A", "192.0.2.2")
		s.apply(followed("c", "catalog2.example.") + `
			zone a/net: {domainName: example.net., delegations: ` + anything + `, backendRefs: [{name: ~c}]}
			record a/net-ns: {domainName: example.net., type: NS, rdata: ns.example.org.}
			record a/net: {domainName: www.example.net., type: A, rdata: 192.0.2.3}`)
		s.shown(all, "www.example.net. A", "192.0.2.3")
		s.ready("zone a/net", "record a/net")
		for _, zone := range []string{"example.org.", "example.net.", "catalog.example.", "catalog2.example."} {
			s.alike(zone, all...)
		}
		s.listed(all, "catalog2.example.", "example.net.")
		s.remove("zone a/net")
		s.gone("zone a/net")
		for _, r := range all {
			s.eventually("it is refused", func() string { return s.rcodeAt(r.Server, "example.net. SOA", "REFUSED") })
		}
		s.listed(all, "catalog2.example.")
		s.alike("catalog2.example.", all...)
	})

	s.step("when the leader stops, another one leads at once and changes nothing", func() {
		s.settles("zone a/org")
		s.ready("zone a/org", "record a/www")
		s.counted("backend c", 0)
		serial, catalog, before := s.alike("example.org.", all...), s.alike("catalog.example.", all...), s.asStored()
		began := time.Now()
		all[0].process().Stop()
		gone := time.Now()
		rest := all[1:]
		leader := s.leads(rest...)
		t.Logf("the leader took %s to stop; %s later another one held the lease", gone.Sub(began), time.Since(gone))
		// It has taken over when the catalog has a new serial.
		s.eventually("the catalog", func() string {
			return unless(s.alike("catalog.example.", leader) != catalog, "it has not changed")
		})
		s.listed(rest, "catalog.example.", "example.org.")
		s.alike("catalog.example.", rest...)
		if now := s.alike("example.org.", rest...); now != serial {
			s.t.Errorf("the serial went from %d to %d", serial, now)
		}
		if after := s.asStored(); after != before {
			s.t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
		s.op = leader.process()
		if n := s.metric("zonefold_api_writes_total"); n != 0 {
			s.t.Errorf("the new leader has written %v times:\n%s", n, s.writes())
		}
		s.op = nil
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.4}`)
		s.shown(rest, "www.example.org. A", "192.0.2.4")
		s.bind = leader.Server
		s.agree("a/org")
		all[0].run()
		s.opens(all[0])
		s.alike("example.org.", all...)
		s.alike("catalog.example.", all...)
	})
	calm()
	seen.honest(s)
}

func TestReplicasLoseTheirLeader(t *testing.T) {
	s := newStage(t)
	all := s.replicas(3, "--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s",
		"--leader-elect-retry-period=300ms")
	for _, r := range all {
		r.keepRunning()
	}
	s.apply(followed("b", "catalog.example.") + www("b") + apexNS)
	s.ready("zone a/org", "record a/www", "record a/ns")
	s.opens(all...)
	seen := newHistory()
	calm := s.watchAll(seen, all)

	s.step("one that is killed: the others answer, and one of them leads", func() {
		leader := s.leads(all...)
		rest := without(all, leader)
		leader.stayDown()
		began := time.Now()
		next := s.leads(rest...)
		t.Logf("a new leader after %s", time.Since(began))
		for _, r := range rest {
			if trouble := s.rcodeAt(r.Server, "www.example.org. A", "NOERROR"); trouble != "" {
				s.t.Error(trouble)
			}
		}
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.shown(rest, "www.example.org. A", "192.0.2.2")
		t.Logf("a change at all replicas after %s", time.Since(began))
		s.bind = next.Server
		s.agree("a/org")
		leader.keepRunning()
		s.opens(leader)
		s.alike("example.org.", all...)
	})

	s.step("one that is paused: another one leads, and it ends when it goes on", func() {
		leader := s.leads(all...)
		rest := without(all, leader)
		paused := leader.process()
		leader.signal(syscall.SIGSTOP)
		next := s.leads(rest...)
		for i := range 20 { // so many that the paused one has no serials left for them
			data := fmt.Sprintf("192.0.2.%d", 100+i)
			s.apply(fmt.Sprintf(`record a/www: {domainName: www.example.org., type: A, rdata: %s}`, data))
			s.shown(rest, "www.example.org. A", data)
		}
		leader.signal(syscall.SIGCONT)
		began := time.Now()
		select {
		case <-paused.Done():
			t.Logf("it ended after %s", time.Since(began))
		case <-time.After(patience):
			s.t.Fatal("it goes on in the belief that it leads")
		}
		s.opens(leader)
		s.shown(all, "www.example.org. A", "192.0.2.119")
		s.alike("example.org.", all...)
		s.bind = next.Server
		s.agree("a/org")
	})

	s.step("one that is behind takes over: it comes to what is wanted, and not under an earlier serial", func() {
		leader := s.leads(all...)
		rest := without(all, leader)
		behind, other := rest[0], rest[1]
		other.stayDown()
		behind.signal(syscall.SIGSTOP)
		for i := range 5 {
			data := fmt.Sprintf("192.0.2.%d", 200+i)
			s.apply(fmt.Sprintf(`record a/www: {domainName: www.example.org., type: A, rdata: %s}`, data))
			s.answersAt(leader.Server, "www.example.org. A", data)
		}
		last := s.serial(leader.Server, "example.org.")
		leader.stayDown()
		behind.signal(syscall.SIGCONT)
		s.answersAt(behind.Server, "www.example.org. A", "192.0.2.204")
		// What the leader had sent it meanwhile may have waited for it: then it has that, under the leader's serial.
		if now := s.serial(behind.Server, "example.org."); now-last > 1<<30 {
			s.t.Errorf("it serves serial %d, the one before %d", now, last)
		}
		leader.keepRunning()
		other.keepRunning()
		s.opens(all...)
		s.alike("example.org.", all...)
		s.alike("catalog.example.", all...)
	})
	for _, r := range all {
		r.stayDown()
	}
	calm()
	seen.honest(s)
}
