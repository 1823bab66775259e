package kubizone

import (
	"strings"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// CompareRevisions orders the revisions of a Zone, the oldest first: by serial (RFC 1982), then by name.
func CompareRevisions(a, b zonefold.ZoneRevision) int {
	switch x, y := uint32(a.Spec.Serial), uint32(b.Spec.Serial); {
	case x == y:
		return strings.Compare(a.Name, b.Name)
	case rr.SerialLess(x, y):
		return -1
	}
	return 1
}

// Revisions returns the history of a Zone as package zone reads it.
func Revisions(list []zonefold.ZoneRevision) []zone.Revision {
	out := make([]zone.Revision, 0, len(list))
	for i := range list {
		s := &list[i].Spec
		out = append(out, zone.Revision{
			Serial: uint32(s.Serial), PreviousSerial: uint32(s.PreviousSerial), Hash: s.Hash, PreviousHash: s.PreviousHash,
			Delta: s.Delta, LeftOut: s.LeftOut,
		})
	}
	return out
}
