package hook

import (
	"context"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/rr"
)

// goodFor is how long a service counts as well: it counts requests, and health is asked for by several.
const goodFor = 30 * time.Second

// health says what is wrong with the server of a zone. A DNS server shows the SOA; a service that has one of its own is
// asked for a set, as some have nothing to ask for it.
func (d *zoneWorker) health(ctx context.Context) error {
	if d.limits.SOA == backend.SOAClient {
		found, err := d.backend.Read(ctx, d.zone, backend.Ask{Keys: []rr.Key{}})
		if err == nil && found.SOA == (rr.SOA{}) {
			err = backend.ErrNoZone
		}
		return err
	}
	d.mu.Lock()
	well := d.well
	d.mu.Unlock()
	if now := d.now(); !well.IsZero() && now.Sub(well) < goodFor {
		return nil
	}
	_, err := d.backend.Read(ctx, d.zone, backend.Ask{Keys: []rr.Key{{Name: d.zone, Type: rr.TypeNS}}})
	if err == nil {
		d.mu.Lock()
		d.well = d.now()
		d.mu.Unlock()
	}
	return err
}
