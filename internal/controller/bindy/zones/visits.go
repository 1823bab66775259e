package zones

import (
	"context"
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
	zone    zone.ID
	pod     *Pod
	writes  bool         // the server is a primary of the zone
	told    string       // what the server was told of the zone last; "": nothing, or it may have lost that
	name    dnsname.Name // under which it was told
	serial  uint32       // that a secondary has confirmed; 0: none
	need    uint64       // the content that was wanted when it came; 0: it is about to be looked at
	whole   bool         // a secondary has had that, or a newer one
	trouble string       // why not, as a sentence
	tries   int          // without success

	suspectSince time.Time // since when its content is suspect, whatever its serial; zero: it is not
	renewed      int       // how often it was told to transfer all because of that

	asked
}

// asked is what came of asking a secondary for its serial.
type asked struct {
	seen   uint32    // the serial that it was seen with last
	behind time.Time // since when it makes no progress; zero: it has what it should
	next   time.Time // when it is to be asked
	heard  time.Time // when it has answered last, about the zone; zero: it has not yet
}

// there reports whether the server has been told to have the zone.
func (f *follow) there() bool { return f.told != "" }

// forget has a server told of the zone anew, and asked what it has of it.
func (*state) forget(f *follow) {
	f.told, f.serial, f.seen, f.need, f.whole, f.tries = "", 0, 0, 0, false, 0
}

// forgetAt forgets what is known of the zones at a pod that something is true of, and has them looked at.
func (st *state) forgetAt(pod types.UID, is func(*follow) bool) {
	for _, id := range idsWhere(st.follows, func(_ zone.ID, at map[types.UID]*follow) bool {
		return at[pod] != nil && is(at[pod])
	}) {
		st.forget(st.follows[id][pod])
		st.z.servers.Enqueue(followID(id, pod))
	}
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

// visitServers has every pod of a zone looked at, primaries first, and forgets those that are not the zone's any more.
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
	if st.follows[id] = now; len(now) == 0 {
		delete(st.follows, id)
		delete(st.notified, id)
	}
}

// visitAll has the zones of an instance looked at wherever they are: primaries and secondaries know each other's
// addresses.
func (z *Zones) visitAll(instance client.ObjectKey) {
	st, unlock := z.state.Lock()
	ids := idsWhere(st.fleets, func(_ zone.ID, fleet fleetOf) bool { return fleet.has(instance) })
	unlock()
	for _, id := range ids {
		z.changed(id)
	}
}

// A visit is one look at what a zone is at one pod.
type visit struct {
	z       *Zones
	f       *follow
	name    dnsname.Name // of the zone
	sources []*Pod       // the primaries that a secondary can transfer from
	signed  bool         // they have its key for transfers
}

// serve brings what a zone is at one pod, beside its content, to what it should be.
func (z *Zones) serve(ctx context.Context, id zone.ID) error {
	st, unlock := z.state.Lock()
	f := st.followOf(id)
	if f == nil {
		unlock()
		return nil
	}
	sources, signed := st.sourcesOf(f)
	elder := st.elder(f.zone, f.pod.instance)
	if elder != "" { // what it has of another zone says nothing about this one
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
	v := &visit{z, f, name, sources, signed}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if elder != "" || !f.writes && len(sources) == 0 {
		v.tell(elder)
		return nil
	}
	return f.pod.call(z.Clock.Now, func() error {
		if f.writes {
			return v.configure(ctx)
		}
		return v.follow(ctx)
	})
}

// sourcesOf returns the primaries that a pod transfers a zone from: those that have its key, else all, and nothing is
// signed.
func (st *state) sourcesOf(f *follow) (sources []*Pod, signed bool) {
	h := st.hosts[f.pod.instance]
	if h == nil {
		return nil, false
	}
	primaries := st.held(f.zone, st.fleets[f.zone].primaries)
	signed = st.haveKey(primaries, h)
	sources, _ = st.podsOf(primaries, func(p *host) bool { return !signed || p.transfer == h.transfer })
	return sources, signed
}

// haveKey reports whether some of the primaries have the key of a host for transfers, as those of its cluster do, or
// may have it, as nobody has looked at them yet.
func (st *state) haveKey(primaries []client.ObjectKey, h *host) bool {
	return slices.ContainsFunc(primaries, func(key client.ObjectKey) bool {
		p := st.hosts[key]
		return p == nil || p.transfer == h.transfer
	})
}

// podsOf are the pods of those instances that something is true of, and those that are to go and serve for a moment
// more.
func (st *state) podsOf(instances []client.ObjectKey, is func(*host) bool) (pods, ending []*Pod) {
	for _, key := range instances {
		if h := st.hosts[key]; h != nil && is(h) {
			pods, ending = append(pods, h.pods...), append(ending, h.ending...)
		}
	}
	return pods, ending
}

// addressesOf are where pods answer, in order.
func addressesOf(pods []*Pod) []netip.AddrPort {
	out := make([]netip.AddrPort, len(pods))
	for i, p := range pods {
		out[i] = p.address
	}
	slices.SortFunc(out, netip.AddrPort.Compare)
	return out
}

// knows reports whether a server was told something of a zone last.
func (v *visit) knows(what string) bool {
	_, unlock := v.z.state.Lock()
	defer unlock()
	return v.f.told == what
}

// tell has a zone say what is wrong with it at a pod; "": nothing.
func (v *visit) tell(trouble string) {
	_, unlock := v.z.state.Lock()
	news := v.f.trouble != trouble
	v.f.trouble = trouble
	unlock()
	if news {
		v.z.news(v.f.zone)
	}
}

// How soon a server is asked again: it is about to have what it is asked for.
const firstAgain, lastAgain = 50 * time.Millisecond, 10 * time.Second

// forgiven is how many failures in a row, which take three seconds, are no news: a zone is not there before it is
// transferred.
const forgiven = 5

// retry notes what went wrong, if anything did, and asks for another look.
func (v *visit) retry(err error) error {
	_, unlock := v.z.state.Lock()
	v.f.tries++
	after := backend.Doubled{First: firstAgain, Most: lastAgain}.After(v.f.tries + 1)
	v.f.next = v.z.Clock.Now().Add(after)
	if backend.Class(err) == backend.ErrNoZone { // somebody has removed it
		v.f.told = ""
	}
	trouble := v.f.trouble
	if err != nil && v.f.tries > forgiven {
		trouble = dialect.Sentence("%v.", err)
	}
	unlock()
	v.tell(trouble)
	return &controller.Later{After: after, Err: err}
}

// recovered ends the trouble of a server that has what it is to have, and has been told all.
func (v *visit) recovered() {
	_, unlock := v.z.state.Lock()
	v.f.tries = 0
	unlock()
	v.tell("")
}
