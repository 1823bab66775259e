package controller

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Heartbeat renews a Lease, and with it says that the operator is alive. Nobody waits for that Lease.
type Heartbeat struct {
	Client    client.Client
	Live      client.Reader
	Namespace string
	Name      string        // of the Lease
	Holder    string        // what the operator is called there
	Interval  time.Duration // between two renewals
	Length    time.Duration // of the Lease
	Clock     func() time.Time
	Log       *slog.Logger
}

// Run renews the Lease until ctx ends.
func (h Heartbeat) Run(ctx context.Context) error {
	ticker := time.NewTicker(h.Interval)
	defer ticker.Stop()
	for {
		if err := h.beat(ctx); err != nil && ctx.Err() == nil {
			h.Log.Warn("the heartbeat was not written", "lease", h.Namespace+"/"+h.Name, "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (h Heartbeat) beat(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	err := h.Live.Get(ctx, client.ObjectKey{Namespace: h.Namespace, Name: h.Name}, lease)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading the Lease: %w", err)
	}
	missing := apierrors.IsNotFound(err)
	lease.Namespace, lease.Name = h.Namespace, h.Name
	lease.Spec.HolderIdentity = ptr.To(h.Holder)
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(max(1, h.Length.Seconds())))
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(h.Clock()))
	if missing {
		err = h.Client.Create(ctx, lease)
	} else {
		err = h.Client.Update(ctx, lease)
	}
	if err != nil {
		return fmt.Errorf("writing the Lease: %w", err)
	}
	return nil
}
