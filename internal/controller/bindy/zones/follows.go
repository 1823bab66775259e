package zones

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// A follow is what is known of a zone at one pod, beside what Deliveries know: how far a secondary is. Its zone, pod
// and role stay; only who has the state reads or changes the rest.
type follow struct {
	zone        zone.ID
	pod         *Pod
	name        dnsname.Name
	writes      bool   // the server is a primary of the zone
	there       bool   // the server has been told of the zone
	serial      uint32 // that a secondary has confirmed; 0: none
	need        uint64 // the content that was wanted when it came; 0: it is about to be looked at
	whole       bool   // a secondary has had that, or a newer one
	refused     bool   // by all primaries
	trouble     string // why not, as a sentence
	tries       int    // without success
	lastApplied string // the settings that the server has

	suspectSince time.Time // since when its content is suspect, whatever its serial; zero: it is not
	renewed      int       // how often it was told to transfer all because of that

	seen   uint32    // the serial that a secondary was seen with last
	behind time.Time // since when it makes no progress; zero: it has what it should
	next   time.Time // when it is to be asked
	heard  time.Time // when a secondary has answered last, about the zone; zero: it has not yet
}

// forget has a secondary told of the zone anew, and asked what it has of it.
func (*state) forget(f *follow) {
	f.there, f.serial, f.seen, f.need, f.whole, f.tries = false, 0, 0, 0, false, 0
}

// followID identifies a zone at a pod in a queue.
func followID(id zone.ID, pod types.UID) zone.ID {
	return zone.ID{Kind: id.Kind + " " + string(pod), Namespace: id.Namespace, Name: id.Name}
}

// followOf returns what is known of a zone at a pod, nil if the zone is not to be there.
func (st *state) followOf(queued zone.ID) *follow {
	kind, pod, _ := strings.Cut(queued.Kind, " ")
	return st.follows[zone.ID{Kind: kind, Namespace: queued.Namespace, Name: queued.Name}][types.UID(pod)]
}

// visitServers has every pod of a zone looked at, and forgets those that are not the zone's any more.
func (z *Zones) visitServers(id zone.ID) {
	st, unlock := z.state.Lock()
	defer unlock()
	before, now := st.follows[id], map[types.UID]*follow{}
	for _, key := range st.fleets[id].all() {
		h := st.hosts[key]
		if h == nil {
			continue
		}
		for _, p := range h.pods {
			f, writes := before[p.UID], slices.Contains(st.fleets[id].primaries, key)
			if f == nil || f.pod != p || f.writes != writes {
				f = &follow{zone: id, pod: p, writes: writes}
			}
			now[p.UID] = f
			z.servers.Enqueue(followID(id, p.UID))
		}
	}
	z.notices.Enqueue(id)
	if st.follows[id] = now; len(now) == 0 {
		delete(st.follows, id)
		delete(st.notified, id)
	}
}

// visitAll has the zones of an instance looked at wherever they are: primaries and secondaries know each other's
// addresses.
func (z *Zones) visitAll(instance client.ObjectKey) {
	st, unlock := z.state.Lock()
	var ids []zone.ID
	for id, fleet := range st.fleets {
		if fleet.has(instance) {
			ids = append(ids, id)
		}
	}
	unlock()
	for _, id := range ids {
		z.changed(id)
	}
}

// addressesOf are where the pods of instances answer.
//
// Only those of one transfer key count: each cluster has its own, so a server of another one can neither transfer from
// it nor to it.
func (st *state) addressesOf(instances []client.ObjectKey, transfer client.ObjectKey) []netip.AddrPort {
	var out []netip.AddrPort
	for _, key := range instances {
		if h := st.hosts[key]; h != nil && h.transfer == transfer {
			for _, p := range h.pods {
				out = append(out, p.address)
			}
		}
	}
	slices.SortFunc(out, netip.AddrPort.Compare)
	return out
}

// notifiedAt are the addresses of the servers of instances that are told of news: also those that are to go, for as
// long as they serve.
func (st *state) notifiedAt(instances []client.ObjectKey, transfer client.ObjectKey) []netip.AddrPort {
	out := st.addressesOf(instances, transfer)
	for _, key := range instances {
		if h := st.hosts[key]; h != nil && h.transfer == transfer {
			for _, p := range h.ending {
				out = append(out, p.address)
			}
		}
	}
	slices.SortFunc(out, netip.AddrPort.Compare)
	return out
}

// settingsAt are those of the zone of a name that an instance has.
func (z *Zones) settingsAt(instance client.ObjectKey, name dnsname.Name) ZoneSettings {
	st, unlock := z.state.Lock()
	defer unlock()
	h := st.hosts[instance]
	if h == nil {
		return ZoneSettings{}
	}
	of := st.holderAt(instance, dialect.CanonicalZone(name.String()))
	fleet := st.fleets[of]
	return ZoneSettings{
		AlsoNotify: st.notifiedAt(st.held(of, fleet.secondaries), h.transfer), DNSSECPolicy: fleet.signer.policy,
		Sole: !fleet.signer.none(),
	}
}

// serve brings what a zone is at one pod, beside its content, to what it should be.
func (z *Zones) serve(ctx context.Context, id zone.ID) error {
	st, unlock := z.state.Lock()
	f := st.followOf(id)
	if f == nil {
		unlock()
		return nil
	}
	var primaries []netip.AddrPort
	noSource, stale := "", false
	if h := st.hosts[f.pod.instance]; h != nil {
		primaries = st.addressesOf(st.held(f.zone, st.fleets[f.zone].primaries), h.transfer)
		noSource = st.noSource(f)
		stale = noSource != "" && f.lastApplied != nothing
		noSource = cmp.Or(noSource, st.elder(f.zone, f.pod.instance))
	}
	if noSource != "" { // what it has of another zone says nothing about this one
		st.forget(f)
		st.suspect(f, z.Clock.Now())
	}
	bound := servers.CallTime
	if !f.suspectSince.IsZero() {
		bound = wholeZone
	}
	unlock()
	name, served, _ := z.nameOf(f.zone)
	if !served {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if noSource != "" || !f.writes && len(primaries) == 0 {
		_, unlock := z.state.Lock()
		news := f.trouble != noSource
		f.trouble = noSource
		unlock()
		if news {
			z.news(f.zone)
		}
		if !stale {
			return nil
		}
	}
	began := z.Clock.Now()
	if wait := f.pod.enter(began); wait > 0 {
		return &controller.Later{After: wait}
	}
	var err error
	switch {
	case stale:
		err = z.removeStale(ctx, f, name)
	case f.writes:
		err = z.configure(ctx, f, name)
	default:
		err = z.follow(ctx, f, name, primaries)
	}
	f.pod.leave(began, z.Clock.Now(), err)
	return err
}

// nothing is what a secondary has been told that has no server to transfer a zone from.
const nothing = "nothing"

// removeStale removes what a secondary has of a zone that it has no server to transfer from: what it had from a cluster
// that it was in, or as a primary, would be answered for ever, and never change.
func (z *Zones) removeStale(ctx context.Context, f *follow, name dnsname.Name) error {
	if err := f.pod.follower.Remove(ctx, name); err != nil {
		return &controller.Later{After: lastAgain, Err: err} // the zone says already why it is not there
	}
	_, unlock := z.state.Lock()
	f.lastApplied = nothing
	unlock()
	z.wakePending(f.zone) // the pod need not have it to be ready
	return nil
}

// noSource says that a secondary has no server to transfer a zone from, as a sentence.
func (st *state) noSource(f *follow) string {
	h, primaries := st.hosts[f.pod.instance], st.fleets[f.zone].primaries
	if f.writes || len(primaries) == 0 || slices.ContainsFunc(primaries, func(key client.ObjectKey) bool {
		p := st.hosts[key]
		return p == nil || p.transfer == h.transfer
	}) {
		return ""
	}
	return dialect.Sentence("No primary of the zone is of the cluster of Bind9Instance %s, whose servers transfer zones "+
		"from each other only; choose one, or another secondary.", f.pod.instance)
}

// configure brings the settings of a zone at a primary up to date. Before it is there, there is nothing to do: it is
// made with them.
func (z *Zones) configure(ctx context.Context, f *follow, name dnsname.Name) error {
	c, ok := f.pod.server.Backend.(Configurer)
	if !ok || !z.deliveriesOf(f.zone).Has(f.zone, f.pod.server.Name) {
		return nil
	}
	settings := f.pod.Settings(name)
	update, transfer, _ := f.pod.Keys()
	now := fmt.Sprint(settings, update.Name, transfer.Name)
	_, unlock := z.state.Lock()
	same := f.there && f.trouble == "" && f.name == name && f.lastApplied == now
	unlock()
	if !same {
		if _, err := c.Configure(ctx, name); err != nil {
			if backend.Class(err) == backend.ErrNoZone { // whatever reading it has shown
				z.deliveriesOf(f.zone).Audit(f.zone)
			}
			return z.retry(f, err)
		}
		_, unlock := z.state.Lock()
		f.there, f.trouble, f.name, f.tries = true, "", name, 0
		f.lastApplied = now
		unlock()
	}
	if more, err := z.lookAtSignatures(ctx, f, name); more || err != nil {
		return z.retry(f, err)
	}
	_, unlock = z.state.Lock()
	f.tries = 0
	unlock()
	return nil
}

// follow has a secondary follow the primaries, and waits until it has what they have.
func (z *Zones) follow(ctx context.Context, f *follow, name dnsname.Name, primaries []netip.AddrPort) error {
	_, transfer, _ := f.pod.Keys()
	now := fmt.Sprint(primaries, transfer.Name)
	_, unlock := z.state.Lock()
	told := f.there && f.name == name && f.lastApplied == now
	unlock()
	newest, wanted := z.newest(f.zone)
	if wait := z.untilPrimary(f, newest); wait > 0 {
		return &controller.Later{After: wait}
	}
	if !told {
		if !z.mayHave(f.pod.instance, f.zone, dialect.CanonicalZone(name.String())) {
			z.wakeInstances(f.pod.instance)
			return nil // noted asks again
		}
		if err := f.begin(ctx, name, primaries); err != nil {
			return z.retry(f, err)
		}
		st, unlock := z.state.Lock()
		if st.follows[f.zone][f.pod.UID] != f { // it was to be told no more while it was told
			unlock()
			return z.unfollow(ctx, f, name)
		}
		f.heard = z.Clock.Now()
		if f.name != name { // what it had under another name is no news of this one
			st.forget(f)
		}
		if !f.there && st.others(f) {
			st.suspect(f, z.Clock.Now())
		}
		f.there, f.name = true, name
		f.lastApplied = now
		unlock()
	}
	has, wait := z.wantSerial(f, newest, wanted)
	switch {
	case has:
		if err := z.renew(ctx, f, name); err != nil {
			return err
		}
		z.recovered(f)
		return nil
	case wait > 0:
		return &controller.Later{After: wait}
	}
	return z.catchUp(ctx, f, name, newest)
}

// begin has a server follow the primaries. What it has from when it was one itself goes first; where the zone has
// another signer now, the engine takes it away.
func (f *follow) begin(ctx context.Context, name dnsname.Name, primaries []netip.AddrPort) error {
	_, err := f.pod.follower.Follow(ctx, name, primaries)
	if err == nil || f.pod.primary || backend.Class(err) != backend.ErrConflict {
		return err
	}
	if err := f.pod.follower.Demote(ctx, name); err != nil {
		return err
	}
	_, err = f.pod.follower.Follow(ctx, name, primaries)
	return err
}

// unfollow removes from a secondary what it is not to have any more.
func (z *Zones) unfollow(ctx context.Context, f *follow, name dnsname.Name) error {
	if z.wants(f.pod.instance, dialect.CanonicalZone(name.String())) {
		return nil
	}
	return f.pod.follower.Remove(ctx, name)
}
