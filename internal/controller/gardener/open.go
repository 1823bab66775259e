package gardener

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
)

// An opener opens accounts by what objects and their Secrets say.
type opener struct {
	live client.Reader
	seed bool
	as   func(Request) (backend.Account, error)
}

// open returns the account of a run, or what is wrong with its credentials or settings. What is there through the
// account before can be taken away whatever has become of these.
func (p opener) open(ctx context.Context, run *run, before backend.Account) (backend.Account, error) {
	o := run.object
	data, err := p.credentials(ctx, o)
	request := Request{Type: o.Spec.Type, Data: data}
	if o.Spec.Region != nil {
		request.Region = *o.Spec.Region
	}
	var account backend.Account
	if run.unread = nil; err == nil {
		account, err = p.openAs(request, o)
	}
	var api *apiError
	if err == nil || run.step == Put || errors.As(err, &api) {
		return account, err
	}
	switch {
	case run.step == Remove && before != nil:
		return before, nil
	case data == nil:
		return nil, err
	}
	return p.openWithout(run, request, err)
}

// openAs opens an account as a spec says.
func (p opener) openAs(request Request, o *v1alpha1.DNSRecord) (account backend.Account, err error) {
	if request.Options, err = dialect.Settings(&o.Spec); err != nil {
		return nil, err
	}
	if account, err = p.as(request); err != nil {
		return nil, unopened(o, err)
	}
	return account, nil
}

// openWithout opens the account of a set that is there with the credentials alone: what the spec says besides cannot be
// corrected any more when the object is being deleted. Only one setting matters then: which zones there are, where the
// service does not tell.
func (p opener) openWithout(run *run, request Request, wrong error) (backend.Account, error) {
	zone := dialect.ZoneOf(run.object, false)
	if zone != "" {
		request.Options = map[string]string{"zones": zone}
		if account, err := p.as(request); err == nil {
			return account, nil
		}
	}
	request.Options = nil
	account, err := p.as(request)
	if err != nil {
		return nil, unopened(run.object, err)
	}
	if zone == "" {
		run.unread = wrong
	}
	return account, nil
}

// credentials reads the Secret that a record names.
func (p opener) credentials(ctx context.Context, o *v1alpha1.DNSRecord) (map[string][]byte, error) {
	key := dialect.SecretOf(o)
	if key.Name == "" {
		return nil, dialect.Misconfigured("spec.secretRef.name is empty; name the Secret with the credentials.")
	}
	if key.Namespace != o.Namespace && !p.seed {
		return nil, dialect.Misconfigured(
			"spec.secretRef names a Secret of the namespace %s, which only objects in a seed may; name one of %s.",
			key.Namespace, o.Namespace)
	}
	secret := &corev1.Secret{}
	switch err := p.live.Get(ctx, key, secret); {
	case apierrors.IsNotFound(err):
		wayOut := "create it, or correct spec.secretRef"
		if !o.DeletionTimestamp.IsZero() { // admission refuses each change of the spec
			wayOut = "create it"
		}
		return nil, dialect.Misconfigured("there is no Secret %s; %s.", key, wayOut)
	case apierrors.IsForbidden(err): // the object can be written to all the same: these are other rights
		return nil, dialect.Misconfigured(
			"the operator may not read the Secret %s (%v); grant its ServiceAccount the right to get it.", key, err)
	case err != nil:
		return nil, &apiError{error: fmt.Errorf("reading the Secret %s: %w", key, err)}
	}
	return secret.Data, nil
}

// unopened says which Secret it is that opens nothing. An error that has no class is about the configuration: no
// service has been asked yet.
func unopened(o *v1alpha1.DNSRecord, err error) error {
	if backend.Class(err) == backend.ErrUnavailable {
		err = dialect.Misconfigured("%v", err)
	}
	return fmt.Errorf("reading the Secret %s: %w", dialect.SecretOf(o), err)
}
