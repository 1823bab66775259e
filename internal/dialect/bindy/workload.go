package bindy

import (
	"fmt"
	"path"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/bindcar"
)

// The volumes of a pod.
const (
	// all configuration and keys: one volume, so that they change together, and without subPath, so that they change at
	// all
	configVolume  = "config"
	dataVolume    = "cache" // zones, journals, and BIND's list of added zones
	scratchVolume = "tmp"
	tokenVolume   = "account" // what the sidecar asks the API server with; BIND has no need of it
)

// The containers of a pod.
const (
	NamedContainer   = "bind9"
	BindcarContainer = "api"
)

// ServiceAccount is that of all servers of a namespace. It may ask the API server whose token a caller has, and no
// more.
const ServiceAccount = "bind9"

// BindcarBinding is the ClusterRoleBinding by which sidecars may ask the API server whose token a caller has. It is
// installed with the operator, which may write its subjects and give away no other role.
const BindcarBinding = "zonefold-bindcar"

// bindUser is the user and group that both containers run as: BIND's in its images.
const bindUser = 101

// Deployment runs the pods of a server. The checksum is over what BIND reads at its start: where it changes, pods are
// replaced.
func (s *Server) Deployment(settings Settings, checksum string) *appsv1.Deployment {
	strategy := appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxUnavailable: ptr.To(intstr.FromInt32(0)), MaxSurge: ptr.To(intstr.FromInt32(1)),
		}}
	if s.claim != nil {
		strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType} // two pods cannot have the volume
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Instance.Namespace, Name: s.Instance.Name, Labels: s.Labels()},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(s.Replicas), Strategy: strategy, RevisionHistoryLimit: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: s.Selector()},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: s.Labels(),
					Annotations: map[string]string{v1beta1.ConfigChecksumAnnotation: checksum}},
				Spec: s.pod(settings),
			},
		},
	}
}

func (s *Server) pod(settings Settings) corev1.PodSpec {
	var pull []corev1.LocalObjectReference
	for _, name := range s.image.ImagePullSecrets {
		pull = append(pull, corev1.LocalObjectReference{Name: name})
	}
	return corev1.PodSpec{
		ServiceAccountName:           ServiceAccount,
		AutomountServiceAccountToken: ptr.To(false), // see tokenVolume
		ImagePullSecrets:             pull,
		EnableServiceLinks:           ptr.To(false), // a hundred Services of siblings are no part of the environment
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser: ptr.To[int64](bindUser), RunAsGroup: ptr.To[int64](bindUser), FSGroup: ptr.To[int64](bindUser),
			RunAsNonRoot:   ptr.To(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		TopologySpreadConstraints: s.spread(),
		Containers:                []corev1.Container{s.named(), s.api(settings)},
		Volumes: append([]corev1.Volume{
			{Name: configVolume, VolumeSource: corev1.VolumeSource{Projected: s.config()}},
			{Name: dataVolume, VolumeSource: s.data()},
			{Name: scratchVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
				Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(resource.MustParse("16Mi")),
			}}},
			{Name: tokenVolume, VolumeSource: corev1.VolumeSource{Projected: accountToken()}},
		}, s.volumes...),
	}
}

// spread keeps the servers of a cluster apart: each instance is a Deployment of its own, so that the rule is about its
// siblings.
func (s *Server) spread() []corev1.TopologySpreadConstraint {
	of := s.Selector()
	if s.Parent != nil {
		of = map[string]string{v1beta1.ClusterLabel: s.Parent.Name, v1beta1.RoleLabel: string(s.Role)}
	}
	var out []corev1.TopologySpreadConstraint
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		out = append(out, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: of},
		})
	}
	return out
}

// confined is the security context of both containers.
func confined() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true), RunAsNonRoot: ptr.To(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

func mountsOfAll() []corev1.VolumeMount {
	return []corev1.VolumeMount{
		{Name: configVolume, MountPath: bind9.ConfigDir, ReadOnly: true},
		{Name: dataVolume, MountPath: bind9.DataDir},
		{Name: scratchVolume, MountPath: "/tmp"},
	}
}

// farewell is how long, in seconds, a pod that is to go still serves. Nodes learn a moment later that they shall lead
// nobody to it any more; and that what they remember of datagrams leads to it still, which kube-proxy forgets only when
// the pod is not ready. So the sidecar says at once that it is not, and BIND goes on: a readiness probe finds out
// within four seconds, and on a busy node nine changes of ten reach the nodes within nine more.
const farewell = 15

// Leaves is how long the server serves when it is to go. Where a volume lets one pod run at a time, nobody takes over
// meanwhile, and the wait would be for nothing.
func (s *Server) Leaves() int64 {
	if s.claim != nil {
		return 0
	}
	return farewell
}

// leaving has BIND wait.
func (s *Server) leaving() *corev1.Lifecycle {
	if s.Leaves() == 0 {
		return nil
	}
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: s.Leaves()}}}
}

func (s *Server) named() corev1.Container {
	dns := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("dns-tcp")}}
	return corev1.Container{
		Name: NamedContainer, Image: s.image.Image, ImagePullPolicy: corev1.PullPolicy(s.image.ImagePullPolicy),
		Command: []string{"named", "-c", path.Join(bind9.ConfigDir, bind9.FileMain), "-g"},
		Env:     []corev1.EnvVar{{Name: "TZ", Value: "UTC"}},
		Ports: []corev1.ContainerPort{
			{Name: "dns-tcp", ContainerPort: bind9.DNSPort, Protocol: corev1.ProtocolTCP},
			{Name: "dns-udp", ContainerPort: bind9.DNSPort, Protocol: corev1.ProtocolUDP},
			{Name: "rndc", ContainerPort: bind9.ControlPort, Protocol: corev1.ProtocolTCP},
		},
		// A start with very many zones may take minutes; until it is over, nobody counts failures.
		StartupProbe: &corev1.Probe{ProbeHandler: dns, PeriodSeconds: 1, TimeoutSeconds: 5, FailureThreshold: 600},
		LivenessProbe: &corev1.Probe{ProbeHandler: dns, InitialDelaySeconds: 30, PeriodSeconds: 10, TimeoutSeconds: 5,
			FailureThreshold: 3},
		ReadinessProbe:  &corev1.Probe{ProbeHandler: dns, PeriodSeconds: 5, TimeoutSeconds: 3, FailureThreshold: 3},
		Lifecycle:       s.leaving(),
		Resources:       requests("50m", "64Mi"),
		SecurityContext: confined(),
		VolumeMounts:    append(mountsOfAll(), s.mounts...),

		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError, // BIND says in its log what it cannot read
	}
}

// api is the sidecar. It says when the pod is ready, for it knows what zones there should be.
func (s *Server) api(settings Settings) corev1.Container {
	get := func(p string) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: p, Port: intstr.FromString("http")}}
	}
	resources := s.bindcar.resources
	if resources.Requests == nil && resources.Limits == nil {
		resources = requests("10m", "32Mi")
	}
	return corev1.Container{
		Name: BindcarContainer, Image: s.bindcar.image, ImagePullPolicy: corev1.PullPolicy(s.bindcar.pullPolicy),
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: s.bindcar.port, Protocol: corev1.ProtocolTCP}},
		Env:   s.Environment(settings),
		LivenessProbe: &corev1.Probe{ProbeHandler: get("/api/v1/health"), InitialDelaySeconds: 5, PeriodSeconds: 10,
			TimeoutSeconds: 5, FailureThreshold: 3},
		ReadinessProbe: &corev1.Probe{ProbeHandler: get(bindcar.ReadyPath), PeriodSeconds: 2, TimeoutSeconds: 5,
			FailureThreshold: 2},
		Resources:       resources,
		SecurityContext: confined(),
		VolumeMounts: append(mountsOfAll(), corev1.VolumeMount{Name: tokenVolume,
			MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}),

		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// requireContent has the sidecar wait until it was told what zones there shall be.
const requireContent = "BINDCAR_REQUIRE_CONTENT"

// Environment is that of the sidecar. It reads keys from the mounted file, not from here: a new key needs no restart.
func (s *Server) Environment(settings Settings) []corev1.EnvVar {
	out := []corev1.EnvVar{
		{Name: "BIND_ZONE_DIR", Value: bind9.DataDir},
		{Name: "API_PORT", Value: strconv.Itoa(int(s.bindcar.port))},
		{Name: "RUST_LOG", Value: s.bindcar.logLevel},
		{Name: "BIND_ALLOWED_SERVICE_ACCOUNTS", Value: fmt.Sprintf("system:serviceaccount:%s:%s", settings.Namespace,
			settings.ServiceAccount)},
		{Name: "BIND_TOKEN_AUDIENCES", Value: Audience(s.Instance.Namespace)},
		{Name: "POD_UID", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1",
			FieldPath: "metadata.uid"}}},
		{Name: "TMPDIR", Value: "/tmp"},
		{Name: "RNDC_SERVER", Value: fmt.Sprintf("127.0.0.1:%d", bind9.ControlPort)},
		{Name: "RNDC_KEY_FILE", Value: path.Join(bind9.ConfigDir, bind9.FileKeys)},
		{Name: "NSUPDATE_SERVER", Value: "127.0.0.1"},
		{Name: "NSUPDATE_PORT", Value: strconv.Itoa(bind9.DNSPort)},
		{Name: "NSUPDATE_TCP", Value: "true"},
		{Name: "BINDCAR_UPDATE_ACL", Value: bind9.UpdateList},
		{Name: requireContent, Value: "true"},
		{Name: "BINDCAR_LEAVE_SECS", Value: strconv.FormatInt(s.Leaves(), 10)},
	}
	for _, e := range s.bindcar.env { // the user's have the last word, under one name each
		at := len(out)
		for i := range out {
			if out[i].Name == e.Name {
				at = i
			}
		}
		out = append(out[:at:at], append([]corev1.EnvVar{e}, out[min(at+1, len(out)):]...)...)
	}
	return out
}

// data is what holds the zones.
func (s *Server) data() corev1.VolumeSource {
	if s.claim == nil {
		return corev1.VolumeSource{EmptyDir: s.scratch.DeepCopy()}
	}
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.claimName()}}
}

// claimSuffix is behind the name of an instance in that of the claim that is made for it.
const claimSuffix = "-zones"

// claimName is that of the claim that holds the zones: the user's, or one that is made for the instance.
func (s *Server) claimName() string {
	if s.claim.ClaimName != "" {
		return s.claim.ClaimName
	}
	return s.Instance.Name + claimSuffix
}

// Audience is what a token that is shown to the sidecars of a namespace is good for. Who may write instances there may
// have any image as their sidecar, and so sees the token: the sidecars of other namespaces must not take it.
func Audience(namespace string) string { return "bindcar:" + namespace }
