package backends

import (
	"context"
	"log/slog"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// someBackends is a cluster with nothing else.
type someBackends struct {
	client.Client
	all []v1alpha1.Backend
}

func (c *someBackends) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	for i := range c.all {
		if c.all[i].Name == key.Name {
			c.all[i].DeepCopyInto(o.(*v1alpha1.Backend))
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (c *someBackends) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*v1alpha1.BackendList).Items = c.all
	return nil
}

// TestTheOldestBackendHasTheCatalogZone has followers of the others not lose what the oldest does not list.
func TestTheOldestBackendHasTheCatalogZone(t *testing.T) {
	backend := func(name string, age time.Duration, catalog string) v1alpha1.Backend {
		return v1alpha1.Backend{
			ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age))},
			Spec:       v1alpha1.BackendSpec{Embedded: &v1alpha1.Embedded{CatalogZone: catalog}},
		}
	}
	for _, c := range []struct {
		sentence string
		others   []v1alpha1.Backend
		elder    string
	}{
		{"it is alone", nil, ""},
		{"another one has another name", []v1alpha1.Backend{backend("a", time.Hour, "other.example.")}, ""},
		{"a younger one has the name", []v1alpha1.Backend{backend("a", time.Second, "catalog.example.")}, ""},
		{"an older one has it, in another spelling", []v1alpha1.Backend{backend("z", time.Hour, "Catalog.example")}, "z"},
		{"one of the same age has it", []v1alpha1.Backend{backend("a", time.Minute, "catalog.example.")}, "a"},
		{"two older ones have it", []v1alpha1.Backend{backend("y", time.Hour, "catalog.example."),
			backend("z", 2*time.Hour, "catalog.example.")}, "z"},
		{"an older one is another kind of server", []v1alpha1.Backend{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}, ""},
	} {
		own := backend("m", time.Minute, "catalog.example.")
		cluster := &someBackends{all: append(c.others, own)}
		source := Source{Client: cluster, Log: slog.New(slog.DiscardHandler), Embedded: true}
		if got := source.elder(t.Context(), &own); got != c.elder {
			t.Errorf("%s: %q has the catalog zone, not %q", c.sentence, got, c.elder)
		}
		if got := source.catalogTaken(t.Context(), &own); (len(got) > 0) != (c.elder != "") {
			t.Errorf("%s: it is warned %v", c.sentence, got)
		}
		catalogs := map[string]string{}
		p := &Policies{Source: source,
			Set: func(s EmbeddedSettings) error { catalogs[s.Name] = s.Catalog.String(); return nil }}
		p.look(t.Context(), "m")
		if has := catalogs["m"] != ""; has != (c.elder == "") {
			t.Errorf("%s: the name server gets %v", c.sentence, catalogs)
		}
		cluster.all = []v1alpha1.Backend{own}
		p.look(t.Context(), "m")
		if catalogs["m"] != "catalog.example." {
			t.Errorf("%s: when it is alone the name server gets %v", c.sentence, catalogs)
		}
	}
}
