package check

import (
	"fmt"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/zone"
)

// serverless warns of DNSZones that nothing serves: it is no fault of what they hold.
func (f *findings) serverless(z fold.ZoneResult) {
	d, ok := z.Object.Bindy.(*v1beta1.DNSZone)
	if !ok || !z.Verdict.Accepted || d.Spec.ClusterRef != "" || d.Spec.ClusterProviderRef != "" ||
		len(d.Spec.Bind9InstancesFrom) > 0 {
		return
	}
	f.add(z.Object.PlaceOf("spec"), z.Object.Ref, asWarning, v1beta1.ReasonNoInstances, bindy.NoFleet(d))
}

// twins warns of DNSZones of one name that have the servers of one cluster, where only the older one is served.
func (f *findings) twins(zones []fold.ZoneResult) {
	type fleet struct{ namespace, cluster, zone string }
	first := map[fleet]manifest.Ref{}
	for _, z := range zones {
		d, ok := z.Object.Bindy.(*v1beta1.DNSZone)
		if !ok || !z.Verdict.Accepted {
			continue
		}
		cluster, err := d.Spec.Cluster()
		if err != nil || cluster == "" {
			continue
		}
		on := fleet{z.Object.Namespace, cluster, bindy.CanonicalZone(d.Spec.ZoneName)}
		other, twin := first[on]
		if !twin {
			first[on] = z.Object.Ref
			continue
		}
		f.add(z.Object.PlaceOf("spec.zoneName"), z.Object.Ref, asWarning, string(zone.DuplicateZone), fmt.Sprintf(
			"%s and %s are both called %s and have the servers of %s, where only the older one is served; delete one of the "+
				"two, or choose other servers for it.", z.Object.Ref, other, on.zone, cluster))
	}
}

// bindyField returns the field of a DNSZone or a record of bindy that somebody looks at first for a reason.
func bindyField(kind string, reason zone.Reason) string {
	inZone := kind == manifest.DNSZone
	switch reason {
	case zone.TTLDiffers:
		return "spec.ttl"
	case zone.InvalidTimers:
		return "spec.soa"
	case v1beta1.ReasonZoneNotFound, v1beta1.ReasonZoneAmbiguous, zone.ParentNotAccepted, zone.ParentUnresolved,
		zone.OutOfZone:
		return "spec.zone"
	case v1beta1.ReasonSelectedTwice:
		if inZone {
			return "spec.recordsFrom"
		}
		return "metadata.labels"
	case zone.InvalidData, zone.InvalidSpec, v1beta1.ReasonNotSelected:
		return "spec"
	case fold.DuplicateObject:
		return "metadata.name"
	case fold.BeingDeleted:
		return "metadata.deletionTimestamp"
	}
	if inZone {
		return "spec.zoneName"
	}
	return "spec.name"
}

// gardenerField returns the field of a DNSRecord of Gardener that somebody looks at first for a reason.
func gardenerField(reason zone.Reason) string {
	switch reason {
	case zone.Conflict:
		return "spec.name"
	case fold.DuplicateObject:
		return "metadata.name"
	case fold.BeingDeleted:
		return "metadata.deletionTimestamp"
	}
	return "spec"
}

// homelabField returns the field of a DNSClass or DNSRecord that somebody looks at first for a reason.
func homelabField(kind string, reason zone.Reason) string {
	switch reason {
	case zone.InvalidRule:
		return "spec.allowed"
	case zone.TTLDiffers:
		return "spec.ttl"
	case zone.InvalidData, zone.SetFull:
		return "spec.values"
	case zone.ReferenceNotFound, zone.ParentNotAccepted, zone.ParentUnresolved:
		return "spec.dnsClassRef.name"
	case zone.InvalidSpec:
		return "spec"
	case fold.DuplicateObject:
		return "metadata.name"
	case fold.BeingDeleted:
		return "metadata.deletionTimestamp"
	}
	if kind == manifest.DNSClass {
		return "spec"
	}
	return "spec.subdomain"
}

// fieldOf returns the field that somebody looks at first for a reason.
func fieldOf(ref manifest.Ref, reason zone.Reason) string {
	if ref.OfBindy() {
		return bindyField(ref.Kind, reason)
	}
	if ref.OfGardener() {
		return gardenerField(reason)
	}
	if ref.OfHomelab() {
		return homelabField(ref.Kind, reason)
	}
	switch reason {
	case zone.InvalidData, zone.SetFull, zone.UnquotedText:
		return "spec.rdata"
	case zone.InvalidType, zone.Conflict:
		return "spec.type"
	case zone.ClassMismatch:
		return "spec.class"
	case zone.TTLDiffers:
		return "spec.ttl"
	case zone.ReferenceNotFound, zone.ReferenceCycle, zone.ParentUnresolved, zone.OutOfZone:
		return "spec.zoneRef"
	case zone.InvalidRule:
		return "spec.delegations"
	case zone.InvalidTimers:
		return "spec.expire"
	case fold.DuplicateObject:
		return "metadata.name"
	case fold.BeingDeleted:
		return "metadata.deletionTimestamp"
	}
	return "spec.domainName"
}

// sourceVerdict adds what is decided about a set that a Service or another object like it asks for. What its status
// would say files do not have, and zones of names that nobody gives may be kept elsewhere.
func (f *findings) sourceVerdict(r fold.RecordResult, zones bool) {
	field := "spec"
	if r.Object.Kind == "Service" || r.Object.Kind == "Node" {
		field = "metadata.annotations"
	}
	add := func(severity string, reason zone.Reason, message string) {
		f.add(r.Object.PlaceOf(field), r.Object.Ref, severity, string(reason), message)
	}
	switch v := r.Verdict; {
	case v.Reason == sources.AddressLost, v.Reason == zone.NoZone && !zones:
	case v.Reason == zone.NoZone:
		add(asWarning, v.Reason, v.Message)
	case !v.Accepted:
		add(asError, v.Reason, v.Message)
	}
	for _, n := range r.Verdict.Notes {
		add(asWarning, n.Reason, n.Message)
	}
}
