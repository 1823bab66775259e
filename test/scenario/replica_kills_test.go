package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/nameserver"
)

// TestKillsOfReplicas kills operators that answer at random moments, the one that leads too, one or several at
// a time, while Records change. A Knot for each and one for all of them follow the zone meanwhile, as does the test.
func TestKillsOfReplicas(t *testing.T) {
	s := newStage(t)
	seed := rand.Uint64()
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SEED=%d", seed)
	all := s.replicas(3, "--leader-elect-lease-duration=2s", "--leader-elect-renew-deadline=1600ms",
		"--leader-elect-retry-period=200ms")
	knots := s.knotsOf(all)
	notify := ""
	for _, k := range knots {
		notify += `{address: "` + k.Addr() + `", tsig: {keyName: zonefold., secretRef: {name: ~key}}}, `
	}
	for _, r := range all {
		r.keepRunning()
	}
	s.apply(`backend b: {embedded: {transfer: [{tsig: {keyName: zonefold., secretRef: {name: ~key}}}], notify: [` +
		notify + `]}}` + "\n" + www("b") + apexNS)
	s.opens(all...)
	s.ready("zone a/org", "record a/www", "record a/ns")
	seen := newHistory()
	calm := s.watchAll(seen, all, knots...)
	half := make(chan struct{})
	loaded := s.loadRecords(half)
	t.Cleanup(loaded)

	began := time.Now()
	random := rand.New(rand.NewPCG(seed, 0))
	leaders := s.killReplicas(killing{15, []int{1, 1, 1, 2, 2, 3}}, random, all, seen)
	close(half)
	leaders += s.killReplicas(killing{15, []int{1, 2, 3, 3, 3}}, random, all, seen)
	took := time.Since(began)
	loaded()
	s.opens(all...)
	s.converged(seen, 8)
	serial := s.alike("example.org.", all...)
	for _, k := range knots {
		if err := k.Await(s.ctx, name(s.text("example.org.")), serial); err != nil {
			t.Error(err)
		}
		s.alike("example.org.", all[0], &replica{scene: s, Server: k})
	}
	for _, r := range all {
		r.stayDown()
	}
	calm()
	seen.honest(s)
	t.Logf("30 kills, %d of them of the leader, in %s; %d answers of replicas that did not have everything yet", leaders,
		took.Round(time.Second), seen.closed)
	t.Logf("at the most %s without a new version, %s without an answer from any replica", seen.gap.Round(time.Millisecond),
		seen.silence.Round(time.Millisecond))
}

// knotsOf starts a Knot for each replica, and one that follows all of them.
func (s *scene) knotsOf(all []*replica) (knots []*nameserver.Server) {
	s.t.Helper()
	for i := range len(all) + 1 {
		primaries := all
		if i < len(all) {
			primaries = all[i : i+1]
		}
		knot, err := s.knotOf(primaries...)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(knot.Close)
		knots = append(knots, knot)
	}
	return knots
}

// loadRecords changes Records until what it returns is called: at first many, so that no content comes twice, and after
// half of the time one, between two values: what a status tells of under one serial is wanted again after others.
func (s *scene) loadRecords(half <-chan struct{}) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var parts sync.WaitGroup
	parts.Go(func() {
		many, enough := context.WithCancel(ctx)
		go func() {
			select {
			case <-half:
			case <-ctx.Done():
			}
			enough()
		}()
		s.writeRecords(many, 5*time.Millisecond)
		for i := 0; ctx.Err() == nil; i++ {
			o := s.reference("record a/r0")
			o.spec = map[string]any{"domainName": o.name + s.text(".example.org."), "type": "A", "rdata": fmt.Sprintf(
				"192.0.2.%d", 10+i%2)}
			if err := s.send(o); err != nil && ctx.Err() == nil {
				s.t.Error(err)
			}
			pause(ctx, 20*time.Millisecond)
		}
	})
	return func() { cancel(); parts.Wait() }
}

// A killing is how many are killed in all, and how many at a time.
type killing struct {
	times int
	many  []int
}

// killReplicas kills replicas, and returns how often one was killed that led. After three at the latest it waits until
// those that are left, or begin again, have done something: on a slow machine most die before they have anything.
func (s *scene) killReplicas(k killing, random *rand.Rand, all []*replica, seen *history) (leaders int) {
	s.t.Helper()
	for killed, idle := 0, 0; killed < k.times; {
		pause(s.ctx, time.Duration(random.IntN(400))*time.Millisecond)
		if s.ctx.Err() != nil {
			s.t.Fatalf("it takes too long: %d kills", killed)
		}
		many := k.many[random.IntN(len(k.many))]
		leader := s.leader(all)
		for _, i := range random.Perm(len(all))[:many] {
			if all[i].kill() {
				killed, idle = killed+1, idle+1
				if all[i] == leader {
					leaders++
				}
			}
		}
		if idle >= 3 || random.IntN(5) == 0 {
			s.acts(seen)
			idle = 0
		}
		if random.IntN(10) == 0 {
			s.opens(all...)
		}
	}
	return leaders
}
