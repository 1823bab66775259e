package backends

import (
	"cmp"

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
		if s.DynamoDB != nil {
			f = registry.InTable(tableName(s.DynamoDB))
		}
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

// A Table is one of DynamoDB that a registry is in.
type Table struct {
	Name, Region string
	SecretRef    *v1alpha1.SecretRef // nil: the surroundings have the credentials
	Options      map[string]string   // see route53.FromSecret
}

// TableOf returns the table that the registry of a spec is in, nil if none is. What it does not say of credentials and
// region, a provider says that is at the same service.
func TableOf(spec *v1alpha1.BackendSpec) *Table {
	for _, r := range spec.Registries {
		d := r.DynamoDB
		if d == nil {
			continue
		}
		t := &Table{Name: tableName(d), Region: d.Region, SecretRef: d.SecretRef,
			Options: map[string]string{"endpoint": d.Endpoint}}
		if p := spec.Provider; p != nil && p.Type == "aws-route53" {
			t.Region = cmp.Or(t.Region, p.Region)
			t.Options["stsEndpoint"] = p.Config["stsEndpoint"]
			if t.SecretRef == nil {
				t.SecretRef = p.SecretRef
			}
		}
		return t
	}
	return nil
}

// tableName has external-dns' default.
func tableName(d *v1alpha1.DynamoDB) string { return cmp.Or(d.Table, "external-dns") }
