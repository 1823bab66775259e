package scenario

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/testoperator"
)

const updateSecret = "b25lIHNlY3JldCBvZiBhIERIQ1Agc2VydmVyIQ=="

// nsupdate has BIND's own client send an update to s.bind, and returns what it says: nothing if all is well.
func (s *scene) nsupdate(key, commands string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	host, port, _ := strings.Cut(s.bind.Addr(), ":")
	args := []string{"-t", "20", "-u", "15"}
	if key != "" {
		args = append(args, "-y", "hmac-sha256:"+key+":"+updateSecret)
	}
	cmd := exec.CommandContext(ctx, "nsupdate", args...)
	cmd.Stdin = strings.NewReader(s.text(fmt.Sprintf("server %s %s\nzone example.org.\n%s\nsend\n", host, port,
		strings.ReplaceAll(commands, "; ", "\n"))))
	out, _ := cmd.CombinedOutput() // what is wrong is in it
	return strings.TrimSpace(string(out))
}

// answered is nsupdate of a client that sends again what could not be carried out in time.
func (s *scene) answered(key, commands string) (says string) {
	s.t.Helper()
	s.eventually("an answer to an update", func() string {
		if says = s.nsupdate(key, commands); strings.Contains(says, "SERVFAIL") {
			return says
		}
		return ""
	})
	return says
}

// mayUpdate gives the operator what the chart gives it with updates, and waits until that is so.
func (s *scene) mayUpdate() {
	s.t.Helper()
	chart, err := testoperator.Template(s.ctx, "updates=true", "rbac.yaml", "policies.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	if out, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(chart), "apply", "-f", "-"); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	s.t.Cleanup(func() {
		for _, args := range [][]string{{"apply", "-f", manifest, "-l", ours}, {"delete",
			"validatingadmissionpolicybinding/zonefold-updates", "validatingadmissionpolicy/zonefold-updates"}} {
			if out, err := s.cluster.RunKubectl(context.Background(), args...); err != nil {
				s.t.Errorf("%v: %s", err, out)
			}
		}
	})
	s.eventually("the policies are in force", func() string {
		out, _ := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(`{apiVersion: kubi.zone/v1alpha1, kind: Record, `+
			`metadata: {name: x, namespace: default}, spec: {domainName: x.example.org., type: A, rdata: 192.0.2.1}}`),
			"create", "--dry-run=server", "-f", "-",
			"--as=system:serviceaccount:"+testoperator.Namespace+":"+testoperator.ServiceAccount)
		if !strings.Contains(out, "zonefold-updates") {
			return out
		}
		return ""
	})
}

func TestClientsOfDynamicUpdates(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	s.bind = s.ownServer()
	backend := `backend b: {embedded: {update: [{keyName: dhcp, secretRef: {name: ~dhcp}, namespace: ~b}, ` +
		`{keyName: early, secretRef: {name: ~dhcp}, namespace: ~missing}]}}
`
	zone := `zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: ` +
		`[{namespace: ~a, records: [{pattern: "*"}]}, {namespace: ~b, records: [{pattern: "*.dyn"}]}, ` +
		`{namespace: ~missing, records: [{pattern: "*.early"}]}]}
record a/www: {domainName: www, zoneRef: {name: org}, type: A, rdata: 192.0.2.80}
record a/held: {domainName: held.dyn, zoneRef: {name: org}, type: A, rdata: 192.0.2.81}
record b/ours: {domainName: p.dyn.example.org., type: TXT, rdata: '"people"'}
`
	s.run("change what their namespaces may have", func(s *scene) {
		s.secret(testoperator.Namespace, s.prefix+"dhcp", updateSecret, nil)
		s.ensureNamespace(s.prefix + "b")
		s.apply(backend + zone)
		s.answers("www.example.org. A", "192.0.2.80")
		for _, c := range []struct{ name, key, commands, says, question, answers string }{
			{"adds a record, which is answered at once", "dhcp", "prereq nxdomain h.dyn.example.org.; " +
				"update add h.dyn.example.org. 60 A 192.0.2.1", "", "h.dyn.example.org. A", "192.0.2.1"},
			{"adds another one", "dhcp", "update add h.dyn.example.org. 60 A 192.0.2.2", "", "h.dyn.example.org. A",
				"192.0.2.1 192.0.2.2"},
			{"finds the name taken", "dhcp", "prereq nxdomain h.dyn.example.org.; " +
				"update add h.dyn.example.org. 60 A 192.0.2.3", "update failed: YXDOMAIN", "h.dyn.example.org. A",
				"192.0.2.1 192.0.2.2"},
			{"replaces a set", "dhcp", "update delete h.dyn.example.org. A; update add h.dyn.example.org. 60 A 192.0.2.4", "",
				"h.dyn.example.org. A", "192.0.2.4"},
			{"is refused all where one part is, after another one was changed", "dhcp", "update delete h.dyn.example.org. A; " +
				"update add h.dyn.example.org. 60 A 192.0.2.9; update add www.example.org. 60 TXT no", "update failed: REFUSED",
				"h.dyn.example.org. A", "192.0.2.4"},
			{"makes it a CNAME", "dhcp", "update delete h.dyn.example.org. A; " +
				"update add h.dyn.example.org. 60 CNAME www.example.org.", "", "h.dyn.example.org. CNAME", "www.example.org."},
			{"and two addresses again", "dhcp", "update delete h.dyn.example.org.; " +
				"update add h.dyn.example.org. 60 A 192.0.2.5; " +
				"update add h.dyn.example.org. 60 A 192.0.2.6", "", "h.dyn.example.org. A", "192.0.2.5 192.0.2.6"},
			{"and a CNAME again, though there are two", "dhcp", "update delete h.dyn.example.org.; " +
				"update add h.dyn.example.org. 60 CNAME www.example.org.", "", "h.dyn.example.org. CNAME", "www.example.org."},
			{"takes nobody's name", "dhcp", "update add www.example.org. 60 A 192.0.2.66", "update failed: REFUSED",
				"www.example.org. A", "192.0.2.80"},
			{"gives nobody's records another TTL", "dhcp", "update add www.example.org. 60 A 192.0.2.80",
				"update failed: REFUSED", "www.example.org. A", "192.0.2.80"},
			{"gives its own another TTL", "dhcp", "update add h.dyn.example.org. 61 CNAME www.example.org.", "",
				"h.dyn.example.org. CNAME", "www.example.org."},
			{"deletes nobody's records", "dhcp", "update delete www.example.org.", "update failed: REFUSED",
				"www.example.org. A", "192.0.2.80"},
			{"is refused all where one part is", "dhcp", "update add new.dyn.example.org. 60 A 192.0.2.7; " +
				"update add www.example.org. 60 TXT no", "update failed: REFUSED", "new.dyn.example.org. A", ""},
			{"takes no name that somebody holds", "dhcp", "update add held.dyn.example.org. 60 AAAA 2001:db8::1",
				"update failed: REFUSED", "held.dyn.example.org. AAAA", ""},
			{"acts for a namespace that does not exist", "early", "update add h.early.example.org. 60 A 192.0.2.7",
				"update failed: REFUSED", "h.early.example.org. A", ""},
			{"has to sign", "", "update add n.dyn.example.org. 60 A 192.0.2.7", "update failed: REFUSED",
				"n.dyn.example.org. A", ""},
			{"has to have a key that is known", "stranger", "update add n.dyn.example.org. 60 A 192.0.2.7",
				"; TSIG error with server: tsig indicates error\nupdate failed: NOTAUTH(BADKEY)", "n.dyn.example.org. A", ""},
			{"adds to a set of people, which has another TTL", "dhcp", "update add p.dyn.example.org. 300 TXT one", "",
				"p.dyn.example.org. TXT", `"one" "people"`},
			{"adds that again", "dhcp", "update add p.dyn.example.org. 300 TXT one", "", "p.dyn.example.org. TXT",
				`"one" "people"`},
			{"adds more to it", "dhcp", "update add p.dyn.example.org. 300 TXT two", "", "p.dyn.example.org. TXT",
				`"one" "people" "two"`},
			{"deletes from it what it has added", "dhcp", "update delete p.dyn.example.org. TXT one; " +
				"update delete p.dyn.example.org. TXT two", "", "p.dyn.example.org. TXT", `"people"`},
			{"writes texts", "dhcp", `update add _acme-challenge.x.dyn.example.org. 60 TXT "a_b"`, "",
				"_acme-challenge.x.dyn.example.org. TXT", `"a_b"`},
			{"deletes a name", "dhcp", "update delete h.dyn.example.org.", "", "h.dyn.example.org. CNAME", ""},
		} {
			if got := s.nsupdate(c.key, c.commands); got != c.says {
				s.t.Errorf("a client that %s is told %q", c.name, got)
			}
			s.answers(c.question, strings.Fields(c.answers)...)
		}
		var many []string
		for i := range 200 {
			many = append(many, fmt.Sprintf("update add n%d.many.dyn.example.org. 60 TXT %s", i, strings.Repeat("x", 40)))
		}
		for _, c := range []struct{ more, says string }{
			{"update add www.example.org. 60 TXT no", "update failed: REFUSED"},
			{"prereq nxdomain n1.many.dyn.example.org.", ""},
			{"prereq nxdomain n1.many.dyn.example.org.", "update failed: YXDOMAIN"},
		} {
			if got := s.answered("dhcp", c.more+"; "+strings.Join(many, "; ")); got != c.says {
				s.t.Errorf("a client that sends 16 KiB with %s is told %q", c.more, got)
			}
		}
		s.answers("n199.many.dyn.example.org. TXT", `"`+strings.Repeat("x", 40)+`"`)
		if got := s.answered("dhcp", strings.ReplaceAll(strings.Join(many, "; "), "add", "delete")); got != "" {
			s.t.Errorf("who deletes what it has sent is told %q", got)
		}
		s.forgets(backend, zone)
		made := s.kubectl("get", "records.kubi.zone", "-n", s.prefix+"b", "-l", "zonefold.dev/update=true", "-o",
			`jsonpath={range .items[*]}{.spec.domainName} {.spec.type} {.spec.rdata}{"\n"}{end}`)
		if want := s.text("_acme-challenge.x.dyn.example.org. TXT \"a_b\"\n"); made != want {
			s.t.Errorf("the Records are\n%s", made)
		}
	})
}

// forgets has clients delete what they have added and a Zone has refused since then: it would come again with the rule.
func (s *scene) forgets(backend, zone string) {
	s.t.Helper()
	if got := s.nsupdate("dhcp", "update add r.dyn.example.org. 60 TXT one; update add r.dyn.example.org. 60 TXT two; "+
		"update add r.dyn.example.org. 60 A 192.0.2.1; update add r2.dyn.example.org. 60 A 192.0.2.1"); got != "" {
		s.t.Errorf("who adds what is to be refused later is told %q", got)
	}
	s.apply(backend + strings.Replace(zone, "*.dyn", "*.gone", 1))
	s.answers("r.dyn.example.org. TXT")
	for _, c := range []struct{ name, commands string }{
		{"deletes a record", "update delete r.dyn.example.org. TXT one"},
		{"deletes a set", "update delete r.dyn.example.org. A"},
		{"deletes a name", "update delete r2.dyn.example.org."},
	} {
		if got := s.nsupdate("dhcp", c.commands); got != "" {
			s.t.Errorf("who %s that is refused is told %q", c.name, got)
		}
	}
	s.apply(backend + zone)
	s.answers("r.dyn.example.org. TXT", `"two"`)
	s.answers("r.dyn.example.org. A")
	s.answers("r2.dyn.example.org. A")
	s.answers("p.dyn.example.org. TXT", `"people"`)
	if got := s.nsupdate("dhcp", "update delete r.dyn.example.org."); got != "" {
		s.t.Errorf("who deletes a name is told %q", got)
	}
}

// Whichever replica a client asks: the one that leads carries the update out.
func TestFollowersPassUpdatesOn(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	all := s.replicas(2, "--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s",
		"--leader-elect-retry-period=500ms")
	s.secret(testoperator.Namespace, s.prefix+"dhcp", updateSecret, nil)
	for _, r := range all {
		r.run()
	}
	s.apply(`backend b: {embedded: {update: [{keyName: dhcp, secretRef: {name: ~dhcp}, namespace: ~b}]}}
zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: [{namespace: ~b, records: [{pattern: "*"}]}]}
record b/www: {domainName: www.example.org., type: A, rdata: 192.0.2.80}`)
	s.shown(all, "www.example.org. A", "192.0.2.80")
	for i, r := range all {
		s.bind = r.Server
		if got := s.nsupdate("dhcp", fmt.Sprintf("update add h%d.example.org. 60 A 192.0.2.%d", i, i)); got != "" {
			t.Errorf("replica %d says %s", i, got)
		}
		s.shown(all, fmt.Sprintf("h%d.example.org. A", i), fmt.Sprintf("192.0.2.%d", i))
		if got := s.nsupdate("dhcp", "update add www.example.org. 60 A 192.0.2.81; "+
			"update delete www.example.org. A 192.0.2.80"); got != "update failed: REFUSED" {
			t.Errorf("replica %d says %q of what is refused", i, got)
		}
	}
}
