package schema

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/testcluster"
)

// an older schema, objects that it let in and ours refuses, and their statuses by kind.
type older struct {
	definitions, objects string
	statuses             map[string]string
	// inForce reports whether our schema is what decides by now.
	inForce func(*api) bool
}

// upgraded starts an API server with the older schema, stores the objects, and installs our schema.
func upgraded(t *testing.T, o older) (*api, []*unstructured.Unstructured) {
	t.Helper()
	c, err := testcluster.Start(t.Context(), testcluster.Options{CRDs: []string{o.definitions}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	a := connect(t, c)
	var stored []*unstructured.Unstructured
	for _, u := range documents(t, o.objects) {
		u, err := a.create("default", u)
		if err != nil {
			t.Fatal(err)
		}
		if status := o.statuses[u.GetKind()]; status != "" {
			if u, err = a.patch(t.Context(), u, status, "status"); err != nil {
				t.Fatal(err)
			}
		}
		stored = append(stored, u)
	}
	if err := c.InstallCRDs(t.Context(), crds); err != nil {
		t.Fatal(err)
	}
	// A changed schema comes into force a moment after it is stored.
	for deadline := time.Now().Add(time.Minute); !o.inForce(a); {
		if time.Now().After(deadline) {
			t.Fatal("the new schema is not in force after a minute")
		}
	}
	return a, stored
}

// refuses reports whether an object would be refused now.
func (a *api) refuses(kind, text string) bool {
	_, err := a.create("default", object(a.t, kind, "probe", text), metav1.DryRunAll)
	return err != nil
}

func TestObjectsStoredUnderAnOlderSchema(t *testing.T) {
	a, stored := upgraded(t, older{
		definitions: "testdata/older/crds.yaml", objects: "testdata/older/objects.yaml",
		statuses: map[string]string{
			"Zone": `{"status":{"fqdn":null,"hash":null,"serial":9223372036854775807,"entries":[{"fqdn":"","type":"","class":"","ttl":9223372036854775807,"rdata":""}]}}`,
		},
		inForce: func(a *api) bool {
			return a.refuses("Zone", `spec: {domainName: relative, delegations: []}`) &&
				a.refuses("Record", `spec: {domainName: a., type: BOGUS, rdata: x}`)
		},
	})

	t.Run("they are listed by typed clients", func(t *testing.T) {
		zones := make(map[string]kubizone.Zone)
		for _, z := range list(a, "Zone", &kubizone.ZoneList{}).Items {
			zones[z.Name] = z
		}
		records := list(a, "Record", &kubizone.RecordList{}).Items
		if len(zones) != 6 || len(records) != 2 {
			t.Fatalf("listed %d Zones and %d Records; want 6 and 2", len(zones), len(records))
		}
		want := kubizone.ZoneNumbers{TTL: math.MaxUint32 + 1, Refresh: math.MaxInt64, Retry: math.MaxInt64,
			Expire: math.MaxInt64, NegativeResponseCache: math.MaxUint32}
		if n := zones["numbers"].Spec.Numbers(); n != want {
			t.Errorf("the numbers are %v; want %v", n, want)
		}
		rules := zones["rules"].Spec.Delegations
		for i, d := range rules[:5] {
			if len(d.Problems()) == 0 {
				t.Errorf("delegations[%d] could not be read, and says nothing of it", i)
			}
		}
		if p := rules[5].Problems(); len(p) > 0 || rules[5].Records[0].Types[0] != "BOGUS" {
			t.Errorf("a rule of strings is not read as it is: %v, %v", p, rules[5])
		}
	})

	// Each change is one that the operator or its user makes to an object without touching what is wrong in it.
	changes := []struct{ name, patch, subresource string }{
		{"a label", `{"metadata":{"labels":{"kubi.zone/parent-zone":"a.b"}}}`, ""},
		{"a finalizer", `{"metadata":{"finalizers":["zonefold.dev/withdraw"]}}`, ""},
		{"a status",
			`{"status":{"fqdn":"a.","observedGeneration":1,"conditions":[{"type":"Accepted","status":"False","reason":"Test","message":"x","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, "status"},
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
		text, err := os.ReadFile("testdata/older/objects.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.cluster.RunKubectlInput(t.Context(), strings.NewReader(string(text)), "apply", "-n", "default", "-f",
			"-"); err != nil {
			t.Error(err)
		}
	})

	t.Run("what is wrong may not be changed into something else that is wrong", func(t *testing.T) {
		timers := object(t, "Zone", "timers", `{}`)
		timers.SetNamespace("default")
		if _, err := a.patch(t.Context(), timers, `{"spec":{"retry":300}}`, ""); err == nil {
			t.Error("a retry of 300 is accepted beside a refresh of 100")
		}
		if _, err := a.patch(t.Context(), timers, `{"spec":{"retry":30,"expire":1000}}`, ""); err != nil {
			t.Errorf("the repair is refused: %v", err)
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
