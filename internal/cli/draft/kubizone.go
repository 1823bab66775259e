package draft

import (
	"math"
	"slices"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/rr"
)

// kubizoneZone writes the Zone.
func (d *drafter) kubizoneZone() {
	d.head(v1alpha1.GroupVersion.String(), "Zone", d.Namespace, d.Name)
	d.line(1, "domainName", d.zone.Origin.String())
	if d.zone.HasSOA() {
		d.authority()
	}
	d.text = append(d.text, "  delegations:\n"...)
	for i, s := range d.Splits {
		if slices.ContainsFunc(d.Splits[:i], func(o Split) bool { return o.Namespace == s.Namespace }) {
			continue
		}
		d.delegation(s.Namespace, d.patternsOf(s.Namespace))
	}
	d.delegation(d.Namespace, []string{"@", "*"})
}

// patternsOf are those of all splits of a namespace.
func (d *drafter) patternsOf(namespace string) (patterns []string) {
	for _, s := range d.Splits {
		if s.Namespace == namespace {
			patterns = append(patterns, s.Pattern.String())
		}
	}
	return patterns
}

func (d *drafter) delegation(namespace string, patterns []string) {
	d.text = append(d.text, "  - namespace: "...)
	d.text = append(AppendScalar(d.text, namespace), "\n    records:\n"...)
	for _, p := range patterns {
		d.text = append(d.text, "    - pattern: "...)
		d.text = append(AppendScalar(d.text, p), '\n')
	}
}

// authority writes the fields of the SOA.
func (d *drafter) authority() {
	soa := d.zone.SOA
	for _, f := range []struct {
		key   string
		value *uint32
	}{{"ttl", &soa.TTL}, {"negativeResponseCache", &soa.Minimum}, {"refresh", &soa.Refresh}, {"retry", &soa.Retry},
		{"expire", &soa.Expire}} {
		if *f.value > math.MaxInt32 {
			d.changed("SOA of "+d.zone.Origin.String(),
				"its %s is %d; it is reduced to the maximum of a Zone, %d", f.key, *f.value,
				math.MaxInt32)
			*f.value = math.MaxInt32
		}
	}
	d.number(1, "ttl", soa.TTL)
	d.number(1, "negativeResponseCache", soa.Minimum)
	if soa.Retry >= soa.Refresh || uint64(soa.Expire) <= uint64(soa.Refresh)+uint64(soa.Retry) {
		d.changed("SOA of "+d.zone.Origin.String(), "secondaries cannot work with refresh %d, retry %d and expire %d, so "+
			"no Zone may have them: retry must be less than refresh, and expire more than both; the Zone gets the defaults",
			soa.Refresh, soa.Retry, soa.Expire)
	} else {
		d.number(1, "refresh", soa.Refresh)
		d.number(1, "retry", soa.Retry)
		d.number(1, "expire", soa.Expire)
	}
	d.line(1, "mname", soa.MName.String())
	d.line(1, "rname", soa.RName.String())
}

// kubizoneSet writes a Record for each record of a set.
func (d *drafter) kubizoneSet(s rr.Set, home string) {
	if s.Type == rr.TypeDS && s.Name == d.zone.Origin {
		d.changed(s.Key().String(), "the DS records of a zone are in the zone above: zonefold puts them there, if it has it")
	}
	for _, data := range s.Data {
		d.head(v1alpha1.GroupVersion.String(), "Record", home, d.namer.name(d.zone.Origin, s.Name, s.Type, data))
		d.line(1, "domainName", s.Name.String())
		d.line(1, "type", s.Type.String())
		d.number(1, "ttl", s.TTL)
		d.line(1, "rdata", data)
		d.flush(home)
		d.out.Objects++
		d.out.Records++
	}
}
