package gardener

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
)

// recordTypes are those that Gardener knows.
var recordTypes = []string{"A", "AAAA", "CNAME", "TXT"}

// Faults are sentences about what Gardener itself refuses in a spec, and no more than that: an address of the other
// family in an A record passes here as it does there, and fails when it is to be applied.
func Faults(s *v1alpha1.DNSRecordSpec) []string {
	var out []string
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	fault(s.Type == "", "spec.type is empty; name the kind of DNS service, such as aws-route53.")
	fault(s.SecretRef.Name == "", "spec.secretRef.name is empty; name the Secret with the credentials.")
	fault(s.Region != nil && *s.Region == "", "spec.region is empty; name a region, or remove it.")
	fault(s.Zone != nil && *s.Zone == "", "spec.zone is empty; name a hosted zone, or remove it.")
	name := nameFault(s)
	fault(name != "", "spec.name is %q: %s.", s.Name, name)
	fault(!slices.Contains(recordTypes, s.RecordType), "spec.recordType is %q; it is one of %s.", s.RecordType,
		strings.Join(recordTypes, ", "))
	fault(len(s.Values) == 0, "spec.values is empty; give at least one value.")
	fault(s.RecordType == "CNAME" && len(s.Values) > 1, "spec.values has %d names; a CNAME has one.", len(s.Values))
	for i, v := range s.Values {
		wrong := valueFault(s.RecordType, v)
		fault(wrong != "", "spec.values[%d] is %q: %s.", i, v, wrong)
	}
	fault(s.TTL != nil && (*s.TTL < 0 || *s.TTL > math.MaxInt32), "spec.ttl is %d; it is between 0 and %d (RFC 2181 §8).",
		ttlOf(s), math.MaxInt32)
	return out
}

// UpdateFaults are sentences about what may not be changed.
func UpdateFaults(old, o *v1alpha1.DNSRecord) []string {
	if !o.DeletionTimestamp.IsZero() {
		if !equality.Semantic.DeepEqual(old.Spec, o.Spec) {
			return []string{"spec can no longer be changed: the object is being deleted."}
		}
		return nil
	}
	var out []string
	for _, f := range []struct{ field, was, is string }{
		{"type", old.Spec.Type, o.Spec.Type}, {"name", old.Spec.Name, o.Spec.Name},
		{"recordType", old.Spec.RecordType, o.Spec.RecordType},
	} {
		if f.was != f.is {
			out = append(out, fmt.Sprintf("spec.%s may not be changed (it is %q); delete the object, and create another.",
				f.field, f.was))
		}
	}
	return out
}

// nameFault says what is wrong with the name: a TXT record may begin with _, others with *.
func nameFault(s *v1alpha1.DNSRecordSpec) string {
	if s.RecordType == "TXT" {
		return fqdnFault(strings.TrimPrefix(s.Name, "_"))
	}
	return fqdnFault(strings.TrimPrefix(s.Name, "*."))
}

// fqdnFault says why something is no fully qualified domain name in the sense of Kubernetes.
func fqdnFault(name string) string {
	if name == "" {
		return "it is empty; write a full name, such as api.example.com"
	}
	name = strings.TrimSuffix(name, ".")
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return strings.Join(wrong, ", ")
	}
	labels := strings.Split(name, ".")
	if len(labels) < 2 {
		return "it needs at least two labels, such as api.example.com"
	}
	for _, l := range labels {
		if wrong := validation.IsDNS1123Label(l); len(wrong) > 0 {
			return fmt.Sprintf("the label %q is wrong: %s", l, strings.Join(wrong, ", "))
		}
	}
	return ""
}

func valueFault(kind, value string) string {
	switch kind {
	case "A", "AAAA":
		if a, err := netip.ParseAddr(value); err != nil || a.Zone() != "" {
			return "it is not an IP address; write one such as 192.0.2.1 or 2001:db8::1"
		}
	case "CNAME":
		return fqdnFault(value)
	}
	return ""
}

// DefaultTTL is the TTL of a record set that does not say, in seconds.
const DefaultTTL = 120

func ttlOf(s *v1alpha1.DNSRecordSpec) int64 {
	if s.TTL == nil {
		return DefaultTTL
	}
	return *s.TTL
}
