package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// writeAlone writes to each Record what the operator writes: the floor of that on this machine.
func (b *bench) writeAlone(ctx context.Context) (time.Duration, error) {
	labels, err := b.Each(ctx, b.o.n, func(ctx context.Context, i int) error {
		return b.Merge(ctx, record(i), map[string]any{"metadata": map[string]any{
			"labels": map[string]string{kubizone.ParentZoneLabel: "bench.bench"}}})
	})
	if err != nil {
		return 0, err
	}
	statuses, err := b.Each(ctx, b.o.n, func(ctx context.Context, i int) error {
		return b.MergeStatus(ctx, record(i), exampleStatus(fqdn(i)))
	})
	return labels + statuses, err
}

// exampleStatus is what the operator says of a Record that is served.
func exampleStatus(name string) kubizone.RecordStatus {
	s := kubizone.RecordStatus{FQDN: name, ObservedGeneration: 1}
	for _, c := range [][3]string{
		{"Accepted", "Accepted", "Adopted by Zone bench/bench."},
		{"Served", "Served", "Every server of the zone has it."},
		{"Ready", "Ready", "Every server of the zone has it."},
	} {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: c[0], Status: metav1.ConditionTrue, Reason: c[1], Message: c[2], ObservedGeneration: 1,
			LastTransitionTime: metav1.Now(),
		})
	}
	return s
}

// awaitStatus waits until each Record has its label and says that it is ready. The Records are read when the operator
// has made as many writes as that takes, and until then left alone: to watch them costs time that is to be measured.
func (b *bench) awaitStatus(ctx context.Context, began time.Time) (time.Duration, error) {
	err := b.Until(ctx, 10*time.Minute, func() (bool, error) {
		if n, err := b.operatorWrites(); err != nil || n < float64(2*b.o.n) {
			return false, err
		}
		left, err := b.unfinished(ctx)
		return left == 0, err
	})
	if err != nil {
		left, _ := b.unfinished(ctx)
		return 0, fmt.Errorf("waiting for %d Records that have no label or are not ready: %w", left, err)
	}
	return time.Since(began), nil
}

// unfinished counts the Records to which the operator still has to write.
func (b *bench) unfinished(ctx context.Context) (int, error) {
	var list kubizone.RecordList
	if err := b.Kube.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return 0, err
	}
	left := b.o.n - len(list.Items)
	for i := range list.Items {
		if !finished(&list.Items[i]) {
			left++
		}
	}
	return left, nil
}

func finished(o *kubizone.Record) bool {
	return o.Labels[kubizone.ParentZoneLabel] != "" && o.Status.ObservedGeneration == o.Generation &&
		figures.Ready(o.Status.Conditions, o.Generation)
}
