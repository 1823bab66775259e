package bindy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// services are the addresses of a server: that for DNS, and that of the sidecar's API, which is reached inside the
// cluster only, whatever the type of the other is. As long as that is of type ClusterIP it has the API too, as in the
// document.
func (s *Server) services() (dns, api *corev1.Service, err error) {
	if dns, err = s.serviceFor(); err != nil {
		return nil, nil, err
	}
	api = &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Instance.Namespace, Name: apiServiceName(s.Instance.Name),
			Labels: s.Labels()},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: s.Selector()},
	}
	for _, p := range dns.Spec.Ports {
		if isAPIPort(p) {
			api.Spec.Ports = append(api.Spec.Ports, servicePort(p.Name, p.Port, corev1.ProtocolTCP, apiPort))
		}
	}
	if len(api.Spec.Ports) == 0 { // users have given both another name
		api.Spec.Ports = append(api.Spec.Ports, servicePort(apiPort, 8080, corev1.ProtocolTCP, apiPort))
	}
	if !exposed(&dns.Spec) {
		return dns, api, nil
	}
	dns.Spec.Ports = slices.DeleteFunc(dns.Spec.Ports, isAPIPort)
	for _, p := range dns.Spec.Ports {
		if s.leadsToAPI(p) {
			return nil, nil, fmt.Errorf("the port %s of the Service leads to the sidecar's API, which a Service of type %s "+
				"would expose; remove it, and use Service %s",
				p.Name, dns.Spec.Type, api.Name)
		}
	}
	return dns, api, nil
}

// apiPort is the name of the sidecar's port, in pods and Services.
const apiPort = "http"

// isAPIPort reports whether a port of a Service is one of the two of the sidecar's API.
func isAPIPort(p corev1.ServicePort) bool { return p.Name == apiPort || p.Name == apiPort+"-80" }

// leadsToAPI reports whether a port of a Service is one at which the sidecar listens, under any name.
func (s *Server) leadsToAPI(p corev1.ServicePort) bool {
	to := p.TargetPort
	if to == (intstr.IntOrString{}) {
		to = intstr.FromInt32(p.Port)
	}
	return to.StrVal == apiPort || to.IntVal == s.bindcar.port
}

// exposed reports whether a Service is reached from outside of the cluster.
func exposed(s *corev1.ServiceSpec) bool {
	return s.Type != corev1.ServiceTypeClusterIP && s.Type != ""
}

// serviceFor is the Service for DNS on the port that everybody asks at, and the sidecar's API at the document's port
// and at that of the existing Bindy. What users say is laid over it, first the role's, then the sidecar's.
func (s *Server) serviceFor() (*corev1.Service, error) {
	out := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Instance.Namespace, Name: s.Instance.Name, Labels: s.Labels()},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP,
			Ports: []corev1.ServicePort{
				servicePort("dns-tcp", 53, corev1.ProtocolTCP, "dns-tcp"),
				servicePort("dns-udp", 53, corev1.ProtocolUDP, "dns-udp"),
				servicePort(apiPort, 8080, corev1.ProtocolTCP, apiPort),
				servicePort(apiPort+"-80", 80, corev1.ProtocolTCP, apiPort),
			},
		},
	}
	var over []fragment
	if s.service != nil {
		if err := checkAnnotations("spec."+string(s.Role)+".service.annotations", s.service.Annotations); err != nil {
			return nil, err
		}
		out.Annotations = maps.Clone(s.service.Annotations)
		over = append(over, fragment{"spec." + string(s.Role) + ".service.spec", s.service.Spec})
	}
	over = append(over, fragment{"bindcarConfig.serviceSpec", s.bindcar.service})
	for _, f := range over {
		if err := f.layOver(&out.Spec); err != nil {
			return nil, err
		}
	}
	out.Spec.Selector = s.Selector() // whatever anybody says: another one would lead to others' pods
	return out, nil
}

func servicePort(name string, port int32, protocol corev1.Protocol, target string) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: port, Protocol: protocol, TargetPort: intstr.FromString(target)}
}

// A fragment is a part of an object that a user wrote, and where it stands.
type fragment struct {
	field string
	*v1beta1.Fragment
}

// maxPorts is how many ports of a Service a user may say something of.
const maxPorts = 64

// layOver merges fields of a Service's spec over those that are there, and ports as mergedPorts does.
func (f fragment) layOver(spec *corev1.ServiceSpec) error {
	if f.Fragment == nil {
		return nil
	}
	var users corev1.ServiceSpec
	if err := f.Into(&users); err != nil {
		return fmt.Errorf("%s cannot be used: %w", f.field, err)
	}
	if err := checkService(&users); err != nil {
		return fmt.Errorf("%s cannot be used: %w", f.field, err)
	}
	if len(users.Ports) > maxPorts {
		return fmt.Errorf("%s.ports cannot be used: it has %d, more than %d", f.field, len(users.Ports), maxPorts)
	}
	ports, err := mergedPorts(spec.Ports, users.Ports)
	if err != nil {
		return fmt.Errorf("%s.ports cannot be used: %w", f.field, err)
	}
	if len(f.Raw) > 0 {
		if err := json.Unmarshal(f.Raw, spec); err != nil { // what it does not say stays
			return fmt.Errorf("%s cannot be used: %w", f.field, err)
		}
	}
	spec.Ports = ports
	return nil
}

// mergedPorts lays a user's ports over those that are there. One takes the place of that of its name and of that at its
// number, since the API server takes a number once only.
func mergedPorts(there, users []corev1.ServicePort) (out []corev1.ServicePort, err error) {
	said := make([]corev1.ServicePort, 0, len(users))
	for _, p := range users {
		i := portNamed(there, p.Name)
		if i < 0 {
			i = slices.IndexFunc(there, func(o corev1.ServicePort) bool { return collide(o, p) })
		}
		if i >= 0 {
			p = mergedPort(there[i], p)
		}
		if p.Name == "" || p.Port == 0 {
			return nil, fmt.Errorf("the port %q has the number %d; each needs a unique name and a number",
				p.Name, p.Port)
		}
		for _, o := range said {
			if o.Name == p.Name || collide(o, p) {
				return nil, fmt.Errorf("the ports %s (%d) and %s (%d) have the same name or number; leave one of them out", o.Name,
					o.Port, p.Name, p.Port)
			}
		}
		said = append(said, p)
	}
	for _, o := range there {
		if i := portNamed(said, o.Name); i >= 0 {
			out = append(out, said[i])
		} else if !slices.ContainsFunc(said, func(p corev1.ServicePort) bool { return collide(o, p) }) {
			out = append(out, o)
		}
	}
	for _, p := range said {
		if portNamed(there, p.Name) < 0 {
			out = append(out, p)
		}
	}
	return out, nil
}

// portNamed is where the port of a name is, -1 if there is none.
func portNamed(ports []corev1.ServicePort, name string) int {
	return slices.IndexFunc(ports, func(p corev1.ServicePort) bool { return p.Name == name })
}

// collide reports whether no Service can have both ports.
func collide(a, b corev1.ServicePort) bool {
	tcp := corev1.ProtocolTCP
	return a.Port == b.Port && cmp.Or(a.Protocol, tcp) == cmp.Or(b.Protocol, tcp)
}

// checkService refuses what would have the cluster lead traffic that is not for this server: to addresses of others
// (CVE-2020-8554), or, by a name in the place of pods, away from them.
func checkService(s *corev1.ServiceSpec) error {
	if len(s.ExternalIPs) > 0 {
		return errors.New(
			"externalIPs would attract traffic for others; use type LoadBalancer or NodePort for access from outside")
	}
	if s.Type == corev1.ServiceTypeExternalName || s.ExternalName != "" {
		return errors.New("type ExternalName and externalName lead to a name and not to the server's pods; use type " +
			"ClusterIP, LoadBalancer or NodePort")
	}
	return nil
}

// mergedPort is a generated port with what a user set of it.
func mergedPort(generated, users corev1.ServicePort) corev1.ServicePort {
	if users.TargetPort == (intstr.IntOrString{}) {
		users.TargetPort = generated.TargetPort
	}
	if users.Protocol == "" {
		users.Protocol = generated.Protocol
	}
	if users.Port == 0 {
		users.Port = generated.Port
	}
	return users
}
