package bindy

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// A keyReport is what came of a look at keys.
type keyReport struct {
	after    time.Duration // when to look again; 0: an event will tell
	troubles []trouble
	missing  bool                     // there is no key at all, so that no server can start
	rotation *v1beta1.RNDCKeyRotation // for the status; nil: keys are not replaced by themselves
}

// applyKeys brings the Secrets with the keys of an instance one step on: the one that its sidecar and the operator sign with,
// and, where no cluster has one, the one for zone transfers.
func (b *Controller) applyKeys(_ context.Context, _ *server, _ []corev1.Pod) (keyReport, error) {
	return keyReport{missing: true}, nil
}

// applyTransferKeys does the same for the Secret that the servers of a cluster have for zone transfers. The pods are those of
// all its instances.
func (b *Controller) applyTransferKeys(_ context.Context, _ *v1beta1.Bind9Cluster, _ []corev1.Pod) (keyReport, error) {
	return keyReport{missing: true}, nil
}
