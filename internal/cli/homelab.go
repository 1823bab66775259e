package cli

import (
	"fmt"
	"io"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

// classOf and hookRecordOf convert objects of dns.homelab.mortenolsen.pro.
func classOf(o *manifest.Object, refusal *zone.Refusal) zone.Zone {
	if c, ok := o.Homelab.(*v1alpha1.DNSClass); ok && refusal == nil {
		return homelab.ConvertClass(c)
	}
	return zone.Zone{ID: idOf(o.Ref), Policy: homelab.Policy(), Invalid: refusal}
}

func hookRecordOf(o *manifest.Object, refusal *zone.Refusal) zone.Claim {
	if r, ok := o.Homelab.(*v1alpha1.DNSRecord); ok && refusal == nil {
		claim, _ := homelab.ConvertRecord(r)
		return claim
	}
	return zone.Claim{ID: idOf(o.Ref), Invalid: refusal}
}

// writeServer says where sets are to be that are no zone: there is no SOA.
func writeServer(out io.Writer, z zoneResult) {
	if z.object.OfGardener() {
		fmt.Fprintf(out, "; %s: %s\n", oneLine(z.object.Ref.String()), oneLine(z.verdict.Message))
		return
	}
	server := ""
	if c, ok := z.object.Homelab.(*v1alpha1.DNSClass); ok {
		server = c.Spec.Server
	}
	fmt.Fprintf(out, "; %s: what %s is to have, hash %s\n", oneLine(z.object.Ref.String()), oneLine(server),
		z.snapshot.Hash)
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
	case duplicateObject:
		return "metadata.name"
	case beingDeleted:
		return "metadata.deletionTimestamp"
	}
	if kind == manifest.DNSClass {
		return "spec"
	}
	return "spec.subdomain"
}
