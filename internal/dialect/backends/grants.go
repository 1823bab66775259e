package backends

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// ConvertGrants resolves the grants of a Backend among the namespaces, given with
// their labels. Patterns that cannot be read grant nothing, and are told.
func ConvertGrants(b *v1alpha1.Backend, namespaces map[string]labels.Set) (grants []zone.Grant, problems []string) {
	for i, g := range b.Spec.Grants {
		grant := zone.Grant{Namespaces: g.Namespaces}
		if g.NamespaceSelector != nil {
			selector, err := metav1.LabelSelectorAsSelector(g.NamespaceSelector)
			if err != nil {
				problems = append(problems, fmt.Sprintf("Grant %d has a namespaceSelector that cannot be read: %v.", i, err))
				continue
			}
			for name, set := range namespaces {
				if selector.Matches(set) {
					grant.Namespaces = append(grant.Namespaces, name)
				}
			}
			slices.Sort(grant.Namespaces)
		}
		for _, text := range g.Zones {
			p, err := dnsname.ParsePattern(text)
			if err != nil {
				problems = append(problems, fmt.Sprintf("Grant %d has a pattern that cannot be read: %v.", i, err))
				continue
			}
			grant.Zones = append(grant.Zones, p)
		}
		grants = append(grants, grant)
	}
	return grants, problems
}
