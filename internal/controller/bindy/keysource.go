package bindy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/bind9"
)

// A keySource is what the specs say about a server's key.
type keySource struct {
	field string                 // that says it, for messages
	ref   *v1beta1.RNDCSecretRef // nil: the key is made here
	key   *v1beta1.RNDCKeyConfig // nil: nothing is said about how
}

// keySource is the nearest of what is said about the key of a server: the instance's own word, then its role's, then the cluster's.
func (s *server) keySource() (keySource, error) {
	spec := &s.instance.Spec
	var err error
	if spec.RNDCKey != nil || spec.RNDCSecretRef != nil {
		out := keySource{field: "spec.rndcKey", key: spec.RNDCKey}
		out.ref, err = spec.KeySecret()
		return out, err
	}
	if spec.Config != nil && spec.Config.RNDCSecretRef != nil {
		return keySource{field: "spec.config.rndcSecretRef", ref: spec.Config.RNDCSecretRef}, nil
	}
	if s.parent == nil {
		return keySource{}, nil
	}
	of := " of " + s.parent.kind + " " + s.parent.name
	if r := s.parent.spec.ForRole(s.role); r != nil && (r.RNDCKey != nil || r.RNDCSecretRef != nil) {
		out := keySource{field: "spec." + string(s.role) + ".rndcKey" + of, key: r.RNDCKey}
		if out.ref, err = r.KeySecret(); err != nil {
			err = fmt.Errorf("spec.%s%s: %w", s.role, of, err)
		}
		return out, err
	}
	if g := s.parent.spec.Global; g != nil && g.RNDCSecretRef != nil {
		return keySource{field: "spec.global.rndcSecretRef" + of, ref: g.RNDCSecretRef}, nil
	}
	return keySource{}, nil
}

// transferSource is what is said about the key for zone transfers. It is always made, and replaced as often as the keys of the role
// that replaces its own most often.
func transferSource(spec *v1beta1.CommonSpec) (out keySource) {
	var often time.Duration
	for _, role := range roles() {
		r := spec.ForRole(role)
		if r == nil {
			continue
		}
		after, err := r.RNDCKey.Rotation()
		if err != nil || after > 0 && (often == 0 || after < often) {
			often, out = after, keySource{field: "spec." + string(role) + ".rndcKey", key: r.RNDCKey}
		}
	}
	return out
}

// settings are those of the ring, as far as no Secret has to be read for it.
func (s keySource) settings(p bind9.Purpose) (bind9.Settings, error) {
	out := bind9.Settings{Purpose: p}
	if s.key == nil {
		return out, nil
	}
	var err error
	if out.RotateAfter, err = s.key.Rotation(); err != nil {
		return out, fmt.Errorf("%s: %w", s.field, err)
	}
	if s.key.Algorithm == "" || s.ref != nil {
		return out, nil
	}
	if out.Algorithm, err = strong(string(s.key.Algorithm)); err != nil {
		return out, fmt.Errorf("%s: %w", s.field, err)
	}
	return out, nil
}

// strong is an algorithm that is taken for keys: not SHA-1.
func strong(text string) (bind9.Algorithm, error) {
	a, err := bind9.ParseAlgorithm(text)
	if a == bind9.SHA1 {
		return "", errors.New("the algorithm is hmac-sha1, which is not taken any more; use hmac-sha256")
	}
	return a, err
}

// supplied reads the key that somebody made. Where there is none that can be used, the trouble says why.
func (b *Controller) supplied(ctx context.Context, namespace string, s keySource) (*bind9.Key, *trouble, error) {
	at := client.ObjectKey{Namespace: namespace, Name: string(s.ref.Name)}
	secret, err := b.secretAt(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if secret == nil {
		return nil, &trouble{v1beta1.ReasonSecretNotFound, sentence("There is no Secret %s, which %s names: create it, or take the reference out. The keys in use stay.", at, s.field)}, nil
	}
	k, err := keyIn(secret, s.ref.OrDefault())
	if err != nil {
		return nil, &trouble{v1beta1.ReasonInvalidKey, sentence("The Secret %s, which %s names, holds no key that can be used: %v. The keys in use stay.", at, s.field, err)}, nil
	}
	return k, nil, nil
}

// forServers reports whether a Secret is meant to be read by name servers. Who writes a Bind9Instance chooses the image that its key is
// shown to; whoever could choose the items too would be shown any user name and password of the namespace that look like a key.
func forServers(secret *corev1.Secret, ref v1beta1.RNDCSecretRef) bool {
	return ref.KeyNameKey == bind9.ItemName && ref.SecretKey == bind9.ItemSecret ||
		secret.Labels[zonefold.CredentialsLabel] == "true" || checkObject(secret.Name) == nil
}

// keyIn is the key in a Secret that somebody made.
func keyIn(secret *corev1.Secret, ref v1beta1.RNDCSecretRef) (*bind9.Key, error) {
	algorithm, err := strong(string(ref.Algorithm))
	if err != nil {
		return nil, err
	}
	if !forServers(secret, ref) {
		return nil, fmt.Errorf("its items %.64s and %.64s are not those of a key, which are %s and %s, and nothing says that the Secret is for name servers; "+
			"call the items so, or give the Secret the label %s=true or a name that begins with %s",
			ref.KeyNameKey, ref.SecretKey, bind9.ItemName, bind9.ItemSecret, zonefold.CredentialsLabel, objectPrefix)
	}
	k, err := bind9.KeyFromItems(secret.Data, bind9.ItemFields{Name: ref.KeyNameKey, Secret: ref.SecretKey, Algorithm: string(algorithm)})
	if err == nil {
		return &k, nil
	}
	if ref.KeyNameKey == bind9.ItemName && ref.SecretKey == bind9.ItemSecret {
		return nil, err
	}
	// A message may quote the name of a key. In an item that a user chose it may be a password, and the user need not be
	// somebody who may read Secrets.
	return nil, fmt.Errorf("its items %.64s and %.64s are not the name and the secret of one; a name has letters, digits, hyphens, underscores and dots, "+
		"a secret is base64 of at least 16 octets, and the item %s, if there is one, says %s", ref.KeyNameKey, ref.SecretKey, bind9.ItemAlgorithm, algorithm)
}

// extraMetadata are the labels and annotations that the spec wants on the Secret.
func (s keySource) extraMetadata() (labels, annotations map[string]string) {
	if s.key == nil || s.key.Secret == nil {
		return nil, nil
	}
	return s.key.Secret.Metadata.Labels, s.key.Secret.Metadata.Annotations
}

// keyName names a key to people. The name of one that somebody made is not shown: see keyIn.
func keyName(p bind9.Purpose, name string) string {
	if p.Past(name) > 0 {
		return cmp.Or(name, "?")
	}
	return "that was supplied"
}
