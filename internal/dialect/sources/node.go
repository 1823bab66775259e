package sources

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func (v *Inventory) node(n *corev1.Node, w *Wish) {
	if n.Spec.Unschedulable && !v.Unschedulable {
		return
	}
	targets := targetsOf(n)
	if len(targets) == 0 {
		external, internal, six := addresses(n)
		switch {
		case len(external) == 0:
			targets = internal
		case v.InternalIPv6:
			targets = append(external, six...)
		default:
			targets = external
		}
	}
	names := v.Template.names(n, KindOf(n), w)
	if v.Template == nil || v.Combine {
		names = append(names, n.Name)
	}
	ttl := ttlOf(n, w)
	for _, host := range unique(names) {
		w.ask(origin{host: host}, targets, ttl)
	}
}

// dnsEndpoint has a DNSEndpoint ask for what it says. A set without targets is none.
func dnsEndpoint(d *externaldns.DNSEndpoint, w *Wish) {
	for i, e := range d.Spec.Endpoints {
		t, err := rr.ParseType(e.RecordType)
		if err != nil {
			w.note(zone.InvalidType, "has an endpoint %d with an invalid type: %v; correct it", i, err)
			continue
		}
		if len(e.Targets) == 0 {
			w.note(AddressLost, "has an endpoint %d, %s %s, without targets; add some", i, e.DNSName, t)
			continue
		}
		if e.SetIdentifier != "" || len(e.ProviderSpecific) > 0 {
			w.note(UnsupportedAnnotation, "has an endpoint %d, %s %s, with a setIdentifier or providerSpecific, which is "+
				"ignored; remove them", i, e.DNSName, t)
		}
		var ttl *uint32
		if e.RecordTTL > 0 && e.RecordTTL <= math.MaxInt32 {
			ttl = new(uint32(e.RecordTTL))
		} else if e.RecordTTL != 0 {
			w.note(zone.InvalidSpec, "has an endpoint %d, %s %s, with the recordTTL %d, which is not from 1 to %d seconds, so "+
				"the zone's TTL applies; correct it", i, e.DNSName, t, e.RecordTTL, math.MaxInt32)
		}
		w.add(Endpoint{Host: e.DNSName, Type: t, Targets: e.Targets, TTL: ttl})
	}
}
