package zones

import (
	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// tellFrozen puts into the status of a zone that it is frozen, and what stays published of it, which nobody could tell
// after a restart.
func tellFrozen(o *v1beta1.DNSZone, status *v1beta1.DNSZoneStatus, c *controller.Conditions, out delivery.ZoneOutcome) {
	status.Published = ""
	if out.Frozen == nil {
		return
	}
	c.Set(controller.ConditionFrozen, out.Frozen.Condition())
	switch {
	case status.Content == o.Status.Content && o.Status.Published != "":
		status.Published = o.Status.Published
	case status.Content == contentID(out.Snapshot):
		status.Published = dialect.PublishedText(out.Snapshot)
	}
}

// published returns what the status of a zone says that is published; false: it does not say it.
func published(o *v1beta1.DNSZone) (zone.Snapshot, bool) {
	content, err := dialect.Published(o)
	return content, err == nil && contentID(content) == o.Status.Content
}

func contentID(s zone.Snapshot) string { return engine.Content{SOA: s.SOA, Hash: s.Hash}.ID() }
