package gardener

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Kind is that of DNSRecords in logs and metrics.
const Kind = "DNSRecord"

// RecordID names a DNSRecord.
func RecordID(namespace, name string) zone.ID {
	return zone.ID{Kind: Kind, Namespace: namespace, Name: name}
}

// Convert returns the record set that a spec asks for, or what is wrong with it, as a problem of its configuration.
func Convert(s *v1alpha1.DNSRecordSpec) (rr.Set, error) {
	if faults := Faults(s); len(faults) > 0 {
		return rr.Set{}, Misconfigured("%s", strings.Join(faults, " "))
	}
	key, err := KeyOf(s)
	if err != nil {
		return rr.Set{}, err
	}
	data := make([]string, len(s.Values))
	for i, v := range s.Values {
		if data[i], err = dataOf(key.Type, v); err != nil {
			return rr.Set{}, Misconfigured("spec.values[%d] is %q: %v; correct it.", i, v, err)
		}
	}
	return rr.NewSet(key, uint32(ttlOf(s)), data...), nil // Faults has looked
}

// KeyOf returns which record set a spec is about, whatever its values.
func KeyOf(s *v1alpha1.DNSRecordSpec) (rr.Key, error) {
	name, err := dnsname.Parse(strings.TrimSuffix(s.Name, ".") + ".")
	if err != nil {
		return rr.Key{}, Misconfigured("spec.name is %q: %v; correct it.", s.Name, err)
	}
	kind, err := rr.ParseType(s.RecordType)
	if err != nil {
		return rr.Key{}, Misconfigured("spec.recordType is %q: %v; correct it.", s.RecordType, err)
	}
	return rr.Key{Name: name, Type: kind}, nil
}

func dataOf(kind rr.Type, value string) (string, error) {
	switch kind {
	case rr.TypeA, rr.TypeAAAA:
		a, err := netip.ParseAddr(value)
		if err != nil {
			return "", err
		}
		if a.Is4() != (kind == rr.TypeA) {
			return "", fmt.Errorf("it is not an address for an %s record", kind)
		}
		return rr.ParseData(kind, a.String())
	case rr.TypeCNAME:
		return rr.ParseData(kind, strings.TrimSuffix(value, ".")+".")
	case rr.TypeTXT:
		texts := []string{value}
		if quoted.MatchString(value) {
			if unquoted, err := rr.Strings(value); err == nil {
				texts = unquoted
			}
		}
		for i, text := range texts {
			texts[i] = rr.Text(text)
		}
		value = strings.Join(texts, " ")
	}
	return rr.ParseData(kind, value)
}

// quoted are texts that consist of quoted strings alone (RFC 1035 §5.1). Gardener's own extension for Route 53 hands
// them on as they are, so that objects hold them that were written for it.
var quoted = regexp.MustCompile(`^"([^"\\]|\\.)*"([ \t]+"([^"\\]|\\.)*")*$`)

// StackOf returns which addresses a CNAME to a load balancer stands for, where the service can say so itself.
func StackOf(o *v1alpha1.DNSRecord) string {
	switch stack := o.Annotations[v1alpha1.StackAnnotation]; stack {
	case v1alpha1.StackIPv6, v1alpha1.StackDual:
		return stack
	}
	return v1alpha1.StackIPv4
}

// ZoneOf returns the hosted zone that an object says its set is in, "" if it does not; anew: the one in the status is
// gone.
func ZoneOf(o *v1alpha1.DNSRecord, anew bool) string {
	switch {
	case o.Spec.Zone != nil && *o.Spec.Zone != "":
		return *o.Spec.Zone
	case o.Status.Zone != nil && !anew:
		return *o.Status.Zone
	}
	return ""
}

// SecretOf names the Secret with the credentials.
func SecretOf(o *v1alpha1.DNSRecord) types.NamespacedName {
	key := types.NamespacedName{Namespace: o.Spec.SecretRef.Namespace, Name: o.Spec.SecretRef.Name}
	if key.Namespace == "" {
		key.Namespace = o.Namespace
	}
	return key
}

// settings are what a DNSRecord may say about the use of an account. Where the account is, and so who is sent the
// credentials, is not among them: who writes DNSRecords need not be allowed to read the Secret.
var settings = []string{"proxied", "timeout", "zones"}

// Settings returns what providerConfig says, or what is wrong with it.
func Settings(s *v1alpha1.DNSRecordSpec) (map[string]string, error) {
	if s.ProviderConfig == nil || len(s.ProviderConfig.Raw) == 0 {
		return nil, nil
	}
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(s.ProviderConfig.Raw))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return nil, Misconfigured("spec.providerConfig is not an object; write one with settings, or remove it.")
	}
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "apiVersion" || name == "kind" {
			continue
		}
		if !slices.Contains(settings, name) {
			return nil, Misconfigured("spec.providerConfig.%s is not a setting of DNSRecords; remove it. Settings are %s.",
				name, strings.Join(settings, ", "))
		}
		switch v := fields[name].(type) {
		case string, bool, json.Number:
			out[name] = fmt.Sprint(v)
		default:
			return nil, Misconfigured(
				"spec.providerConfig.%s is not a text, number, true or false; write one of these, or remove it.", name)
		}
	}
	return out, nil
}

// A Problem is an error whose words are ours and say everything.
type Problem struct{ Detail backend.Error }

// Error returns the words.
func (p *Problem) Error() string { return p.Detail.Words }

// Unwrap returns what decides.
func (p *Problem) Unwrap() error { return &p.Detail }

// Misconfigured makes an error about what somebody has written into an object.
func Misconfigured(format string, args ...any) error {
	return &Problem{Detail: backend.Error{Class: backend.ErrRejected, Cause: backend.CauseInvalid,
		Words: fmt.Sprintf(format, args...)}}
}

// Zoneless makes an error about a hosted zone that there is not.
func Zoneless(format string, args ...any) error {
	return &Problem{Detail: backend.Error{Class: backend.ErrNoZone, Words: fmt.Sprintf(format, args...)}}
}
