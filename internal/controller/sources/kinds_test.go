package sources

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/sources"
)

// TestSourcesReadWhatDoctorLooksAt compares what is followed with the list that the command has.
func TestSourcesReadWhatDoctorLooksAt(t *testing.T) {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, discoveryv1.AddToScheme,
		networkingv1.AddToScheme, gatewayv1.Install, externaldns.AddToScheme} {
		if err := add(types); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(Names(), slices.Sorted(maps.Keys(dialect.Reads()))); diff != "" {
		t.Errorf("the sources (-followed +looked at):\n%s", diff)
	}
	for name, resources := range dialect.Reads() {
		var followed []schema.GroupVersionResource
		for _, o := range Objects([]string{name}) {
			kind, err := apiutil.GVKForObject(o, types)
			if err != nil {
				t.Fatal(err)
			}
			plural, _ := meta.UnsafeGuessKindToResource(kind)
			if definition := definitionOf(o); definition != "" {
				plural.Resource, _, _ = strings.Cut(definition, ".")
			}
			followed = append(followed, plural)
		}
		if diff := cmp.Diff(followed, resources); diff != "" {
			t.Errorf("source %s (-followed +looked at):\n%s", name, diff)
		}
	}
}

// TestEarlierVersionsAreReadWhereTheLastIsMissing: of other kinds no other version is tried.
func TestEarlierVersionsAreReadWhereTheLastIsMissing(t *testing.T) {
	for _, c := range []struct {
		sentence string
		object   client.Object
		has      []string // versions that the API server has
		tried    string
		found    bool
	}{
		{"the last one", &gatewayv1.TLSRoute{}, []string{"v1", "v1alpha2"}, "v1", true},
		{"an earlier one", &gatewayv1.TLSRoute{}, []string{"v1alpha2"}, "v1 v1alpha3 v1alpha2", true},
		{"none", &gatewayv1.UDPRoute{}, nil, "v1 v1alpha3 v1alpha2", false},
		{"a kind that is older", &gatewayv1.HTTPRoute{}, []string{"v1alpha2"}, "v1", false},
	} {
		var tried []string
		_, err := find(c.object, func(o client.Object) error {
			version := o.GetObjectKind().GroupVersionKind().Version
			if version == "" { // a Go type does not say
				version = "v1"
			}
			tried = append(tried, version)
			if !slices.Contains(c.has, version) {
				return fmt.Errorf("listing: %w", &meta.NoKindMatchError{})
			}
			return nil
		})
		if got := strings.Join(tried, " "); got != c.tried || (err == nil) != c.found {
			t.Errorf("%s: it tries %s: %v", c.sentence, got, err)
		}
	}
	refused := errors.New("forbidden")
	if _, err := find(&gatewayv1.TLSRoute{}, func(client.Object) error { return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
}
