package fold

import (
	"fmt"
	"maps"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// overlaid returns what a DNSRecord of Gardener asks for. No Zone decides about it: its set goes to the service
// whatever is there.
func overlaid(a *arrival) ZoneResult {
	z := ZoneResult{Object: a.object}
	refuse := func(reason zone.Reason, message string) ZoneResult {
		z.Verdict = zone.Verdict{Name: z.Verdict.Name, Reason: reason, Message: message}
		return z
	}
	if a.refusal != nil {
		return refuse(a.refusal.Reason, a.refusal.Message)
	}
	o := a.object.Gardener
	set, err := gardener.Convert(&o.Spec)
	if err == nil {
		z.Verdict.Name = set.Name
		_, err = gardener.Settings(&o.Spec)
	}
	if err != nil {
		return refuse(zone.InvalidSpec, fmt.Sprintf("%s cannot be sent: %v", a.object.Ref, err))
	}
	where := fmt.Sprintf("in the hosted zone %q", gardener.ZoneOf(o, false))
	if gardener.ZoneOf(o, false) == "" {
		where = fmt.Sprintf(
			"in whichever of its hosted zones has the longest name that %s ends with: only the service knows them", set.Name)
	}
	z.Verdict.Accepted, z.Verdict.Reason = true, zone.Accepted
	z.Verdict.Message = fmt.Sprintf("This is what %s should have with the credentials of the Secret %s, %s.", o.Spec.Type,
		gardener.SecretOf(o), where)
	sets := rr.Sets{}.Txn()
	sets.Put(set)
	z.Snapshot.Name, z.Snapshot.Sets, z.Snapshot.SOA.TTL = dnsname.Root, sets.Sets(), set.TTL
	return z
}

// rival notes where several DNSRecords of Gardener ask for one set with different contents: which of them was asked for
// last, files do not tell.
func (c *Composition) rival() {
	type place struct {
		service, secret, zone string
		key                   rr.Key
	}
	first := map[place]*manifest.Object{}
	for i := range c.Zones {
		z := &c.Zones[i]
		if !z.Object.OfGardener() || !z.Verdict.Accepted {
			continue
		}
		o := z.Object.Gardener
		at := place{service: o.Spec.Type, secret: gardener.SecretOf(o).String(), zone: gardener.ZoneOf(o, false)}
		for set := range z.Snapshot.Sets.All() {
			at.key = set.Key()
		}
		other, taken := first[at]
		if !taken {
			first[at] = z.Object
			continue
		}
		if asksTheSame(o, other.Gardener) {
			continue
		}
		z.Verdict.Notes = append(z.Verdict.Notes, zone.Note{Reason: zone.Conflict, Object: IdOf(other.Ref),
			Message: fmt.Sprintf(
				"%s asks for the %s records at %s, as %s does. The service gets the ones requested last; remove one of the two.",
				z.Object.Ref, at.key.Type, at.key.Name, other.Ref)})
	}
}

// asksTheSame reports whether a service gets the same of two DNSRecords for one set: the order of values counts for
// nothing.
func asksTheSame(a, b *v1alpha1.DNSRecord) bool {
	set, err := gardener.Convert(&a.Spec)
	if err != nil {
		return false
	}
	other, err := gardener.Convert(&b.Spec)
	if err != nil || !set.Equal(other) ||
		a.Annotations[v1alpha1.StackAnnotation] != b.Annotations[v1alpha1.StackAnnotation] {
		return false
	}
	settings, err := gardener.Settings(&a.Spec)
	if err != nil {
		return false
	}
	others, err := gardener.Settings(&b.Spec)
	return err == nil && maps.Equal(settings, others)
}
