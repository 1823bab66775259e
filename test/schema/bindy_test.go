package schema

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestBindyManifestsApplyAsTheyStand(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	for _, tt := range []struct {
		name, pattern, namespace string
		kinds, objects           int
	}{
		{"the document's", "testdata/bindy/document/*.yaml", a.namespace("platform-dns"), 5, 5},
		{"those for the existing Bindy", "testdata/bindy/existing/*.yaml", a.namespace("existing"), 12, 18},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, err := filepath.Glob(tt.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, flags := range [][]string{nil, {"--server-side", "--force-conflicts"}} {
				for _, file := range files {
					args := append([]string{"apply", "-n", tt.namespace, "-f", file}, flags...)
					if _, err := a.cluster.RunKubectl(t.Context(), args...); err != nil {
						t.Fatal(err)
					}
				}
			}
			var kinds []string
			want := documents(t, tt.pattern)
			for _, u := range want {
				kinds = append(kinds, u.GetKind())
				a.compare(t, tt.namespace, u)
			}
			slices.Sort(kinds)
			if n := len(slices.Compact(kinds)); n != tt.kinds || len(want) != tt.objects {
				t.Errorf("there are %d objects of %d kinds; want %d of %d", len(want), n, tt.objects, tt.kinds)
			}
		})
	}
}

// compare reports what a stored spec lacks of a manifest's. Defaults may be added; null is the same as nothing.
func (a *api) compare(t *testing.T, namespace string, want *unstructured.Unstructured) {
	t.Helper()
	if want.GetKind() == "ClusterBind9Provider" {
		namespace = ""
	}
	got, err := a.kind(want.GetKind(), namespace).Get(t.Context(), want.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	if diff := cmp.Diff(want.Object["spec"], kept(got.Object["spec"], want.Object["spec"])); diff != "" {
		t.Errorf("%s %s is not stored as it is written (-written +stored):\n%s", want.GetKind(), want.GetName(), diff)
	}
}

// kept is the part of a stored value that the manifest's value has too.
func kept(stored, written any) any {
	switch w := written.(type) {
	case map[string]any:
		s, ok := stored.(map[string]any)
		if !ok {
			return stored
		}
		out := map[string]any{}
		for k, v := range w {
			if have, ok := s[k]; ok || v == nil {
				out[k] = kept(have, v)
			}
		}
		return out
	case []any:
		s, ok := stored.([]any)
		if !ok || len(s) != len(w) {
			return stored
		}
		out := []any{}
		for i, v := range w {
			out = append(out, kept(s[i], v))
		}
		return out
	}
	return stored
}

func TestBindyDefaults(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	const soa = `soa: {primaryNameServer: ns.a, adminEmail: x.a}`
	for _, tt := range []struct{ kind, text, want string }{
		{"ClusterBind9Provider", `spec: {}`, `spec: {version: "9.18"}`},
		{"Bind9Cluster", `spec: {primary: {rndcKey: {}}, rndcSecretRefs: [{name: a}]}`,
			`spec: {version: "9.18", primary: {rndcKey: {autoRotate: false, rotateAfter: 720h, algorithm: hmac-sha256}},
				rndcSecretRefs: [{name: a, algorithm: hmac-sha256, keyNameKey: key-name, secretKey: secret}]}`},
		{"Bind9Instance", `spec: {role: Primary, storage: {}, config: {dnssec: {signing: {}}}}`,
			`spec: {role: Primary, replicas: 1, storage: {storageType: emptyDir}, config: {dnssec: {signing: {enabled: false}}}}`},
		{"DNSZone", `spec: {zoneName: a, ` + soa + `}`, `spec: {zoneName: a, ` + soa + `}`},
		{"ARecord", `spec: {name: a, ipv4: 192.0.2.1}`, `spec: {name: a, ipv4: 192.0.2.1}`},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			namespace := "default"
			if tt.kind == "ClusterBind9Provider" {
				namespace = ""
			}
			got, err := a.create(namespace, object(t, tt.kind, "defaults", tt.text), metav1.DryRunAll)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(object(t, tt.kind, "defaults", tt.want).Object["spec"], got.Object["spec"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBindyShortNamesResolve(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	namespace := a.namespace("bindy-short-names")
	for _, u := range append(documents(t, "testdata/bindy/existing/*.yaml"),
		object(t, "PTRRecord", "ptr", `spec: {name: "1", target: www.example.com.}`)) {
		in := namespace
		if u.GetKind() == "ClusterBind9Provider" {
			in = ""
			u.SetName("bindy-short-names")
		}
		if _, err := a.create(in, u); err != nil {
			t.Fatal(err)
		}
	}
	for kind, names := range map[string]string{
		"ClusterBind9Provider": "cb9p cb9ps", "Bind9Cluster": "b9c b9cs", "Bind9Instance": "b9 b9s",
		"DNSZone": "zone zones dz dzs", "ARecord": "a",
		"AAAARecord": "aaaa", "CNAMERecord": "cname", "TXTRecord": "txt", "MXRecord": "mx", "NSRecord": "ns",
		"SRVRecord": "srv", "CAARecord": "caa",
		"PTRRecord": "ptr",
	} {
		for _, name := range strings.Fields(names) {
			if strings.Contains(" ns zone zones ", " "+name+" ") { // Namespaces and kubi.zone's Zones have these too
				name += "." + resources[kind].Group
			}
			out, err := a.cluster.RunKubectl(t.Context(), "get", name, "--namespace", namespace, "--output",
				"jsonpath={.items[0].kind}")
			if err != nil || out != kind {
				t.Errorf("%s is of a %q, %v; want %s", name, out, err, kind)
			}
		}
	}
}

func TestBindyTablesOfKubectl(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	namespace := a.namespace("bindy-tables")
	const (
		ready  = `"conditions":[{"type":"Ready","status":"False","reason":"Test","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]`
		fleet  = `{"status":{"primaryReplicas":2,"secondaryReplicas":0,"instanceCount":2,"readyInstances":1,"instances":["a"],` + ready + `}}`
		record = `{"status":{"zoneRef":{"apiVersion":"v","kind":"DNSZone","name":"a","namespace":"b","zoneName":"a.example"},"addresses":"x,y",` + ready + `}}`
		zone   = `{"status":{"recordsCount":3,"bind9InstancesCount":2,"servedBy":"found","bind9Instances":[{"name":"a","namespace":"b","uid":"c","state":"Configured","lastSyncTime":"2026-01-25T10:30:00Z"}],"observedGeneration":5,` + ready + `}}`
		soa    = `soa: {primaryNameServer: ns.a, adminEmail: x.a}`
	)
	for _, tt := range []struct{ kind, name, text, status, header, line string }{
		{"ClusterBind9Provider", "bindy-tables", `spec: {primaryReplicas: 2}`, fleet,
			"NAME VERSION PRIMARY SECONDARY READY AGE", "bindy-tables 9.18 2 0 False"},
		{"Bind9Cluster", "case", `spec: {primary: {replicas: 2}, version: "9.20"}`, fleet,
			"NAME VERSION PRIMARY SECONDARY READY AGE", "case 9.20 2 0 False"},
		{"Bind9Instance", "case", `spec: {role: Primary, clusterRef: c}`, `{"status":{"zonesCount":4,` + ready + `}}`,
			"NAME CLUSTER ROLE REPLICAS ZONES READY AGE", "case c Primary 1 4 False"},
		{"DNSZone", "by-cluster", `spec: {zoneName: a, clusterRef: c, ttl: 60, ` + soa + `}`, zone,
			"NAME ZONE PROVIDER RECORDS INSTANCES TTL READY AGE", "by-cluster a c 3 2 60 False"},
		{"DNSZone", "by-provider", `spec: {zoneName: a, clusterProviderRef: p, ttl: 60, ` + soa + `}`, zone,
			"NAME ZONE PROVIDER RECORDS INSTANCES TTL READY AGE", "by-provider a p 3 2 60 False"},
		{"DNSZone", "by-labels", `spec: {zoneName: a, ttl: 60, ` + soa + `}`, zone,
			"NAME ZONE PROVIDER RECORDS INSTANCES TTL READY AGE", "by-labels a found 3 2 60 False"},
		{"ARecord", "case", `spec: {name: w, ttl: 60, ipv4: 192.0.2.1}`, record, "NAME NAME ZONE ADDRESSES TTL READY AGE",
			"case w a.example x,y 60 False"},
		{"AAAARecord", "case", `spec: {name: w, ttl: 60, ipv6: "2001:db8::1"}`, record,
			"NAME NAME ZONE ADDRESSES TTL READY AGE", "case w a.example x,y 60 False"},
		{"CNAMERecord", "case", `spec: {name: w, ttl: 60, target: t.}`, record, "NAME NAME ZONE TARGET TTL READY AGE",
			"case w a.example t. 60 False"},
		{"TXTRecord", "case", `spec: {name: w, ttl: 60, text: [x]}`, record, "NAME NAME ZONE TTL READY AGE",
			"case w a.example 60 False"},
		{"MXRecord", "case", `spec: {name: w, ttl: 60, priority: 5, mailServer: t.}`, record,
			"NAME NAME ZONE PRIORITY MAIL SERVER TTL READY AGE", "case w a.example 5 t. 60 False"},
		{"NSRecord", "case", `spec: {name: w, ttl: 60, nameserver: t.}`, record, "NAME NAME ZONE NAMESERVER TTL READY AGE",
			"case w a.example t. 60 False"},
		{"SRVRecord", "case", `spec: {name: w, ttl: 60, priority: 5, weight: 6, port: 7, target: t.}`, record,
			"NAME NAME ZONE TARGET PORT TTL READY AGE", "case w a.example t. 7 60 False"},
		{"CAARecord", "case", `spec: {name: w, ttl: 60, flags: 0, tag: issue, value: v}`, record,
			"NAME NAME ZONE TAG VALUE TTL READY AGE", "case w a.example issue v 60 False"},
		{"PTRRecord", "case", `spec: {name: w, ttl: 60, target: t.}`, record, "NAME NAME ZONE TARGET TTL READY AGE",
			"case w a.example t. 60 False"},
	} {
		t.Run(fmt.Sprintf("%s %s", tt.kind, tt.name), func(t *testing.T) {
			in := namespace
			if tt.kind == "ClusterBind9Provider" {
				in = ""
			}
			u, err := a.create(in, object(t, tt.kind, tt.name, tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.patch(t.Context(), u, tt.status, "status"); err != nil {
				t.Fatal(err)
			}
			resource := resources[tt.kind]
			out, err := a.cluster.RunKubectl(t.Context(), "get", resource.Resource+"."+resource.Group, tt.name, "-n", namespace)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
				if got, want := strings.Join(strings.Fields(line), " "), []string{tt.header, tt.line}[i]; !strings.HasPrefix(got,
					want) {
					t.Errorf("line %d is %q; want %q", i+1, got, want)
				}
			}
		})
	}
}

func TestBindyExamplesApply(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	if _, err := a.cluster.RunKubectl(t.Context(), "apply", "-f", "../../examples/bindy"); err != nil {
		t.Error(err)
	}
}
