package backends

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
)

// PowerDNS returns a spec in full, with the defaults of what it leaves out.
func PowerDNS(spec v1alpha1.PowerDNS) v1alpha1.PowerDNS {
	spec.URL = strings.TrimSuffix(spec.URL, "/")
	spec.ServerID = cmp.Or(spec.ServerID, "localhost")
	spec.ZoneKind = cmp.Or(spec.ZoneKind, "Native")
	return spec
}

// Protection returns what a spec holds, with the defaults of what it leaves out.
func Protection(spec *v1alpha1.Protection) plan.Protection {
	if spec == nil {
		return plan.Protection{}
	}
	p := plan.Protection{Limited: true, MaxDeletedPercent: int(number(spec.MaxDeletedPercent, 20)),
		MinDeleted: int(number(spec.MinDeleted, 10))}
	switch spec.Policy {
	case v1alpha1.PolicyUpsertOnly:
		p.Policy = plan.PolicyUpsertOnly
	case v1alpha1.PolicyCreateOnly:
		p.Policy = plan.PolicyCreateOnly
	case v1alpha1.PolicySync:
	}
	return p
}

func number(n *int32, standard int32) int32 {
	if n == nil {
		return standard
	}
	return *n
}

// KeyName reads the name of a key (RFC 8945 §4.2), whose last dot may be missing.
func KeyName(spec *v1alpha1.TSIG) (dnsname.Name, error) {
	return dnsname.Parse(strings.TrimSuffix(spec.KeyName, ".") + ".")
}

// ValueIn returns the value that a key names in a Secret's data: without a key, the only one. Its error is what follows
// the name of the Secret in a sentence, and tells no value.
func ValueIn(data map[string][]byte, key string) (string, error) {
	if key == "" && len(data) == 1 {
		for _, value := range data {
			return string(value), nil
		}
	}
	if key == "" {
		return "", fmt.Errorf("has %d keys; choose one of them with secretRef.key", len(data))
	}
	value, ok := data[key]
	if !ok {
		return "", fmt.Errorf("has no key %q; it has %s", key, strings.Join(slices.Sorted(maps.Keys(data)), ", "))
	}
	return string(value), nil
}
