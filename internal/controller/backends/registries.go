package backends

import (
	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/registry"
)

// registries resolves what a spec says of external-dns, nil if it says nothing, or says why it cannot be used.
func (r resolver) registries(spec *v1alpha1.BackendSpec) (*registry.Registry, *controller.Outcome) {
	if len(spec.Registries) == 0 {
		return nil, nil
	}
	out := &registry.Registry{}
	for _, s := range spec.Registries {
		f := registry.Format{Prefix: s.Prefix, Suffix: s.Suffix, Wildcard: s.WildcardReplacement}
		if s.EncryptionKeyRef != nil {
			text, trouble := r.secret(*s.EncryptionKeyRef)
			if trouble != nil {
				return nil, trouble
			}
			key, err := registry.ParseKey(text)
			if err != nil && !r.blind {
				return nil, problem(controller.ReasonInvalidSpec, "Secret %s, the key of a registry: %v.",
					r.named(*s.EncryptionKeyRef), err)
			}
			f.Key = key
		}
		out.Formats = append(out.Formats, f)
		if s.Owner != "" {
			out.Owners = append(out.Owners, s.Owner)
		}
		if s.Write {
			out.Writes, out.Writer = &f, s.Owner
		}
	}
	return out, nil
}
