package backends

import (
	"fmt"
	"slices"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// Adopt returns registries in which zonefold takes the place of an owner: in the entry that names it, else in the only
// one without an owner, else in a new one that is that of an external-dns without flags.
func Adopt(specs []v1alpha1.Registry, owner string) ([]v1alpha1.Registry, error) {
	out := slices.Clone(specs)
	if named(out, owner) >= 0 {
		return out, nil
	}
	switch free := named(out, ""); {
	case len(out) == 0:
		return []v1alpha1.Registry{{Owner: owner}}, nil
	case free < 0:
		return nil, fmt.Errorf("its spec.registries have other owners; add an entry with the flags of %q", owner)
	case named(out[free+1:], "") >= 0:
		return nil, fmt.Errorf(
			"its spec.registries have several entries without an owner; write owner: %q into the entry with its flags", owner)
	default:
		out[free].Owner = owner
		return out, nil
	}
}

// Note returns registries in which the owner's entry is kept for all sets of zonefold's, and no other is.
func Note(specs []v1alpha1.Registry, owner string) ([]v1alpha1.Registry, error) {
	i := named(specs, owner)
	if i < 0 {
		return nil, fmt.Errorf("its spec.registries have no entry with the owner %q, which zonefold would replace", owner)
	}
	out := slices.Clone(specs)
	for k := range out {
		if k != i && out[k].Write {
			return nil, fmt.Errorf("it keeps the registry of the owner %q; only one can be kept", out[k].Owner)
		}
	}
	out[i].Write = true
	return out, nil
}

func named(specs []v1alpha1.Registry, owner string) int {
	return slices.IndexFunc(specs, func(r v1alpha1.Registry) bool { return r.Owner == owner })
}
