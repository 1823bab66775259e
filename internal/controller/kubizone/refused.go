package kubizone

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// An unasked set is one that a Backend does not take, and that no Record asks for: no other status says so.
type unasked struct {
	place string
	key   rr.Key
	note  zone.Note
}

func (u unasked) compare(o unasked) int {
	return cmp.Or(u.key.Compare(o.key), strings.Compare(u.place, o.place), strings.Compare(u.note.Message, o.note.Message))
}

// unaskedOf returns such sets of what is published, in order, each once for a Backend; asking returns the claims of
// one. What a Backend holds is told by the condition DeletionsHeld.
func unaskedOf(out delivery.ZoneOutcome, asking func(rr.Key) []zone.ID) []unasked {
	var all []unasked
	for _, at := range out.Refused {
		for key, why := range at.Sets {
			o := at.Outcome(key)
			_, published := out.Snapshot.Sets.Get(key)
			if o == nil || !published || why.Cause == backend.CauseHeld {
				continue
			}
			claims := asking(key)
			if slices.ContainsFunc(claims, func(id zone.ID) bool { return id.Kind == zone.KindRecord }) {
				continue
			}
			all = append(all, unasked{at.Place, key, zone.Note{Reason: zone.Reason(o.Reason),
				Message: strings.TrimSuffix(o.Message, ".") + ". " + origin(key.Type, claims)}})
		}
	}
	slices.SortFunc(all, unasked.compare)
	return slices.CompactFunc(all, func(a, b unasked) bool { return a.key == b.key && a.place == b.place })
}

// origin says where a set comes from that no Record asks for.
func origin(t rr.Type, claims []zone.ID) string {
	switch {
	case len(claims) > 0:
		return slices.MinFunc(claims, zone.ID.Compare).String() + " asks for it."
	case t == rr.TypePTR:
		return "It comes from the address of another object; change that, or write a Record here."
	}
	return "It comes from a Zone below; change it there."
}

// warnOfUnasked puts before the notes of a verdict what a Zone has to tell because no Record does. What is told for the
// first time waits for the grace: see soon.
func (k *Controller) warnOfUnasked(id zone.ID, z *v1alpha1.Zone, v zone.Verdict,
	out delivery.ZoneOutcome) zone.Verdict {
	if !v.Accepted {
		return v
	}
	all := unaskedOf(out, func(key rr.Key) []zone.ID { return k.Core.ServedAt(id, []rr.Key{key}) })
	before := ""
	if c := meta.FindStatusCondition(z.Status.Conditions, controller.ConditionWarning); c != nil {
		before = c.Message
	}
	m, unlock := k.memory.Lock()
	notes, wait := m.zoneState(id).lasting(all, before, k.Clock.Now())
	unlock()
	if wait > 0 {
		k.zones.EnqueueAfter(id, wait)
	}
	if len(notes) > 0 {
		v.Notes = slices.Concat(zone.Curtail(notes), v.Notes)
	}
	return v
}

// lasting returns the notes on those sets that were refused for long, or that are told already, and how long another
// one is to be waited for; 0: for none.
func (s *zoneState) lasting(all []unasked, told string, now time.Time) (notes []zone.Note, wait time.Duration) {
	since := s.unasked
	s.unasked = nil
	for _, u := range all {
		if s.unasked == nil {
			s.unasked = map[placedKey]time.Time{}
		}
		at := placedKey{u.place, u.key}
		first, known := since[at]
		if !known {
			first = now
		}
		s.unasked[at] = first
		if left := first.Add(grace).Sub(now); left > 0 && !strings.Contains(told, u.note.Message) {
			wait = max(wait, left)
			continue
		}
		notes = append(notes, u.note)
	}
	return notes, wait
}
