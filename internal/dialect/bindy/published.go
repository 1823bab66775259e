package bindy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
	"github.com/zonefold/zonefold/internal/zone/diff"
)

// MaxPublished is how long the content of a zone may be to go into its status, in octets: an object of etcd has 1.5 MiB
// at most.
const MaxPublished = 768 << 10

// PublishedText returns a content as the status of its zone has it, "" if it is too large for that.
func PublishedText(s zone.Snapshot) string {
	text := diff.Text(diff.Between(zone.Snapshot{}, s, nil))
	if len(text) > MaxPublished {
		return ""
	}
	return text
}

// Published returns the content that the status of a zone has, under the name that it had then.
func Published(o *v1beta1.DNSZone) (zone.Snapshot, error) {
	id := ZoneID(o.Namespace, o.Name)
	edits, err := diff.Parse(o.Status.Published)
	if err != nil {
		return zone.Snapshot{}, fmt.Errorf("reading the published content from %s: %w", id, err)
	}
	if len(edits) == 0 || edits[0].Type != rr.TypeSOA {
		return zone.Snapshot{}, fmt.Errorf("reading the published content from %s: %w", id, errNoSOA)
	}
	out, err := diff.Redo(zone.Snapshot{ID: id, Name: edits[0].Name}, edits)
	if err != nil {
		return zone.Snapshot{}, fmt.Errorf("reading the published content from %s: %w", id, err)
	}
	if out.Hash = zone.HashOf(out.Sets); !strings.HasPrefix(o.Status.Content, out.Hash+" ") {
		return zone.Snapshot{}, fmt.Errorf("reading the published content from %s: %w", id, errOtherContent)
	}
	return out, nil
}

var (
	errNoSOA        = errors.New("it has no SOA")
	errOtherContent = errors.New("status.content is the hash of another content")
)
