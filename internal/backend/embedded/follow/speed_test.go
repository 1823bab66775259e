package follow_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// How long it takes is printed and not judged: machines differ.
func TestHowLongFollowingTakes(t *testing.T) {
	leader, follower := start(t), start(t)
	const zones, sets = 1000, 10
	for i := range zones {
		var all []plan.Change
		for j := range sets {
			all = append(all, put(t, fmt.Sprintf("x%d.z%d.example.", j, i), rr.TypeA, fmt.Sprintf("192.0.2.%d", j)))
		}
		leader.apply(fmt.Sprintf("z%d.example.", i), 1, all...)
	}
	leader.lead()
	began := time.Now()
	follower.follow(only(leader))
	becomes(t, "the follower is ready", follower.Opened)
	t.Logf("%d zones of %d sets are copied in %s", zones, sets, time.Since(began).Round(time.Millisecond))

	conn, err := dns.Dial("udp", follower.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const changes = 200
	took := make([]time.Duration, changes)
	for i := range took {
		began := time.Now()
		leader.apply(fmt.Sprintf("z%d.example.", i), 2, put(t, fmt.Sprintf("x0.z%d.example.", i), rr.TypeA, "198.51.100.1"))
		question := new(dns.Msg).SetQuestion(fmt.Sprintf("x0.z%d.example.", i), dns.TypeA)
		for {
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if err := conn.WriteMsg(question); err != nil {
				t.Fatal(err)
			}
			m, err := conn.ReadMsg()
			if err != nil {
				t.Fatal(err)
			}
			if m.Answer[0].(*dns.A).A.String() == "198.51.100.1" {
				break
			}
			if time.Since(began) > 20*time.Second {
				t.Fatal("a change does not arrive")
			}
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	t.Logf("a change of the leader is in the follower's answer after p50 %s, p99 %s", took[changes/2],
		took[changes*99/100])
}

// BenchmarkChangeOfOneOfManyZones is one change of one of 10,000 zones, with what it takes to list it.
func BenchmarkChangeOfOneOfManyZones(b *testing.B) {
	leader, follower := start(b), start(b)
	for i := range 10_000 {
		leader.apply(fmt.Sprintf("z%d.example.", i), 1)
	}
	leader.lead()
	follower.follow(only(leader))
	becomes(b, "the follower is ready", follower.Opened)
	serial := uint32(1)
	for b.Loop() {
		serial++
		leader.apply("z5000.example.", serial, put(b, "www.z5000.example.", rr.TypeA, fmt.Sprintf("192.0.2.%d", serial%256)))
	}
	becomes(b, "the follower is the same", func() bool { return follower.same(leader) })
}
