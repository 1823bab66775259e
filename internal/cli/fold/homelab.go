package fold

import (
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
	return zone.Zone{ID: IdOf(o.Ref), Policy: homelab.Policy(), Invalid: refusal}
}

func hookRecordOf(o *manifest.Object, refusal *zone.Refusal) zone.Claim {
	if r, ok := o.Homelab.(*v1alpha1.DNSRecord); ok && refusal == nil {
		claim, _ := homelab.ConvertRecord(r)
		return claim
	}
	return zone.Claim{ID: IdOf(o.Ref), Invalid: refusal}
}
