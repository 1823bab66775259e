package homelab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Kinds of the dialect's objects.
const (
	KindClass  = "DNSClass"
	KindRecord = "DNSRecord"
)

// ClassID names a DNSClass in the core.
func ClassID(name string) zone.ID { return zone.ID{Kind: KindClass, Name: name} }

// RecordID names a DNSRecord in the core.
func RecordID(namespace, name string) zone.ID {
	return zone.ID{Kind: KindRecord, Namespace: namespace, Name: name}
}

// Policy is that of the zone that a DNSClass becomes.
func Policy() zone.Policy {
	return zone.Policy{
		Pinned: true, Heap: true, MaxSet: dnshook.MaxValues,
		Words: zone.Words{Remedy: "ask its administrator to add it to spec.allowed, or choose another name"},
	}
}

// ConvertClass turns a DNSClass into what the core decides about: the heap of sets that its server has.
func ConvertClass(c *v1alpha1.DNSClass) zone.Zone {
	out := zone.Zone{
		ID: ClassID(c.Name), Created: c.CreationTimestamp.Time, Where: zone.Where{Name: dnsname.Root},
		Policy: Policy(), TTL: TTLOf(c.Spec.DefaultTTL),
	}
	for i := range c.Spec.Allowed {
		if rule, err := convertAllowance(c.Spec.Allowed[i]); err == nil {
			out.Rules = append(out.Rules, rule)
		} else { // it grants nothing
			out.Warnings = append(out.Warnings, zone.Note{Reason: zone.InvalidRule, Message: fmt.Sprintf(
				"Item %d of spec.allowed of %s allows nothing, because it cannot be read: %v.", i, out.ID, err)})
		}
	}
	out.Warnings = zone.Curtail(out.Warnings)
	if n := zone.RulesWithin(out.Rules); n < len(out.Rules) {
		out.Rules = out.Rules[:n]
		out.Warnings = append(out.Warnings, zone.Note{Reason: zone.InvalidRule, Message: fmt.Sprintf(
			"spec.allowed of %s has more than the %d items, namespaces and names that a class may have; the last ones allow "+
				"nothing; write fewer, with wider names.", out.ID, zone.MaxRuleParts)})
	}
	if len(c.Spec.Allowed) == 0 {
		rule, _ := convertAllowance(v1alpha1.Allowance{})
		out.Rules = append(out.Rules, rule)
	}
	return out
}

// everything matches all names: those that begin with an asterisk need a pattern that does, too.
func convertAllowance(a v1alpha1.Allowance) (zone.Rule, error) {
	rule := zone.Rule{Namespaces: a.Namespaces}
	names := a.Names
	if len(names) == 0 {
		names = []string{"*"}
	}
	for _, text := range names {
		p, err := dnsname.ParsePattern(text)
		if err != nil {
			return zone.Rule{}, err
		}
		rule.Records = append(rule.Records, zone.RecordRule{Pattern: p})
	}
	return rule, nil
}

// TTLOf is the TTL that a spec says, in seconds, or the protocol's.
func TTLOf(ttl *int32) uint32 {
	if ttl == nil || *ttl <= 0 {
		return dnshook.DefaultTTL
	}
	return uint32(*ttl)
}

// A Wanted is what a DNSRecord asks for, as it is sent.
type Wanted struct {
	Record dnshook.Record // canonical; its TTL counts if the spec has one
	Code   dnshook.Code   // what is wrong with it; "": nothing
}

// ConvertRecord turns a DNSRecord into a claim, and into what it is on the wire. What cannot be understood makes it
// Invalid.
func ConvertRecord(r *v1alpha1.DNSRecord) (zone.Claim, Wanted) {
	out := zone.Claim{ID: RecordID(r.Namespace, r.Name), Created: r.CreationTimestamp.Time}
	out.Where.Ref = ClassID(r.Spec.DNSClassRef.Name)
	record, data, err := wireOf(&r.Spec)
	if err == nil && r.Spec.TTL != nil {
		if ttl := *r.Spec.TTL; ttl < 1 {
			err = &dnshook.Error{Code: dnshook.CodeInvalidRecord, Message: fmt.Sprintf(
				"the ttl is %d; it must be from 1 to %d seconds",
				ttl, math.MaxInt32)}
		} else {
			seconds := uint32(ttl)
			out.TTL = &seconds
		}
	}
	var name dnsname.Name
	if err == nil {
		name, err = dnsname.Parse(record.ID().FQDN() + ".")
	}
	var t rr.Type
	if err == nil {
		t, err = rr.ParseType(record.Type)
	}
	if err != nil {
		return invalid(out, err)
	}
	out.Where.Name, out.Type, out.Data, out.Terms = name, t, data, TermsOf(record)
	return out, Wanted{Record: record}
}

// NameOf returns the record that a spec names, whatever else is in it.
func NameOf(spec *v1alpha1.DNSRecordSpec) (dnshook.ID, error) {
	return dnshook.ID{Type: string(spec.Type), Domain: spec.Domain, Subdomain: spec.Subdomain}.Canonical()
}

// invalid refuses a claim; its name is the root, which nobody looks at, so that what is wrong is said and not that it
// has none.
func invalid(out zone.Claim, err error) (zone.Claim, Wanted) {
	code := dnshook.CodeOf(err)
	if code == "" {
		code = dnshook.CodeInvalidDomain
	}
	reason := map[dnshook.Code]zone.Reason{
		dnshook.CodeInvalidDomain: zone.InvalidName, dnshook.CodeInvalidValue: zone.InvalidData,
	}[code]
	if reason == "" {
		reason = zone.InvalidSpec
	}
	text := err.Error()
	if e := (*dnshook.Error)(nil); errors.As(err, &e) {
		text = e.Message
	}
	out.Where.Name = dnsname.Root
	out.Invalid = &zone.Refusal{Reason: reason, Message: fmt.Sprintf("%s cannot be sent: %s; correct it.", out.ID,
		strings.TrimRight(text, "."))}
	return out, Wanted{Code: code}
}

func wireOf(spec *v1alpha1.DNSRecordSpec) (dnshook.Record, []string, error) {
	raw := dnshook.Record{
		Type: string(spec.Type), Domain: spec.Domain, Subdomain: spec.Subdomain, Values: spec.Values, TTL: TTLOf(spec.TTL),
	}
	if m := spec.Metadata; m != nil {
		raw.Metadata = &dnshook.Metadata{}
		for _, n := range []struct {
			name string
			from *int32
			into **uint16
		}{{"priority", m.Priority, &raw.Metadata.Priority}, {"weight", m.Weight, &raw.Metadata.Weight},
			{"port", m.Port, &raw.Metadata.Port}} {
			if n.from == nil {
				continue
			}
			if *n.from < 0 || *n.from > math.MaxUint16 {
				return raw, nil, &dnshook.Error{Code: dnshook.CodeInvalidRecord, Message: fmt.Sprintf(
					"metadata.%s is %d; it must be from 0 to %d", n.name, *n.from, math.MaxUint16)}
			}
			number := uint16(*n.from)
			*n.into = &number
		}
	}
	record, err := raw.Canonical()
	if err != nil {
		return raw, nil, err
	}
	data, err := record.Data()
	if err != nil {
		return raw, nil, err
	}
	slices.Sort(data) // the same data in another order is the same set
	return record, slices.Compact(data), nil
}

// TermsOf are what records of several objects have to have in common to be one: on the wire they have their numbers
// once, and that there is no mail stands beside no mail server (RFC 7505 §3).
func TermsOf(r dnshook.Record) string {
	switch m := r.Metadata; {
	case m == nil:
		return ""
	case r.Type == "MX" && slices.Contains(r.Values, "."):
		return fmt.Sprint("priority ", *m.Priority, ", no mail")
	case r.Type == "MX":
		return fmt.Sprint("priority ", *m.Priority)
	default:
		return fmt.Sprint("priority ", *m.Priority, ", weight ", *m.Weight, ", port ", *m.Port)
	}
}
