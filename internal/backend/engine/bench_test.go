package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/rr"
)

// large is a content of n sets.
func large(n int) engine.Content {
	sets := []rr.Set{set(zoneName, rr.TypeNS, 300, "server.example.net.")}
	for i := range n {
		sets = append(sets, set(fmt.Sprintf("host-%d.example.org.", i), rr.TypeA, 300,
			fmt.Sprintf("192.0.%d.%d", i/256%256, i%256)))
	}
	return contentOf(mustParse(zoneName), sets...)
}

// BenchmarkOneChange is one changed set from Publish to the confirmation, over a server that takes no time.
func BenchmarkOneChange(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			_, s := serverWith(bindLike, zoneName)
			store := &backendtest.Store{}
			done := make(chan uint64, 1)
			e := engine.New(engine.Config{
				Ceilings: store, Ledger: store, Clock: backend.SystemClock{}, Rand: rand.Float64,
				Report: func(r engine.Report) {
					if r.Err == nil {
						done <- r.Seq
					}
				},
			})
			b.Cleanup(func() { e.Stop(b.Context()) })
			f := e.NewFeed(engine.FeedConfig{ID: zoneName, Zone: mustParse(zoneName)})
			content := large(n)
			seq := f.Publish(content, nil)
			e.Attach(target("s", zoneName), engine.Attachment{Name: "0", Feed: f, Backend: s})
			for <-done != seq {
			}
			key := rr.Key{Name: mustParse("host-7.example.org."), Type: rr.TypeA}
			b.ResetTimer()
			for i := range b.N {
				txn := content.Sets.Txn()
				txn.Put(rr.NewSet(key, 300, fmt.Sprintf("198.51.100.%d", i%200)))
				content = engine.Content{Sets: txn.Sets(), SOA: content.SOA, Hash: fmt.Sprint(i)}
				seq = f.Publish(content, []rr.Key{key})
				for <-done != seq {
				}
			}
		})
	}
}
