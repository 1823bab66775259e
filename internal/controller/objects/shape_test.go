package objects

import (
	"testing"

	"sigs.k8s.io/yaml"
)

func TestWhatALiveObjectHolds(t *testing.T) {
	for _, c := range []struct {
		sentence   string
		live, want string
		holds      bool
	}{
		{"the same", `{spec: {replicas: 1}}`, `{spec: {replicas: 1}}`, true},
		{"defaults and others' fields are no difference",
			`{spec: {replicas: 1, minReadySeconds: 5}, metadata: {labels: {a: b, c: d}}}`,
			`{spec: {replicas: 1}, metadata: {labels: {a: b}}}`, true},
		{"a changed value", `{spec: {replicas: 2}}`, `{spec: {replicas: 1}}`, false},
		{"a field that somebody removed", `{spec: {}}`, `{spec: {replicas: 1}}`, false},
		{"zero where one is", `{spec: {replicas: 1}}`, `{spec: {replicas: 0}}`, false},
		{"zero is what an absent field means", `{spec: {}}`,
			`{spec: {publishNotReadyAddresses: false, x: "", y: 0, z: {}, l: []}}`, true},
		{"true is not", `{spec: {}}`, `{spec: {publishNotReadyAddresses: true}}`, false},
		{"a number in another form", `{a: 1.0}`, `{a: 1}`, true},
		{"a string is no number", `{a: "1"}`, `{a: 1}`, false},

		{"somebody's container beside ours, before it", `{containers: [{name: x, image: y}, {name: bind9, image: b}]}`,
			`{containers: [{name: bind9, image: b}]}`, true},
		{"our container changed", `{containers: [{name: bind9, image: c}]}`, `{containers: [{name: bind9, image: b}]}`,
			false},
		{"our container gone", `{containers: [{name: x, image: b}]}`, `{containers: [{name: bind9, image: b}]}`, false},
		{"somebody's variable beside ours", `{env: [{name: TZ, value: UTC}, {name: A, value: b}]}`,
			`{env: [{name: TZ, value: UTC}]}`, true},
		{"a mount by its path", `{volumeMounts: [{mountPath: /b, name: x}, {mountPath: /a, name: y}]}`,
			`{volumeMounts: [{mountPath: /a, name: y}]}`, true},
		{"a mount of another volume", `{volumeMounts: [{mountPath: /a, name: x}]}`,
			`{volumeMounts: [{mountPath: /a, name: y}]}`, false},
		{"one number, two protocols",
			`{ports: [{containerPort: 53, protocol: UDP, name: u}, {containerPort: 53, protocol: TCP, name: t}]}`,
			`{ports: [{containerPort: 53, name: t}, {containerPort: 53, protocol: UDP, name: u}]}`, true},
		{"ports of a Service with a nodePort that the API server chose",
			`{ports: [{port: 53, protocol: TCP, targetPort: dns, nodePort: 30000}]}`,
			`{ports: [{port: 53, protocol: TCP, targetPort: dns}]}`, true},
		{"another target", `{ports: [{port: 53, protocol: TCP, targetPort: 54}]}`, `{ports: [{port: 53, targetPort: 53}]}`,
			false},
		{"spread over two topologies",
			`{topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}, {topologyKey: host, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}]}`,
			`{topologySpreadConstraints: [{topologyKey: host, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}]}`, true},
		{"an owner besides ours", `{ownerReferences: [{uid: a, controller: true}, {uid: b}]}`,
			`{ownerReferences: [{uid: a, controller: true}]}`, true},
		{"our owner reference gone", `{ownerReferences: [{uid: b}]}`, `{ownerReferences: [{uid: a}]}`, false},
		{"somebody's finalizer beside ours", `{finalizers: [theirs/x, ours/y]}`, `{finalizers: [ours/y]}`, true},
		{"our finalizer gone", `{finalizers: [theirs/x]}`, `{finalizers: [ours/y]}`, false},

		{"arguments are ours as a whole", `{args: [a, b, c]}`, `{args: [a, b]}`, false},
		{"so is their order", `{args: [b, a]}`, `{args: [a, b]}`, false},
		{"a key in a selector that would match nothing", `{selector: {app: bind9, x: "y"}}`, `{selector: {app: bind9}}`,
			false},
		{"defaults inside an atomic list", `{sources: [{secret: {name: k, optional: false}}]}`,
			`{sources: [{secret: {name: k}}]}`, true},

		{"quantities by value", `{resources: {requests: {memory: 1Gi, cpu: "1"}}, emptyDir: {sizeLimit: 1Gi}}`,
			`{resources: {requests: {memory: 1024Mi, cpu: 1000m}}, emptyDir: {sizeLimit: 1024Mi}}`, true},
		{"a quantity as a number", `{limits: {cpu: "2"}}`, `{limits: {cpu: 2}}`, true},
		{"another quantity", `{limits: {memory: 1Gi}}`, `{limits: {memory: 1G}}`, false},
		{"what looks like quantities elsewhere", `{version: "1.0"}`, `{version: "1"}`, false},
		{"a list where a map was", `{a: []}`, `{a: {b: c}}`, false},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			if got := Builtin().holds(parse(t, c.live), parse(t, c.want), "", ""); got != c.holds {
				t.Errorf("%s holds %s: %v", c.live, c.want, got)
			}
		})
	}
}

func TestListsOfOurOwnKindsAreAtomic(t *testing.T) {
	live, want := parse(t, `{volumes: [{name: a}, {name: b}]}`), parse(t, `{volumes: [{name: a}]}`)
	if Custom().holds(live, want, "", "") {
		t.Error("a volume that somebody added to a spec of ours was not noticed")
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
