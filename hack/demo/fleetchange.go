package main

import (
	"context"
	"fmt"

	"github.com/zonefold/zonefold/internal/testcluster/images"
)

// scaleFleet asks for more servers.
func (s *stage) scaleFleet(ctx context.Context) error {
	s.chapter("More of them", "One field of the provider. A new server is ready when it has all zones.")
	if err := s.kubectl(ctx, "patch", "clusterbind9providers/global-dns", "--type=merge", "-p",
		`{"spec":{"secondaryReplicas":3}}`); err != nil {
		return err
	}
	if err := s.awaitFleet(ctx); err != nil {
		return err
	}
	if err := s.kubectl(ctx, "get", "bind9instances", "-n", fleetSpace); err != nil {
		return err
	}
	if err := s.awaitZone(ctx); err != nil {
		return err
	}
	return s.digAll(ctx)
}

// rollFleet asks for another version while somebody asks questions.
func (s *stage) rollFleet(ctx context.Context) error {
	s.chapter("Another version", "Pods are replaced one at a time, each by one that has all zones before. Meanwhile "+
		"somebody asks the servers all the time, as resolvers do,",
		"and the demo asks each server alone: on a busy machine a packet now and then is for a Pod that has just gone.")
	servers, err := s.servers(ctx)
	if err != nil {
		return err
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	resolver := keepAsking(asking, "the resolver", asResolversDo(servers))
	var asked []<-chan *tally
	for _, at := range servers {
		asked = append(asked, keepAsking(asking, at.name, asResolversDo([]server{at})))
	}
	if err := s.kubectl(ctx, "patch", "clusterbind9providers/global-dns", "--type=merge", "-p", `{"spec":{"version":"`+
		images.OtherVersion+`"}}`); err != nil {
		return err
	}
	if err := s.awaitFleet(ctx); err != nil {
		return err
	}
	stop()
	for _, result := range append(asked, resolver) {
		t := <-result
		s.say("  %s: %d questions, %d right answers, %d wrong ones", t.what, t.questions, t.answers, t.wrong)
		if err := t.last; t.wrong > 0 || t.answers == 0 || err != nil && t.what == "the resolver" {
			return fmt.Errorf("%s: %d of %d questions had the right answer: %w", t.what, t.answers, t.questions, err)
		}
	}
	return s.kubectl(ctx, "get", "deployments", "-n", fleetSpace, "-o",
		`jsonpath={range .items[*]}{.metadata.name}{"\t"}{.spec.template.spec.containers[0].image}{"\t"}{.status.readyReplicas} ready{"\n"}{end}`)
}
