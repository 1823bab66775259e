package zones

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

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

// settingsAt are those of the zone of a name that an instance has. Servers that are to go are told of news for as long
// as they serve.
func (z *Zones) settingsAt(instance client.ObjectKey, name dnsname.Name) ZoneSettings {
	st, unlock := z.state.Lock()
	defer unlock()
	h := st.hosts[instance]
	if h == nil {
		return ZoneSettings{}
	}
	of := st.holderAt(instance, dialect.CanonicalZone(name.String()))
	fleet := st.fleets[of]
	pods, ending := st.podsOf(st.held(of, fleet.secondaries), h.transfer)
	return ZoneSettings{
		AlsoNotify: addressesOf(append(pods, ending...)), DNSSECPolicy: fleet.signer.policy, Sole: !fleet.signer.none(),
	}
}

// configure brings the settings of a zone at a primary up to date, and has it notify the secondaries. Before the zone
// is there, there is nothing to do: it is made with them.
func (z *Zones) configure(ctx context.Context, f *follow, name dnsname.Name) error {
	at, ok := f.pod.server.Backend.(Primary)
	if !ok || !z.serversOf(f.zone).Has(f.zone, f.pod.server.Name) {
		return nil
	}
	settings := f.pod.Settings(name)
	if err := z.notify(ctx, at, f, name, settings); err != nil {
		return &controller.Later{After: firstAgain, Err: err}
	}
	update, transfer, _ := f.pod.Keys()
	now := fmt.Sprint(name, settings, update.Name, transfer.Name)
	if !z.knows(f, now) {
		if _, err := at.Configure(ctx, name); err != nil {
			if backend.Class(err) == backend.ErrNoZone { // whatever reading it has shown
				z.serversOf(f.zone).Audit(f.zone)
			}
			return z.retry(f, err)
		}
		_, unlock := z.state.Lock()
		f.told, f.name, f.tries = now, name, 0
		unlock()
	}
	if more, err := z.lookAtSignatures(ctx, at, f, name); more || err != nil {
		return z.retry(f, err)
	}
	z.recovered(f)
	return nil
}

// notify has the secondaries of a zone notified of its newest content, once, if a primary is the first that has been
// given it. Several changes make one message. Nothing depends on it: BIND notifies them too, and they are asked until
// they have it.
func (z *Zones) notify(ctx context.Context, at Primary, f *follow, name dnsname.Name, s ZoneSettings) error {
	newest := z.serversOf(f.zone).Newest(f.zone)
	st, unlock := z.state.Lock()
	due := len(s.AlsoNotify) > 0 && newest.Given == f.pod.server.Name && st.notified[f.zone] != newest.Label
	if due {
		st.notified[f.zone] = newest.Label
	}
	unlock()
	if !due {
		return nil
	}
	return at.Notify(ctx, name)
}
