package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/guarded"
)

// A keyset remembers what this term of leadership knows of keys: the rings that were published, so that a Secret that
// is lost or edited can be put right with the keys that servers have.
type keyset struct{ guarded.Value[keysKnown] }

// keysKnown is what a keyset remembers.
type keysKnown struct {
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

// ring is what this owner's Secret of that name was last known to publish.
func (k *keyset) ring(key client.ObjectKey, owner types.UID) (published, bool) {
	known, unlock := k.Lock()
	defer unlock()
	if p, ok := known.rings[key]; ok && p.owner == owner {
		return p, true
	}
	return published{}, false
}

func (k *keyset) rememberRing(key client.ObjectKey, p published) {
	known, unlock := k.Lock()
	defer unlock()
	if known.rings == nil {
		known.rings = map[client.ObjectKey]published{}
	}
	known.rings[key] = p
}

// refer notes which Secret an instance has its key from; an empty name: none. The one that it had its key from before
// is not kept when nobody needs it.
func (k *keeper) refer(instance, secret client.ObjectKey) {
	if before, needed := k.memory.refer(instance, secret); !needed {
		k.servers.KeepSecret(before, nil)
	}
}

// refer returns the Secret that the instance had its key from before, and whether some instance has it from there now.
func (k *keyset) refer(instance, secret client.ObjectKey) (before client.ObjectKey, needed bool) {
	known, unlock := k.Lock()
	defer unlock()
	before = known.referrers[instance]
	if known.referrers == nil {
		known.referrers = map[client.ObjectKey]client.ObjectKey{}
	}
	if known.referrers[instance] = secret; secret.Name == "" {
		delete(known.referrers, instance)
	}
	return before, slices.Contains(slices.Collect(maps.Values(known.referrers)), before)
}

// forgetInstance drops all that is known for an instance that is gone.
func (k *keeper) forgetInstance(instance client.ObjectKey) {
	k.refer(instance, client.ObjectKey{})
	k.forget(instance.Namespace, dialect.KeySecret(instance.Name), dialect.TransferName(instance.Name))
}

// forgetCluster drops all that is known for a cluster that is gone.
func (k *keeper) forgetCluster(cluster client.ObjectKey) {
	k.forget(cluster.Namespace, dialect.TransferName(cluster.Name))
}

// forget drops what is known of Secrets of a namespace.
func (k *keeper) forget(namespace string, secrets ...string) {
	for _, name := range secrets {
		key := client.ObjectKey{Namespace: namespace, Name: name}
		k.servers.KeepSecret(key, nil)
		k.memory.forget(key)
	}
}

// forget drops what is known of the ring in a Secret.
func (k *keyset) forget(secret client.ObjectKey) {
	known, unlock := k.Lock()
	defer unlock()
	delete(known.rings, secret)
}

// referring are the instances that have their key from a Secret.
func (k *keyset) referring(secret client.ObjectKey) (out []client.ObjectKey) {
	known, unlock := k.Lock()
	defer unlock()
	for instance, s := range known.referrers {
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
func (t *keyTask) publish(ctx context.Context, live *corev1.Secret, ring bind9.Ring) (objects.Result, error) {
	desired, err := t.secretFor(ring)
	if err != nil {
		return objects.Unchanged, err
	}
	var there client.Object // nil is no *Secret
	if live != nil {
		there = live
	}
	what, answer, err := t.children.Replace(ctx, t.owner, there, desired)
	if err != nil {
		t.servers.KeepSecret(t.secret, nil)
		return what, err
	}
	if answer == nil {
		return what, nil
	}
	got := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, got); err != nil {
		return what, fmt.Errorf("reading the answer about Secret %s: %w", t.secret, err)
	}
	t.servers.KeepSecret(t.secret, got)
	return what, nil
}

// intact reports whether a Secret is as an operator wrote it, to the last octet.
func (t *keyTask) intact(live *corev1.Secret, ring bind9.Ring) bool {
	desired, err := t.secretFor(ring)
	if err != nil {
		return false
	}
	same, err := t.children.Same(t.owner, live, desired)
	return same && err == nil
}

// supplied reads the key that somebody made. Where there is none that can be used, the trouble says why.
func (t *keyTask) supplied(ctx context.Context, at client.ObjectKey) (*bind9.Key, *dialect.Trouble, error) {
	secret, err := t.servers.Secret(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if secret == nil {
		return nil, &dialect.Trouble{Reason: v1beta1.ReasonSecretNotFound, Message: dialect.Sentence(
			"Secret %s, which %s names, does not exist; create it, or remove the reference. The keys in use stay.", at,
			t.source.Field)}, nil
	}
	k, err := dialect.KeyIn(secret, t.source.Ref.OrDefault())
	if err != nil {
		return nil, &dialect.Trouble{Reason: v1beta1.ReasonInvalidKey, Message: dialect.Sentence(
			"Secret %s, which %s names, has no usable key: %v. The keys in use stay.", at, t.source.Field, err)}, nil
	}
	return k, nil, nil
}
