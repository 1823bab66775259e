package backends

import (
	"errors"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
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

// errNoKey stands for the trouble with a key, which is an outcome.
var errNoKey = errors.New("the key of a registry cannot be had")
