package fold

import (
	"math"
	"time"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// NextSerial returns the serial that the content of an accepted zone gets. That of a DNSZone is above the one that its
// SOA names.
func (z *ZoneResult) NextSerial(now time.Time) uint32 {
	if z.Object.Zone != nil {
		return serialOf(z.Object.Zone.Status, z.Snapshot, now)
	}
	var from int64
	if d, ok := z.Object.Bindy.(*bindy.DNSZone); ok {
		if a, err := d.Spec.Authority(); err == nil {
			from = a.Serial
		}
	}
	return rr.NextSerial(uint32(from), now)
}

// serialOf returns the serial that the content gets: that of the status if the status
// tells of the same content, else the next one.
func serialOf(status kubizone.ZoneStatus, content zone.Snapshot, now time.Time) uint32 {
	var last uint32
	if s := status.Serial; s != nil && *s > 0 && *s <= math.MaxUint32 {
		last = uint32(*s)
	}
	if last != 0 && status.Hash == content.Hash && sameSOA(status.Entries, content.SOA) {
		return last
	}
	return rr.NextSerial(last, now)
}

// sameSOA reports whether the entries of a status do not show another SOA; the hash
// does not cover it.
func sameSOA(entries []kubizone.Entry, soa rr.SOA) bool {
	if len(entries) == 0 || entries[0].Type != rr.TypeSOA.String() {
		return true
	}
	old, err := rr.ParseSOA(entries[0].RData)
	if err != nil {
		return false
	}
	old.Serial, soa.Serial = 0, 0
	old.TTL = uint32(entries[0].TTL)
	return old == soa
}
