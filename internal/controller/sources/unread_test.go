package sources

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func TestWhatIsToldOfASourceThatCannotBeRead(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	on := []string{"ingress", "service", "gateway-httproute"}
	for sentence, c := range map[string]struct {
		kind  string
		why   error
		names string // "": nothing is told
	}{
		"a right that is gone": {"*v1.Service", apierrors.NewForbidden(services, "", errors.New("no")), "(service)"},
		"a definition that is gone, which one source needs and another does not": {"*v1.Gateway",
			apierrors.NewNotFound(schema.GroupResource{Resource: "gateways"}, ""), "(gateway-httproute)"},
		"a definition that was never there":  {"*v1.Gateway", &meta.NoKindMatchError{}, "(gateway-httproute)"},
		"a definition that is being deleted": {"*v1.Gateway", fmt.Errorf("x: %w", errBeingDeleted), "(gateway-httproute)"},
		"an API that does not answer":        {"*v1.Ingress", apierrors.NewServiceUnavailable("down"), "(ingress)"},
		"a kind that no source needs":        {"*v1.Secret", apierrors.NewForbidden(services, "", errors.New("no")), ""},
		"a watch that is too old":            {"*v1.Service", apierrors.NewResourceExpired("too old"), ""},
		"an API server that has no time":     {"*v1.Service", apierrors.NewTooManyRequests("later", 1), ""},
		"a connection that breaks":           {"*v1.Service", errors.New("EOF"), ""},
	} {
		message, is := CannotRead(c.kind, on, c.why)
		if is != (c.names != "") || !strings.Contains(message, c.names) {
			t.Errorf("%s: %q", sentence, message)
		}
	}
}

// TestKindsAreKnownByTheirDefinitions: the name of a definition, which rights name too.
func TestKindsAreKnownByTheirDefinitions(t *testing.T) {
	for _, o := range Objects(Names()) {
		name := definitionOf(o)
		ours := !strings.HasPrefix(reflect.TypeOf(o).Elem().PkgPath(), "k8s.io/api/")
		if !strings.Contains(name, ".") == ours {
			t.Errorf("%T has the definition %q", o, name)
		}
	}
	if got := definitionOf(&gatewayv1.HTTPRoute{}); got != "httproutes.gateway.networking.k8s.io" {
		t.Error(got)
	}
}
