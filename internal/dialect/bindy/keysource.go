package bindy

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/bind9"
)

// A KeySource is what the specs say about a server's key.
type KeySource struct {
	Field string                 // that says it, for messages
	Ref   *v1beta1.RNDCSecretRef // nil: the key is made here
	Key   *v1beta1.RNDCKeyConfig // nil: nothing is said about how
}

// KeySource is the nearest of what is said about the key of a server: the instance's own word, then its role's, then
// the cluster's.
func (s *Server) KeySource() (KeySource, error) {
	spec := &s.Instance.Spec
	var err error
	if spec.RNDCKey != nil || spec.RNDCSecretRef != nil {
		out := KeySource{Field: "spec.rndcKey", Key: spec.RNDCKey}
		out.Ref, err = spec.KeySecret()
		return out, err
	}
	if spec.Config != nil && spec.Config.RNDCSecretRef != nil {
		return KeySource{Field: "spec.config.rndcSecretRef", Ref: spec.Config.RNDCSecretRef}, nil
	}
	if s.Parent == nil {
		return KeySource{}, nil
	}
	of := " of " + s.Parent.Kind + " " + s.Parent.Name
	if r := s.Parent.Spec.ForRole(s.Role); r != nil && (r.RNDCKey != nil || r.RNDCSecretRef != nil) {
		out := KeySource{Field: "spec." + string(s.Role) + ".rndcKey" + of, Key: r.RNDCKey}
		if out.Ref, err = r.KeySecret(); err != nil {
			err = fmt.Errorf("spec.%s%s: %w", s.Role, of, err)
		}
		return out, err
	}
	if g := s.Parent.Spec.Global; g != nil && g.RNDCSecretRef != nil {
		return KeySource{Field: "spec.global.rndcSecretRef" + of, Ref: g.RNDCSecretRef}, nil
	}
	return KeySource{}, nil
}

// TransferSource is what is said about the key for zone transfers. It is always made, and replaced as often as the keys
// of the role that replaces its own most often.
func TransferSource(spec *v1beta1.CommonSpec) (out KeySource) {
	var often time.Duration
	for _, role := range Roles() {
		r := spec.ForRole(role)
		if r == nil {
			continue
		}
		after, err := r.RNDCKey.Rotation()
		if err != nil || after > 0 && (often == 0 || after < often) {
			often, out = after, KeySource{Field: "spec." + string(role) + ".rndcKey", Key: r.RNDCKey}
		}
	}
	return out
}

// Settings are those of the ring, as far as no Secret has to be read for it.
func (s KeySource) Settings(p bind9.Purpose) (bind9.Settings, error) {
	out := bind9.Settings{Purpose: p}
	if s.Key == nil {
		return out, nil
	}
	var err error
	if out.RotateAfter, err = s.Key.Rotation(); err != nil {
		return out, fmt.Errorf("%s: %w", s.Field, err)
	}
	if s.Key.Algorithm == "" || s.Ref != nil {
		return out, nil
	}
	if out.Algorithm, err = strong(string(s.Key.Algorithm)); err != nil {
		return out, fmt.Errorf("%s: %w", s.Field, err)
	}
	return out, nil
}

// strong is an algorithm that is taken for keys: not SHA-1.
func strong(text string) (bind9.Algorithm, error) {
	a, err := bind9.ParseAlgorithm(text)
	if a == bind9.SHA1 {
		return "", errors.New("the algorithm hmac-sha1 is no longer accepted; use hmac-sha256")
	}
	return a, err
}

// forServers reports whether a Secret is meant to be read by name servers. Who writes a Bind9Instance chooses the image
// that its key is shown to; whoever could choose the items too would be shown any user name and password of the
// namespace that look like a key.
func forServers(secret *corev1.Secret, ref v1beta1.RNDCSecretRef) bool {
	return ref.KeyNameKey == bind9.ItemName && ref.SecretKey == bind9.ItemSecret ||
		secret.Labels[zonefold.CredentialsLabel] == "true" || checkObject(secret.Name) == nil
}

// KeyIn is the key in a Secret that somebody made.
func KeyIn(secret *corev1.Secret, ref v1beta1.RNDCSecretRef) (*bind9.Key, error) {
	algorithm, err := strong(string(ref.Algorithm))
	if err != nil {
		return nil, err
	}
	if !forServers(secret, ref) {
		return nil, fmt.Errorf("its items %.64s and %.64s are not those of a key, %s and %s, and the Secret is not marked "+
			"as one for name servers; rename the items, or give the Secret the label %s=true or a name that begins with %s",
			ref.KeyNameKey, ref.SecretKey, bind9.ItemName, bind9.ItemSecret, zonefold.CredentialsLabel, objectPrefix)
	}
	k, err := bind9.KeyFromItems(secret.Data, bind9.ItemFields{Name: ref.KeyNameKey, Secret: ref.SecretKey,
		Algorithm: string(algorithm)})
	if err == nil {
		return &k, nil
	}
	if ref.KeyNameKey == bind9.ItemName && ref.SecretKey == bind9.ItemSecret {
		return nil, err
	}
	// A message may quote the name of a key. In an item that a user chose it may be a password, and the user need not be
	// somebody who may read Secrets.
	return nil, fmt.Errorf("its items %.64s and %.64s are not the name and the secret of a key; a name has letters, "+
		"digits, hyphens, underscores and dots, "+
		"a secret is base64 of at least 16 octets, and the item %s, if there is one, says %s", ref.KeyNameKey, ref.SecretKey,
		bind9.ItemAlgorithm, algorithm)
}

// ExtraMetadata are the labels and annotations that the spec wants on the Secret.
func (s KeySource) ExtraMetadata() (labels, annotations map[string]string) {
	if s.Key == nil || s.Key.Secret == nil {
		return nil, nil
	}
	return s.Key.Secret.Metadata.Labels, s.Key.Secret.Metadata.Annotations
}

// KeyName names a key to people. The name of one that somebody made is not shown: see keyIn.
func KeyName(p bind9.Purpose, name string) string {
	if p.Past(name) > 0 {
		return cmp.Or(name, "?")
	}
	return "that was supplied"
}
