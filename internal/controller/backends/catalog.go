package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
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

// elder returns the oldest Backend that is older than this one and asks for a catalog zone of the same name, "" for
// none. It alone has one: who follows the other would drop all zones that this one does not list.
func (s Source) elder(ctx context.Context, backend *v1alpha1.Backend) string {
	catalog, err := catalogOf(backend.Spec.Embedded)
	if err != nil || catalog.IsZero() {
		return ""
	}
	oldest := backend
	s.every(ctx, func(other *v1alpha1.Backend) {
		name, err := catalogOf(other.Spec.Embedded)
		if err == nil && name == catalog && byAge(other, oldest) < 0 {
			oldest = other
		}
	})
	if oldest.Name == backend.Name {
		return ""
	}
	return oldest.Name
}

// byAge orders Backends, the oldest first.
func byAge(a, b *v1alpha1.Backend) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// catalogTaken warns of a catalog zone that an older Backend has.
func (s Source) catalogTaken(ctx context.Context, backend *v1alpha1.Backend) []caution {
	elder := s.elder(ctx, backend)
	if elder == "" {
		return nil
	}
	return []caution{{controller.ReasonCatalogTaken, fmt.Sprintf(
		"The older Backend %s has the catalog zone %s, so this one has none; choose another name for its "+
			"embedded.catalogZone.", elder, backend.Spec.Embedded.CatalogZone)}}
}
