package powerdns_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestZonesAreWrittenTogether: SQLite gives up one of two transactions that want to write at the same moment, and
// PowerDNS then answers 500.
func TestZonesAreWrittenTogether(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := client(t, p, p.APIKey)
	var parts sync.WaitGroup
	for i := range c.Limits().Concurrency {
		parts.Go(func() {
			zone := parse(t, fmt.Sprintf("zone-%d.example.", i))
			first := soa(t, 1)
			if _, err := c.Apply(t.Context(), zone, backend.Batch{Create: true, SOA: first}); err != nil {
				t.Error(err)
				return
			}
			for serial := uint32(2); serial < 40; serial++ {
				set := rr.NewSet(rr.Key{Name: parse(t, "www."+zone.String()), Type: rr.TypeA}, 300,
					fmt.Sprintf("192.0.2.%d", serial))
				if _, err := c.Apply(t.Context(), zone, backend.Batch{SOA: soa(t, serial),
					Changes: []plan.Change{{Key: set.Key(), Want: set}}}); err != nil {
					t.Error(err)
					return
				}
				if _, err := c.Read(t.Context(), zone, backend.Ask{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	parts.Wait()
}
