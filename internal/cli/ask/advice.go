package ask

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Advise says what to do, and which objects are missing.
func (e *explanation) Advise() {
	switch {
	case e.Subject == nil:
		e.create()
	case e.going && e.Subject.Kind == manifest.Zone:
		e.Advice = fmt.Sprintf("Wait until its servers have removed its records. If they cannot be reached, or "+
			"DeletionsHeld says that they keep them, run zonefold release %s -n %s.", e.Subject.Name,
			e.Subject.Namespace)
	case e.going:
		e.Advice = "Wait until it is gone; its finalizers show who still has to act."
	case !e.Accepted:
		e.Advice = e.Message
		if e.Reason == zone.NotDelegated && e.Subject.Kind == manifest.Record {
			e.Manifest = e.rule(e.Subject.Namespace)
		}
	case len(e.Notes) > 0:
		e.Advice = e.Notes[0].Message
	default:
		e.Advice = e.followUp()
	}
}

// nameError is what a server answers that does not have a name: that is no trouble of its own.
const nameError = "NXDOMAIN"

// followUp says what to do about what is not served, or servers that do not answer what is wanted.
func (e *explanation) followUp() string {
	if e.unserved != "" {
		return e.unserved
	}
	wanted := slices.Sorted(slices.Values(e.Data))
	for _, s := range e.Servers {
		trouble := s.Error != "" && s.Error != nameError
		switch {
		case trouble && s.Backend != "":
			return fmt.Sprintf("Look at Backend %s: %s", s.Backend, s.Error)
		case trouble:
			return fmt.Sprintf("Look at the server %s: %s", s.Server, s.Error)
		case s.Answers != nil && e.key.Type != rr.TypeSOA && len(wanted) > 0 && !slices.Equal(s.Answers, wanted):
			if why := e.frozen(); why != "" {
				return why
			}
			return fmt.Sprintf("Wait for the server %s, which answers differently; if that persists, look at the status of %s.",
				s.Server, e.serving.Object.Ref)
		}
	}
	return "Nothing."
}

// frozen says that what waits does so because the Zone is frozen, "" if it is not.
func (e *explanation) frozen() string {
	is := apimeta.FindStatusCondition(conditionsOf(e.serving.Object), ConditionFrozen)
	if is == nil {
		return ""
	}
	return fmt.Sprintf("%s is frozen: %s", e.serving.Object.Ref, is.Message)
}

// create says which objects would make a name that nobody asks for.
func (e *explanation) create() {
	namespace := e.namespace
	record := recordManifest(namespace, e.key)
	switch {
	case e.Reason == zone.NoZone:
		e.Advice = fmt.Sprintf("Create a Zone that encloses %s, and a Record.", e.Name)
		e.Manifest = zoneManifest(namespace, e.key) + "---\n" + record
	case e.Reason == zone.Conflict && e.Holder != nil:
		e.Advice = fmt.Sprintf("Explain the target of %s instead, change %s, or choose another name.", e.Name, e.Holder)
	case e.Reason == zone.NotDelegated && e.zone != nil && e.zone.Object.Zone != nil:
		e.Advice = fmt.Sprintf("Add a rule to spec.delegations of %s, and create a Record in namespace %s.",
			e.zone.Object.Ref, namespace)
		e.Manifest = e.rule(namespace) + "---\n" + record
	case e.mayHave && e.zone != nil && e.zone.Object.Zone != nil:
		e.Advice = fmt.Sprintf("Create a Record in namespace %s.", namespace)
		e.Manifest = record
	default:
		e.Advice = e.Message
	}
}

// rule is what has to be added to a Zone for a namespace, as a part of that.
func (e *explanation) rule(namespace string) string {
	if e.zone == nil || e.zone.Object.Zone == nil {
		return ""
	}
	return fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: %s, namespace: %s}
spec:
  delegations: # add to those that are there
  - namespaces: [%s]
    records: [{pattern: %q, types: [%s]}]
`, e.zone.Object.Name, e.zone.Object.Ref.Namespace, namespace, e.key.Name.In(e.origin), e.key.Type)
}

func zoneManifest(namespace string, key rr.Key) string {
	origin := key.Name
	for origin.NumLabels() > 2 {
		origin, _ = origin.Parent()
	}
	return fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: %s, namespace: %s}
spec:
  domainName: %q
  delegations:
  - namespaces: [%s]
    records: [{pattern: %q, types: [%s]}]
`, objectName(origin), namespace, origin, namespace, key.Name.In(origin), key.Type)
}

func recordManifest(namespace string, key rr.Key) string {
	return fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: %s, namespace: %s}
spec:
  domainName: %q
  type: %s
  rdata: %s
`, objectName(key.Name)+"-"+strings.ToLower(key.Type.String()), namespace, key.Name, key.Type, sampleData(key.Type))
}

// maxLabel is how long a name of an object may be to be a label of a Service, too.
const maxLabel = 50

// objectName makes a name for an object of a domain name.
func objectName(name dnsname.Name) string {
	var b strings.Builder
	for _, c := range strings.TrimSuffix(name.String(), ".") {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case c == '*':
			b.WriteString("any")
		case b.Len() > 0:
			b.WriteByte('-')
		}
	}
	out := b.String()
	return cmp.Or(strings.Trim(out[:min(len(out), maxLabel)], "-"), "name")
}

// sampleData is data of a type, quoted for YAML, to be replaced.
func sampleData(t rr.Type) string {
	switch t {
	case rr.TypeA:
		return "192.0.2.1"
	case rr.TypeAAAA:
		return `"2001:db8::1"`
	case rr.TypeMX:
		return `"10 mail.example.net."`
	case rr.TypeTXT:
		return `'"text"'`
	case rr.TypeSRV:
		return `"0 0 443 host.example.net."`
	case rr.TypeCAA:
		return `'0 issue "ca.example.net"'`
	case rr.TypeCNAME, rr.TypeDNAME, rr.TypeNS, rr.TypePTR:
		return "host.example.net."
	}
	return `"..."`
}

// ConditionFrozen is the type of the condition of a Zone that is frozen.
const ConditionFrozen = "Frozen"
