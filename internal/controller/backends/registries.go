package backends

import (
	"errors"
	"slices"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/registry"
)

// registries resolves what a spec says of external-dns, nil if it says nothing, or says why it cannot be used.
func (r resolver) registries(spec *v1alpha1.BackendSpec) (*registry.Registry, *controller.Outcome) {
	var trouble *controller.Outcome
	out, err := dialect.Registries(spec.Registries, func(ref v1alpha1.SecretKeyRef) ([]byte, error) {
		var text string
		if text, trouble = r.secret(ref); trouble != nil {
			return nil, errNoKey
		}
		key, err := registry.ParseKey(text)
		if err != nil && !r.blind {
			trouble = problem(controller.ReasonInvalidSpec, "Secret %s, the key of a registry: %v.", r.named(ref), err)
			return nil, errNoKey
		}
		return key, nil
	})
	if err != nil {
		return nil, trouble
	}
	return out, nil
}

// TableSettings are those of the table of DynamoDB that a registry of external-dns is in.
type TableSettings struct {
	Name, Region string
	Data         map[string][]byte // of the Secret; nil: the surroundings have the credentials
	Options      map[string]string
	Owners       []string // whose place zonefold takes
}

// table resolves the table that a spec names, nil if it names none.
func (r resolver) table(spec *v1alpha1.BackendSpec, owners []string) (*TableSettings, *controller.Outcome) {
	t := dialect.TableOf(spec)
	if t == nil {
		return nil, nil
	}
	out := &TableSettings{Name: t.Name, Region: t.Region, Options: t.Options, Owners: owners}
	if t.SecretRef == nil || r.blind {
		return out, nil
	}
	secret, where, trouble := r.consenting(t.SecretRef.Namespace, t.SecretRef.Name)
	if trouble == nil && len(secret.Data) == 0 {
		trouble = problem(controller.ReasonSecretNotFound,
			"Secret %s is empty; add the credentials, or remove secretRef to use the operator's own.", where)
	}
	if trouble != nil {
		return nil, trouble
	}
	out.Data = secret.Data
	return out, nil
}

// besideTable has servers show what the table of a registry says. Trouble that there is already stays.
func (b *Controller) besideTable(servers []delivery.Server, t *TableSettings, trouble *controller.Outcome) (
	[]delivery.Server, *controller.Outcome) {
	if t == nil {
		return servers, trouble
	}
	beside, err := b.Table(*t)
	switch {
	case err != nil && trouble == nil:
		return nil, problem(controller.ReasonInvalidSpec,
			"The Backend cannot be used because of its registry table: %v.", err)
	case err != nil:
		return nil, trouble
	}
	out := slices.Clone(servers)
	for i := range out {
		out[i].Backend = beside(out[i].Backend)
	}
	return out, trouble
}

// errNoKey stands for the trouble with a key, which is an outcome.
var errNoKey = errors.New("the key of a registry cannot be read")
