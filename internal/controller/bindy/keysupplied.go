package bindy

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// supplied reads the key that somebody made. Where there is none that can be used, the trouble says why.
func (b *Controller) supplied(ctx context.Context, namespace string,
	s dialect.KeySource) (*bind9.Key, *dialect.Trouble, error) {
	at := client.ObjectKey{Namespace: namespace, Name: string(s.Ref.Name)}
	secret, err := b.secretAt(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if secret == nil {
		return nil, &dialect.Trouble{Reason: v1beta1.ReasonSecretNotFound, Message: dialect.Sentence(
				"There is no Secret %s, which %s names: create it, or take the reference out. The keys in use stay.", at, s.Field)},
			nil
	}
	k, err := dialect.KeyIn(secret, s.Ref.OrDefault())
	if err != nil {
		return nil, &dialect.Trouble{Reason: v1beta1.ReasonInvalidKey, Message: dialect.Sentence(
			"The Secret %s, which %s names, holds no key that can be used: %v. The keys in use stay.", at, s.Field, err)}, nil
	}
	return k, nil, nil
}
