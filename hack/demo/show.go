package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/nameserver"
)

// refused is the Record of the quickstart that no rule allows.
const refused = "takeover"

// applyQuickstart applies the example and waits until it is served.
func (s *stage) applyQuickstart(ctx context.Context) error {
	s.chapter("Zones and Records",
		"A zone example.org that gives a sub-zone to each of two teams, and the teams' own Zones and Records: see "+
			quickstart+".")
	if err := s.kubectl(ctx, "apply", "-f", quickstart); err != nil {
		return err
	}
	s.say("Ready means: accepted, and confirmed by BIND.")
	timeout := "--timeout=" + patience.String()
	if err := s.kubectl(ctx, "wait", "--for=condition=Ready", "zones.kubi.zone", "--all", "-A", timeout); err != nil {
		return err
	}
	others, err := s.cluster.RunKubectl(ctx, "get", "records.kubi.zone", "-n", "team-b", "-o", "name")
	if err != nil {
		return err
	}
	for _, which := range [][]string{
		{"-n", "dns", "--all"},
		{"-n", "team-a", "--all"},
		append([]string{"-n", "team-b"}, slices.DeleteFunc(strings.Fields(others), func(name string) bool {
			return strings.HasSuffix(name, "/"+refused)
		})...),
	} {
		args := append([]string{"wait", "--for=condition=Ready", timeout}, which...)
		if slices.Contains(which, "--all") {
			args = append(args, "records.kubi.zone")
		}
		if _, err := s.cluster.RunKubectl(ctx, args...); err != nil {
			return err
		}
	}
	_, err = s.cluster.RunKubectl(ctx, "wait", "--for=condition=Accepted=false", "-n", "team-b", "records.kubi.zone/"+
		refused, timeout)
	return err
}

// showObjects shows what kubectl says of everything, and the content of one zone.
func (s *stage) showObjects(ctx context.Context) error {
	s.chapter("What became of them",
		"FQDN and PARENT are found by the operator; the records of all three zones are merged, checked and delivered.")
	if err := s.kubectl(ctx, "get", "zones.kubi.zone,records.kubi.zone", "-A"); err != nil {
		return err
	}
	s.say("")
	s.say("What example.org holds. The name servers of the sub-zones, and their addresses, came into it from the teams'")
	s.say("Zones:")
	return s.kubectl(ctx, "get", "zones.kubi.zone/example-org", "-n", "dns", "-o",
		`jsonpath={range .status.entries[*]}{.fqdn} {.ttl} {.class} {.type} {.rdata}{"\n"}{end}`)
}

// showRefusal shows why one Record is not served.
func (s *stage) showRefusal(ctx context.Context) error {
	s.chapter("The one that is refused",
		"A Record of team-b asks for a name of team-a, which no delegation gives it. Nothing changes for team-a.")
	if err := s.kubectl(ctx, "get", "records.kubi.zone/"+refused, "-n", "team-b", "-o",
		`jsonpath={range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}`); err != nil {
		return err
	}
	reason, err := s.cluster.RunKubectl(ctx, "get", "records.kubi.zone/"+refused, "-n", "team-b", "-o",
		`jsonpath={.status.conditions[?(@.type=="Accepted")].reason}`)
	if err != nil {
		return err
	}
	if reason != "NotDelegated" {
		return fmt.Errorf("the Record team-b/%s has the reason %q and not NotDelegated", refused, reason)
	}
	return nil
}

// A question is what dig is asked, and what it has to answer.
type question struct {
	name, rrtype string
	want         []string // owner, type and data, in any order
}

func questions() []question {
	return []question{
		{"example.org.", "NS", []string{"example.org. NS ns1.example.org.", "example.org. NS ns2.example.org."}},
		{"example.org.", "MX", []string{"example.org. MX 10 mail.example.org."}},
		{"example.org.", "TXT", []string{`example.org. TXT "v=spf1 mx -all"`}},
		{"example.org.", "CAA", []string{`example.org. CAA 0 issue "letsencrypt.org"`}},
		{"mail.example.org.", "A", []string{"mail.example.org. A 192.0.2.25"}},
		{"team-a.example.org.", "NS", []string{"team-a.example.org. NS ns.team-a.example.org."}},
		{"shop.team-a.example.org.", "A", []string{"shop.team-a.example.org. CNAME www.team-a.example.org.",
			"www.team-a.example.org. A 192.0.2.80"}},
		{"www.team-a.example.org.", "AAAA", []string{"www.team-a.example.org. AAAA 2001:db8::80"}},
		{"team-b.example.org.", "NS", []string{"team-b.example.org. NS ns1.example.org.",
			"team-b.example.org. NS ns2.example.org."}},
		{"_xmpp-client._tcp.team-b.example.org.", "SRV", []string{
			"_xmpp-client._tcp.team-b.example.org. SRV 5 0 5222 chat.team-b.example.org."}},
		{"chat.team-b.example.org.", "A", []string{"chat.team-b.example.org. A 203.0.113.5"}},
	}
}

// askBIND asks with dig.
func (s *stage) askBIND(ctx context.Context) error {
	s.chapter("What BIND answers")
	for _, q := range questions() {
		if err := s.dig(ctx, s.bind, q); err != nil {
			return err
		}
	}
	return nil
}

// dig asks a server one question and compares the answer.
func (s *stage) dig(ctx context.Context, server *nameserver.Server, q question) error {
	out, err := s.runDig(ctx, server, q.name, q.rrtype)
	if err != nil {
		return err
	}
	got := records(out)
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(q.want)); !slices.Equal(got, want) {
		return fmt.Errorf("%s answers %s %s with %q and not with %q", server.Addr(), q.name, q.rrtype, got, want)
	}
	return nil
}

// runDig prints a dig command, runs it, and prints what it says.
func (s *stage) runDig(ctx context.Context, server *nameserver.Server, ask ...string) (string, error) {
	host, port, _ := strings.Cut(server.Addr(), ":")
	args := append([]string{"@" + host, "-p", port, "+noall", "+answer"}, ask...)
	s.command(append([]string{"dig"}, args...)...)
	out, err := exec.CommandContext(ctx, "dig", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("dig (Debian: apt-get install bind9-dnsutils): %w: %s", err, out)
	}
	s.show(string(out))
	return string(out), nil
}

// records returns the owners, types and data that dig has printed.
func records(out string) (found []string) {
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 4 && f[2] == "IN" {
			found = append(found, strings.Join(append([]string{f[0]}, f[3:]...), " "))
		}
	}
	return found
}
