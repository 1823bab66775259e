package main

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// A bare is how long a client takes that makes the writes that Gardener's contract asks for, for half of the objects,
// and nothing else: there is no operator, no watch, and no DNS. It is the floor of what the operator takes.
type bare struct {
	done time.Duration // the creates, and for each that it begins, that it has begun, and that it is done
	gone time.Duration // each deletion, that it begins, that it is done, and the end of the finalizer
	busy figures.Times // for a change of one, what comes before its answer, while all others change
}

// measureBare makes the writes of the operator with it stopped.
func (b *bench) measureBare(ctx context.Context, out *result) (err error) {
	b.Say("%d DNSRecords by a bare client", b.half())
	b.StopOperator()
	n, object := b.inTurn(free)
	out.bare.done, err = b.Each(ctx, n, func(ctx context.Context, i int) error {
		o := object(i)
		return errors.Join(b.Kube.Create(ctx, o),
			b.MergeStatus(ctx, o, status(v1alpha1.TypeCreate, v1alpha1.StateProcessing)),
			b.Merge(ctx, o, map[string]any{"metadata": map[string]any{"finalizers": []string{v1alpha1.Finalizer},
				"annotations": map[string]any{v1alpha1.OperationAnnotation: nil}}}),
			b.MergeStatus(ctx, o, status(v1alpha1.TypeCreate, v1alpha1.StateSucceeded)))
	})
	if err != nil {
		return err
	}
	if out.bare.busy, err = b.bareChanges(ctx); err != nil {
		return err
	}
	out.bare.gone, err = b.Each(ctx, n, func(ctx context.Context, i int) error {
		o := object(i)
		return errors.Join(b.Kube.Delete(ctx, o),
			b.MergeStatus(ctx, o, status(v1alpha1.TypeDelete, v1alpha1.StateProcessing)),
			b.MergeStatus(ctx, o, status(v1alpha1.TypeDelete, v1alpha1.StateSucceeded)),
			b.Merge(ctx, o, map[string]any{"metadata": map[string]any{"finalizers": nil}}))
	})
	return errors.Join(err, b.startOperator(ctx))
}

// bareChanges times the writes of a change that come before its answer, while the workers change all other objects. The
// operator would write with more workers beside these.
func (b *bench) bareChanges(ctx context.Context) (figures.Times, error) {
	changed := make(chan error, 1)
	go func() {
		_, err := b.Each(ctx, b.half()-1, func(ctx context.Context, i int) error {
			return errors.Join(b.bareChange(ctx, i+1), b.MergeStatus(ctx, b.record(free, i+1),
				status(v1alpha1.TypeReconcile, v1alpha1.StateSucceeded)))
		})
		changed <- err
	}()
	var times figures.Times
	for {
		select {
		case err := <-changed:
			return times, err
		default:
		}
		began := time.Now()
		if err := b.bareChange(ctx, 0); err != nil {
			return nil, errors.Join(err, <-changed)
		}
		times = append(times, time.Since(began))
		if err := figures.Pause(ctx, between); err != nil {
			return nil, errors.Join(err, <-changed)
		}
	}
}

// bareChange changes an object as gardenlet does, and makes the writes with which an operator begins.
func (b *bench) bareChange(ctx context.Context, i int) error {
	return errors.Join(b.patch(ctx, free, i, figures.NewAddress(i)),
		b.MergeStatus(ctx, b.record(free, i), status(v1alpha1.TypeReconcile, v1alpha1.StateProcessing)),
		b.Merge(ctx, b.record(free, i), map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			v1alpha1.OperationAnnotation: nil}}}))
}

// status is one as long as the operator's.
func status(kind v1alpha1.OperationType, state v1alpha1.OperationState) v1alpha1.DNSRecordStatus {
	now := metav1.Now()
	zone := "bench.example."
	return v1alpha1.DNSRecordStatus{
		Conditions: []v1alpha1.Condition{{Type: "Created", Status: metav1.ConditionTrue, Reason: "Created",
			Message: "The service has the record.", LastTransitionTime: now, LastUpdateTime: now}},
		LastOperation: &v1alpha1.LastOperation{Description: "Successfully reconciled DNSRecord", LastUpdateTime: now,
			Progress: 100, State: state, Type: kind},
		ObservedGeneration: 1, Zone: &zone,
	}
}
