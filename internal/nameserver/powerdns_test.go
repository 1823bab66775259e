package nameserver_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestPowerDNSAnswersWithWhatIsWritten changes a set again and again while somebody keeps asking for it. With caches
// some changes stay without effect for 20 seconds.
func TestPowerDNSAnswersWithWhatIsWritten(t *testing.T) {
	t.Parallel()
	p, err := nameserver.StartPowerDNS(t.Context(), options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	key := rr.Key{Name: name(t, "www.example.org."), Type: rr.TypeA}
	for i := range 250 {
		want := fmt.Sprint("192.0.2.", i)
		asked, stop := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() {
			for asked.Err() == nil {
				_, _ = p.Lookup(asked, key) // what it answers meanwhile is its own affair
			}
		})
		err := p.Patch(t.Context(), "example.org.", fmt.Sprintf(`{"rrsets": [{"name": "www.example.org.",
			"type": "A", "ttl": 60, "changetype": "REPLACE", "records": [{"content": %q}]}]}`, want))
		stop()
		asking.Wait()
		if err != nil {
			t.Fatal(err)
		}
		answer, err := p.Lookup(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Sets) != 1 || !slices.Equal(answer.Sets[0].Data, []string{want}) {
			t.Fatalf("the server answers %v after change %d, want %s", answer.Sets, i, want)
		}
	}
}
