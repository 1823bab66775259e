// Package revisions has what ZoneRevisions mean: the history of a zone of any dialect.
package revisions

import (
	"strings"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone/diff"
)

// Compare orders the revisions of a Zone, the oldest first: by serial (RFC 1982), then by name.
func Compare(a, b zonefold.ZoneRevision) int {
	switch x, y := uint32(a.Spec.Serial), uint32(b.Spec.Serial); {
	case x == y:
		return strings.Compare(a.Name, b.Name)
	case rr.SerialLess(x, y):
		return -1
	}
	return 1
}

// Of returns the history of a zone as package zone reads it.
func Of(list []zonefold.ZoneRevision) []diff.Revision {
	out := make([]diff.Revision, 0, len(list))
	for i := range list {
		s := &list[i].Spec
		out = append(out, diff.Revision{
			Serial: uint32(s.Serial), PreviousSerial: uint32(s.PreviousSerial), Hash: s.Hash, PreviousHash: s.PreviousHash,
			Delta: s.Delta, LeftOut: s.LeftOut,
		})
	}
	return out
}
