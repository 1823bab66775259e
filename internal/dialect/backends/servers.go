package backends

import (
	"cmp"
	"strings"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// PowerDNS returns a spec in full, with the defaults of what it leaves out.
func PowerDNS(spec v1alpha1.PowerDNS) v1alpha1.PowerDNS {
	spec.URL = strings.TrimSuffix(spec.URL, "/")
	spec.ServerID = cmp.Or(spec.ServerID, "localhost")
	spec.ZoneKind = cmp.Or(spec.ZoneKind, "Native")
	return spec
}

// KeyName reads the name of a key (RFC 8945 §4.2), whose last dot may be missing.
func KeyName(spec *v1alpha1.TSIG) (dnsname.Name, error) {
	return dnsname.Parse(strings.TrimSuffix(spec.KeyName, ".") + ".")
}
