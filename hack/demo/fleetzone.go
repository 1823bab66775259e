package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const exampleZone = "dnszones/example-zone"

// applyZone applies the zone of the example with its records.
func (s *stage) applyZone(ctx context.Context) error {
	s.chapter("A zone", "It goes to every server of the provider. Records name it, or have a label that it selects.")
	if err := s.kubectl(ctx, "apply", "-f", filepath.Join(fleetExample, "20-zone.yaml")); err != nil {
		return err
	}
	s.say("Ready means: every server has confirmed all of it.")
	if err := s.awaitZone(ctx); err != nil {
		return err
	}
	kinds := "arecords,aaaarecords,cnamerecords,mxrecords,txtrecords,srvrecords,caarecords"
	if err := s.kubectl(ctx, "wait", "--for=condition=Ready", "-n", fleetSpace, kinds, "--all",
		"--timeout="+patience.String()); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "get", "-n", fleetSpace, "dnszones,"+kinds); err != nil {
		return err
	}
	s.say("")
	s.say("What the zone says of its servers:")
	return s.kubectl(ctx, "get", "-n", fleetSpace, exampleZone, "-o",
		`jsonpath={range .status.bind9Instances[*]}{.name}{"\t"}{.state}{"\t"}serial {.serial}{"\n"}{end}`)
}

func (s *stage) awaitZone(ctx context.Context) error {
	return s.kubectl(ctx, "wait", "--for=condition=Ready", "-n", fleetSpace, exampleZone, "--timeout="+patience.String())
}

// servers are those of the provider. It waits until each answers, which a Service does a while after its pod is Ready.
func (s *stage) servers(ctx context.Context) ([]server, error) {
	out, err := s.cluster.RunKubectl(ctx, "get", "services", "-n", fleetSpace, "-l", "cluster=global-dns", "-o",
		`jsonpath={.items[*].metadata.name}`)
	if err != nil {
		return nil, err
	}
	var all []server
	for _, name := range strings.Fields(out) {
		address, err := s.cluster.Service(ctx, fleetSpace, name)
		if err != nil {
			return nil, err
		}
		all = append(all, server{name, address})
	}
	if len(all) < 3 {
		return nil, fmt.Errorf("the provider has %d Services: %s", len(all), out)
	}
	return all, nil
}

// digServers asks every server for the zone.
func (s *stage) digServers(ctx context.Context) error {
	s.chapter("What every server answers",
		"The primaries have the zone from the operator, the secondary has it from them. All have the same serial.")
	return s.digAll(ctx)
}

// digAll asks every server, with dig for people and by itself for what has to be there, and compares what they say.
func (s *stage) digAll(ctx context.Context) error {
	servers, err := s.servers(ctx)
	if err != nil {
		return err
	}
	var before []string
	for _, at := range servers {
		args := []string{"@" + at.address.String(), "+noall", "+answer", "example.com", "SOA"}
		for _, w := range everywhere {
			args = append(args, strings.TrimSuffix(w.name, "."), dns.TypeToString[w.typ])
			if err := w.ask(ctx, at.dns()); err != nil {
				return fmt.Errorf("%s: %w", at.name, err)
			}
		}
		s.say("%s:", at.name)
		s.command(append([]string{"dig"}, slices.Clone(args)...)...)
		out, err := exec.CommandContext(ctx, "dig", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("dig (Debian: apt-get install bind9-dnsutils): %w: %s", err, out)
		}
		got := records(string(out))
		if slices.Sort(got); before != nil && !slices.Equal(got, before) {
			return fmt.Errorf("%s answers %q and another server %q", at.name, got, before)
		}
		if before == nil {
			s.show(string(out))
		} else {
			s.show(strings.SplitAfterN(string(out), "\n", 2)[0])
			s.say("  and the same %d records as the first", len(got)-1)
		}
		before = got
	}
	return nil
}

// showConflict has a record refused.
func (s *stage) showConflict(ctx context.Context) error {
	s.chapter("One that is refused",
		"A CNAME where there are addresses. Nothing changes on the servers; the object says why.")
	if err := s.kubectl(ctx, "apply", "-f", "hack/demo/refused.yaml"); err != nil {
		return err
	}
	if _, err := s.cluster.RunKubectl(ctx, "wait",
		"--for=jsonpath={.status.conditions[?(@.type==\"Ready\")].reason}=Conflict", "-n", fleetSpace,
		"cnamerecords/www-younger", "--timeout="+patience.String()); err != nil {
		return err
	}
	return s.kubectl(ctx, "get", "-n", fleetSpace, "cnamerecords/www-younger", "-o",
		`jsonpath={range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\n"}{end}`)
}

// changeFleet changes an address a few times and measures how long it takes until each server answers with it.
func (s *stage) changeFleet(ctx context.Context) error {
	s.chapter("A change", "How long does it take until every server has it? The demo sends what kubectl sends over an "+
		"open connection, and asks all of them all the time.")
	patch := func(n int) string { return fmt.Sprintf(`{"spec":{"ipv4":"192.0.2.%d"}}`, n) }
	s.command("kubectl", "patch", "arecords/mail", "-n", fleetSpace, "--type=merge", "-p", patch(31))
	send, err := s.patcher("/apis/bindy.firestoned.io/v1beta1/namespaces/" + fleetSpace + "/arecords/mail")
	if err != nil {
		return err
	}
	if err := send(ctx, `{}`); err != nil { // opens the connection and changes nothing
		return err
	}
	servers, err := s.servers(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for n := 31; n < 36; n++ {
		want := wish{"mail.example.com.", dns.TypeA, []string{fmt.Sprintf("192.0.2.%d", n)}}
		took, began := make([]chan time.Duration, len(servers)), time.Now()
		for i, at := range servers {
			took[i] = make(chan time.Duration, 1)
			go func() {
				tick := time.NewTicker(time.Millisecond)
				defer tick.Stop()
				for want.ask(ctx, at.dns()) != nil && ctx.Err() == nil {
					<-tick.C
				}
				took[i] <- time.Since(began)
			}()
		}
		if err := send(ctx, patch(n)); err != nil {
			return err
		}
		var all []string
		for i, at := range servers {
			all = append(all, fmt.Sprintf("%s after %.1f", strings.TrimPrefix(at.name, "global-dns-"),
				(<-took[i]).Seconds()*1000))
		}
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("not every server answers with %s", want.data[0]), ctx.Err())
		}
		s.say("  %s: %s milliseconds", want.data[0], strings.Join(all, ", "))
	}
	return s.awaitZone(ctx)
}
