package admission

import (
	"fmt"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/gardener"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// asExtension are the flags of an operator that is an extension of Gardener, in a cluster where nobody else reviews
// DNSRecords.
var asExtension = []string{"--dialects=kubizone,gardener", "--gardener-seed", "--gardener-admission",
	"--gardener-heartbeat-interval=1s"}

func ofGardener(namespace, name, spec string) *unstructured.Unstructured {
	return parse(fmt.Sprintf(
		"{apiVersion: extensions.gardener.cloud/v1alpha1, kind: DNSRecord, metadata: {namespace: %s, name: %s}, spec: {%s}}",
		namespace, name, spec))
}

// TestDNSRecordsOfGardener is about what Gardener's own admission refuses in seeds. What it lets through is stored in
// silence.
func TestDNSRecordsOfGardener(t *testing.T) {
	s := newStage(t, asExtension...)
	const to = "type: powerdns, secretRef: {name: dns}, "
	const api = to + "name: api.example.org, recordType: A, values: [192.0.2.1]"
	for i, c := range []struct {
		name, there, apply string
		deny               string // "": it is stored
	}{
		{"an address", "", api, ""},
		{"a wildcard, with everything that may be said", "",
			to + `name: "*.in.example.org", recordType: CNAME, values: [lb.example.net], ttl: 60, zone: Z1, region: eu-west-1, class: garden`, ""},
		{"an address of the other family is stored, and fails later", "",
			to + `name: api.example.org, recordType: A, values: ["2001:db8::1"]`, ""},
		{"a text that begins with an underscore", "", to + `name: _x.example.org, recordType: TXT, values: ["a b"]`, ""},
		{"a type that nobody serves is another operator's", "",
			`type: other, secretRef: {name: dns}, name: api.example.org, recordType: A, values: [192.0.2.1]`, ""},
		{"no type", "", `type: "", secretRef: {name: dns}, name: api.example.org, recordType: A, values: [192.0.2.1]`,
			"spec.type is empty"},
		{"no Secret", "", "type: powerdns, secretRef: {}, name: api.example.org, recordType: A, values: [192.0.2.1]",
			"spec.secretRef.name is empty"},
		{"capitals", "", to + "name: API.example.org, recordType: A, values: [192.0.2.1]", `spec.name is "API.example.org"`},
		{"one label", "", to + "name: org, recordType: A, values: [192.0.2.1]", "at least two labels"},
		{"an underscore before an address", "", to + "name: _x.example.org, recordType: A, values: [192.0.2.1]",
			`spec.name is "_x.example.org"`},
		{"a type of records that Gardener does not have", "", to +
			"name: api.example.org, recordType: MX, values: [10 a.example.org]", `spec.recordType is "MX"`},
		{"no value", "", to + "name: api.example.org, recordType: A, values: []", "spec.values is empty"},
		{"two names", "", to + "name: api.example.org, recordType: CNAME, values: [a.example.net, b.example.net]",
			"a CNAME has one"},
		{"a value that is no address", "", to + "name: api.example.org, recordType: A, values: [lb.example.net]",
			"it is not an IP address"},
		{"a TTL below zero", "", api + ", ttl: -1", "spec.ttl is -1"},
		{"other values", api, to + "name: api.example.org, recordType: A, values: [192.0.2.2], ttl: 5", ""},
		{"another name", api, to + "name: www.example.org, recordType: A, values: [192.0.2.1]",
			"spec.name may not be changed"},
		{"another type of records", api, to + "name: api.example.org, recordType: TXT, values: [a]",
			"spec.recordType may not be changed"},
		{"another type of service", api,
			"type: rfc2136, secretRef: {name: dns}, name: api.example.org, recordType: A, values: [192.0.2.1]",
			"spec.type may not be changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := s.namespace(fmt.Sprint("gardener", i))
			if c.there != "" {
				s.store(ofGardener(ns, "api", c.there))
			}
			for _, dry := range []bool{true, false} {
				s.said.take()
				err := s.put(ofGardener(ns, "api", c.apply), dry)
				if (c.deny != "") != (err != nil) || err != nil && !strings.Contains(err.Error(), c.deny) {
					t.Errorf("dry run %t: want %q, and the answer is: %v", dry, c.deny, err)
				}
				if said := s.said.take(); len(said) > 0 {
					t.Errorf("dry run %t: it is said %q", dry, said)
				}
			}
		})
	}
	t.Run("what is being deleted may go, and may not become another one", func(t *testing.T) {
		o := ofGardener(s.namespace("gardener-deleted"), "api", api)
		o.SetFinalizers([]string{"example.org/held"})
		s.store(o)
		if err := s.client.Delete(s.ctx, o); err != nil {
			t.Fatal(err)
		}
		err := s.put(ofGardener("gardener-deleted", "api", api+", ttl: 5"), false)
		if err == nil || !strings.Contains(err.Error(), "spec can no longer be changed: the object is being deleted.") {
			t.Errorf("another spec is answered with %v", err)
		}
		if err := s.client.Patch(s.ctx, o, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"finalizers":null}}`))); err != nil {
			t.Errorf("removing a finalizer: %v", err)
		}
		s.eventually("it is gone", func() bool { return s.client.Get(s.ctx, client.ObjectKeyFromObject(o), o) != nil })
	})
}

// TestTheHeartbeatOfAnExtension has Gardener hear that the operator is alive, also of one that takes over.
func TestTheHeartbeatOfAnExtension(t *testing.T) {
	s := newStage(t, asExtension...)
	lease := &coordinationv1.Lease{}
	beats := func(since *metav1.MicroTime) *metav1.MicroTime {
		t.Helper()
		s.eventually("the Lease is renewed", func() bool {
			key := client.ObjectKey{Namespace: testoperator.Namespace, Name: gardener.HeartbeatName}
			return s.client.Get(s.ctx, key, lease) == nil && lease.Spec.RenewTime != nil &&
				(since == nil || lease.Spec.RenewTime.After(since.Time))
		})
		if holder, length := ptr.Deref(lease.Spec.HolderIdentity, ""),
			ptr.Deref(lease.Spec.LeaseDurationSeconds, 0); holder != "zonefold" || length != 1 {
			t.Errorf("it is held by %q for %d seconds", holder, length)
		}
		return lease.Spec.RenewTime
	}
	last := beats(beats(nil))
	made := lease.UID
	s.operator.Stop()
	s.start(asExtension...)
	beats(last)
	if lease.UID != made {
		t.Error("it is another Lease")
	}
}
