package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/internal/cli/schema"
	"github.com/zonefold/zonefold/internal/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m, "../../../config/crd")) }

// cases are specs by what is special about them; want is part of the first violation,
// or empty.
var cases = []struct {
	name, kind, spec, want string
}{
	{"the least that a Zone needs", "Zone", `{"domainName":"example.org."}`, ""},
	{"a Zone without a domainName", "Zone", `{}`, "spec.domainName: is required"},
	{"a domainName that is a number", "Zone", `{"domainName":7}`, "spec.domainName: "},
	{"an empty domainName", "Zone", `{"domainName":""}`, "spec.domainName: "},
	{"a partial name without a zoneRef", "Zone", `{"domainName":"dev"}`, "spec: domainName is relative"},
	{"a full name with a zoneRef", "Zone", `{"domainName":"dev.","zoneRef":{"name":"a"}}`,
		"spec: domainName is fully qualified"},
	{"a zoneRef that is null", "Zone", `{"domainName":"dev.","zoneRef":null}`, ""},
	{"a dot that is escaped is no end", "Zone", `{"domainName":"dev\\.","zoneRef":{"name":"a"}}`, ""},
	{"a zoneRef without a name", "Zone", `{"domainName":"dev","zoneRef":{}}`, "spec.zoneRef.name: is required"},
	{"the greatest ttl", "Zone", `{"domainName":"a.","ttl":2147483647}`, ""},
	{"a ttl beyond 31 bits", "Zone", `{"domainName":"a.","ttl":2147483648}`,
		"spec.ttl: should be less than or equal to 2147483647"},
	{"a negative ttl", "Zone", `{"domainName":"a.","ttl":-1}`, "spec.ttl: should be greater than or equal to 0"},
	{"a ttl that is text", "Zone", `{"domainName":"a.","ttl":"300"}`, "spec.ttl: "},
	{"a ttl that is a whole float", "Zone", `{"domainName":"a.","ttl":300.0}`, ""},
	{"a ttl with a fraction", "Zone", `{"domainName":"a.","ttl":300.5}`, "spec.ttl: "},
	{"a ttl that is null gets its default", "Zone", `{"domainName":"a.","ttl":null}`, ""},
	{"a retry that the default refresh does not exceed", "Zone", `{"domainName":"a.","retry":86400}`,
		"spec: retry (default 7200) must be less"},
	{"an expire that is too short", "Zone", `{"domainName":"a.","expire":90000}`,
		"spec: expire (default 3600000) must be greater"},
	{"a rule with an unknown field", "Zone", `{"domainName":"a.","delegations":[{"zone":["*"]}]}`, ""},
	{"a rule that is no object", "Zone", `{"domainName":"a.","delegations":["*"]}`, "spec.delegations[0]: "},
	{"an empty pattern", "Zone", `{"domainName":"a.","delegations":[{"zones":[""]}]}`, "spec.delegations[0].zones[0]: "},
	{"a record rule without a pattern", "Zone", `{"domainName":"a.","delegations":[{"records":[{}]}]}`,
		"spec.delegations[0].records[0].pattern: is required"},
	{"a delegated type in lower case", "Zone",
		`{"domainName":"a.","delegations":[{"records":[{"pattern":"*","types":["mx"]}]}]}`, ""},
	{"a delegated type that is none", "Zone",
		`{"domainName":"a.","delegations":[{"records":[{"pattern":"*","types":["MXX"]}]}]}`,
		"spec.delegations[0].records[0].types[0]: "},
	{"a relative mname", "Zone", `{"domainName":"a.","mname":"ns"}`, "spec.mname: mname must be fully qualified"},
	{"one backend twice", "Zone", `{"domainName":"a.","backendRefs":[{"name":"x"},{"name":"x"}]}`,
		"spec.backendRefs[1]: "},
	{"a Zone whose spec is a list", "Zone", `[]`, "spec: "},
	{"the least that a Record needs", "Record", `{"domainName":"a.","type":"A","rdata":"192.0.2.1"}`, ""},
	{"rdata that nobody can parse is not the schema's business", "Record", `{"domainName":"a.","type":"A","rdata":"x"}`,
		""},
	{"empty rdata", "Record", `{"domainName":"a.","type":"A","rdata":""}`, "spec.rdata: "},
	{"a type in lower case", "Record", `{"domainName":"a.","type":"a","rdata":"192.0.2.1"}`,
		`spec.type: cannot be "a"; did you mean A?`},
	{"a type by number", "Record", `{"domainName":"a.","type":"TYPE65280","rdata":"\\# 0"}`, ""},
	{"a class that is none", "Record", `{"domainName":"a.","type":"A","class":"XX","rdata":"192.0.2.1"}`,
		`spec.class: cannot be "XX"`},
	{"a ttl of null", "Record", `{"domainName":"a.","type":"A","ttl":null,"rdata":"192.0.2.1"}`, ""},
	{"a name of 1025 characters", "Record", `{"domainName":"` + strings.Repeat("a", 1024) +
		`.","type":"A","rdata":"192.0.2.1"}`, "spec.domainName: "},
	{"a partial name", "Record", `{"domainName":"www","type":"A","rdata":"192.0.2.1"}`, "spec: domainName is relative"},
	{"an embedded Backend", "Backend", `{"embedded":{}}`, ""},
	{"a Backend of no kind", "Backend", `{}`, "spec: a Backend is exactly one of"},
	{"a Backend of two kinds", "Backend", `{"embedded":{},"bind9":{"clusterRef":{"name":"a","namespace":"b"}}}`,
		"spec: a Backend is exactly one of"},
	{"a grant with a relative zone", "Backend", `{"embedded":{},"grants":[{"namespaces":["a"],"zones":["a"]}]}`,
		"spec.grants[0].zones: the zones of a grant are absolute"},
	{"a grant for nobody", "Backend", `{"embedded":{},"grants":[{"zones":["a."]}]}`, "spec.grants[0]: a grant has either"},
	{"an audit interval that is too short", "Backend", `{"embedded":{},"auditInterval":"1ms"}`, "spec.auditInterval: "},
	{"a server with a space", "Backend", `{"rfc2136":{"servers":["a b"]}}`, "spec.rfc2136.servers[0]: "},
}

// metadata are bad in other ways.
var metadata = []struct{ name, metadata, want string }{
	{"a name in upper case", `{"name":"Upper"}`, "metadata.name: a lowercase RFC 1123 subdomain must"},
	{"a label that is none", `{"name":"a","labels":{"a b":"c"}}`, "metadata.labels: "},
	{"a finalizer without a domain", `{"name":"a","finalizers":["x y"]}`, "metadata.finalizers"},
}

func TestViolationsAreThoseOfTheAPIServer(t *testing.T) {
	cluster := testcluster.ForTest(t)
	client := connect(t, cluster)
	checker, err := schema.New(crd.Files)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(t *testing.T, kind, object, want string) {
		violations, err := checker.Check(t.Context(), kind, "default", []byte(object))
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(violations)
		if want == "" && len(violations) > 0 ||
			want != "" && (len(violations) == 0 || !strings.Contains(violations[0].String(), want)) {
			t.Errorf("the violations are %s, not %q", said, want)
		}
		refused := dryRun(t, client, kind, object)
		if (refused != nil) != (len(violations) > 0) {
			t.Errorf("the API server says %v, and we say %s", refused, said)
		}
		for _, v := range violations {
			if v.Field != "" && !strings.Contains(refused.Error(), v.Field) {
				t.Errorf("the API server does not mention %s: %v", v.Field, refused)
			}
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			compare(t, c.kind, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a"},"spec":%s,"status":"ignored"}`,
				apiVersion(c.kind), c.kind, c.spec), c.want)
		})
	}
	for _, c := range metadata {
		t.Run(c.name, func(t *testing.T) {
			compare(t, "Zone", fmt.Sprintf(`{"apiVersion":%q,"kind":"Zone","metadata":%s,"spec":{"domainName":"a."}}`,
				apiVersion("Zone"), c.metadata), c.want)
		})
	}
}

func apiVersion(kind string) string {
	if kind == "Backend" {
		return zonefold.GroupVersion.String()
	}
	return kubizone.GroupVersion.String()
}

func connect(t *testing.T, cluster *testcluster.Cluster) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// dryRun has the API server judge an object, and returns why it refuses it.
func dryRun(t *testing.T, client dynamic.Interface, kind, object string) error {
	t.Helper()
	var content map[string]any
	if err := json.Unmarshal([]byte(object), &content); err != nil {
		t.Fatal(err)
	}
	delete(content, "status") // no API server takes one of another type, even to drop it
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationIgnore}
	resource := map[string]dynamic.ResourceInterface{
		"Zone":    client.Resource(kubizone.GroupVersion.WithResource("zones")).Namespace("default"),
		"Record":  client.Resource(kubizone.GroupVersion.WithResource("records")).Namespace("default"),
		"Backend": client.Resource(zonefold.GroupVersion.WithResource("backends")),
	}[kind]
	_, err := resource.Create(t.Context(), &unstructured.Unstructured{Object: content}, options)
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Fatal(err)
	}
	return err
}

func TestKindsWithoutADefinitionHaveNoViolations(t *testing.T) {
	checker, err := schema.New(crd.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Namespace", "", "Zone"} { // the last one is of another group
		if violations, err := checker.Check(t.Context(), kind, "",
			[]byte(`{"apiVersion":"example.org/v1","metadata":{}}`)); err != nil || violations != nil {
			t.Errorf("a %q has %v, %v", kind, violations, err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	checker, err := schema.New(crd.Files)
	if err != nil {
		b.Fatal(err)
	}
	record :=
		[]byte(
			`{"apiVersion":"kubi.zone/v1alpha1","metadata":{"name":"a"},"spec":{"domainName":"www.example.org.","type":"A","rdata":"192.0.2.1"}}`)
	for b.Loop() {
		if violations, err := checker.Check(b.Context(), "Record", "default", record); err != nil || len(violations) > 0 {
			b.Fatal(violations, err)
		}
	}
}
