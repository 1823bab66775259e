package main

import (
	"context"
	"fmt"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/testcluster/images"
)

// scaleFleet asks for more servers.
func (s *stage) scaleFleet(ctx context.Context) error {
	s.chapter("More of them", "One field of the provider.")
	if err := s.kubectl(ctx, "patch", "clusterbind9providers/global-dns", "--type=merge", "-p", `{"spec":{"secondaryReplicas":3}}`); err != nil {
		return err
	}
	if err := s.awaitFleet(ctx); err != nil {
		return err
	}
	return s.kubectl(ctx, "get", "bind9instances", "-n", fleetSpace)
}

// rollFleet asks for another version while somebody asks questions.
func (s *stage) rollFleet(ctx context.Context) error {
	s.chapter("Another version", "Pods are replaced one at a time, each by one that is ready before. Meanwhile the demo asks both primaries of the provider all the time.")
	asking, stop := context.WithCancel(ctx)
	defer stop()
	var asked []chan tally
	for _, server := range []string{"global-dns-primary-0", "global-dns-primary-1"} {
		address, err := s.service(ctx, server)
		if err != nil {
			return err
		}
		result := make(chan tally, 1)
		go func() { result <- ask(asking, server, address+":53") }()
		asked = append(asked, result)
	}
	if err := s.kubectl(ctx, "patch", "clusterbind9providers/global-dns", "--type=merge", "-p", `{"spec":{"version":"`+images.OtherVersion+`"}}`); err != nil {
		return err
	}
	if err := s.awaitFleet(ctx); err != nil {
		return err
	}
	stop()
	for _, result := range asked {
		t := <-result
		s.say("  %s has answered %d of %d questions", t.server, t.answers, t.questions)
		if t.answers < t.questions || t.questions == 0 {
			return fmt.Errorf("%s did not answer %d of %d questions: %w", t.server, t.questions-t.answers, t.questions, t.last)
		}
	}
	return s.kubectl(ctx, "get", "deployments", "-n", fleetSpace, "-o",
		`jsonpath={range .items[*]}{.metadata.name}{"\t"}{.spec.template.spec.containers[0].image}{"\t"}{.status.readyReplicas} ready{"\n"}{end}`)
}

// A tally is what came of asking a server.
type tally struct {
	server             string
	questions, answers int
	last               error
}

// ask asks a server until ctx ends. That it has no such zone is an answer too.
func ask(ctx context.Context, server, address string) tally {
	t := tally{server: server}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	client := &dns.Client{Net: "tcp", Timeout: 2 * time.Second}
	for {
		select {
		case <-ctx.Done():
			return t
		case <-tick.C:
		}
		t.questions++
		if _, _, err := client.Exchange(new(dns.Msg).SetQuestion("example.com.", dns.TypeSOA), address); err != nil {
			t.last = err
			continue
		}
		t.answers++
	}
}
