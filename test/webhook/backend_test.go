package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/nameserver"
)

// apply makes objects of YAML, or gives them this spec. NS in it is the namespace.
func (s *site) apply(manifest string) {
	s.Helper()
	for text := range strings.SplitSeq(strings.ReplaceAll(manifest, "NS", s.ns), "---\n") {
		o := &unstructured.Unstructured{}
		s.must(yaml.Unmarshal([]byte(text), &o.Object))
		if err := s.live.Create(s.ctx, o.DeepCopy()); !apierrors.IsAlreadyExists(err) {
			s.must(err)
			continue
		}
		body, err := json.Marshal(map[string]any{"spec": o.Object["spec"]})
		s.must(err)
		s.must(s.live.Patch(s.ctx, o, client.RawPatch("application/merge-patch+json", body)))
	}
}

// is waits until a condition of an object begins so: "STATUS REASON: MESSAGE".
func (s *site) is(kind, name, condition, want string) {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("kubi.zone/v1alpha1")
	key := client.ObjectKey{Namespace: s.ns, Name: name}
	if kind == "Backend" {
		o.SetAPIVersion("zonefold.dev/v1alpha1")
		key.Namespace = ""
	}
	o.SetKind(kind)
	s.eventually(fmt.Sprintf("%s %s is %s", kind, name, want), func() error {
		if err := s.live.Get(s.ctx, key, o); err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			m, _ := c.(map[string]any)
			got := fmt.Sprintf("%v %v: %v", m["status"], m["reason"], m["message"])
			if m["type"] == condition && m["observedGeneration"] == o.GetGeneration() && strings.HasPrefix(got, want) {
				return err
			}
		}
		return fmt.Errorf("it says %v", conditions)
	})
}

// without waits until an object of kubi.zone is gone.
func (s *site) without(kind, name string) {
	s.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("kubi.zone/v1alpha1")
	o.SetKind(kind)
	o.SetNamespace(s.ns)
	o.SetName(name)
	s.must(s.live.Delete(s.ctx, o))
	s.eventually(name+" is gone", func() error {
		err := s.live.Get(s.ctx, client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(fmt.Errorf("it is there: %v", o.Object["status"]), err)
	})
}

// reclass changes the spec of a class.
func (s *site) reclass(name, patch string) {
	s.Helper()
	o := &v1alpha1.DNSClass{}
	o.Name = s.ns + "-" + name
	s.must(s.live.Patch(s.ctx, o, client.RawPatch("application/merge-patch+json", []byte(`{"spec":`+patch+`}`))))
}

const backendOfClass = `apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: NS}
spec: {dnsClass: {name: NS-hook}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example, namespace: NS}
spec: {domainName: example.com., backendRefs: [{name: NS}], delegations: [{records: [{pattern: "*"}]}]}
`

func recordOf(name, rdata string) string {
	return fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: %s, namespace: NS}
spec: {domainName: %s.example.com., type: A, rdata: %s, ttl: 360}
`, name, name, rdata)
}

func TestAZoneIsDeliveredThroughAClass(t *testing.T) {
	s := newSite(t)
	s.operate("--dialects=kubizone,homelab")
	s.apply(backendOfClass)
	t.Cleanup(s.clearBackend)
	s.is("Backend", s.ns, "Ready", "False DNSClassNotFound: DNSClass "+s.ns+"-hook does not exist;")

	file := s.file("hmac", "a secret of sixteen")
	first := newProxy(t, s.hook("--secret-file", file).URL)
	s.class("hook", first.URL, 5, s.signed("hmac", "SHA256"))
	s.is("Backend", s.ns, "Ready", "False SecretNotFound: DNSClass "+s.ns+"-hook names the Secret "+s.ns+
		"/hmac, which does not exist;")
	s.secret("hmac", "a secret of sixteen")
	s.is("Backend", s.ns, "Ready", "True Ready:")

	s.apply(recordOf("www", "192.0.2.1") + "---\n" + recordOf("api", "192.0.2.2"))
	want := map[string]string{"www.example.com. A": "360 192.0.2.1", "api.example.com. A": "360 192.0.2.2"}
	s.serves(want)
	s.is("Zone", "example", "Served", "True Served:")
	s.is("Record", "www", "Served", "True Served:")

	s.apply(recordOf("www", "192.0.2.3"))
	s.without("Record", "api")
	s.serves(map[string]string{"www.example.com. A": "360 192.0.2.3"})

	s.file("hmac", "another of sixteen") // the server knows both for a while; then the operator follows
	s.secret("hmac", "another of sixteen")
	s.apply(recordOf("www", "192.0.2.4"))
	s.serves(map[string]string{"www.example.com. A": "360 192.0.2.4"})
	s.is("Zone", "example", "Served", "True Served:")

	old := s.bind
	var err error
	s.bind, err = nameserver.StartBIND(s.ctx, nameserver.Options{
		Dir: t.TempDir(), Zones: []nameserver.Zone{{Name: parseName(zone)}},
		Keys: []nameserver.TSIG{{Name: parseName("hook"), Algorithm: "hmac-sha256", Secret: tsigSecret}},
	})
	s.must(err)
	t.Cleanup(s.bind.Close)
	s.reclass("hook", fmt.Sprintf(`{"server":%q}`, s.hook("--secret-file", file).URL))
	s.serves(map[string]string{"www.example.com. A": "360 192.0.2.4"})
	s.is("Zone", "example", "Served", "True Served:")
	second := s.bind
	s.bind = old // as with every Backend that leaves a server, what is there stays
	s.serves(map[string]string{"www.example.com. A": "360 192.0.2.4"})

	s.bind = second
	s.without("Zone", "example")
	s.serves(map[string]string{})
}

// clearBackend takes away what would hold a Zone of another test up.
func (s *site) clearBackend() {
	ctx := context.WithoutCancel(s.ctx)
	for kind, version := range map[string]string{"Zone": "kubi.zone/v1alpha1", "Record": "kubi.zone/v1alpha1",
		"Backend": "zonefold.dev/v1alpha1"} {
		all := &unstructured.UnstructuredList{}
		all.SetAPIVersion(version)
		all.SetKind(kind + "List")
		_ = s.live.List(ctx, all)
		for i := range all.Items {
			_ = s.live.Delete(ctx, &all.Items[i])
			_ = s.live.Patch(ctx, &all.Items[i], client.RawPatch("application/merge-patch+json",
				[]byte(`{"metadata":{"finalizers":null}}`)))
		}
	}
}
