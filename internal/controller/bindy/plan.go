package bindy

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
)

// A plan is what an instance is to have, checked before anything is written.
type plan struct {
	*server
	files   map[string]string // of the ConfigMap that it has its configuration from, as that is to be
	service *corev1.Service
	api     *corev1.Service               // of the sidecar
	options bind9.Options                 // that BIND has, unless the user's ConfigMaps say otherwise
	zones   *corev1.PersistentVolumeClaim // nil: none is made
}

// planFor makes the plan of an instance, or says what people have to put right first.
func (b *Controller) planFor(ctx context.Context, i *v1beta1.Bind9Instance) (*plan, *trouble, error) {
	p, err := b.parentOf(ctx, i)
	if err != nil {
		return nil, nil, err
	}
	if p == nil && i.Spec.ClusterRef != "" {
		return nil, &trouble{v1beta1.ReasonClusterNotFound, sentence("There is neither a Bind9Cluster %s/%s nor a ClusterBind9Provider %[2]s: "+
			"create one, or correct spec.clusterRef. What runs is left as it is.", i.Namespace, i.Spec.ClusterRef)}, nil
	}
	out, err := planOf(i, p, b.Settings)
	if err != nil {
		return nil, &trouble{v1beta1.ReasonInvalidSpec, sentence("Nothing was changed: %v.", err)}, nil
	}
	return out, nil, nil
}

// planOf makes the plan of an instance that is part of a cluster or provider; nil: of none.
func planOf(i *v1beta1.Bind9Instance, p *parent, s Settings) (*plan, error) {
	out := &plan{}
	var err error
	if out.server, err = newServer(i, p, s); err == nil {
		out.files, out.options, err = out.configFiles()
	}
	if err == nil {
		out.service, out.api, err = out.services()
	}
	if err == nil {
		out.zones, err = out.claimFor()
	}
	return out, err
}

// parentOf is what an instance is part of: nil if it names nothing, or nothing that exists.
func (b *Controller) parentOf(ctx context.Context, i *v1beta1.Bind9Instance) (*parent, error) {
	if i.Spec.ClusterRef == "" {
		return nil, nil
	}
	var cluster v1beta1.Bind9Cluster
	err := b.Client.Get(ctx, client.ObjectKey{Namespace: i.Namespace, Name: i.Spec.ClusterRef}, &cluster)
	if err == nil {
		return &parent{v1beta1.KindCluster, cluster.Name, cluster.Generation, &cluster.Spec.CommonSpec}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading Bind9Cluster %s/%s: %w", i.Namespace, i.Spec.ClusterRef, err)
	}
	var provider v1beta1.ClusterBind9Provider
	err = b.Client.Get(ctx, client.ObjectKey{Name: i.Spec.ClusterRef}, &provider)
	if err == nil {
		return &parent{v1beta1.KindProvider, provider.Name, provider.Generation, &provider.Spec.CommonSpec}, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading ClusterBind9Provider %s: %w", i.Spec.ClusterRef, err)
	}
	return nil, nil
}

// configFiles are those of the ConfigMap that the server has its configuration from, and the options that it has by them.
func (s *server) configFiles() (map[string]string, bind9.Options, error) {
	if s.sharesConfig() {
		files, err := clusterFiles(s.parent.spec)
		if err != nil {
			return nil, bind9.Options{}, fmt.Errorf("%s %s: %w", s.parent.kind, s.parent.name, err)
		}
		o, err := clusterSource(s.parent.spec, s.role).options()
		return files, o, err
	}
	source := configSource{path: "spec.config", role: s.role, version: s.version, zones: s.refs.NamedConfZones != ""}
	own := s.instance.Spec.Config
	var above *v1beta1.Bind9Config
	if s.parent != nil {
		above, source.acls = s.parent.spec.Global, s.parent.spec.ACLs
		if r := s.parent.spec.ForRole(s.role); r != nil && r.AllowTransfer != nil && (own == nil || own.AllowTransfer == nil) {
			source.transfer, source.transferPath = r.AllowTransfer, "spec."+string(s.role)+".allowTransfer of "+s.parent.kind+" "+s.parent.name
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

// ownConfig is the ConfigMap of a server that does not share one.
func (p *plan) ownConfig() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.instance.Namespace, Name: p.configMap(), Labels: p.labels()}, Data: p.files,
	}
}
