package sources

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhatIsToldOfASourceThatCannotBeRead(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	on := []string{"ingress", "service", "gateway-httproute"}
	for sentence, c := range map[string]struct {
		kind  string
		why   error
		names string // and what becomes of an operator that starts; "": nothing is told
	}{
		"a right that is gone": {"*v1.Service", apierrors.NewForbidden(services, "", errors.New("no")), "(service) waits"},
		"a definition that is gone, which one source needs and another does not": {"*v1.Gateway",
			apierrors.NewNotFound(schema.GroupResource{Resource: "gateways"}, ""), "(gateway-httproute) ends"},
		"a definition that was never there": {"*v1.Gateway", &meta.NoKindMatchError{}, "(gateway-httproute) ends"},
		"an API that does not answer":       {"*v1.Ingress", apierrors.NewServiceUnavailable("down"), "(ingress) waits"},
		"a kind that no source needs":       {"*v1.Secret", apierrors.NewForbidden(services, "", errors.New("no")), ""},
		"a watch that is too old":           {"*v1.Service", apierrors.NewResourceExpired("too old"), ""},
		"an API server that has no time":    {"*v1.Service", apierrors.NewTooManyRequests("later", 1), ""},
		"a connection that breaks":          {"*v1.Service", errors.New("EOF"), ""},
	} {
		message, is := CannotRead(c.kind, on, c.why)
		names, begins, _ := strings.Cut(c.names, " ")
		if is != (c.names != "") || !strings.Contains(message, names) ||
			is && !strings.Contains(message, "starts "+begins+";") {
			t.Errorf("%s: %q", sentence, message)
		}
	}
}
