package cli

import (
	"strings"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// giveBindy puts the objects of bindy into the World, which overlooks those that are as before. What becomes of one
// depends on the others: on the labels of records and the selectors of zones.
func (f *fold) giveBindy(arrivals []*arrival) {
	homes := bindy.NewHomes()
	var zones []*v1beta1.DNSZone
	var records []bindy.Record
	for _, a := range arrivals {
		if !a.object.Ref.OfBindy() {
			continue
		}
		switch o := a.object.Bindy.(type) {
		case nil:
		case *v1beta1.DNSZone:
			if a.refusal == nil {
				zones = append(zones, o)
				homes.PutZone(o)
			}
		default:
			if r, ok := bindy.RecordOf(o); ok && a.refusal == nil {
				records = append(records, r)
				homes.PutRecord(r)
			}
		}
		if a.refusal != nil {
			f.refuse(a, homes)
		}
	}
	for _, z := range zones {
		out := bindy.ConvertZone(z, nil)
		out.Warnings = append(out.Warnings, homes.Notes(out.ID)...)
		f.world.PutZone(out)
	}
	for _, r := range records {
		f.world.PutClaim(bindy.ConvertRecord(r, homes.Of(r.ID)))
	}
}

// refuse puts an object that does not count. One that is being deleted is not there; another one is, for what refers to
// it.
func (f *fold) refuse(a *arrival, homes *bindy.Homes) {
	ref := a.object.Ref
	switch {
	case a.gone():
		f.take(ref)
	case ref.Kind == manifest.DNSZone:
		var z v1beta1.DNSZone
		z.Namespace, z.Name = ref.Namespace, ref.Name
		homes.PutZone(&z)
		f.world.PutZone(zone.Zone{ID: idOf(ref), Policy: bindy.Policy(), Invalid: a.refusal})
	case strings.HasSuffix(ref.Kind, manifest.Record):
		f.world.PutClaim(zone.Claim{ID: idOf(ref), Invalid: a.refusal})
	}
}

// fleets adds why no servers can be made of clusters, providers and instances: what admission denies, and of an
// instance of a cluster, where the input has that, what its condition would say. What works and deserves a look is a
// warning.
func (c *composition) fleets(arrivals []*arrival, held map[manifest.Ref]*arrival) {
	parentOf := func(namespace, name string) (string, *v1beta1.CommonSpec) {
		if a := held[manifest.Ref{Kind: v1beta1.KindCluster, Namespace: namespace, Name: name}]; a != nil {
			if o, ok := a.object.Bindy.(*v1beta1.Bind9Cluster); ok && a.refusal == nil {
				return v1beta1.KindCluster, &o.Spec.CommonSpec
			}
			return "", nil
		}
		if a := held[manifest.Ref{Kind: v1beta1.KindProvider, Name: name}]; a != nil {
			if o, ok := a.object.Bindy.(*v1beta1.ClusterBind9Provider); ok && a.refusal == nil {
				return v1beta1.KindProvider, &o.Spec.CommonSpec
			}
		}
		return "", nil
	}
	for _, a := range arrivals {
		switch o := a.object.Bindy.(type) {
		case *v1beta1.ClusterBind9Provider, *v1beta1.Bind9Cluster, *v1beta1.Bind9Instance:
			if a.refusal != nil {
				continue
			}
			for _, fault := range bindy.Faults(o, bindy.Settings{}, parentOf) {
				c.problems = append(c.problems, problem{a.object, "spec", false, string(zone.InvalidSpec), fault})
			}
			for _, caution := range bindy.Cautions(o, bindy.Settings{}, parentOf) {
				c.problems = append(c.problems, problem{a.object, "spec", true, caution.Reason, ended(caution.Message)})
			}
		}
	}
}

// serverless warns of DNSZones that nothing serves: it is no fault of what they hold.
func (f *findings) serverless(z zoneResult) {
	d, ok := z.object.Bindy.(*v1beta1.DNSZone)
	if !ok || !z.verdict.Accepted || d.Spec.ClusterRef != "" || d.Spec.ClusterProviderRef != "" ||
		len(d.Spec.Bind9InstancesFrom) > 0 {
		return
	}
	f.add(z.object.PlaceOf("spec"), z.object.Ref, asWarning, v1beta1.ReasonNoInstances, bindy.NoFleet(d))
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
	case duplicateObject:
		return "metadata.name"
	case beingDeleted:
		return "metadata.deletionTimestamp"
	}
	if inZone {
		return "spec.zoneName"
	}
	return "spec.name"
}
