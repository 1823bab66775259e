package backends

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// catalogOf returns the name of the catalog zone that a spec asks for, zero for none.
func catalogOf(spec *v1alpha1.Embedded) (dnsname.Name, error) {
	if spec == nil || spec.CatalogZone == "" {
		return dnsname.Name{}, nil
	}
	name, err := dnsname.Parse(strings.TrimSuffix(spec.CatalogZone, ".") + ".")
	switch {
	case err != nil:
		return dnsname.Name{}, fmt.Errorf("is no domain name: %w", err)
	case name.IsRoot() || name.IsWildcard():
		return dnsname.Name{}, fmt.Errorf("cannot be %s", name)
	}
	if _, err := dnsname.Parse(strings.Repeat("0", 32) + ".zones." + name.String()); err != nil { // RFC 9432 §4.1
		return dnsname.Name{}, errors.New("is too long: the names of its members have 39 octets more")
	}
	return name, nil
}
