package main

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// awaitStatus waits until each object says that it is ready. They are read when the operator has made as many writes as
// that takes, and until then left alone: to read them costs time that is to be measured.
func (b *bench) awaitStatus(ctx context.Context, l load) error {
	left := l.objects()
	err := b.Until(ctx, patience, func() (bool, error) {
		m, err := b.Operator.Metrics("zonefold_api_writes_total")
		if err != nil || figures.Sum(m, "zonefold_api_writes_total") < float64(l.objects()) {
			return false, err
		}
		left, err = b.unfinished(ctx, l)
		return left == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting for %d objects that are not ready: %w", left, err)
	}
	return nil
}

// unfinished counts the objects to which the operator still has to write.
func (b *bench) unfinished(ctx context.Context, l load) (int, error) {
	var records v1beta1.ARecordList
	var zones v1beta1.DNSZoneList
	if err := errors.Join(b.Kube.List(ctx, &records, client.InNamespace(namespace)),
		b.Kube.List(ctx, &zones, client.InNamespace(namespace))); err != nil {
		return 0, err
	}
	left := l.objects() - len(records.Items) - len(zones.Items)
	for i := range records.Items {
		if o := &records.Items[i]; !figures.Ready(o.Status.Conditions, o.Generation) {
			left++
		}
	}
	for i := range zones.Items {
		if o := &zones.Items[i]; !figures.Ready(o.Status.Conditions, o.Generation) ||
			o.Status.RecordsCount != int32(l.records) {
			left++
		}
	}
	return left, nil
}

// unload deletes everything while the operator runs, and waits until it has let all of it go.
func (b *bench) unload(ctx context.Context, l load) error {
	if err := b.remove(ctx, l); err != nil {
		return err
	}
	return b.Until(ctx, patience, func() (bool, error) {
		var zones v1beta1.DNSZoneList
		err := b.Kube.List(ctx, &zones, client.InNamespace(namespace))
		return err == nil && len(zones.Items) == 0, err
	})
}
