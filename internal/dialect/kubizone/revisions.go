package kubizone

import (
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/zone"
)

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
