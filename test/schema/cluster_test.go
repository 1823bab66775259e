package schema

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/testcluster"
)

const crds = "../../config/crd"

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m, crds)) }

var resources = map[string]schema.GroupVersionResource{
	"Zone":         kubizone.GroupVersion.WithResource("zones"),
	"Record":       kubizone.GroupVersion.WithResource("records"),
	"Backend":      zonefold.GroupVersion.WithResource("backends"),
	"ZoneSlice":    zonefold.GroupVersion.WithResource("zoneslices"),
	"ZoneRevision": zonefold.GroupVersion.WithResource("zonerevisions"),

	"Namespace": {Version: "v1", Resource: "namespaces"},

	"ClusterBind9Provider": bindy.GroupVersion.WithResource("clusterbind9providers"),
	"Bind9Cluster":         bindy.GroupVersion.WithResource("bind9clusters"),
	"Bind9Instance":        bindy.GroupVersion.WithResource("bind9instances"),
	"DNSZone":              bindy.GroupVersion.WithResource("dnszones"),
	"ARecord":              bindy.GroupVersion.WithResource("arecords"),
	"AAAARecord":           bindy.GroupVersion.WithResource("aaaarecords"),
	"CNAMERecord":          bindy.GroupVersion.WithResource("cnamerecords"),
	"TXTRecord":            bindy.GroupVersion.WithResource("txtrecords"),
	"MXRecord":             bindy.GroupVersion.WithResource("mxrecords"),
	"NSRecord":             bindy.GroupVersion.WithResource("nsrecords"),
	"SRVRecord":            bindy.GroupVersion.WithResource("srvrecords"),
	"CAARecord":            bindy.GroupVersion.WithResource("caarecords"),
	"PTRRecord":            bindy.GroupVersion.WithResource("ptrrecords"),
}

// api speaks to one API server.
type api struct {
	t       *testing.T
	cluster *testcluster.Cluster
	client  dynamic.Interface
	config  *rest.Config
}

func connect(t *testing.T, c *testcluster.Cluster) *api {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	// The server warns of every rule that a stored object does not meet.
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &api{t, c, client, config}
}

// namespace makes a namespace for one test.
func (a *api) namespace(name string) string {
	a.t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
	}}
	if _, err := a.client.Resource(resources["Namespace"]).Create(a.t.Context(), u, metav1.CreateOptions{}); err != nil {
		a.t.Fatal(err)
	}
	return name
}

// kind returns the client for the objects of a kind; namespace is empty for one that is cluster-scoped.
func (a *api) kind(kind, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return a.client.Resource(resources[kind])
	}
	return a.client.Resource(resources[kind]).Namespace(namespace)
}

// create sends an object as kubectl does: a field that the schema does not know is an error.
func (a *api) create(namespace string, u *unstructured.Unstructured,
	dryRun ...string) (*unstructured.Unstructured, error) {
	opts := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun}
	return a.kind(u.GetKind(), namespace).Create(a.t.Context(), u, opts)
}

// patch merges a JSON text into an object; subresource may be empty.
func (a *api) patch(ctx context.Context, u *unstructured.Unstructured, text,
	subresource string) (*unstructured.Unstructured, error) {
	var sub []string
	if subresource != "" {
		sub = append(sub, subresource)
	}
	return a.kind(u.GetKind(), u.GetNamespace()).Patch(ctx, u.GetName(), "application/merge-patch+json", []byte(text),
		metav1.PatchOptions{}, sub...)
}

// list reads all objects of a kind as a typed client does.
func list[L runtime.Object](a *api, kind string, into L) L {
	a.t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{bindy.AddToScheme, kubizone.AddToScheme, zonefold.AddToScheme} {
		if err := add(s); err != nil {
			a.t.Fatal(err)
		}
	}
	gv := resources[kind].GroupVersion()
	config := rest.CopyConfig(a.config)
	config.GroupVersion, config.APIPath = &gv, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(s).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := client.Get().Resource(resources[kind].Resource).Do(a.t.Context()).Into(into); err != nil {
		a.t.Fatalf("listing every %s: %v", kind, err)
	}
	return into
}

// documents reads the YAML documents of files.
func documents(t *testing.T, pattern string) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no file %s: %v", pattern, err)
	}
	var list []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
		for {
			u := &unstructured.Unstructured{}
			if err := decoder.Decode(u); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			list = append(list, u)
		}
	}
	return list
}

// object makes an object of a kind whose other members are given as YAML.
func object(t *testing.T, kind, name, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetGroupVersionKind(resources[kind].GroupVersion().WithKind(kind))
	u.SetName(name)
	return u
}
