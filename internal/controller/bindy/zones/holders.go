package zones

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// A nameIndex has the zones by name, of whatever dialect. Of those of one name an instance has the oldest that is to be
// on it: the engine decides so for each primary, and this is for secondaries.
type nameIndex struct {
	of       map[zone.ID]string    // of a zone that instances are to have
	called   map[string][]zone.ID  // in no order; hardly ever more than one
	since    map[zone.ID]time.Time // how old it was
	accepted map[zone.ID]bool      // DNSZones, by the World
}

func newNameIndex() nameIndex {
	return nameIndex{of: map[zone.ID]string{}, called: map[string][]zone.ID{}, since: map[zone.ID]time.Time{},
		accepted: map[zone.ID]bool{}}
}

// rename notes what a zone is called now, and returns who shares a name with it, or did, and is younger: to an older
// one it does not matter what is below it, and there may be thousands.
func (st *state) rename(id zone.ID) (others []zone.ID) {
	self, known := st.servedZone(id)
	now := ""
	if _, ok := st.fleets[id]; ok && known {
		now = self.ref.ZoneName
	}
	n := &st.names
	before := n.of[id]
	was, counted := n.since[id]
	if before != now {
		n.called[before] = slices.DeleteFunc(n.called[before], func(o zone.ID) bool { return o == id })
		if len(n.called[before]) == 0 {
			delete(n.called, before)
		}
		if n.of[id] = now; now == "" {
			delete(n.of, id)
			delete(n.since, id)
		} else {
			n.called[now] = append(n.called[now], id)
		}
	}
	others = slices.Clone(n.called[before])
	if before != now {
		others = append(others, n.called[now]...)
	}
	if now != "" {
		n.since[id] = self.since
	}
	sameAge := known && (!counted || was.Equal(self.since)) // an object of that name may have been made anew
	return slices.DeleteFunc(others, func(o zone.ID) bool {
		other, ok := st.servedZone(o)
		return o == id || sameAge && ok && other.before(o, self, id)
	})
}

// before reports whether a zone has a server rather than another one of its name.
func (t servedZone) before(id zone.ID, other servedZone, otherID zone.ID) bool {
	return cmp.Or(t.since.Compare(other.since), strings.Compare(id.String(), otherID.String())) < 0
}

// judged takes over which DNSZones the World accepts, and returns those of which that is new, and who shares a name
// with them.
func (st *state) judged(s core.Settlement) (news []zone.ID) {
	for _, delta := range s.Delta.Zones {
		v, ok := s.View.Verdict(delta.ID)
		if is := ok && v.Accepted; is != st.names.accepted[delta.ID] {
			if st.names.accepted[delta.ID] = is; !is {
				delete(st.names.accepted, delta.ID)
			}
			news = append(append(news, delta.ID), st.rename(delta.ID)...)
		}
	}
	return news
}

// holderAt returns the zone that an instance has of all of a name, zero if there is none.
func (st *state) holderAt(instance client.ObjectKey, name string) (holder zone.ID) {
	var best servedZone
	for _, id := range st.names.called[name] {
		if id.Kind == v1beta1.KindZone && !st.names.accepted[id] || !st.fleets[id].has(instance) {
			continue
		}
		t, _ := st.servedZone(id)
		if holder.IsZero() || t.before(id, best, holder) {
			holder, best = id, t
		}
	}
	return holder
}

// held are those of a zone's instances on which it is the one of its name.
func (st *state) held(id zone.ID, instances []client.ObjectKey) (out []client.ObjectKey) {
	name := st.names.of[id]
	for _, key := range instances {
		if st.holderAt(key, name) == id {
			out = append(out, key)
		}
	}
	return out
}

// isFor reports whether a zone is meant for an instance: it is accepted, and a secondary needs somebody who has the
// zone. One that may have it keeps it without: that nobody is a primary, mostly for a moment, is no reason to delete
// what is served.
func (st *state) isFor(id zone.ID, instance client.ObjectKey) bool {
	fleet := st.fleets[id]
	if id.Kind == v1beta1.KindZone && !st.names.accepted[id] {
		return false
	}
	if slices.Contains(fleet.primaries, instance) {
		return true
	}
	return slices.Contains(fleet.secondaries, instance) && (len(fleet.primaries) > 0 || fleet.signer.gone ||
		st.listed(instance, id, st.names.of[id]))
}

// removed forgets that a pod had what it has lost: a zone of the name may come back under the serial that was
// confirmed.
func (s *sweep) removed(pod types.UID, name string) {
	at, err := dialect.ZoneName(name)
	if err != nil {
		return
	}
	st, unlock := s.z.state.Lock()
	defer unlock()
	st.forgetAt(pod, func(f *follow) bool { return f.name == at })
}

// elder says that an older zone has an instance, as a sentence; "": none has.
func (st *state) elder(id zone.ID, instance client.ObjectKey) string {
	holder := st.holderAt(instance, st.names.of[id])
	if holder.IsZero() || holder == id {
		return ""
	}
	return olderHas(holder, st.names.of[id], instance)
}

func olderHas(holder zone.ID, name string, instance client.ObjectKey) string {
	return fmt.Sprintf("%s is older and has %s on Bind9Instance %s; delete one of the two, or choose other servers for "+
		"it.", holder, name, instance)
}

// elderOf is elder of a DNSZone that is about to be stored, at the first of its instances that an older zone has.
func (st *state) elderOf(o *v1beta1.DNSZone, instances []client.ObjectKey) string {
	self := servedZone{since: o.CreationTimestamp.Time}
	id, name := dialect.ZoneID(o.Namespace, o.Name), dialect.CanonicalZone(o.Spec.ZoneName)
	for _, instance := range instances {
		holder := st.holderAt(instance, name)
		t, _ := st.servedZone(holder)
		if !holder.IsZero() && holder != id && (self.since.IsZero() || t.before(holder, self, id)) {
			return olderHas(holder, name, instance)
		}
	}
	return ""
}
