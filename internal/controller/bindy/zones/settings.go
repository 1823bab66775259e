package zones

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// A Primary is a primary server whose zones are more than their content.
type Primary interface {
	// Configure brings the settings of a zone up to date.
	Configure(ctx context.Context, zone dnsname.Name) (changed bool, err error)
	// Notify has the secondaries of a zone told of a change.
	Notify(ctx context.Context, zone dnsname.Name) error
	// Signatures are what the server shows of the signing of a zone.
	Signatures(ctx context.Context, zone dnsname.Name) (backend.Signatures, error)
}

// ZoneSettings are what a zone is at a primary beside its content.
type ZoneSettings struct {
	AlsoNotify    []netip.AddrPort // the secondaries
	Unsigned      []netip.AddrPort // those that have no key of a primary, and may transfer the zone from where they are
	AllowTransfer []string         // where there are such: who else may, by the configuration of the server
	DNSSECPolicy  string
	Sole          bool // no other primary has it
}

// Settings are those of the zone of a name that the pod's instance has. Servers that are to go are told of news for as
// long as they serve.
func (p *Pod) Settings(name dnsname.Name) ZoneSettings {
	st, unlock := p.zones.state.Lock()
	defer unlock()
	h := st.hosts[p.instance]
	if h == nil {
		return ZoneSettings{}
	}
	of := st.holderAt(p.instance, dialect.CanonicalZone(name.String()))
	fleet := st.fleets[of]
	primaries, secondaries := st.held(of, fleet.primaries), st.held(of, fleet.secondaries)
	addresses := func(is func(*host) bool) []netip.AddrPort {
		pods, ending := st.podsOf(secondaries, is)
		return addressesOf(append(pods, ending...))
	}
	out := ZoneSettings{
		Unsigned:     addresses(func(s *host) bool { return !st.haveKey(primaries, s) }),
		DNSSECPolicy: fleet.signer.policy, Sole: !fleet.signer.none(),
	}
	out.AlsoNotify = append(addresses(func(s *host) bool { return s.transfer == h.transfer }), out.Unsigned...)
	if len(out.Unsigned) > 0 {
		out.AllowTransfer = h.allowTransfer
	}
	return out
}

// configure brings the settings of a zone at a primary up to date, and has it notify the secondaries. Before the zone
// is there, there is nothing to do: it is made with them.
func (v *visit) configure(ctx context.Context) error {
	at, ok := v.f.pod.server.Backend.(Primary)
	if !ok || !v.z.serversOf(v.f.zone).Has(v.f.zone, v.f.pod.server.Name) {
		return nil
	}
	settings := v.f.pod.Settings(v.name)
	if err := v.notify(ctx, at, settings); err != nil {
		return &controller.Later{After: firstAgain, Err: err}
	}
	update, transfer, _ := v.f.pod.Keys()
	now := fmt.Sprint(v.name, settings, update.Name, transfer.Name)
	if !v.knows(now) {
		if _, err := at.Configure(ctx, v.name); err != nil {
			if backend.Class(err) == backend.ErrNoZone { // whatever reading it has shown
				v.z.serversOf(v.f.zone).Audit(v.f.zone)
			}
			return v.retry(err)
		}
		_, unlock := v.z.state.Lock()
		v.f.told, v.f.name, v.f.tries = now, v.name, 0
		unlock()
	}
	if more, err := v.lookAtSignatures(ctx, at); more || err != nil {
		return v.retry(err)
	}
	v.recovered()
	return nil
}

// notify has the secondaries of a zone notified of its newest content, once, if a primary is the first that has been
// given it. Several changes make one message. Nothing depends on it: BIND notifies them too, and they are asked until
// they have it.
func (v *visit) notify(ctx context.Context, at Primary, s ZoneSettings) error {
	newest := v.z.serversOf(v.f.zone).Newest(v.f.zone)
	st, unlock := v.z.state.Lock()
	due := len(s.AlsoNotify) > 0 && newest.Given == v.f.pod.server.Name && st.notified[v.f.zone] != newest.Label
	if due {
		st.notified[v.f.zone] = newest.Label
	}
	unlock()
	if !due {
		return nil
	}
	return at.Notify(ctx, v.name)
}
