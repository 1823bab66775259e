package e2e_test

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/dnshook/conformance"
	"github.com/zonefold/zonefold/internal/testcluster/images"
)

// TestDNSHookInAPod runs the example of dnshook as it stands, but for the server that it is in front of: it is its own,
// and keeps its records in a folder of the pod.
func TestDNSHookInAPod(t *testing.T) {
	s := newSite(t)
	ns := s.namespace("hook")
	s.applyHook(ns)
	var pod corev1.Pod
	s.eventually("the pod", func() string {
		var pods corev1.PodList
		if err := s.client.List(s.ctx, &pods, client.InNamespace(ns), client.MatchingLabels{"app": "dnshook"}); err != nil ||
			len(pods.Items) != 1 {
			return "there is none yet; " + text(err)
		}
		pod = pods.Items[0]
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				return ""
			}
		}
		return "it is not ready"
	})
	url, key := s.service(ns, "dnshook").URL(7100), dnshook.Key{Secret: []byte("change-me-openssl-rand-hex-32-makes-one")}
	results, err := conformance.Run(s.ctx, conformance.Config{Server: url, Key: &key, Domain: "example.com",
		Timeout: 10 * time.Second, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Verdict == conformance.Fail {
			t.Errorf("%s: %s", r.Check, r.Sentence)
		}
	}
	hook, err := dnshook.NewClient(dnshook.ClientConfig{Server: url, Now: time.Now, Keys: func() (dnshook.Key, error) {
		return key, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	if _, err := hook.Upsert(s.ctx, dnshook.Record{Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{
		"192.0.2.1"}, TTL: 60}); err != nil {
		t.Fatal(err)
	}
	s.resolves(netip.AddrPortFrom(netip.MustParseAddr(pod.Status.PodIP), podPort), "www.example.com", "192.0.2.1")
}

// applyHook applies the example's objects but the DNSClass, which is for an operator with that dialect.
func (s *site) applyHook(ns string) {
	s.Helper()
	file, err := os.ReadFile("../../examples/dnshook/server.yaml")
	if err != nil {
		s.Fatal(err)
	}
	manifest, _, _ := strings.Cut(string(file), "\n---\napiVersion: dns.homelab.mortenolsen.pro/")
	for _, change := range []struct{ from, to string }{
		{"namespace: dns-system", "namespace: " + ns},
		{"name: dns-system", "name: " + ns},
		{"image: zonefold/dnshook:dev", "image: " + images.Hook},
		{"- --rfc2136=ns1.example.com:53", "- --embedded=0.0.0.0:5353"},
		{"- --tsig-name=hook", "- --data=/data"},
		{"            - --tsig-secret-file=/secrets/tsig-secret\n", ""},
		{"          volumeMounts:\n", "          volumeMounts:\n            - {name: data, mountPath: /data}\n"},
		{"      volumes:\n", "      volumes:\n        - {name: data, emptyDir: {}}\n"},
	} {
		if !strings.Contains(manifest, change.from) {
			s.Fatalf("the example does not have %q", change.from)
		}
		manifest = strings.ReplaceAll(manifest, change.from, change.to)
	}
	s.apply("%s", manifest)
}
