package servers

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/delivery"
)

// A secretReader answers every question for a Secret in one way.
type secretReader struct {
	client.Reader

	err error
}

func (r secretReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return r.err
}

// TestASecretThatIsGoneStopsZonesAndOneThatCannotBeReadDoesNot is about the Backends that are a DNSClass.
func TestASecretThatIsGoneStopsZonesAndOneThatCannotBeReadDoesNot(t *testing.T) {
	secrets := corev1.Resource("secrets")
	for _, c := range []struct {
		sentence string
		err      error
		stopped  bool
	}{
		{"one that is gone", apierrors.NewNotFound(secrets, "hmac"), true},
		{"one without the key", nil, true},
		{"one that the operator may not read", apierrors.NewForbidden(secrets, "hmac", errors.New("no role")), false},
		{"one that the API server does not answer about", apierrors.NewTimeoutError("it takes too long", 1), false},
	} {
		class := &v1alpha1.DNSClass{Spec: v1alpha1.DNSClassSpec{
			Server: "http://dns:7100", HMACAuth: &v1alpha1.HMACAuth{SecretRef: &v1alpha1.SecretRef{Name: "hmac",
				Namespace: "team", Key: "key"}},
		}}
		_, err := ReachOf(t.Context(), secretReader{err: c.err}, class)
		place := delivery.Place{Name: "hook", Problem: outcomeOf("dns", err)}
		if place.Problem == nil || place.Stopped() != c.stopped {
			t.Errorf("%s: the Backend is stopped: %t, for %+v", c.sentence, place.Stopped(), place.Problem)
		}
	}
}
