package bindy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// A keyset remembers what this term of leadership knows of keys: Secrets as they were last read or written, so that
// they are not read again before they change, and the rings that were published, so that a Secret that is lost or
// edited can be put right with the keys that servers have.
type keyset struct {
	mu        sync.Mutex
	secrets   map[client.ObjectKey]*corev1.Secret
	rings     map[client.ObjectKey]published
	referrers map[client.ObjectKey]client.ObjectKey // of an instance, the Secret that somebody made for it
}

// published is a ring as it stands in a Secret.
type published struct {
	ring    bind9.Ring
	owner   types.UID
	version string    // of the Secret
	since   time.Time // when it was published, or first seen
}

// secretAt reads a Secret, nil if there is none. Only where the cache knows of a version that we do not, the API server
// is asked.
func (b *Controller) secretAt(ctx context.Context, key client.ObjectKey) (*corev1.Secret, error) {
	known := b.keys.secret(key)
	meta := secrets()
	err := b.Client.Get(ctx, key, meta)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading the metadata of Secret %s: %w", key, err)
	}
	if err == nil && known != nil && known.UID == meta.UID && objects.Version(known) >= objects.Version(meta) {
		return known, nil
	}
	live := &corev1.Secret{}
	if err := b.Live.Get(ctx, key, live); err != nil {
		b.keys.remember(key, nil)
		if apierrors.IsNotFound(err) {
			return nil, nil //nolint:nilnil // none is an answer
		}
		return nil, fmt.Errorf("reading Secret %s: %w", key, err)
	}
	b.keys.remember(key, live)
	return live, nil
}

func (k *keyset) secret(key client.ObjectKey) *corev1.Secret {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.secrets[key]
}

// remember notes a Secret; nil forgets it.
func (k *keyset) remember(key client.ObjectKey, secret *corev1.Secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if secret == nil {
		delete(k.secrets, key)
		return
	}
	if k.secrets == nil {
		k.secrets = map[client.ObjectKey]*corev1.Secret{}
	}
	k.secrets[key] = secret
}

// ring is what this owner's Secret of that name was last known to publish.
func (k *keyset) ring(key client.ObjectKey, owner types.UID) (published, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p, ok := k.rings[key]; ok && p.owner == owner {
		return p, true
	}
	return published{}, false
}

func (k *keyset) rememberRing(key client.ObjectKey, p published) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rings == nil {
		k.rings = map[client.ObjectKey]published{}
	}
	k.rings[key] = p
}

// refer notes which Secret an instance has its key from; an empty name: none.
func (k *keyset) refer(instance, secret client.ObjectKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.referrers[instance]
	if k.referrers == nil {
		k.referrers = map[client.ObjectKey]client.ObjectKey{}
	}
	if k.referrers[instance] = secret; secret.Name == "" {
		delete(k.referrers, instance)
	}
	if !slices.Contains(slices.Collect(maps.Values(k.referrers)), before) {
		delete(k.secrets, before) // what nobody needs is not kept
	}
}

// forget drops all that is known for an object that is gone.
func (k *keyset) forget(owner client.ObjectKey) {
	k.refer(owner, client.ObjectKey{})
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range []string{dialect.KeySecret(owner.Name), dialect.TransferName(owner.Name)} {
		key := client.ObjectKey{Namespace: owner.Namespace, Name: name}
		delete(k.secrets, key)
		delete(k.rings, key)
	}
}

// referring are the instances that have their key from a Secret.
func (k *keyset) referring(secret client.ObjectKey) (out []client.ObjectKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for instance, s := range k.referrers {
		if s == secret {
			out = append(out, instance)
		}
	}
	return out
}

// secretFor is the Secret that publishes a ring.
func (t *keyTask) secretFor(ring bind9.Ring) (*corev1.Secret, error) {
	data, err := ring.Data(t.settings.Purpose, 0)
	if err != nil {
		return nil, fmt.Errorf("making Secret %s: %w", t.secret, err)
	}
	labels, annotations := t.source.ExtraMetadata()
	out := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.secret.Namespace, Name: t.secret.Name, Labels: maps.Clone(labels),
			Annotations: maps.Clone(annotations)},
		Type: corev1.SecretTypeOpaque, Data: data,
	}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	maps.Copy(out.Labels, t.labels)
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	// What create writes, no later apply can take away; so all four are always there.
	maps.Copy(out.Annotations, map[string]string{bind9.AnnotationSwitchedAt: "", bind9.AnnotationRotateAt: ""})
	maps.Copy(out.Annotations, ring.Annotations())
	return out, nil
}

// publish writes a ring into its Secret, if it is not there already. live is the Secret that was read, nil if there was
// none: one that has changed since, or that somebody has made, is a conflict, and nothing is written.
func (b *Controller) publish(ctx context.Context, t *keyTask, live *corev1.Secret,
	ring bind9.Ring) (objects.Result, error) {
	desired, err := t.secretFor(ring)
	if err != nil {
		return objects.Unchanged, err
	}
	var there client.Object // nil is no *Secret
	if live != nil {
		there = live
	}
	what, answer, err := b.children.Replace(ctx, t.owner, there, desired)
	if err != nil {
		b.keys.remember(t.secret, nil)
		return what, err
	}
	if answer == nil {
		return what, nil
	}
	got := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, got); err != nil {
		return what, fmt.Errorf("reading the answer about Secret %s: %w", t.secret, err)
	}
	b.keys.remember(t.secret, got)
	return what, nil
}

// intact reports whether a Secret is as an operator wrote it, to the last octet.
func (b *Controller) intact(t *keyTask, live *corev1.Secret, ring bind9.Ring) bool {
	desired, err := t.secretFor(ring)
	if err != nil {
		return false
	}
	same, err := b.children.Same(t.owner, live, desired)
	return same && err == nil
}
