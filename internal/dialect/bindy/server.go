package bindy

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
)

// A Parent is what an instance is part of: a Bind9Cluster of its namespace, or a provider that has no cluster there.
type Parent struct {
	Kind       string
	Name       string
	Generation int64
	Spec       *v1beta1.CommonSpec
}

// A Server is what the workload of an instance is made from: its spec and what it has from its parent, checked.
type Server struct {
	Instance *v1beta1.Bind9Instance
	Parent   *Parent // nil: it is part of nothing
	Role     v1beta1.Role
	Replicas int32

	image   v1beta1.ImageConfig
	version string
	refs    v1beta1.ConfigMapRefs
	volumes []corev1.Volume      // the user's
	mounts  []corev1.VolumeMount // the user's
	bindcar sidecarSpec
	service *v1beta1.ServiceConfig // nil: nothing is laid over
	claim   *v1beta1.ClaimConfig   // nil: an emptyDir
	scratch corev1.EmptyDirVolumeSource

	standing bool // it is as far as a spec says that cannot be carried out
}

// A sidecarSpec is the part of a server that says how bindcar runs.
type sidecarSpec struct {
	image      string
	pullPolicy string
	port       int32
	logLevel   string
	env        []corev1.EnvVar
	resources  corev1.ResourceRequirements
	service    *v1beta1.Fragment
}

// BindcarPort is what the sidecar listens on unless a spec says otherwise.
const BindcarPort = 8080

// NewServer brings an instance and its parent together. The error says which field of which object is wrong.
func NewServer(i *v1beta1.Bind9Instance, p *Parent, s Settings) (*Server, error) {
	out := &Server{Instance: i, Parent: p, Role: i.Spec.Role.Canonical(), Replicas: i.Spec.ReplicasOrDefault()}
	if err := checkInstanceName(i.Name); err != nil {
		return nil, err
	}
	if out.Role != v1beta1.RolePrimary && out.Role != v1beta1.RoleSecondary {
		return nil, fmt.Errorf("spec.role is %.40q; write Primary or Secondary", i.Spec.Role)
	}
	var above v1beta1.CommonSpec
	if p != nil {
		above = *p.Spec
	}
	out.version = cmp.Or(i.Spec.Version, above.VersionOrDefault())
	out.image = imageOf(s.BIND9Image+":"+out.version, i.Spec.Image, above.Image)
	if refs := cmp.Or(i.Spec.ConfigMapRefs, above.ConfigMapRefs); refs != nil {
		out.refs = *refs
	}
	if r := above.ForRole(out.Role); r != nil {
		out.service = r.Service
	}
	var err error
	if out.volumes, out.mounts, err = userVolumes(volumesOf(i, &above)); err != nil {
		return nil, err
	}
	if out.bindcar, err = sidecarOf(i, &above, s); err != nil {
		return nil, err
	}
	if err := out.store(i.Spec.Storage); err != nil || out.claim != nil {
		return out, err
	}
	out.claim, err = out.keyClaim()
	return out, err
}

// Standing is a server whose spec cannot be carried out, as far as it has to be known for its pods to go on: it makes
// none.
func Standing(i *v1beta1.Bind9Instance, p *Parent) *Server {
	out := &Server{Instance: i, Parent: p, Role: i.Spec.Role.Canonical(), Replicas: i.Spec.ReplicasOrDefault(),
		standing: true}
	err := out.store(i.Spec.Storage)
	if err == nil && out.claim == nil {
		out.claim, err = out.keyClaim()
	}
	if err != nil { // whether keys would be lost is not known, and the pods have what they have
		out.claim = &v1beta1.ClaimConfig{}
	}
	return out
}

// imageOf is the nearest image that is named, with how it is pulled.
func imageOf(image string, nearest ...*v1beta1.ImageConfig) v1beta1.ImageConfig {
	out := v1beta1.ImageConfig{}
	for _, c := range nearest {
		if c == nil {
			continue
		}
		out.Image, out.ImagePullPolicy = cmp.Or(out.Image, c.Image), cmp.Or(out.ImagePullPolicy, c.ImagePullPolicy)
		if out.ImagePullSecrets == nil {
			out.ImagePullSecrets = c.ImagePullSecrets
		}
	}
	out.Image = cmp.Or(out.Image, image)
	return out
}

// volumesOf are the volumes of the instance, or, where it has none, those of its parent.
func volumesOf(i *v1beta1.Bind9Instance, above *v1beta1.CommonSpec) (volumes, mounts []v1beta1.Fragment) {
	if len(i.Spec.Volumes) > 0 || len(i.Spec.VolumeMounts) > 0 {
		return i.Spec.Volumes, i.Spec.VolumeMounts
	}
	return above.Volumes, above.VolumeMounts
}

// sidecarOf is what the nearest bindcarConfig says, field by field.
func sidecarOf(i *v1beta1.Bind9Instance, above *v1beta1.CommonSpec, s Settings) (sidecarSpec, error) {
	out := sidecarSpec{}
	var nearest []*v1beta1.BindcarConfig
	nearest = append(nearest, i.Spec.BindcarConfig)
	for _, c := range []*v1beta1.Bind9Config{i.Spec.Config, above.Global} {
		if c != nil {
			nearest = append(nearest, c.BindcarConfig)
		}
	}
	var resources *v1beta1.Fragment
	var env []v1beta1.Fragment
	for _, c := range nearest {
		if c == nil {
			continue
		}
		out.image, out.pullPolicy = cmp.Or(out.image, c.Image), cmp.Or(out.pullPolicy, c.ImagePullPolicy)
		out.port, out.logLevel = cmp.Or(out.port, ptr.Deref(c.Port, 0)), cmp.Or(out.logLevel, c.LogLevel)
		resources, out.service = cmp.Or(resources, c.Resources), cmp.Or(out.service, c.ServiceSpec)
		if env == nil {
			env = c.EnvVars
		}
	}
	if err := CheckSidecarImage(out.image); err != nil {
		return out, fmt.Errorf(
			"bindcarConfig.image cannot be used: %w; remove it to use the operator's own, or use one of zonefold's images",
			err)
	}
	out.image, out.port, out.logLevel = cmp.Or(out.image, s.BindcarImage), cmp.Or(out.port, BindcarPort),
		cmp.Or(out.logLevel, "info")
	if slices.Contains([]int32{bind9.DNSPort, bind9.ControlPort}, out.port) {
		return out, fmt.Errorf("bindcarConfig.port is %d, on which BIND itself listens; choose another one", out.port)
	}
	if err := resources.Into(&out.resources); err != nil {
		return out, fmt.Errorf("bindcarConfig.resources cannot be used: %w", err)
	}
	for n := range env {
		var e corev1.EnvVar
		if err := env[n].Into(&e); err != nil {
			return out, fmt.Errorf("bindcarConfig.envVars[%d] cannot be used: %w", n, err)
		}
		if err := checkEnv(&e); err != nil {
			return out, fmt.Errorf("bindcarConfig.envVars[%d] (%s) cannot be used: %w", n, e.Name, err)
		}
		out.env = append(out.env, e)
	}
	return out, nil
}

// store reads what holds the zones.
func (s *Server) store(c *v1beta1.StorageConfig) error {
	if c == nil || c.StorageType != v1beta1.StorageClaim {
		if c == nil {
			return nil
		}
		if err := c.EmptyDir.Into(&s.scratch); err != nil {
			return fmt.Errorf("spec.storage.emptyDir cannot be used: %w", err)
		}
		return nil
	}
	if s.Replicas > 1 {
		return fmt.Errorf("spec.replicas is %d, but a persistentVolumeClaim holds the zones of one pod; set replicas to 1, "+
			"or create several instances", s.Replicas)
	}
	s.claim = &v1beta1.ClaimConfig{}
	if c.PersistentVolumeClaim != nil {
		s.claim = c.PersistentVolumeClaim
	}
	if name := s.claim.ClaimName; name != "" && name != s.Instance.Name+claimSuffix {
		if err := checkObject(name); err != nil {
			return fmt.Errorf("spec.storage.persistentVolumeClaim.claimName cannot be used: %w", err)
		}
	}
	return nil
}

// Cluster is the name of what the server is part of; "" if it is part of nothing.
func (s *Server) Cluster() string {
	if s.Parent == nil {
		return ""
	}
	return s.Parent.Name
}

// SharesConfig reports whether the server has its configuration from the ConfigMap of its cluster.
func (s *Server) SharesConfig() bool {
	return s.Parent != nil && s.Parent.Kind == v1beta1.KindCluster && s.Instance.Spec.Config == nil &&
		(s.Instance.Spec.ConfigMapRefs == nil ||
			s.Parent.Spec.ConfigMapRefs != nil && *s.Instance.Spec.ConfigMapRefs == *s.Parent.Spec.ConfigMapRefs) &&
		s.version == s.Parent.Spec.VersionOrDefault()
}

// ConfigMap is the name of the ConfigMap that the server has its configuration from.
func (s *Server) ConfigMap() string {
	if s.SharesConfig() {
		return ConfigName(s.Parent.Name)
	}
	return ConfigName(s.Instance.Name)
}

// TransferSecret is the name of the Secret with the keys for zone transfers.
func (s *Server) TransferSecret() string {
	if s.Parent != nil && s.Parent.Kind == v1beta1.KindCluster {
		return TransferName(s.Parent.Name)
	}
	return TransferName(s.Instance.Name)
}

// KeySecret is the name of the Secret with the keys of an instance.
func KeySecret(instance string) string { return instance + "-rndc-key" }

// TransferName is that of the Secret with a cluster's keys for zone transfers, or with those of an instance that is
// part of none.
func TransferName(cluster string) string { return cluster + "-transfer-key" }

// Labels are on everything that an instance has, and on its pods.
func (s *Server) Labels() map[string]string {
	out := ObjectLabels(v1beta1.KindInstance, s.Cluster(), map[string]string{
		v1beta1.AppLabel: v1beta1.AppValue, v1beta1.InstanceLabel: s.Instance.Name, v1beta1.RoleLabel: string(s.Role),
		v1beta1.NameLabel: v1beta1.NameValue, v1beta1.AppInstance: s.Instance.Name,
		v1beta1.ComponentLabel: v1beta1.ComponentServer,
	})
	if s.Parent == nil {
		delete(out, v1beta1.ClusterLabel)
		return out
	}
	out[v1beta1.ClusterOfLabel] = s.Parent.Name
	return out
}

// Selector finds the pods of an instance. It cannot be changed later, so that it has only what never changes.
func (s *Server) Selector() map[string]string {
	return map[string]string{v1beta1.AppLabel: v1beta1.AppValue, v1beta1.InstanceLabel: s.Instance.Name}
}
