package schema

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestTheDocumentsExamplesApplyAsTheyStand(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	files, err := filepath.Glob("testdata/documents/*.yaml")
	if err != nil || len(files) != 3 {
		t.Fatalf("found %d examples, %v; the document has 3", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			namespace := a.namespace("document-" + name)
			for _, flags := range [][]string{nil, {"--server-side", "--force-conflicts"}} {
				args := append([]string{"apply", "-n", namespace, "-f", file}, flags...)
				if _, err := a.cluster.RunKubectl(t.Context(), args...); err != nil {
					t.Fatal(err)
				}
			}
			want := documents(t, file)[0]
			got, err := a.kind("Zone", namespace).Get(t.Context(), want.GetName(), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			spec, defaults := want.Object["spec"].(map[string]any), map[string]any{
				"ttl": int64(360), "refresh": int64(86400), "retry": int64(7200), "expire": int64(3600000),
				"negativeResponseCache": int64(360),
			}
			for name, value := range defaults {
				spec[name] = value
			}
			if diff := cmp.Diff(spec, got.Object["spec"]); diff != "" {
				t.Errorf("the stored spec is not the example's with the document's defaults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	tests := []struct {
		name, kind, namespace, text, want string
	}{
		{"of a Zone", "Zone", "default", `spec: {domainName: a.}`,
			`spec: {domainName: a., delegations: [], ttl: 360, refresh: 86400, retry: 7200, expire: 3600000, negativeResponseCache: 360}`},
		{"of a Record", "Record", "default", `spec: {domainName: a., type: A, rdata: x}`,
			`spec: {domainName: a., class: IN, type: A, rdata: x}`},
		{"of a Backend", "Backend", "", `spec: {embedded: {}}`,
			`spec: {embedded: {}, default: false, foreign: Keep, mode: Sync}`},
		{"of name servers", "Backend", "", `spec: {rfc2136: {servers: [a], tsig: {keyName: k, secretRef: {name: s}}}}`,
			`spec: {rfc2136: {servers: [a], tsig: {keyName: k, algorithm: hmac-sha256, secretRef: {name: s}}}, default: false, foreign: Keep, mode: Sync}`},
		{"of PowerDNS", "Backend", "", `spec: {powerdns: {url: "http://a", secretRef: {name: s}}}`,
			`spec: {powerdns: {url: "http://a", serverID: localhost, zoneKind: Native, secretRef: {name: s}}, default: false, foreign: Keep, mode: Sync}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := a.create(tt.namespace, object(t, tt.kind, "default", tt.text), metav1.DryRunAll)
			if err != nil {
				t.Fatal(err)
			}
			want := object(t, tt.kind, "default", tt.want)
			if diff := cmp.Diff(want.Object["spec"], got.Object["spec"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownFieldsOfDelegationsSurviveAndAreSeen(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	namespace := a.namespace("unknown-fields")
	text := `spec: {domainName: a., delegations: [{namespce: a, zones: ["*.@"], records: [{pattern: "@", typs: [A]}]}]}`
	zone := object(t, "Zone", "case", text)
	zone.SetNamespace(namespace)
	if _, err := a.kind("Zone", namespace).Apply(t.Context(), "case", zone,
		metav1.ApplyOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	for _, z := range list(a, "Zone", &kubizone.ZoneList{}).Items {
		if z.Namespace != namespace {
			continue
		}
		want := []string{
			`the field "namespce" is unknown; a rule here has the fields namespace, namespaces, zones, records`,
			`records[0]: the field "typs" is unknown; a rule here has the fields pattern, types`,
		}
		if diff := cmp.Diff(want, z.Spec.Delegations[0].Problems()); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		return
	}
	t.Error("the Zone is not in the list")
}

func TestTablesOfKubectl(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	namespace := a.namespace("tables")
	ready :=
		`"conditions":[{"type":"Ready","status":"False","reason":"Test","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]`
	tests := []struct {
		kind, namespace, text, status string
		want                          []string
	}{
		{"Zone", namespace, `{metadata: {labels: {kubi.zone/parent-zone: org.default}}, spec: {domainName: a.}}`,
			`{"status":{"fqdn":"a.","hash":"12345","serial":2026010100,` + ready + `}}`,
			[]string{"NAME DOMAIN NAME FQDN SERIAL PARENT READY REASON AGE", "case a. a. 2026010100 org.default False Test"}},
		{"Record", namespace,
			`{metadata: {labels: {kubi.zone/parent-zone: a.default}}, spec: {domainName: www.a., type: A, rdata: 192.0.2.1}}`,
			`{"status":{"fqdn":"www.a.",` + ready + `}}`,
			[]string{"NAME DOMAIN NAME CLASS TYPE DATA FQDN PARENT READY REASON AGE",
				"case www.a. IN A 192.0.2.1 www.a. a.default False Test"}},
		{"Backend", "", `spec: {embedded: {}, default: true}`, `{"status":{"type":"embedded",` + ready + `}}`,
			[]string{"NAME TYPE DEFAULT MODE READY REASON AGE", "case embedded true Sync False Test"}},
		{"ZoneSlice", namespace, `{zone: a, journal: true, index: 3}`, ``, []string{"NAME ZONE INDEX AGE", "case a 3"}},
		{"ZoneRevision", namespace, `spec: {zone: a, fqdn: a., time: "2026-01-01T00:00:00Z", serial: 7, hash: x, added: 2}`, ``,
			[]string{"NAME ZONE SERIAL ADDED CHANGED DELETED AGE", "case a 7 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			u, err := a.create(tt.namespace, object(t, tt.kind, "case", tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if tt.status != "" {
				if _, err := a.patch(t.Context(), u, tt.status, "status"); err != nil {
					t.Fatal(err)
				}
			}
			resource := resources[tt.kind]
			out, err := a.cluster.RunKubectl(t.Context(), "get", resource.Resource+"."+resource.Group, "case", "-n", namespace)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
				if got := strings.Join(strings.Fields(line), " "); !strings.HasPrefix(got, tt.want[i]) {
					t.Errorf("line %d is %q; want %q", i+1, got, tt.want[i])
				}
			}
		})
	}
	wide, err := a.cluster.RunKubectl(t.Context(), "get", "zones.kubi.zone", "case", "-n", namespace, "-o", "wide")
	if got := strings.Join(strings.Fields(wide), " "); err != nil || !strings.Contains(got, " HASH ") ||
		!strings.Contains(got, " 12345 ") {
		t.Errorf("with -o wide the Zone's table is %q, %v; want it with the hash", got, err)
	}
}

func TestStatusesAndSlicesTakeWhatTheOperatorWrites(t *testing.T) {
	a := connect(t, testcluster.ForTest(t))
	namespace := a.namespace("typed")
	slice := object(t, "ZoneSlice", "case",
		`{zone: a, index: 0, entries: [{fqdn: a., type: A, class: IN, ttl: 5, rdata: 192.0.2.1}]}`)
	if _, err := a.create(namespace, slice); err != nil {
		t.Fatal(err)
	}
	want := zonefold.Entry{FQDN: "a.", Type: "A", Class: "IN", TTL: 5, RData: "192.0.2.1"}
	for _, s := range list(a, "ZoneSlice", &zonefold.ZoneSliceList{}).Items {
		if s.Namespace == namespace && s.Entries[0] != want {
			t.Errorf("got the entry %v; want %v", s.Entries[0], want)
		}
	}
	zone, err := a.create(namespace, object(t, "Zone", "case", `spec: {domainName: a.}`))
	if err != nil {
		t.Fatal(err)
	}
	status := `{"status":{"entries":[{"fqdn":"a.","type":"SOA","class":"IN","ttl":360,"rdata":"x"}],"fqdn":"a.","hash":"x","serial":4294967295,"serialCeiling":4294967295,
		"entryCount":1,"slices":0,"backends":[{"name":"b","fqdn":"a.","serial":4294967295},{"name":"b","fqdn":"old.","reason":"Withdrawing","message":"x"}],"observedGeneration":1}}`
	if _, err := a.patch(t.Context(), zone, status, "status"); err != nil {
		t.Error(err)
	}
	if _, err := a.patch(t.Context(), zone, `{"status":{"serial":4294967296}}`, "status"); err == nil {
		t.Error("a serial beyond u32 is accepted")
	}
	if _, err := a.patch(t.Context(), zone, `{"status":null}`, "status"); err != nil {
		t.Errorf("a status that is null is refused: %v", err)
	}
}
