package attack

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// gardenersRecord is a DNSRecord of a service whose Secret says where it is.
func gardenersRecord(kind, secret string) string {
	return `
{apiVersion: v1, kind: Secret, metadata: {name: aimed}, stringData: ` + secret + `}
---
{apiVersion: extensions.gardener.cloud/v1alpha1, kind: DNSRecord, metadata: {name: aimed}, spec: {type: ` + kind + `, secretRef: {name: aimed}, name: www.mallory.example, recordType: A, values: [192.0.2.66]}}`
}

// failed puts a DNSRecord of Gardener and waits until its status says that it failed; what it says is returned.
func (s *site) failed(text string) (said string) {
	s.Helper()
	s.must(s.malloryPuts(text))
	all := objects(text)
	o := all[len(all)-1]
	o.SetNamespace(mallory)
	s.eventually("the operation has failed", func() string {
		var err error
		if said, err = s.lastError(o); err != nil {
			return err.Error()
		}
		if said == "" {
			return "its status says nothing"
		}
		return ""
	})
	return said
}

func onServices() []attempt {
	return []attempt{{
		aTenant, "has a DNSRecord sent to a class that does not allow the name",
		"`spec.allowed` of the DNSClass: `InvalidConfiguration`",
		func(s *site) {
			s.told("InvalidConfiguration",
				`{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSRecord, metadata: {name: pay}, spec: {type: A, domain: victim.example, subdomain: pay, dnsClassRef: {name: victims}, values: [192.0.2.66]}}`)
		},
	}, {
		aTenant, "uses the credentials in another namespace's Secret",
		"outside of seeds, the Secret has to be in the same namespace",
		func(s *site) {
			err :=
				s.malloryPuts(
					`{apiVersion: extensions.gardener.cloud/v1alpha1, kind: DNSRecord, metadata: {name: borrowed}, spec: {type: powerdns, secretRef: {name: dns, namespace: victim}, name: www.example.org, recordType: A, values: [192.0.2.66]}}`)
			if err == nil {
				said := s.failed(strings.ReplaceAll(
					`{apiVersion: extensions.gardener.cloud/v1alpha1, kind: DNSRecord, metadata: {name: borrowed2}, spec: {type: powerdns, secretRef: {name: dns, namespace: victim}, name: www.example.org, recordType: A, values: [192.0.2.66]}}`, "\n", ""))
				if strings.Contains(said, "only-the-victim-knows-this") || !strings.Contains(said, "namespace") {
					s.Errorf("it says %q", said)
				}
			}
		},
	}, {
		aTenant, "directs the operator's requests to loopback", "addresses are checked when dialling",
		func(s *site) {
			var asked atomic.Int64
			inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				http.Error(w, "what only the inside may see", http.StatusTeapot)
			}))
			defer inside.Close()
			_, port, _ := net.SplitHostPort(strings.TrimPrefix(inside.URL, "http://"))
			for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
				said := s.failed(gardenersRecord("powerdns", `{server: "http://`+host+":"+port+`", apiKey: x}`))
				if asked.Load() > 0 || strings.Contains(said, "inside may see") {
					s.Errorf("%s was asked %d times; the status says %q", host, asked.Load(), said)
				}
				s.clear("aimed")
			}
		},
	}, {
		aTenant, "directs the operator's requests to the node's metadata service", "addresses are checked when dialling",
		func(s *site) {
			if said := s.failed(gardenersRecord("powerdns",
				`{server: "http://169.254.169.254/latest/meta-data", apiKey: x}`)); !strings.Contains(said, "169.254.169.254") ||
				!strings.Contains(said, "link-local") {
				s.Errorf("it says %q", said)
			}
		},
	}, {
		aTenant, "directs the operator's requests to the API server", "addresses are checked when dialling",
		func(s *site) {
			config, err := clientcmd.BuildConfigFromFlags("", s.cluster.Kubeconfig())
			s.must(err)
			at, err := url.Parse(config.Host)
			s.must(err)
			if said := s.failed(gardenersRecord("powerdns", `{server: "https://`+at.Host+`", apiKey: x}`)); strings.Contains(
				said, "Unauthorized") || strings.Contains(said, "kind") {
				s.Errorf("it says %q", said)
			}
		},
	}, {
		aTenant, "directs the operator's UPDATE messages to the operator itself", "addresses are checked when dialling",
		func(s *site) {
			said := s.failed(gardenersRecord("rfc2136", `{Server: "`+s.dns+
				`", TSIGKeyName: "key.", TSIGSecret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", TSIGSecretAlgorithm: hmac-sha256, Zone: "mallory.example."}`))
			if !strings.Contains(said, "loopback") {
				s.Errorf("it says %q", said)
			}
		},
	}, {
		aTenant, "sends requests with the operator's Google credentials elsewhere", "`token_uri` is Google's",
		func(s *site) {
			s.failed(gardenersRecord("google-clouddns",
				`{serviceaccount.json: '{"type":"service_account","project_id":"p","client_email":"a@b","private_key":"x","token_uri":"http://192.0.2.66/"}'}`))
		},
	}}
}

// lastError is what the status of a DNSRecord of Gardener says of its last failure; "" if there was none.
func (s *site) lastError(o *unstructured.Unstructured) (string, error) {
	err := s.mallory.Get(s.ctx, client.ObjectKeyFromObject(o), o)
	said, _, _ := unstructured.NestedString(o.Object, "status", "lastError", "description")
	return said, err
}

// clear removes the Secret and the DNSRecord of an attempt, so that another one begins anew.
func (s *site) clear(name string) {
	s.Helper()
	for _, o := range objects(gardenersRecord("powerdns", "{}")) {
		o.SetName(name)
		o.SetNamespace(mallory)
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		if o.GetKind() == "DNSRecord" {
			s.must(client.IgnoreNotFound(s.admin.Patch(s.ctx, o, patch)))
		}
		s.remove(o)
	}
}
