package bindy

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// Signs is what an instance says about the signing of zones.
type Signs struct {
	Policy  string // that zones without a policy of their own are signed by; "": they are not
	Trouble string // why it cannot sign, as a sentence; "": it can
	KeysIn  string // what has its keys, which are lost with that; "": that is not known, or its OwnClaim
	Former  string // what statuses of earlier versions have for its OwnClaim: the UID of the instance; "": it has none
}

// noKeys is what has the keys of a server without a volume: they end with its pod.
const noKeys = "Pod"

// keysIn is what has the keys of the server.
func (s *Server) keysIn() string {
	switch {
	case s.standing: // which claim it has may not be known
		return ""
	case s.claim == nil:
		return noKeys
	}
	return s.claim.ClaimName
}

// OwnClaim is the name of the claim that is made for the server; "": it has none, or that is not known. The keys are in
// that very claim, and not in another one that is made in its place.
func (s *Server) OwnClaim() string {
	if s.standing || s.claim == nil || s.claim.ClaimName != "" {
		return ""
	}
	return s.claimName()
}

// signing is what the configuration of the server says about it, nil if nothing.
func (s *Server) signing() *v1beta1.DNSSECSigning {
	var above *v1beta1.Bind9Config
	if s.Parent != nil {
		above = s.Parent.Spec.Global
	}
	if c := over(s.Instance.Spec.Config, above); c != nil && c.DNSSEC != nil {
		return c.DNSSEC.Signing
	}
	return nil
}

// Signs returns what the server's spec says about the signing of zones.
func (s *Server) Signs() Signs {
	c := s.signing()
	out := Signs{Policy: signing(c).PolicyName(), KeysIn: s.keysIn()}
	if s.OwnClaim() != "" {
		out.Former = string(s.Instance.UID)
	}
	instance := keyOf(s.Instance)
	switch {
	case c != nil && c.KeysFrom != nil && c.KeysFrom.SecretRef != nil:
		out.Trouble = Sentence("Bind9Instance %s should get keys from a Secret (dnssec.signing.keysFrom.secretRef), which "+
			"this version does not support; remove that, and BIND makes the keys.", instance)
	case c != nil && ptr.Deref(c.ExportToSecret, false):
		out.Trouble = Sentence("Bind9Instance %s should write keys to a Secret (dnssec.signing.exportToSecret), which this "+
			"version does not support; remove that.", instance)
	case c != nil && !ptr.Deref(c.AutoGenerate, true):
		out.Trouble = Sentence("Bind9Instance %s may not make keys (dnssec.signing.autoGenerate is false), and cannot get "+
			"any otherwise; remove that.", instance)
	case s.claim == nil:
		out.Trouble = Sentence("Bind9Instance %s would lose the keys with its Pod, and validating resolvers would refuse "+
			"the zone; set dnssec.signing.keysFrom.persistentVolume, or the instance's storage.storageType to %s.", instance,
			v1beta1.StorageClaim)
	}
	return out
}

// keyClaim is the claim of a primary that has no storage of its own, and is to keep keys. It keeps them when its zones
// are not to be signed any more, too: they stay signed for as long as their parents may have DS records for them.
func (s *Server) keyClaim() (*v1beta1.ClaimConfig, error) {
	c := s.signing()
	if s.Role != v1beta1.RolePrimary || s.Replicas > 1 || c == nil || c.KeysFrom == nil ||
		c.KeysFrom.PersistentVolume == nil {
		return nil, nil
	}
	var spec corev1.PersistentVolumeClaimSpec
	if err := c.KeysFrom.PersistentVolume.Into(&spec); err != nil {
		return nil, fmt.Errorf("dnssec.signing.keysFrom.persistentVolume cannot be used: %w", err)
	}
	out := &v1beta1.ClaimConfig{StorageClassName: spec.StorageClassName}
	if size, ok := spec.Resources.Requests[corev1.ResourceStorage]; ok && size.Cmp(resource.Quantity{}) > 0 {
		out.Size = size.String()
	}
	for _, m := range spec.AccessModes {
		out.AccessModes = append(out.AccessModes, string(m))
	}
	return out, nil
}
