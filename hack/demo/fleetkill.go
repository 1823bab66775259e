package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const victim = "global-dns-primary-0"

// A pod is what the demo wants to know of one.
type pod struct {
	Metadata struct {
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"metadata"`
	Status struct {
		PodIP      string `json:"podIP"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

func (p pod) ready() bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

// killPrimary kills the Pod of a primary while somebody asks, and looks at the new one from its beginning.
func (s *stage) killPrimary(ctx context.Context) error {
	s.chapter("A primary is killed", "Its zones are gone with its Pod. Meanwhile somebody asks the servers all the "+
		"time, as resolvers do: where there is no answer,",
		"the next server is asked. The demo also asks the new Pod itself, as soon as it has an address, whether it is "+
			"ready or not.")
	servers, err := s.servers(ctx)
	if err != nil {
		return err
	}
	old, err := s.podOf(ctx, victim, "")
	if err != nil {
		return err
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	resolver := keepAsking(asking, "the resolver", asResolversDo(servers))
	if err := s.kubectl(ctx, "delete", "pod", "-n", fleetSpace, old.Metadata.Name, "--now", "--wait=false"); err != nil {
		return err
	}
	killed := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	young, err := s.podOf(ctx, victim, old.Metadata.UID)
	if err != nil {
		return err
	}
	address := young.Status.PodIP + ":5353"
	direct := keepAsking(asking, young.Metadata.Name, func(ctx context.Context, n int) error {
		return everywhere[n%len(everywhere)].ask(ctx, address)
	})
	for !young.ready() {
		if young, err = s.podOf(ctx, victim, old.Metadata.UID); err != nil {
			return err
		}
	}
	readyAfter := time.Since(killed)
	for _, w := range everywhere { // now that it is said to be ready, it has everything
		if err := w.ask(ctx, address); err != nil {
			return fmt.Errorf("%s is ready, and yet: %w", young.Metadata.Name, err)
		}
	}
	if err := s.awaitZone(ctx); err != nil {
		return err
	}
	stop()
	return s.sayKilled(killed, readyAfter, <-resolver, <-direct)
}

// sayKilled says what came of it.
func (s *stage) sayKilled(killed time.Time, readyAfter time.Duration, resolver, direct *tally) error {
	s.say("  the resolver asked %d times, and had the right answer %d times; wrong answers: %d", resolver.questions,
		resolver.answers, resolver.wrong)
	s.say("  %s had nothing to say %d times, then all of the zone %.1f seconds after the end of the old Pod,", direct.what,
		direct.questions-direct.answers, direct.first.Sub(killed).Seconds())
	s.say("  and was ready after %.1f seconds; wrong answers: %d", readyAfter.Seconds(), direct.wrong)
	switch {
	case direct.wrong > 0:
		return fmt.Errorf("%s gave %d wrong answers: %w", direct.what, direct.wrong, direct.last)
	case direct.answers == 0:
		return fmt.Errorf("%s was never asked when it had the zone", direct.what)
	}
	return resolver.complaint()
}

// podOf waits for the Pod of a server, with an address, and another one than before.
func (s *stage) podOf(ctx context.Context, server, before string) (pod, error) {
	get, err := s.getter("/api/v1/namespaces/" + fleetSpace + "/pods?labelSelector=instance%3D" + server)
	if err != nil {
		return pod{}, err
	}
	for {
		var list struct {
			Items []pod `json:"items"`
		}
		if err := get(ctx, &list); err != nil {
			return pod{}, errors.Join(fmt.Errorf("there is no new Pod of %s", server), err)
		}
		for _, p := range list.Items {
			if p.Metadata.UID != before && p.Status.PodIP != "" {
				return p, nil
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}
