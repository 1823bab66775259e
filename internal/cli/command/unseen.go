package command

import (
	"reflect"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// WithoutSources says what was not looked at.
const WithoutSources = "Services, Ingresses, routes and the like are not read; add --sources."

// Together returns sentences on what could not be seen for people: those that differ in the resource alone are one.
func Together(unseen []string) []string {
	const begin = "You may not list "
	var out []string
	resources, at := map[string][]string{}, map[string]int{} // by what follows them
	for _, what := range unseen {
		list, ok := strings.CutPrefix(what, begin)
		resource, rest, _ := strings.Cut(strings.TrimSuffix(list, "."), " ")
		switch {
		case !ok:
			out = append(out, what)
			continue
		case resources[rest] == nil:
			at[rest] = len(out)
			out = append(out, "")
		}
		if !slices.Contains(resources[rest], resource) {
			resources[rest] = append(resources[rest], resource)
		}
	}
	for rest, all := range resources {
		last := len(all) - 1
		list := all[last]
		if last > 0 {
			list = strings.Join(all[:last], ", ") + " and " + list
		}
		out[at[rest]] = strings.TrimSpace(begin+list+" "+rest) + "."
	}
	return out
}

// stand has Zones stand where their statuses say that they do, if they are in one that the person may not see.
func (f *Found) stand() {
	if len(f.Unseen) == 0 {
		return
	}
	there := map[manifest.Ref]bool{}
	for _, o := range f.Objects {
		there[o.Ref] = true
	}
	f.asked = map[manifest.Ref]kubizone.ZoneSpec{}
	for _, o := range f.Objects {
		if z := o.Zone; z != nil && z.Spec.ZoneRef != nil && z.Status.FQDN != "" && acceptedAsIs(z) && !there[manifest.Ref{
			Kind: manifest.Zone, Namespace: z.Spec.ZoneRef.NamespaceOr(o.Ref.Namespace), Name: z.Spec.ZoneRef.Name}] {
			f.asked[o.Ref] = z.Spec
			z.Spec.ZoneRef, z.Spec.DomainName = nil, z.Status.FQDN
		}
	}
}

// acceptedAsIs reports whether the operator has accepted a Zone as it is now.
func acceptedAsIs(z *kubizone.Zone) bool {
	c := apimeta.FindStatusCondition(z.Status.Conditions, "Accepted")
	return c != nil && c.Status == "True" && c.ObservedGeneration == z.Generation
}

// StandAs has Zones that ask for the same names as before stand where they did.
func (f *Found) StandAs(before *Found) {
	stood := map[manifest.Ref]string{}
	for _, o := range before.Objects {
		if _, hidden := before.asked[o.Ref]; hidden {
			stood[o.Ref] = o.Zone.Spec.DomainName
		}
	}
	for _, o := range f.Objects {
		asked, hidden := before.asked[o.Ref]
		if z := o.Zone; hidden && z != nil && z.Spec.DomainName == asked.DomainName &&
			reflect.DeepEqual(z.Spec.ZoneRef, asked.ZoneRef) {
			z.Spec.ZoneRef, z.Spec.DomainName = nil, stood[o.Ref]
		}
	}
}
