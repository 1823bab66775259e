package scenario

import (
	"fmt"
	"testing"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// snapshot returns the versions of all objects of the scene, and what a server has received.
func (s *scene) snapshot() string {
	s.t.Helper()
	return s.asStored() + fmt.Sprintf("serial %d, %d updates", s.serial(s.bind, "example.org."), s.updates(s.bind))
}

// asStored returns the versions of all objects of the scene.
func (s *scene) asStored() string {
	s.t.Helper()
	return s.kubectl("get", "zones.kubi.zone,records.kubi.zone,zoneslices.zonefold.dev", "-n", s.prefix+"a",
		"-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`) +
		s.kubectl("get", "backends.zonefold.dev", "-o",
			`jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
}

// audited waits until so many whole readings of zones have been made since.
func (s *scene) audited(times float64) {
	s.t.Helper()
	began := s.metric("zonefold_backend_read_seconds_count")
	s.eventually("audits", func() string {
		if n := s.metric("zonefold_backend_read_seconds_count") - began; n < times {
			return fmt.Sprintf("%v of %v", n, times)
		}
		return ""
	})
}

// audits has all targets read as often as they can be.
const audits = "--audit-interval=1s"

func TestIdleMeansNoWrites(t *testing.T) {
	s := newStage(t)
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	s.start(audits)
	s.apply(www("b") + `
		record a/bad: {domainName: _bad.example.org., type: A, rdata: 192.0.2.2}
		record a/orphan: {domainName: www.example.net., type: A, rdata: 192.0.2.3}
	`)
	s.ready("zone a/org", "record a/www")
	s.refused("record a/orphan", "NoZone")
	s.cond("record a/bad", "Served", "False Rejected")
	s.audited(2)
	s.remove("record a/bad") // what is refused is tried again at audits
	s.audited(2)
	before, writes := s.snapshot(), s.writes()
	s.audited(8)
	if after := s.snapshot(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if after := s.writes(); after != writes {
		t.Errorf("before:\n%s\nafter:\n%s", writes, after)
	}
}

func TestARestart(t *testing.T) {
	s := newStage(t)
	s.bind = s.bindWith("example.org.", "foreign.example.org. 60 IN A 192.0.2.99")
	if err := s.bind.AddZone(s.ctx, zoneNamed(s.text("example.com."))); err != nil {
		t.Fatal(err)
	}
	s.backend("b", "", s.bind)
	s.start(audits)
	s.apply(www("b") + `
		record a/old: {domainName: old.example.org., type: A, rdata: 192.0.2.2}
		record a/ns: {domainName: example.org., type: NS, rdata: ns.example.net.}
	`)
	s.ready("zone a/org", "record a/www", "record a/old", "record a/ns")
	s.agreeForeign()
	s.audited(2)

	for name, end := range map[string]func(){"in order": func() { s.op.Stop() }, "by a crash": func() { s.op.Kill() }} {
		s.step("after an end "+name+" writes nothing when nothing changed", func() {
			before := s.snapshot()
			end()
			s.start(audits)
			s.eventually("ready", func() string {
				if !s.op.Ready() {
					return "it is not"
				}
				return ""
			})
			s.eventually("metrics", func() string {
				if _, err := s.op.Metrics("zonefold_"); err != nil {
					return err.Error()
				}
				return ""
			})
			s.audited(3)
			if after := s.snapshot(); after != before {
				s.t.Errorf("before:\n%s\nafter:\n%s\n%s", before, after, s.writes())
			}
		})
	}

	s.step("applies what changed meanwhile and leaves what it never wrote", func() {
		s.op.Kill()
		s.remove("record a/old")
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.7}`)
		s.apply(`record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.8}`)
		s.start()
		s.answers("www.example.org. A", "192.0.2.7")
		s.answers("new.example.org. A", "192.0.2.8")
		s.answers("old.example.org. A")
		s.answers("foreign.example.org. A", "192.0.2.99")
		s.ready("zone a/org", "record a/new", "record a/www")
	})

	s.step("renames what was renamed meanwhile", func() {
		s.op.Kill()
		s.apply(`
		zone a/org: {domainName: example.com., backendRefs: [{name: ~b}], delegations: ` + anything + `}
		record a/www: {domainName: www.example.com., type: A, rdata: 192.0.2.9}
		`)
		s.start()
		s.answers("www.example.com. A", "192.0.2.9")
		s.answers("www.example.org. A")
		s.answers("new.example.org. A")
		s.answers("foreign.example.org. A", "192.0.2.99")
		s.ready("zone a/org", "record a/www")
	})

	s.step("withdraws what was sent elsewhere, and then what was deleted", func() {
		s.op.Kill()
		two := s.startBIND("example.com.")
		s.backend("two", "", two)
		s.apply(`zone a/org: {domainName: example.com., backendRefs: [{name: ~two}], delegations: ` + anything + `}`)
		s.start()
		s.answersAt(two, "www.example.com. A", "192.0.2.9")
		s.answers("www.example.com. A")
		s.ready("zone a/org", "record a/www")
		s.op.Kill()
		s.remove("zone a/org")
		s.start()
		s.gone("zone a/org")
		s.answersAt(two, "www.example.com. A")
	})
}

// agreeForeign waits until status and server have the same serial.
func (s *scene) agreeForeign() {
	s.t.Helper()
	s.eventually("serial", func() string {
		if z := s.zone("a/org"); z.Status.Serial == nil || uint32(*z.Status.Serial) != s.serial(s.bind, "example.org.") {
			return "they differ"
		}
		return ""
	})
}

func TestTwoOperatorsNeverWriteAtOnce(t *testing.T) {
	s := newStage(t)
	elected := testoperator.Options{Args: []string{"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=5s",
		"--leader-elect-retry-period=500ms"}}
	s.bind = s.startBIND("example.org.")
	s.backend("b", "", s.bind)
	s.startWith(elected)
	leader := s.op
	s.apply(www("b"))
	s.ready("zone a/org", "record a/www")
	s.startWith(elected)
	follower := s.op
	s.eventually("the follower", func() string {
		if !follower.Ready() {
			return "is not ready"
		}
		return ""
	})
	if s.metric("zonefold_api_writes_total") != 0 || s.metric("zonefold_backend_changed_sets_total") != 0 {
		t.Error("the follower writes")
	}
	leader.Kill()
	s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
	s.answers("www.example.org. A", "192.0.2.2")
	s.ready("zone a/org", "record a/www")
	s.agree("a/org")
}
