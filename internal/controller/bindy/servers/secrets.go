package servers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/guarded"
)

// Metadata is an object of a kind of the core group of which only the metadata are watched: the content of Secrets, for
// instance, is read at the API server when it is needed.
func Metadata(kind string) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return m
}

// secrets are those with keys as they were last read or written, so that they are not read again before they change.
// The zero value is ready for use.
type secrets struct {
	guarded.Value[map[client.ObjectKey]*corev1.Secret]
}

// Secret reads a Secret, nil if there is none. Only where the cache knows of a version that we do not, the API server
// is asked.
func (s *Servers) Secret(ctx context.Context, key client.ObjectKey) (*corev1.Secret, error) {
	known := s.KnownSecret(key)
	meta := Metadata("Secret")
	err := s.Client.Get(ctx, key, meta)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading the metadata of Secret %s: %w", key, err)
	}
	if err == nil && known != nil && known.UID == meta.UID && objects.Version(known) >= objects.Version(meta) {
		return known, nil
	}
	live := &corev1.Secret{}
	if err := s.Live.Get(ctx, key, live); err != nil {
		s.KeepSecret(key, nil)
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // none is an answer
		}
		return nil, fmt.Errorf("reading Secret %s: %w", key, err)
	}
	s.KeepSecret(key, live)
	return live, nil
}

// KnownSecret is a Secret as it was last read or written; nil: it has not been, or was forgotten.
func (s *Servers) KnownSecret(key client.ObjectKey) *corev1.Secret {
	all, unlock := s.secrets.Lock()
	defer unlock()
	return (*all)[key]
}

// KeepSecret remembers a Secret that was read or written; nil forgets it.
func (s *Servers) KeepSecret(key client.ObjectKey, secret *corev1.Secret) {
	all, unlock := s.secrets.Lock()
	defer unlock()
	if secret == nil {
		delete(*all, key)
		return
	}
	if *all == nil {
		*all = map[client.ObjectKey]*corev1.Secret{}
	}
	(*all)[key] = secret
}
