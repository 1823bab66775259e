package zones

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// A ledger is what the status of an instance says that its servers may have, by zone and by name. A secondary is given
// nothing that is not in it, so that what it has is known whatever happens.
type ledger struct {
	of     map[zone.ID][]entry
	called map[string][]entry
}

// An entry is a zone in a ledger. One without a UID is of whatever object has the ID: an earlier version wrote it.
type entry struct {
	id   zone.ID
	name string
	uid  types.UID
}

func entryOf(i v1beta1.InstanceZone) entry {
	return entry{zone.ID{Kind: i.Kind, Namespace: i.Namespace, Name: i.Name}, i.ZoneName, i.UID}
}

func ledgerOf(zones []v1beta1.InstanceZone) ledger {
	out := ledger{map[zone.ID][]entry{}, map[string][]entry{}}
	for _, i := range zones {
		e := entryOf(i)
		out.of[e.id] = append(out.of[e.id], e)
		out.called[e.name] = append(out.called[e.name], e)
	}
	return out
}

// isOf reports whether two entries are of one object.
func (e entry) isOf(o entry) bool {
	return e.id == o.id && (e.uid == o.uid || e.uid == "" || o.uid == "")
}

// others reports whether the ledger has another zone of the name, which a secondary may have yet.
func (st *state) others(f *follow) bool {
	own, ok := st.servedZone(f.zone)
	h := st.hosts[f.pod.instance]
	return ok && h != nil && slices.ContainsFunc(h.ledger.called[own.ref.ZoneName], func(e entry) bool {
		return !e.isOf(entryOf(own.ref))
	})
}

// replaced reports whether the servers of the instance have lost what they had under a name before its holder: a
// primary is given content by who reads what it has, and a secondary has it all transferred anew.
func (s *sweep) replaced(name string) bool {
	st, unlock := s.z.state.Lock()
	defer unlock()
	id, h := st.holderAt(s.instance, name), st.hosts[s.instance]
	if h == nil || len(h.pods) == 0 {
		return false
	}
	return slices.Contains(st.fleets[id].primaries, s.instance) || !slices.ContainsFunc(h.pods, func(p *Pod) bool {
		f := st.follows[id][p.UID]
		return f == nil || !f.whole || !f.suspectSince.IsZero()
	})
}

// Stored takes over what the status of an instance says now, and wakes what has waited for it.
func (z *Zones) Stored(instance client.ObjectKey, zones []v1beta1.InstanceZone) {
	now := ledgerOf(zones)
	st, unlock := z.state.Lock()
	defer unlock()
	h := st.hosts[instance]
	if h == nil {
		return
	}
	before := h.ledger
	h.ledger = now
	var parting []v1beta1.InstanceZone
	for _, i := range st.parting[instance] {
		if e := entryOf(i); slices.Contains(now.of[e.id], e) {
			z.enqueue(e.id)
		} else {
			parting = append(parting, i)
		}
	}
	if st.parting[instance] = parting; len(parting) == 0 {
		delete(st.parting, instance)
	}
	for _, id := range idsWhere(before.of, func(id zone.ID, _ []entry) bool {
		return len(now.of[id]) == 0 && id.Kind == v1beta1.KindZone
	}) {
		z.deliveries.Sync(id)
	}
	for _, id := range idsWhere(now.of, func(id zone.ID, is []entry) bool { return !slices.Equal(before.of[id], is) }) {
		for _, p := range h.pods {
			if st.follows[id][p.UID] != nil {
				z.servers.Enqueue(followID(id, p.UID))
			}
		}
	}
}

// list has the statuses of instances list a zone whose object is about to go while their servers may have it. It
// returns the instances that do not list it yet: what a primary has may be known from nothing but the zone itself.
func (r *zoneReport) list() (unlisted []client.ObjectKey) {
	st, unlock := r.z.state.Lock()
	defer unlock()
	for _, d := range st.know(r.id).delivered(r.o) {
		key, _ := instanceOf(d.Place)
		ref := referenceTo(r.id)
		ref.ZoneName, ref.UID = dialect.CanonicalZone(d.Zone.String()), r.o.UID
		if st.hosts[key] == nil || st.listed(key, r.id, ref.ZoneName) {
			continue
		}
		if !slices.Contains(st.parting[key], ref) {
			st.parting[key] = append(st.parting[key], ref)
		}
		unlisted = append(unlisted, key)
	}
	return unlisted
}

// listed reports whether the ledger of an instance has a zone.
func (st *state) listed(instance client.ObjectKey, id zone.ID, name string) bool {
	h := st.hosts[instance]
	return h != nil && slices.ContainsFunc(h.ledger.of[id], func(e entry) bool { return e.name == name })
}

// holders are the instances with servers that may still have a zone. Where no pod runs, there is nobody to wait for:
// who comes on an old volume loses the zone before it is ready. Nor is there where another zone takes its place.
func (st *state) holders(id zone.ID) (out []client.ObjectKey) {
	for key, h := range st.hosts {
		if len(h.pods) > 0 && slices.ContainsFunc(h.ledger.of[id], func(e entry) bool {
			holder := st.holderAt(key, e.name)
			return holder.IsZero() || holder == id
		}) {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, compareKeys)
	return out
}

func compareKeys(a, b client.ObjectKey) int { return strings.Compare(a.String(), b.String()) }
