package schema

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func TestBindyObjectsStoredUnderAnOlderSchema(t *testing.T) {
	// As the existing Bindy may have written it: a list that has no keys, with nulls and times that are none.
	const status = `{"status":{"observedGeneration":3,"conditions":[{"type":"Ready","status":"True","reason":null,"lastTransitionTime":""},
		{"type":"Pod-0","status":"True"}],"zonesCount":2,"recordsCount":2,"zone":"a","bind9Instances":[{"name":"a","namespace":"b","lastSyncTime":"never"}]}}`
	a, stored := upgraded(t, older{
		definitions: "testdata/bindy/older-crds.yaml", objects: "testdata/bindy/older-objects.yaml",
		statuses: map[string]string{"Bind9Cluster": status, "Bind9Instance": status, "DNSZone": status, "ARecord": status},
		inForce: func(a *api) bool {
			return a.refuses("Bind9Cluster", `spec: {primary: {replicas: 101}}`) &&
				a.refuses("Bind9Instance", `spec: {role: x}`) &&
				a.refuses("DNSZone", `spec: {zoneName: a}`) && a.refuses("ARecord", `spec: {name: a}`) &&
				a.refuses("TXTRecord", `spec: {name: a, text: []}`)
		},
	})

	t.Run("they are listed by typed clients", func(t *testing.T) {
		clusters := list(a, "Bind9Cluster", &bindy.Bind9ClusterList{}).Items
		zones := list(a, "DNSZone", &bindy.DNSZoneList{}).Items
		records := list(a, "ARecord", &bindy.ARecordList{}).Items
		instances := list(a, "Bind9Instance", &bindy.Bind9InstanceList{}).Items
		if len(clusters) != 3 || len(zones) != 2 || len(records) != 1 || len(instances) != 1 {
			t.Fatalf("listed %d clusters, %d zones, %d records, %d instances; want 3, 2, 1, 1", len(clusters), len(zones),
				len(records), len(instances))
		}
		if instances[0].Status.ZonesCount != 2 || clusters[0].Status.ObservedGeneration != 3 ||
			zones[0].Status.RecordsCount != 2 || records[0].Status.Zone != "a" {
			t.Error("what can be read of a status is not read")
		}
		for what, err := range map[string]error{
			"replicas":              second(clusters[0].Spec.Replicas(bindy.RolePrimary)),
			"a Secret":              second(clusters[0].Spec.Secondary.KeySecret()),
			"a SOA that is missing": second(zones[0].Spec.Authority()), "a SOA": second(zones[1].Spec.Authority()),
			"a cluster": second(zones[0].Spec.Cluster()), "name servers": second(zones[1].Spec.Nameservers()),
			"addresses": second(records[0].Spec.Addresses()),
		} {
			if err == nil {
				t.Errorf("nothing is said of a contradiction: %s", what)
			}
		}
	})

	changes := []struct{ name, patch, subresource string }{
		{"a label", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		{"a finalizer", `{"metadata":{"finalizers":["bindy.firestoned.io/test-finalizer"]}}`, ""},
		{"a field of the status", `{"status":{"observedGeneration":4}}`, "status"},
		{"a status",
			`{"status":{"observedGeneration":5,"bind9Instances":null,"conditions":[{"type":"Ready","status":"False","reason":"InvalidSpec","message":"x","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, "status"},
	}
	for _, u := range stored {
		for _, c := range changes {
			t.Run(fmt.Sprintf("the %s %s takes %s", u.GetKind(), u.GetName(), c.name), func(t *testing.T) {
				if _, err := a.patch(t.Context(), u, c.patch, c.subresource); err != nil {
					t.Error(err)
				}
			})
		}
	}

	t.Run("their manifests apply again", func(t *testing.T) {
		if _, err := a.cluster.RunKubectl(t.Context(), "apply", "-n", "default", "-f",
			"testdata/bindy/older-objects.yaml"); err != nil {
			t.Error(err)
		}
	})

	t.Run("they can be deleted, and go when their finalizer does", func(t *testing.T) {
		for _, u := range stored {
			objects := a.kind(u.GetKind(), "default")
			if err := objects.Delete(t.Context(), u.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := a.patch(t.Context(), u, `{"metadata":{"finalizers":null}}`, ""); err != nil {
				t.Error(err)
			}
			if _, err := objects.Get(t.Context(), u.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("%s %s is still there: %v", u.GetKind(), u.GetName(), err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
