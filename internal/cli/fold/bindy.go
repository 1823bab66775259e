package fold

import (
	"net/netip"
	"strings"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// giveBindy puts the objects of bindy into the World, which overlooks those that are as before. What becomes of one
// depends on the others: on the labels of records and the selectors of zones.
func (f *Fold) giveBindy(arrivals []*arrival) {
	homes := bindy.NewHomes()
	var zones []*v1beta1.DNSZone
	var records []bindy.Record
	var instances []*v1beta1.Bind9Instance
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
		case *v1beta1.Bind9Instance:
			if a.refusal == nil {
				instances = append(instances, o)
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
		out := bindy.ConvertZone(z, addressesFor(z, instances))
		out.Warnings = append(out.Warnings, homes.Notes(out.ID)...)
		f.World.PutZone(out)
	}
	for _, r := range records {
		f.World.PutClaim(bindy.ConvertRecord(r, homes.Of(r.ID)))
	}
}

// addressesFor are those that name servers of a zone get, as far as the statuses of instances say.
func addressesFor(z *v1beta1.DNSZone, all []*v1beta1.Bind9Instance) []netip.Addr {
	fleet, err := bindy.FleetOf(z, all)
	if err != nil {
		return nil // the zone is Invalid
	}
	return fleet.Addresses(z.Spec.AddressTypes)
}

// refuse puts an object that does not count. One that is being deleted is not there; another one is, for what refers to
// it.
func (f *Fold) refuse(a *arrival, homes *bindy.Homes) {
	ref := a.object.Ref
	switch {
	case a.gone():
		f.take(ref)
	case ref.Kind == manifest.DNSZone:
		var z v1beta1.DNSZone
		z.Namespace, z.Name = ref.Namespace, ref.Name
		homes.PutZone(&z)
		f.World.PutZone(zone.Zone{ID: IdOf(ref), Policy: bindy.Policy(), Invalid: a.refusal})
	case strings.HasSuffix(ref.Kind, manifest.Record):
		f.World.PutClaim(zone.Claim{ID: IdOf(ref), Invalid: a.refusal})
	}
}

// fleets adds why no servers can be made of clusters, providers and instances: what admission denies, and of an
// instance of a cluster, where the input has that, what its condition would say. What works and deserves a look is a
// warning.
func (c *Composition) fleets(arrivals []*arrival, held map[manifest.Ref]*arrival) {
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
				c.Problems = append(c.Problems, problem{a.object, "spec", false, string(zone.InvalidSpec), fault})
			}
			for _, caution := range bindy.Cautions(o, bindy.Settings{}, parentOf) {
				c.Problems = append(c.Problems, problem{a.object, "spec", true, caution.Reason, plain.Sentence(caution.Message)})
			}
		}
	}
}
