package bindy

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
)

// fileSecondaryOptions is the entry of a cluster's ConfigMap that its secondaries have as named.conf.options.
const fileSecondaryOptions = bind9.FileOptions + ".secondary"

// configFor is the configuration that the servers of a cluster share.
func configFor(c *v1beta1.Bind9Cluster) (*corev1.ConfigMap, error) {
	data, err := clusterFiles(&c.Spec.CommonSpec)
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: ConfigName(c.Name), Labels: SharedLabels(c.Name)},
		Data:       data,
	}, nil
}

// clusterFiles are the files of all servers of a cluster: they differ by role only in their options.
func clusterFiles(spec *v1beta1.CommonSpec) (map[string]string, error) {
	var data map[string]string
	for _, role := range Roles() {
		o, err := clusterSource(spec, role).options()
		if err != nil {
			return nil, err
		}
		files, err := bind9.Configuration(o)
		if err != nil {
			return nil, err
		}
		if data == nil {
			data = files
		} else {
			data[fileSecondaryOptions] = files[bind9.FileOptions]
		}
	}
	return data, nil
}

// clusterSource is what the configuration of a cluster's servers of one role is made from.
func clusterSource(spec *v1beta1.CommonSpec, role v1beta1.Role) configSource {
	out := configSource{path: "spec.global", config: spec.Global, role: role, version: spec.VersionOrDefault(),
		acls: spec.ACLs}
	if r := spec.ForRole(role); r != nil && r.AllowTransfer != nil {
		out.transfer, out.transferPath = r.AllowTransfer, "spec."+string(role)+".allowTransfer"
	}
	if spec.ConfigMapRefs != nil {
		out.zones = spec.ConfigMapRefs.NamedConfZones != ""
	}
	return out
}

// A configSource is what a server's configuration is made from.
type configSource struct {
	path    string // of config in the object, for messages
	config  *v1beta1.Bind9Config
	role    v1beta1.Role
	version string                 // of BIND
	acls    map[string]v1beta1.ACL // lists that entries may name
	zones   bool                   // a ConfigMap of the user's has zones

	transfer     []string // in place of config.allowTransfer, where transferPath says where it is from
	transferPath string
}

// options are those of BIND, checked as far as lists are concerned.
func (s configSource) options() (bind9.Options, error) {
	o := bind9.Options{Path: s.path, Role: bind9.ZoneType(s.role.Canonical()), Version: s.version, Zones: s.zones}
	lists := newAccessLists(s.acls)
	transfer, path := s.transfer, s.transferPath
	if c := s.config; c != nil {
		if path == "" {
			transfer, path = c.AllowTransfer, s.path+".allowTransfer"
		}
		o.Recursion, o.Forwarders, o.ListenOn, o.ListenOnV6 = ptr.Deref(c.Recursion, false), c.Forwarders, c.ListenOn,
			c.ListenOnV6
		if d := c.DNSSEC; d != nil {
			o.DNSSECValidation = d.Validation
			o.Signing = signing(d.Signing)
		}
		var err error
		if o.AllowQuery, err = lists.resolve(s.path+".allowQuery", c.AllowQuery); err != nil {
			return o, err
		}
	}
	var err error
	o.AllowTransfer, err = lists.resolve(path, transfer)
	return o, err
}

func signing(s *v1beta1.DNSSECSigning) bind9.Signing {
	if s == nil {
		return bind9.Signing{}
	}
	return bind9.Signing{
		Enabled: s.Enabled, Policy: s.Policy, Algorithm: s.Algorithm, KSKLifetime: s.KSKLifetime, ZSKLifetime: s.ZSKLifetime,
		NSEC3: ptr.Deref(s.NSEC3, false), NSEC3Salt: s.NSEC3Salt, NSEC3Iterations: int(ptr.Deref(s.NSEC3Iterations, 0)),
	}
}
