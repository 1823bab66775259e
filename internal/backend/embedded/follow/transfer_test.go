package follow_test

import (
	"context"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/rr"
)

// pull transfers a zone as a secondary does.
func pull(t testing.TB, r *replica, zone string, known *rr.SOA) (rfc2136.Pulled, error) {
	t.Helper()
	c, err := rfc2136.New(rfc2136.Config{Server: r.addr.String(), Key: secondary(t), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return c.Pull(ctx, mustName(t, zone), known)
}
