package kubizone

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// ZoneID and RecordID name objects of this dialect in the core.
func ZoneID(namespace, name string) zone.ID {
	return zone.ID{Kind: zone.KindZone, Namespace: namespace, Name: name}
}

// RecordID names a Record in the core.
func RecordID(namespace, name string) zone.ID {
	return zone.ID{Kind: zone.KindRecord, Namespace: namespace, Name: name}
}

// Policy is that of a Zone: it is in the tree of delegations.
func Policy() zone.Policy {
	return zone.Policy{Words: zone.Words{
		Name: "domainName", Place: "domainName or zoneRef",
		RecordRule: "records: [{pattern: %q}]", ZoneRule: "zones: [%q]",
		Grant: "namespaces: [%s] and zones: [%q]",
	}}
}

// ConvertZone turns a Zone into what the core decides about. What cannot be
// understood makes it Invalid, or a rule void; it is never left out in silence.
func ConvertZone(z *v1alpha1.Zone) zone.Zone {
	out := zone.Zone{ID: ZoneID(z.Namespace, z.Name), Created: z.CreationTimestamp.Time, Policy: Policy()}
	where, refusal := zoneWhere(out.ID, &z.Spec)
	out.Where = where
	if problems := z.Spec.Problems(); len(problems) > 0 {
		refusal = unreadable(out.ID, problems)
	}
	if refusal == nil {
		refusal = zoneNumbers(&out, z.Spec.Numbers())
	}
	if refusal == nil {
		refusal = zoneNames(&out, &z.Spec)
	}
	if refusal == nil {
		refusal = convertReverse(&out, z.Spec.Reverse)
	}
	out.Invalid = refusal
	convertRules(&out, z.Spec.Delegations)
	if out.Retry >= out.Refresh || uint64(out.Expire) <= uint64(out.Refresh)+uint64(out.Retry) {
		out.Warnings = append(out.Warnings, zone.Note{Reason: zone.InvalidTimers, Message: fmt.Sprintf(
			"%s has SOA timers that secondaries cannot work with: retry (%d) must be less than refresh (%d), and expire (%d) "+
				"more than both together.",
			out.ID, out.Retry, out.Refresh, out.Expire)})
	}
	return out
}

// convertRules reads the delegations. What cannot be read, and what is more than a Zone may have, grants nothing.
func convertRules(out *zone.Zone, delegations []v1alpha1.Delegation) {
	var at []int // of each rule, its place among the delegations
	for i := range delegations {
		rule, err := convertRule(&delegations[i])
		if err != nil {
			out.Warnings = append(out.Warnings, zone.Note{Reason: zone.InvalidRule, Message: fmt.Sprintf(
				"Rule %d of the delegations of %s grants nothing, because it cannot be read: %v.", i, out.ID, err)})
			continue
		}
		out.Rules, at = append(out.Rules, rule), append(at, i)
	}
	out.Warnings = zone.Curtail(out.Warnings)
	if n := zone.RulesWithin(out.Rules); n < len(out.Rules) {
		out.Rules = out.Rules[:n]
		out.Warnings = append(out.Warnings, zone.Note{Reason: zone.InvalidRule, Message: fmt.Sprintf(
			"The delegations of %s have more than the %d rules, namespaces, patterns and types that a Zone may have; "+
				"rule %d and those after it grant nothing; write fewer, with wider patterns.", out.ID, zone.MaxRuleParts, at[n])})
	}
}

// unreadable refuses what an older schema let in with values of other types.
func unreadable(id zone.ID, problems []string) *zone.Refusal {
	return &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf(
		"%s cannot be read: %s; correct it.", id, zone.InAll(problems))}
}

func zoneWhere(id zone.ID, spec *v1alpha1.ZoneSpec) (zone.Where, *zone.Refusal) {
	where, refusal := convertWhere(id, spec.DomainName, spec.ZoneRef)
	switch {
	case refusal != nil:
		return where, refusal
	case !where.Name.IsZero() && !where.Ref.IsZero():
		return where, &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf(
			"%s has both a fully qualified domainName (%s) and a zoneRef; remove one of them.", id, where.Name)}
	case where.Relative.IsOrigin():
		return where, &zone.Refusal{Reason: zone.InvalidName, Message: fmt.Sprintf(
			"%s has the domainName \"@\", which is the name of %s itself; a sub-zone needs a name of its own.", id, where.Ref)}
	case where.Name.IsWildcard() || where.Relative.IsWildcard():
		return where, &zone.Refusal{Reason: zone.InvalidName, Message: fmt.Sprintf(
			"%s has the domainName %q, but a zone cannot start at a wildcard (RFC 4592 §4.2); name each zone.", id,
			spec.DomainName)}
	}
	return where, nil
}

// convertWhere reads a domainName and a zoneRef.
func convertWhere(id zone.ID, domainName string, ref *v1alpha1.ZoneRef) (zone.Where, *zone.Refusal) {
	var where zone.Where
	if ref != nil {
		where.Ref, where.RefField = ZoneID(ref.NamespaceOr(id.Namespace), ref.Name), "zoneRef"
	}
	var err error
	if absolute(domainName) {
		if where.Name, err = dnsname.Parse(domainName); err == nil {
			err = dnsname.CheckOwner(where.Name)
		}
	} else if where.Relative, err = dnsname.ParseRelative(domainName); err == nil {
		err = dnsname.CheckRelativeOwner(where.Relative)
	}
	if err != nil {
		where.Name, where.Relative = dnsname.Name{}, dnsname.Relative{}
		return where, &zone.Refusal{Reason: zone.InvalidName, Message: fmt.Sprintf(
			"%s has a domainName that is not a domain name: %v; correct it.", id, err)}
	}
	if where.Name.IsZero() && where.Ref.IsZero() {
		return where, &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf(
			"%s has the partial domainName %q and no zoneRef; end it with a dot, or set zoneRef to the Zone that it belongs to.",
			id, domainName)}
	}
	return where, nil
}

// absolute reports whether a domain name ends in a dot that is not escaped.
func absolute(name string) bool {
	head, dot := strings.CutSuffix(name, ".")
	slashes := len(head) - len(strings.TrimRight(head, `\`))
	return dot && slashes%2 == 0
}

func zoneNumbers(out *zone.Zone, n v1alpha1.ZoneNumbers) *zone.Refusal {
	for _, f := range []struct {
		name  string
		value int64
		into  *uint32
	}{
		{"ttl", n.TTL, &out.TTL}, {"refresh", n.Refresh, &out.Refresh}, {"retry", n.Retry, &out.Retry},
		{"expire", n.Expire, &out.Expire}, {"negativeResponseCache", n.NegativeResponseCache, &out.Minimum},
	} {
		if f.value < 0 || f.value > math.MaxInt32 {
			return outOfRange(out.ID, f.name, f.value)
		}
		*f.into = uint32(f.value)
	}
	return nil
}

// outOfRange refuses what a TTL or timer cannot be (RFC 2181 §8).
func outOfRange(id zone.ID, field string, value int64) *zone.Refusal {
	return &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf(
		"%s has the %s %d; it must be from 0 to %d seconds.", id, field, value, math.MaxInt32)}
}

func zoneNames(out *zone.Zone, spec *v1alpha1.ZoneSpec) *zone.Refusal {
	for _, f := range []struct {
		name, value string
		into        *dnsname.Name
	}{{"mname", spec.MName, &out.MName}, {"rname", spec.RName, &out.RName}} {
		if f.value == "" {
			continue
		}
		name, err := dnsname.Parse(f.value)
		before, _, at := strings.Cut(f.value, "@")
		if err != nil && f.name == "rname" && at && !strings.HasSuffix(before, `\`) {
			err = fmt.Errorf(`%q is a mail address: write a dot instead of the @, and \. instead of each dot before it`, f.value)
		}
		if err != nil {
			return &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf(
				"%s has an %s that is not an absolute domain name: %v; correct it.", out.ID, f.name, err)}
		}
		*f.into = name
	}
	return nil
}

// convertReverse reads which PTR records a Zone is to have.
func convertReverse(out *zone.Zone, r *v1alpha1.Reverse) *zone.Refusal {
	if r == nil {
		return nil
	}
	if r.Conflict != "" && r.Conflict != v1alpha1.ReverseOldest {
		return &zone.Refusal{Reason: zone.InvalidSpec, Message: fmt.Sprintf(
			"%s has the reverse.conflict %q; the only valid value is %s.", out.ID, r.Conflict, v1alpha1.ReverseOldest)}
	}
	out.Reverse = &zone.Reverse{Namespaces: slices.Compact(slices.Sorted(slices.Values(r.From)))}
	switch {
	case len(r.From) == 0:
		out.Reverse.Namespaces = []string{out.ID.Namespace}
	case slices.Contains(r.From, "*"):
		out.Reverse.Namespaces = nil
	}
	return nil
}

// convertRule reads a delegation. One that says anything that is not understood is
// void as a whole: a restriction that nobody knows must not widen what it grants.
func convertRule(d *v1alpha1.Delegation) (zone.Rule, error) {
	if problems := d.Problems(); len(problems) > 0 {
		return zone.Rule{}, errors.New(zone.InAll(problems))
	}
	rule := zone.Rule{Namespaces: d.AllNamespaces()}
	for _, text := range d.Zones {
		p, err := dnsname.ParsePattern(text)
		if err != nil {
			return zone.Rule{}, err
		}
		rule.Zones = append(rule.Zones, p)
	}
	for _, r := range d.Records {
		p, err := dnsname.ParsePattern(r.Pattern)
		if err != nil {
			return zone.Rule{}, err
		}
		rec := zone.RecordRule{Pattern: p}
		for _, text := range r.Types {
			t, err := rr.ParseType(string(text))
			if err != nil {
				return zone.Rule{}, err
			}
			rec.Types = append(rec.Types, t)
		}
		rule.Records = append(rule.Records, rec)
	}
	return rule, nil
}

// ConvertRecord turns a Record into a claim. What cannot be understood makes it
// Invalid.
func ConvertRecord(r *v1alpha1.Record) zone.Claim {
	out := zone.Claim{ID: RecordID(r.Namespace, r.Name), Created: r.CreationTimestamp.Time}
	out.Where, out.Invalid = convertWhere(out.ID, r.Spec.DomainName, r.Spec.ZoneRef)
	if refusal := convertData(&out, &r.Spec); out.Invalid == nil {
		out.Invalid = refusal
	}
	if problems := r.Spec.Problems(); len(problems) > 0 {
		out.Invalid = unreadable(out.ID, problems)
	}
	return out
}

func convertData(out *zone.Claim, spec *v1alpha1.RecordSpec) *zone.Refusal {
	refuse := func(reason zone.Reason, format string, args ...any) *zone.Refusal {
		return &zone.Refusal{Reason: reason, Message: fmt.Sprintf("%s has ", out.ID) + fmt.Sprintf(format, args...)}
	}
	if class := spec.ClassOrDefault(); class != "IN" {
		return refuse(zone.ClassMismatch, "the class %s, but zones have the class IN; use that.", class)
	}
	t, err := rr.ParseType(string(spec.Type))
	if err != nil {
		return refuse(zone.InvalidType, "an invalid type: %v; correct it.", err)
	}
	if why := t.Refused(); why != "" {
		return refuse(zone.InvalidType, "the type %s, which cannot be written: %s.", t, why)
	}
	out.Type = t
	data, err := rr.ParseData(t, spec.RData)
	if err != nil {
		return refuse(zone.InvalidData, "rdata that cannot be read: %v; correct it.", err)
	}
	out.Data = []string{data}
	if t == rr.TypeTXT && !strings.Contains(spec.RData, `"`) && strings.Contains(data, `" "`) {
		out.Warnings = append(out.Warnings, zone.Note{Reason: zone.UnquotedText, Message: fmt.Sprintf(
			"The rdata of %s has no quotes, so each of its words is a string (RFC 1035 §5.1). Readers join them without "+
				"spaces, those of SPF and DKIM too (RFC 7208 §3.3). "+
				"If it is one text, write it in quotes, within those of YAML: rdata: '\"a text\"'.", out.ID)})
	}
	if spec.TTL != nil {
		if ttl := int64(*spec.TTL); ttl < 0 || ttl > math.MaxInt32 {
			return outOfRange(out.ID, "ttl", ttl)
		}
		ttl := uint32(*spec.TTL)
		out.TTL = &ttl
	}
	return nil
}
