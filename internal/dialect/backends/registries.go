package backends

import (
	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/registry"
)

// Registries returns what a spec says of external-dns, nil if it says nothing. Key reads the key of a registry that is
// encrypted; its first error is that of Registries.
func Registries(
	specs []v1alpha1.Registry, key func(v1alpha1.SecretKeyRef) ([]byte, error),
) (*registry.Registry, error) {
	if len(specs) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	out := &registry.Registry{}
	for _, s := range specs {
		f := registry.Format{Prefix: s.Prefix, Suffix: s.Suffix, Wildcard: s.WildcardReplacement}
		if s.EncryptionKeyRef != nil {
			var err error
			if f.Key, err = key(*s.EncryptionKeyRef); err != nil {
				return nil, err
			}
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
