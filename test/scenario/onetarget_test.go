package scenario

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// gardener makes a DNSRecord of Gardener in the namespace "a", or asks for it once more: "name RECORDTYPE dns-name
// value".
func (s *scene) gardener(secret, what string) {
	s.t.Helper()
	f := strings.Fields(s.text(what))
	s.input(fmt.Sprintf(`{apiVersion: extensions.gardener.cloud/v1alpha1, kind: DNSRecord,
  metadata: {namespace: %s, name: %s, annotations: {gardener.cloud/operation: reconcile}},
  spec: {type: aws-route53, secretRef: {name: %s}, recordType: %s, name: %s, values: [%s]}}`, s.prefix+"a", f[0], secret, f[1], f[2], f[3]))
	s.eventually(f[0], func() string {
		said := s.kubectl("get", "dnsrecords.extensions.gardener.cloud", "-n", s.prefix+"a", f[0],
			"-o",
			`jsonpath={.metadata.annotations.gardener\.cloud/operation} {.status.lastOperation.state} {.status.lastError.description}`)
		if strings.TrimSpace(said) != "Succeeded" {
			return "it says " + said
		}
		return ""
	})
}

func (s *scene) input(text string) {
	s.t.Helper()
	if out, err := s.cluster.RunKubectlInput(s.ctx, strings.NewReader(text), "apply", "-f", "-"); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// giveRights gives the operator the rights that the chart has with other values, until the test ends.
func (s *scene) giveRights(values string) {
	s.t.Helper()
	rights, err := testoperator.Helm(s.ctx, "template", "zonefold", "charts/zonefold", "-n", testoperator.Namespace,
		"--set", values, "-s", "templates/rbac.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	s.input(rights)
	s.t.Cleanup(func() { s.kubectlQuiet("apply", "-f", manifest, "-l", ours) })
}

// TestOneTarget has a Zone and two DNSRecords of Gardener reach one hosted zone with credentials of three users.
func TestOneTarget(t *testing.T) {
	s := newStage(t)
	s.giveRights("dialects.gardener=true")
	server, account, _ := s.route53()
	s.startWith(testoperator.Options{Args: []string{"--dialects=kubizone,gardener", "--gardener-endpoints=aws-route53=" +
		server.URL}, NoElection: true})
	s.ensureNamespace(s.prefix + "a")
	for _, name := range []string{"one", "two"} {
		u := account.NewUser(name)
		o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.prefix + "a", Name: name},
			StringData: map[string]string{
				"accessKeyID": u.AccessKeyID, "secretAccessKey": u.SecretAccessKey,
			}}
		if err := s.client.Create(s.ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	id := account.AddZone(s.text("example.org"), false)
	ttl := int64(60)
	server.Put(id, route53test.Set{Name: s.text("other.example.org"), Type: "A", TTL: &ttl,
		Records: []string{"192.0.2.99"}})
	both := func(api, two, www string) {
		t.Helper()
		for name, want := range map[string]string{"api": api, "two": two, "www": www, "other": "192.0.2.99"} {
			if want == "" {
				s.at(server, id, name+".example.org.", "A")
			} else {
				s.at(server, id, name+".example.org.", "A", want)
			}
		}
	}

	s.step("all three deliver", func() {
		s.aws(server, "")
		s.apply(www("b"))
		s.apply(`record a/api: {domainName: api.example.org., type: A, rdata: 192.0.2.9}`)
		s.ready("zone a/org", "record a/www", "record a/api", "backend b")
		s.gardener("one", "one A api.example.org 192.0.2.21")
		s.gardener("two", "two A two.example.org 192.0.2.22")
		both("192.0.2.21", "192.0.2.22", "192.0.2.1")
		s.cond("record a/api", "Served", "False Rejected", "api.example.org. A")
	})
	s.step("none overwrites what the others have", func() {
		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
		s.ready("record a/www")
		both("192.0.2.21", "192.0.2.22", "192.0.2.2")
		s.gardener("two", "two A two.example.org 192.0.2.23")
		both("192.0.2.21", "192.0.2.23", "192.0.2.2")
		s.apply(`record a/api: {domainName: api.example.org., type: A, rdata: 192.0.2.8}`)
		s.apply(`record a/last: {domainName: last.example.org., type: A, rdata: 192.0.2.7}`)
		s.ready("record a/last")
		both("192.0.2.21", "192.0.2.23", "192.0.2.2")
	})
	s.step("a restart changes nothing", func() {
		before := server.Count("ChangeResourceRecordSets")
		s.op.Stop()
		s.startWith(testoperator.Options{Args: []string{"--dialects=kubizone,gardener", "--gardener-endpoints=aws-route53=" +
			server.URL}, NoElection: true})
		s.gardener("two", "two A two.example.org 192.0.2.23")
		s.apply(`record a/last: {domainName: last.example.org., type: A, rdata: 192.0.2.6}`)
		s.at(server, id, "last.example.org.", "A", "192.0.2.6")
		s.ready("record a/last")
		both("192.0.2.21", "192.0.2.23", "192.0.2.2")
		if n := server.Count("ChangeResourceRecordSets") - before; n > 2 {
			t.Errorf("%d batches were sent for two changes", n)
		}
	})
	s.step("what a DNSRecord gives up is the zone's again", func() {
		s.kubectl("delete", "dnsrecords.extensions.gardener.cloud", "-n", s.prefix+"a", "one", "--timeout=60s")
		both("192.0.2.8", "192.0.2.23", "192.0.2.2")
		s.ready("record a/api", "zone a/org")
		s.remove("record a/api")
		both("", "192.0.2.23", "192.0.2.2")
		s.gardener("one", "one A www.example.org 192.0.2.24")
		both("", "192.0.2.23", "192.0.2.24")
	})
	s.step("a Zone that goes leaves what is a DNSRecord's, and the other way round", func() {
		s.remove("zone a/org")
		s.gone("zone a/org")
		both("", "192.0.2.23", "192.0.2.24")
		s.kubectl("delete", "dnsrecords.extensions.gardener.cloud", "-n", s.prefix+"a", "one", "two", "--timeout=60s")
		both("", "", "")
		if sets, _ := server.Sets(id); len(sets) != 3 {
			t.Errorf("the hosted zone has %d sets, not its SOA, its name servers and the foreign one", len(sets))
		}
	})
}
