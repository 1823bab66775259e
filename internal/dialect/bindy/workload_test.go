package bindy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

var testSettings = Settings{Namespace: "ops", ServiceAccount: "op", BIND9Image: "example/bind9",
	BindcarImage: "example/bindcar:1"}

// serverOf makes a server of specs written in YAML; without a cluster's, it is part of none.
func serverOf(t *testing.T, instance, cluster string) (*Server, error) {
	t.Helper()
	i := &v1beta1.Bind9Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "ns"}}
	var p *Parent
	if cluster != "" {
		p = &Parent{Kind: v1beta1.KindCluster, Name: "dns", Generation: 1, Spec: &v1beta1.CommonSpec{}}
		if err := yaml.UnmarshalStrict([]byte(cluster), p.Spec); err != nil {
			t.Fatal(err)
		}
		i.Spec.ClusterRef = "dns"
	}
	if err := yaml.UnmarshalStrict([]byte(instance), &i.Spec); err != nil {
		t.Fatal(err)
	}
	return NewServer(i, p, testSettings)
}

func mustServer(t *testing.T, instance, cluster string) *Server {
	t.Helper()
	s, err := serverOf(t, instance, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAPodIsConfined(t *testing.T) {
	pod := mustServer(t, `role: Primary`, `{}`).pod(testSettings)
	if c := pod.SecurityContext; *c.RunAsUser != 101 || *c.RunAsGroup != 101 || *c.FSGroup != 101 || !*c.RunAsNonRoot ||
		c.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%+v", c)
	}
	if *pod.AutomountServiceAccountToken || pod.ServiceAccountName != "bind9" || *pod.EnableServiceLinks {
		t.Errorf("%+v", pod)
	}
	for _, c := range pod.Containers {
		if x := c.SecurityContext; *x.AllowPrivilegeEscalation || !*x.ReadOnlyRootFilesystem ||
			!slices.Equal(x.Capabilities.Drop, []corev1.Capability{"ALL"}) || x.Capabilities.Add != nil || x.Privileged != nil {
			t.Errorf("%s: %+v", c.Name, x)
		}
		if c.LivenessProbe == nil || c.ReadinessProbe == nil || c.Resources.Requests == nil {
			t.Errorf("%s has not all probes and requests", c.Name)
		}
		for _, m := range c.VolumeMounts {
			if m.SubPath != "" || m.Name == tokenVolume && c.Name == NamedContainer {
				t.Errorf("%s mounts %+v", c.Name, m)
			}
		}
	}
	for _, v := range pod.Volumes {
		if v.Name == configVolume && len(v.Projected.Sources) != 3 {
			t.Errorf("%+v", v.Projected)
		}
	}
	if got := pod.Containers[1].ReadinessProbe.HTTPGet.Path; got != "/api/v1/server/ready" {
		t.Errorf("%s is asked whether the pod is ready, which a sidecar that cannot be told its zones may answer", got)
	}
}

// The parts of a Deployment that specs change.
func TestWhatSpecsSay(t *testing.T) {
	for _, c := range []struct {
		name, instance, cluster string
		want, without           []string // in the Deployment as JSON
	}{
		{"of nothing", `role: primary`, ``, []string{`"image":"example/bind9:9.18"`, `"image":"example/bindcar:1"`,
			`"replicas":1`, `"name":"ns-config"`, `"name":"ns-transfer-key"`, `"maxUnavailable":0`,
			`"whenUnsatisfiable":"ScheduleAnyway"`, `"value":"system:serviceaccount:ops:op"`},
			[]string{"persistentVolumeClaim"}},
		{"a cluster's version", `role: primary`, `{version: '9.20'}`, []string{`example/bind9:9.20`, `"name":"dns-config"`,
			`"name":"dns-transfer-key"`, `"name":"ns-rndc-key"`}, []string{`options.secondary`}},
		{"a secondary of a cluster", `role: Secondary`, `{}`,
			[]string{`{"key":"named.conf.options.secondary","path":"named.conf.options"}`,
				`"bindy.firestoned.io/role":"secondary"`}, nil},
		{"an instance's version goes before", `{role: primary, version: '9.19'}`, `{version: '9.20'}`,
			[]string{`example/bind9:9.19`, `"name":"ns-config"`}, nil},
		{"an image goes before the version", `role: primary`,
			`{version: '9.20', image: {image: mine, imagePullPolicy: Always, imagePullSecrets: [s]}}`,
			[]string{`"image":"mine"`, `"imagePullPolicy":"Always"`, `"imagePullSecrets":[{"name":"s"}]`}, nil},
		{"configuration of its own", `{role: primary, config: {recursion: true}}`, `{}`,
			[]string{`"name":"ns-config"`, `"name":"dns-transfer-key"`}, []string{`"name":"dns-config"`}},
		{"users' files", `{role: primary, configMapRefs: {namedConf: x, namedConfOptions: o, namedConfZones: z}}`, ``,
			[]string{`{"name":"x","items":[{"key":"named.conf","path":"named.conf"}]}`,
				`{"name":"o","items":[{"key":"named.conf.options","path":"named.conf.options"}]}`,
				`{"name":"z","items":[{"key":"named.conf.zones","path":"named.conf.zones"}]}`,
				`{"name":"ns-config","items":[{"key":"rndc.conf","path":"rndc.conf"}]}`}, nil},
		{"the sidecar",
			`{role: primary, bindcarConfig: {port: 9999, logLevel: debug, envVars: [{name: RUST_LOG, value: trace}, {name: MINE, value: x}, {name: S, valueFrom: {secretKeyRef: {name: bindy-s, key: k}}}, {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]}}`, `{}`, []string{`"secretKeyRef":{"name":"bindy-s","key":"k"}`, `"fieldPath":"status.podIP"`, `"containerPort":9999`, `{"name":"API_PORT","value":"9999"}`, `{"name":"RUST_LOG","value":"trace"}`, `{"name":"MINE","value":"x"}`}, []string{`"value":"debug"`}},
		{"a claim", `{role: primary, storage: {storageType: persistentVolumeClaim}}`, ``,
			[]string{`"claimName":"ns-zones"`, `"type":"Recreate"`}, []string{"rollingUpdate"}},
		{"a claim of the user's",
			`{role: primary, storage: {storageType: persistentVolumeClaim, persistentVolumeClaim: {claimName: bindy-mine}}}`, ``,
			[]string{`"claimName":"bindy-mine"`}, nil},
		{"a limited emptyDir", `{role: primary, storage: {emptyDir: {sizeLimit: 1Gi}}}`, ``, []string{`"sizeLimit":"1Gi"`},
			nil},
		{"volumes",
			`{role: primary, volumes: [{name: logs, emptyDir: {}}, {name: c, configMap: {name: bindy-c}}], volumeMounts: [{name: logs, mountPath: /var/log/bind/x}]}`, ``, []string{`{"name":"logs","mountPath":"/var/log/bind/x"}`, `"name":"bindy-c"`}, nil},
		{"zero replicas", `{role: primary, replicas: 0}`, ``, []string{`"replicas":0`}, nil},
	} {
		text, err := json.Marshal(mustServer(t, c.instance, c.cluster).Deployment(testSettings, "sum"))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s: there is no %s in %s", c.name, w, text)
			}
		}
		for _, w := range c.without {
			if strings.Contains(string(text), w) {
				t.Errorf("%s: there is %s in %s", c.name, w, text)
			}
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	mount := func(path string) string {
		return fmt.Sprintf(`{role: primary, volumes: [{name: v, emptyDir: {}}], volumeMounts: [{name: v, mountPath: %q}]}`,
			path)
	}
	for _, c := range []struct{ name, instance, want string }{
		{"a host path", `{role: primary, volumes: [{name: v, hostPath: {path: /}}]}`,
			"emptyDir, configMap, secret or persistentVolumeClaim"},
		{"two sources", `{role: primary, volumes: [{name: v, emptyDir: {}, hostPath: {path: /}}]}`,
			"emptyDir, configMap, secret or persistentVolumeClaim"},
		{"somebody's Secret", `{role: primary, volumes: [{name: v, secret: {secretName: admin}}]}`, "begin with bindy-"},
		{"a volume of ours", `{role: primary, volumes: [{name: config, emptyDir: {}}]}`, "already in use"},
		{"the token",
			`{role: primary, volumes: [{name: v, emptyDir: {}}], volumeMounts: [{name: account, mountPath: /data/x}]}`,
			"no volume of that name"},
		{"the same name twice", `{role: primary, volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]}`, "is taken"},
		{"a mount over the configuration", mount("/etc/bind"), "mount it below"},
		{"a mount with dots", mount("/data/../etc/bind"), "mount it below"},
		{"a mount of the root of all data", mount("/data/"), "mount it below"},
		{"a subPath",
			`{role: primary, volumes: [{name: v, emptyDir: {}}], volumeMounts: [{name: v, mountPath: /data/x, subPath: sub}]}`,
			"subPath"},
		{"propagation",
			`{role: primary, volumes: [{name: v, emptyDir: {}}], volumeMounts: [{name: v, mountPath: /data/x, mountPropagation: Bidirectional}]}`, "mountPropagation"},
		{"a field that volumes do not have", `{role: primary, volumes: [{name: v, emptyDirs: {}}]}`, "unknown field"},
		{"BIND's port for the sidecar", `{role: primary, bindcarConfig: {port: 5353}}`, "BIND itself"},
		{"two pods on a claim", `{role: primary, replicas: 2, storage: {storageType: persistentVolumeClaim}}`, "one pod"},
		{"somebody's Secret in the environment",
			`{role: primary, bindcarConfig: {envVars: [{name: X, valueFrom: {secretKeyRef: {name: admin, key: token}}}]}}`,
			"begin with bindy-"},
		{"somebody's ConfigMap in the environment",
			`{role: primary, bindcarConfig: {envVars: [{name: X, valueFrom: {configMapKeyRef: {name: app, key: x}}}]}}`,
			"begin with bindy-"},
		{"a variable from a file",
			`{role: primary, bindcarConfig: {envVars: [{name: X, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]}}`,
			"not one of secretKeyRef"},
		{"being ready without zones",
			`{role: primary, bindcarConfig: {envVars: [{name: BINDCAR_REQUIRE_CONTENT, value: "false"}]}}`,
			"ready without their zones"},
		{"a variable without a name", `{role: primary, bindcarConfig: {envVars: [{value: x}]}}`, "no name"},
		{"somebody's claim",
			`{role: primary, storage: {storageType: persistentVolumeClaim, persistentVolumeClaim: {claimName: database}}}`,
			"begin with bindy-"},
		{"a role that there is not", `{role: main}`, "Primary or Secondary"},
	} {
		if _, err := serverOf(t, c.instance, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestServices(t *testing.T) {
	s := mustServer(t, `{role: primary, bindcarConfig: {serviceSpec: {ports: [{name: http, port: 8888}]}}}`,
		`{primary: {service: {annotations: {k: v}, spec: {type: LoadBalancer, loadBalancerIP: 192.0.2.1, selector: {app: other}, ports: [{name: dns-udp, port: 5300}, {name: more, port: 99, targetPort: rndc}]}}}}`)
	got, api, err := s.services()
	if err != nil {
		t.Fatal(err)
	}
	if got.Spec.Type != corev1.ServiceTypeLoadBalancer || got.Spec.LoadBalancerIP != "192.0.2.1" ||
		got.Annotations["k"] != "v" || got.Spec.Selector["instance"] != "ns" || len(got.Spec.Selector) != 2 {
		t.Errorf("%+v", got)
	}
	want := []string{"dns-tcp 53/TCP→dns-tcp", "dns-udp 5300/UDP→dns-udp", "more 99/→rndc"}
	if ports := portsOf(got); !slices.Equal(ports, want) {
		t.Errorf("%q", ports)
	}
	want = []string{"http 8888/TCP→http", "http-80 80/TCP→http"}
	if ports := portsOf(api); !slices.Equal(ports, want) || api.Name != "ns-bindcar" ||
		api.Spec.Type != corev1.ServiceTypeClusterIP || api.Annotations != nil || len(api.Spec.Selector) != 2 {
		t.Errorf("that of the sidecar is %+v", api)
	}
	for _, spec := range []string{`{ports: [` + strings.Repeat(`{name: x, port: 1}, `, 65) + `]}`, `{ports: [{port: 1}]}`,
		`{type: [x]}`, `{types: x}`} {
		if _, err := mustServer(t, `role: primary`, `{primary: {service: {spec: `+spec+`}}}`).serviceFor(); err == nil ||
			!strings.Contains(err.Error(), "spec.primary.service.spec") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func TestServicesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, spec, want string }{
		{"traffic of others would be led here", `{externalIPs: [192.0.2.1]}`, "externalIPs"},
		{"in another case, too", `{ExternalIPs: [192.0.2.1]}`, "xternalIPs"},
		{"a name in the place of pods", `{type: ExternalName, externalName: example.com}`, "ExternalName"},
		{"a name without its type", `{externalName: example.com}`, "externalName"},
	} {
		if _, err := mustServer(t, `role: primary`, `{primary: {service: {spec: `+c.spec+`}}}`).serviceFor(); err == nil ||
			!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "spec.primary.service.spec") {
			t.Errorf("%s, of the role: %v", c.name, err)
		}
		if _, err := mustServer(t, `{role: primary, bindcarConfig: {serviceSpec: `+c.spec+`}}`,
			`{}`).serviceFor(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(),
			"bindcarConfig.serviceSpec") {
			t.Errorf("%s, of the sidecar: %v", c.name, err)
		}
	}
	if _, err := mustServer(t, `role: primary`,
		`{primary: {service: {spec: {type: NodePort, externalIPs: []}}}}`).serviceFor(); err != nil {
		t.Error(err)
	}
}

// TestPortsOfOneNumber lays ports over those of a Service, which has each number once.
func TestPortsOfOneNumber(t *testing.T) {
	const dns = "dns-tcp 53/TCP→dns-tcp dns-udp 53/UDP→dns-udp "
	for _, c := range []struct{ name, role, sidecar, want, wrong string }{
		{"the sidecar's at the number of its other one, as in the example of a provider", `[]`, `[{name: http, port: 80}]`,
			dns + "http 80/TCP→http", ""},
		{"the same, with all that it may say", `[]`, `[{name: http, port: 80, targetPort: 8080, protocol: TCP}]`, dns +
			"http 80/TCP→8080", ""},
		{"another name for a number", `[]`, `[{name: api, port: 8080}]`, dns + "http-80 80/TCP→http api 8080/TCP→http", ""},
		{"other names for both", `[]`, `[{name: api, port: 8080}, {name: web, port: 80}]`, dns +
			"api 8080/TCP→http web 80/TCP→http", ""},
		{"another name for DNS by TCP", `[{name: dns, port: 53}]`, `[]`,
			"dns-udp 53/UDP→dns-udp http 8080/TCP→http http-80 80/TCP→http dns 53/TCP→dns-tcp", ""},
		{"both swapped", `[]`, `[{name: http, port: 80}, {name: http-80, port: 8080}]`, dns +
			"http 80/TCP→http http-80 8080/TCP→http", ""},
		{"the sidecar's over the role's", `[{name: web, port: 443}]`, `[{name: http, port: 443}]`, dns +
			"http 443/TCP→http http-80 80/TCP→http", ""},
		{"two at one number", `[]`, `[{name: a, port: 99}, {name: b, port: 99, protocol: TCP}]`, "",
			"bindcarConfig.serviceSpec.ports cannot be used: the ports a (99) and b (99) have the same name or number"},
		{"two at one number, one by its name", `[{name: http}, {name: b, port: 8080}]`, `[]`, "",
			"the ports http (8080) and b (8080) have the same name or number"},
		{"two of one name", `[]`, `[{name: a, port: 98}, {name: a, port: 99}]`, "",
			"the ports a (98) and a (99) have the same name or number"},
		{"no number", `[]`, `[{name: a}]`, "", `the port "a" has the number 0; each needs`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustServer(t, `{role: primary, bindcarConfig: {serviceSpec: {ports: `+c.sidecar+`}}}`,
				`{primary: {service: {spec: {ports: `+c.role+`}}}}`)
			got, api, err := s.services()
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("the error is %v, without %q", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if ports := strings.Join(portsOf(got), " "); ports != c.want || len(api.Spec.Ports) == 0 {
				t.Errorf("the ports are %s, and of the API %q", ports, portsOf(api))
			}
		})
	}
}

func portsOf(s *corev1.Service) (ports []string) {
	for _, p := range s.Spec.Ports {
		ports = append(ports, fmt.Sprintf("%s %d/%s→%s", p.Name, p.Port, p.Protocol, p.TargetPort.String()))
	}
	return ports
}

// TestTheSidecarIsNotShownToTheOutside lays over what users may say of the Service, whose type somebody may change at
// any time.
func TestTheSidecarIsNotShownToTheOutside(t *testing.T) {
	const api = "http 8080/TCP→http http-80 80/TCP→http"
	for _, c := range []struct{ name, role, sidecar, dns, api, wrong string }{
		{"the document's ports, inside of the cluster", `{}`, `{}`, "dns-tcp 53/TCP→dns-tcp dns-udp 53/UDP→dns-udp " + api,
			api, ""},
		{"a load balancer", `{type: LoadBalancer}`, `{}`, "dns-tcp 53/TCP→dns-tcp dns-udp 53/UDP→dns-udp", api, ""},
		{"ports of nodes, asked for beside the sidecar", `{}`, `{type: NodePort}`,
			"dns-tcp 53/TCP→dns-tcp dns-udp 53/UDP→dns-udp", api, ""},
		{"the API's port by its name, with one of nodes",
			`{type: NodePort, ports: [{name: http, port: 8081, nodePort: 30080, targetPort: 5353}]}`, `{}`,
			"dns-tcp 53/TCP→dns-tcp dns-udp 53/UDP→dns-udp", "http 8081/TCP→http http-80 80/TCP→http", ""},
		{"both at one port", `{type: LoadBalancer}`, `{ports: [{name: http, port: 80}]}`,
			"dns-tcp 53/TCP→dns-tcp dns-udp 53/UDP→dns-udp", "http 80/TCP→http", ""},
		{"another name for it", `{type: LoadBalancer, ports: [{name: mine, port: 443, targetPort: http}]}`, `{}`, "", "",
			"port mine"},
		{"another name, by number", `{type: LoadBalancer, ports: [{name: mine, port: 443, targetPort: 8080}]}`, `{}`, "", "",
			"port mine"},
		{"another name, by the same number", `{type: LoadBalancer, ports: [{name: mine, port: 8080}]}`, `{}`, "", "",
			"Service ns-bindcar"},
		{"a port of DNS that leads there", `{type: NodePort, ports: [{name: dns-tcp, targetPort: http}]}`, `{}`, "", "",
			"port dns-tcp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustServer(t, `{role: primary, bindcarConfig: {serviceSpec: `+c.sidecar+`}}`, `{primary: {service: {spec: `+
				c.role+`}}}`)
			dns, got, err := s.services()
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("the error is %v, without %q", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d, a := strings.Join(portsOf(dns), " "), strings.Join(portsOf(got), " "); d != c.dns || a != c.api ||
				got.Spec.Type != corev1.ServiceTypeClusterIP {
				t.Errorf("DNS has %s, and the API, of type %s, %s", d, got.Spec.Type, a)
			}
			for _, p := range got.Spec.Ports {
				if p.NodePort != 0 {
					t.Errorf("%s is at the port %d of nodes", p.Name, p.NodePort)
				}
			}
		})
	}
}
