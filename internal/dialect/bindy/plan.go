package bindy

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
)

// A Plan is what an instance is to have, checked before anything is written.
type Plan struct {
	*Server
	Files   map[string]string // of the ConfigMap that it has its configuration from, as that is to be
	Service *corev1.Service
	API     *corev1.Service               // of the sidecar
	options bind9.Options                 // that BIND has, unless the user's ConfigMaps say otherwise
	Zones   *corev1.PersistentVolumeClaim // nil: none is made
}

// PlanOf makes the plan of an instance that is part of a cluster or provider; nil: of none.
func PlanOf(i *v1beta1.Bind9Instance, p *Parent, s Settings) (*Plan, error) {
	out := &Plan{}
	var err error
	if out.Server, err = NewServer(i, p, s); err == nil {
		out.Files, out.options, err = out.configFiles()
	}
	if err == nil {
		out.Service, out.API, err = out.services()
	}
	if err == nil {
		out.Zones, err = out.claimFor()
	}
	if err == nil {
		err = out.checkMetadata()
	}
	return out, err
}

// AllowTransfer is who may transfer zones beside those who have the key.
func (p *Plan) AllowTransfer() []string { return p.options.AllowTransfer }

// configFiles are those of the ConfigMap that the server has its configuration from, and the options that it has by
// them.
func (s *Server) configFiles() (map[string]string, bind9.Options, error) {
	if s.SharesConfig() {
		files, err := clusterFiles(s.Parent.Spec)
		if err != nil {
			return nil, bind9.Options{}, fmt.Errorf("%s %s: %w", s.Parent.Kind, s.Parent.Name, err)
		}
		o, err := clusterSource(s.Parent.Spec, s.Role).options()
		return files, o, err
	}
	source := configSource{path: "spec.config", role: s.Role, version: s.version, zones: s.refs.NamedConfZones != ""}
	own := s.Instance.Spec.Config
	var above *v1beta1.Bind9Config
	if s.Parent != nil {
		above, source.acls = s.Parent.Spec.Global, s.Parent.Spec.ACLs
		if r := s.Parent.Spec.ForRole(s.Role); r != nil && r.AllowTransfer != nil &&
			(own == nil || own.AllowTransfer == nil) {
			source.transfer, source.transferPath = r.AllowTransfer, "spec."+string(s.Role)+".allowTransfer of "+s.Parent.Kind+
				" "+s.Parent.Name
		}
	}
	source.config = over(own, above)
	o, err := source.options()
	if err != nil {
		return nil, o, err
	}
	files, err := bind9.Configuration(o)
	return files, o, err
}

// over lays a server's own configuration over that of its cluster, field by field.
func over(own, above *v1beta1.Bind9Config) *v1beta1.Bind9Config {
	if own == nil || above == nil {
		if own == nil {
			return above
		}
		return own
	}
	out := above.DeepCopy()
	if own.Recursion != nil {
		out.Recursion = own.Recursion
	}
	for _, f := range []struct{ to, from *v1beta1.ACL }{
		{&out.AllowQuery, &own.AllowQuery}, {&out.AllowTransfer, &own.AllowTransfer},
		{&out.ListenOn, &own.ListenOn}, {&out.ListenOnV6, &own.ListenOnV6},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
	if own.Forwarders != nil {
		out.Forwarders = own.Forwarders
	}
	if d := own.DNSSEC; d != nil {
		if out.DNSSEC == nil {
			out.DNSSEC = &v1beta1.DNSSECConfig{}
		}
		if d.Validation != nil {
			out.DNSSEC.Validation = d.Validation
		}
		if d.Signing != nil {
			out.DNSSEC.Signing = d.Signing
		}
	}
	return out
}

// OwnConfig is the ConfigMap of a server that does not share one.
func (p *Plan) OwnConfig() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Instance.Namespace, Name: p.ConfigMap(), Labels: p.Labels()},
		Data:       p.Files,
	}
}
