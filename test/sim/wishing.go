package sim

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	gardenerapi "github.com/zonefold/zonefold/api/gardener/v1alpha1"
	homelabapi "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/dialect/homelab"
	kubizonedialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// wishes are what all objects of the API server ask for. A witness guards them.
type wishes struct {
	world    *zone.World
	names    map[zone.ID]string    // of accepted Zones and DNSClasses, as wants have them
	owned    map[zone.ID]time.Time // since when they have these
	refs     map[zone.ID][]string
	backends map[string]*zonefold.Backend
	hosts    map[string]string // of DNSClasses
	wants    map[string]*want
	overlay  *want // of Gardener's DNSRecords
	claims   map[ref]zone.Claim
	overlaid map[ref]rr.Set
	values   map[value]bool // that an object ever asked for
	asking   *asking
	left     map[zone.ID]time.Time // when Zones, and those of claims, were last at the operators' own name servers
}

func newWishes(asking *asking) wishes {
	return wishes{
		world: zone.New(zone.Options{PublicSuffix: kubizonedialect.PublicSuffix}), names: map[zone.ID]string{},
		owned:    map[zone.ID]time.Time{},
		refs:     map[zone.ID][]string{},
		backends: map[string]*zonefold.Backend{}, hosts: map[string]string{}, wants: map[string]*want{},
		overlay: newWant(dnsname.Name{}, time.Time{}),
		claims:  map[ref]zone.Claim{}, overlaid: map[ref]rr.Set{}, values: map[value]bool{},
		left: map[zone.ID]time.Time{}, asking: asking,
	}
}

// of returns what is wanted in a zone of a server.
func (w *wishes) of(at, zone string) *want {
	if wanted := w.wants[zone]; wanted != nil && wanted.places[at] != nil {
		return wanted
	}
	if len(w.overlay.all) > 0 && w.overlay.places[at] == nil {
		w.overlay.places[at] = &attachment{since: time.Unix(0, 1), keep: true} // DNSRecords are where their zone is
	}
	return w.overlay
}

// heapAt returns what is wanted at a server of a DNSClass.
func (w *wishes) heapAt(host string) *want {
	for _, wanted := range w.wants {
		if wanted.apex.IsZero() && wanted.places[host] != nil {
			return wanted
		}
	}
	return newWant(dnsname.Name{}, time.Time{})
}

// What objects are about, besides the kinds of sources. Operators hear of what is about one thing in its order.
const (
	aboutPlaces  = "places" // Zones, DNSClasses, Backends
	aboutRecords = "records"
)

// take takes in an object that has changed, nil if it is gone, and returns what it is about, false if nothing.
func (w *wishes) take(r ref, object *unstructured.Unstructured, now time.Time) (about string, known bool) {
	if r.kind.custom == nil {
		return "", false // a Lease is renewed more often than anything else happens
	}
	there := object != nil && !ending(object)
	about = aboutPlaces
	for _, claim := range w.claims {
		if verdict, _ := w.world.Verdict(claim.ID); w.isOwn(verdict.Zone) {
			w.left[claim.ID] = now // not before
		}
	}
	for id := range w.names {
		if w.isOwn(id) {
			w.left[id] = now
		}
	}
	switch r.kind.Kind + "." + r.kind.Group {
	case "Zone.kubi.zone":
		id := kubizonedialect.ZoneID(r.Namespace, r.Name)
		switch {
		case there:
			z := typed[kubizone.Zone](object)
			w.refs[id] = nil
			for _, b := range z.Spec.BackendRefs {
				w.refs[id] = append(w.refs[id], b.Name)
			}
			w.world.PutZone(kubizonedialect.ConvertZone(z))
		case object != nil:
			w.world.WithdrawZone(id)
		default:
			w.world.DeleteZone(id)
		}
	case "Backend.zonefold.dev":
		var grants []zone.Grant
		if delete(w.backends, r.Name); there {
			w.backends[r.Name] = typed[zonefold.Backend](object)
			grants, _ = backends.ConvertGrants(w.backends[r.Name], nil)
		}
		w.world.PutGrants(r.Name, grants)
	case "DNSClass.dns.homelab.mortenolsen.pro":
		if object == nil { // it has what it has until it is gone
			w.world.DeleteZone(homelab.ClassID(r.Name))
		} else {
			class := typed[homelabapi.DNSClass](object)
			w.hosts[r.Name] = strings.TrimPrefix(class.Spec.Server, "http://")
			w.world.PutZone(homelab.ConvertClass(class))
		}
	default:
		about = aboutRecords
		if !w.takeRecord(r, object, there) {
			return about, false
		}
	}
	w.settle(now)
	return about, true
}

// takeRecord takes in a record that has changed, and returns whether it is one.
func (w *wishes) takeRecord(r ref, object *unstructured.Unstructured, there bool) bool {
	var claim zone.Claim
	switch r.kind.Kind + "." + r.kind.Group {
	case "Record.kubi.zone":
		if claim.ID = kubizonedialect.RecordID(r.Namespace, r.Name); there {
			claim = kubizonedialect.ConvertRecord(typed[kubizone.Record](object))
		}
	case "DNSRecord.dns.homelab.mortenolsen.pro":
		if claim.ID = homelab.RecordID(r.Namespace, r.Name); there {
			claim, _ = homelab.ConvertRecord(typed[homelabapi.DNSRecord](object))
		}
	case "DNSRecord.extensions.gardener.cloud":
		delete(w.overlaid, r)
		if there {
			if set, err := gardener.Convert(&typed[gardenerapi.DNSRecord](object).Spec); err == nil {
				w.overlaid[r] = set
			}
		}
		return true
	default:
		return false
	}
	delete(w.claims, r)
	if !there {
		w.world.DeleteClaim(claim.ID)
		return true
	}
	w.claims[r] = claim
	for _, data := range claim.Data {
		w.values[value{rr.Key{Name: claim.Where.Name, Type: claim.Type}, data}] = true
	}
	w.world.PutClaim(claim)
	return true
}

// settle finds what is wanted now.
func (w *wishes) settle(now time.Time) {
	touched := map[string]map[rr.Key]bool{} // nil: all of it
	for _, delta := range w.world.Settle().Zones {
		before, after := w.names[delta.ID], ""
		snapshot, accepted := w.world.Snapshot(delta.ID)
		if delete(w.names, delta.ID); accepted {
			after = snapshot.Name.String()
			if delta.ID.Kind == homelab.KindClass {
				after = delta.ID.String()
			}
			w.names[delta.ID] = after
		}
		if before != after || delta.Fresh {
			w.owned[delta.ID] = now
			touched[before], touched[after] = nil, nil
			continue
		}
		keys := map[rr.Key]bool{}
		for _, key := range delta.Changed {
			keys[key] = true
		}
		touched[after] = keys
	}
	delete(touched, "")
	owner := map[string]zone.ID{}
	for id, name := range w.names {
		owner[name] = id
	}
	for name, keys := range touched {
		w.become(name, owner[name], keys, now)
	}
	for name, wanted := range w.wants {
		wanted.goTo(w.serversOf(owner[name]), now)
	}
	w.settleOverlay(now)
}

// become has a zone, or a heap, be what its owner has.
func (w *wishes) become(name string, owner zone.ID, keys map[rr.Key]bool, now time.Time) {
	snapshot, _ := w.world.Snapshot(owner)
	wanted := w.wants[name]
	if wanted == nil {
		apex := snapshot.Name
		if owner.Kind == homelab.KindClass {
			apex = dnsname.Name{}
		}
		wanted = newWant(apex, now)
		w.wants[name] = wanted
	}
	changed := slices.Collect(maps.Keys(keys))
	if keys == nil {
		changed = keysOf(wanted.sets, snapshot.Sets)
	}
	wanted.become(snapshot.Sets, changed, now)
}

// serversOf returns at which servers a Zone or DNSClass is, and whether these keep foreign sets.
func (w *wishes) serversOf(id zone.ID) map[string]bool {
	out := map[string]bool{}
	if id.Kind == homelab.KindClass {
		out[w.hosts[id.Name]] = false
	}
	if id.Kind != zone.KindZone {
		return out
	}
	for name, b := range w.backends {
		if b.Spec.RFC2136 == nil || !w.isAt(id, name) {
			continue
		}
		for _, at := range b.Spec.RFC2136.Servers {
			out[at] = b.Spec.Foreign == zonefold.ForeignKeep
		}
	}
	return out
}

// backendsAt are the Backends of a server, by their names.
func (w *wishes) backendsAt(at string) map[string]*zonefold.Backend {
	out := maps.Clone(w.backends)
	maps.DeleteFunc(out, func(_ string, b *zonefold.Backend) bool {
		return b.Spec.RFC2136 == nil || !slices.Contains(b.Spec.RFC2136.Servers, at)
	})
	return out
}

// isAt reports whether a Zone is to be delivered to a Backend: one that names none is at the defaults, and a Backend
// that grants names takes no others.
func (w *wishes) isAt(id zone.ID, name string) bool {
	b, refs := w.backends[name], w.refs[id]
	if meant := len(refs) == 0 && b.Spec.Default || slices.Contains(refs, name); !meant {
		return false
	}
	grants, _ := backends.ConvertGrants(b, nil)
	return len(b.Spec.Grants) == 0 || w.world.GrantedThrough(grants, id)
}

// answeredByOperators reports whether the operators' own name servers have the record of a claim, or had it since then,
// whichever Zone it was in. They also count if they had its Zone at a time of which operators may have known when they
// heard of the claim. They are asked for what they have.
func (w *wishes) answeredByOperators(claim zone.ID, since, known time.Time) bool {
	verdict, _ := w.world.Verdict(claim)
	return w.isOwn(verdict.Zone) || !w.left[claim].Before(since) || !w.left[verdict.Zone].Before(known)
}

// isOwn reports whether a Zone is at the operators' own name servers.
func (w *wishes) isOwn(id zone.ID) bool {
	for name, b := range w.backends {
		if b.Spec.Embedded != nil && w.isAt(id, name) {
			return true
		}
	}
	return false
}

// settleOverlay finds what DNSRecords of Gardener ask for.
func (w *wishes) settleOverlay(now time.Time) {
	txn := rr.Sets{}.Txn()
	for _, set := range w.overlaid {
		txn.Put(set)
		if all := w.overlay.all[set.Key()]; !slices.ContainsFunc(all, set.Equal) {
			w.overlay.all[set.Key()] = append(all, set)
		}
	}
	sets := txn.Sets()
	w.overlay.become(sets, keysOf(sets), now)
}

// typed is an object as its type.
func typed[T any](object *unstructured.Unstructured) *T {
	out := new(T)
	text, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		panic(err) // the schema has let it in
	}
	return out
}
