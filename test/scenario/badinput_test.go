package scenario

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// wrong is an object that is wrong, and what is said about it.
type wrong struct {
	spec    string
	reason  string // of the condition; of what the schema refuses: none
	message []string
}

// rejected tries to create an object that the schema refuses, and compares its words.
func (s *scene) rejected(ref string, w wrong) {
	s.t.Helper()
	err := s.client.Create(s.ctx, s.objects(ref + ": " + w.spec)[0].loose())
	if !apierrors.IsInvalid(err) {
		s.t.Errorf("%s: the API server says %v", w.spec, err)
		return
	}
	for _, m := range w.message {
		if !strings.Contains(err.Error(), s.text(m)) {
			s.t.Errorf("%s: the API server says %q, without %q", w.spec, err, s.text(m))
		}
	}
}

// unharmed waits until the Zone a/org and its Record are what they were, and BIND with
// them, and checks that the operator has not crashed.
func (s *scene) unharmed(address string) {
	s.t.Helper()
	s.ready("zone a/org", "record a/www")
	s.answers("www.example.org. A", address)
	s.agree("a/org")
	s.sound()
}

// sound checks that the operator lives and that nothing which it writes is refused.
func (s *scene) sound() {
	s.t.Helper()
	select {
	case <-s.op.Done():
		s.t.Fatal("the operator has ended")
	default:
	}
	for line := range strings.SplitSeq(s.log.String(), "\n") {
		for _, trouble := range []string{
			"panic", "cannot be brought up to date", "rejected event", "ailed to list", "ailed to watch",
		} {
			if strings.Contains(line, trouble) {
				s.t.Errorf("the operator logs: %.600s", line)
			}
		}
	}
}

// sentence checks that what a person reads begins and ends as a sentence does, in one line.
func (s *scene) sentence(ref, kind string) {
	s.t.Helper()
	c := find(conditionsOf(s.get(ref)), kind)
	if c == nil || len(c.Message) < 20 || !strings.HasSuffix(c.Message, ".") ||
		strings.ContainsAny(c.Message, "\n\r\x00") {
		s.t.Errorf("%s says %+v", ref, c)
	}
}

func TestBadInput(t *testing.T) {
	s := newKubizone(t)
	s.backend("bind", "default: true, foreign: Delete, auditInterval: 1s", s.bind)
	s.serve("example.org.")
	s.apply(`
		zone a/org: {domainName: example.org., delegations: [{namespace: ~a, records: [{pattern: "@"}, {pattern: "*"}], zones: ["*"]}]}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
	`)
	s.unharmed("192.0.2.1")

	s.step("what the schema can see is refused at once, in words", func() {
		for _, w := range badRecords {
			s.rejected("record a/bad", w)
		}
		for _, w := range badZones {
			s.rejected("zone a/bad", w)
		}
		s.unharmed("192.0.2.1")
	})

	s.step("Records that cannot be understood say why", func() {
		before, n := s.metric("zonefold_api_writes_total"), 0
		for i, w := range oddRecords {
			s.apply(fmt.Sprintf("record a/odd-%d: %s", i, w.spec))
			n++
		}
		for i, w := range oddRecords {
			ref := fmt.Sprintf("record a/odd-%d", i)
			s.refused(ref, w.reason, append(w.message, "Record ~"+ref[len("record "):])...)
			s.sentence(ref, "Ready")
		}
		if writes := s.metric("zonefold_api_writes_total") - before; writes > 2*float64(n) {
			s.t.Errorf("%d Records took %v writes", n, writes)
		}
		s.unharmed("192.0.2.1")
	})

	s.step("Zones that cannot be understood say why", func() {
		before, n := s.metric("zonefold_api_writes_total"), 0
		for i, w := range oddZones {
			s.apply(fmt.Sprintf("zone a/odd-%d: %s", i, w.spec))
			n++
		}
		for i, w := range oddZones {
			ref := fmt.Sprintf("zone a/odd-%d", i)
			s.refused(ref, w.reason, append(w.message, "Zone ~"+ref[len("zone "):])...)
			s.sentence(ref, "Ready")
			s.noEntries(ref[len("zone "):])
		}
		if writes := s.metric("zonefold_api_writes_total") - before; writes > 2*float64(n) {
			s.t.Errorf("%d Zones took %v writes", n, writes)
		}
		s.unharmed("192.0.2.1")
	})

	s.step("rules that cannot be read grant nothing and say why", func() {
		s.serve("rules.example.org.")
		for i, w := range oddRules {
			s.apply(
				fmt.Sprintf("zone a/rules: {domainName: rules.example.org., delegations: [%s, {records: [{pattern: good}]}]}",
					w.spec))
			s.apply(fmt.Sprintf(`
		record a/good: {domainName: good.rules.example.org., type: A, rdata: 192.0.2.%d}
		record b/rule-%d: {domainName: x%d.rules.example.org., type: A, rdata: 192.0.2.66}
			`, i+1, i, i))
			s.cond("zone a/rules", "Warning", "True InvalidRule",
				append(w.message, "Rule 0", "Zone ~a/rules", "grants nothing")...)
			s.sentence("zone a/rules", "Warning")
			s.refused(fmt.Sprintf("record b/rule-%d", i), "NotDelegated", "Zone ~a/rules")
			s.answers("good.rules.example.org. A", fmt.Sprintf("192.0.2.%d", i+1))
		}
		s.agree("a/rules")
		s.unharmed("192.0.2.1")
	})

	s.step("what is corrected is served, and what becomes wrong is withdrawn", func() {
		s.apply(`record a/odd-0: {domainName: mended.example.org., type: A, rdata: 192.0.2.9}`)
		s.ready("record a/odd-0")
		s.answers("mended.example.org. A", "192.0.2.9")
		s.apply(`record a/odd-0: {domainName: mended.example.org., type: A, rdata: 192.0.2.900}`)
		s.refused("record a/odd-0", "InvalidData")
		s.answers("mended.example.org. A")
		s.unharmed("192.0.2.1")
	})

	s.step("a restart changes none of it", func() { s.restartChangesNothing() })
}
