package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// A bare is how long a client takes that makes the writes that nobody can do without, and nothing else: there is no
// operator, no watch, and no DNS. It is the floor of what the operator takes.
type bare struct {
	marked time.Duration // the creates, each followed by its mark
	status time.Duration // these, and a status for each
	gone   time.Duration // each deletion, followed by the end of the finalizer
}

// bareWrites makes the writes of the operator with it stopped. Where the API server marks objects itself, the creates
// have the mark.
func (b *bench) bareWrites(ctx context.Context) (out bare, err error) {
	marked, err := b.Each(ctx, b.o.n, func(ctx context.Context, i int) error {
		o, finalizers := record(i), []string{v1alpha1.Finalizer}
		if b.o.marks {
			o.SetFinalizers(finalizers)
			return b.Kube.Create(ctx, o)
		}
		place := fmt.Sprintf("%s A %s %s", className, domain, recordName(i))
		return errors.Join(b.Kube.Create(ctx, o), b.Merge(ctx, o, map[string]any{"metadata": map[string]any{
			"finalizers": finalizers, "annotations": map[string]string{v1alpha1.AppliedAnnotation: place}}}))
	})
	if err != nil {
		return out, err
	}
	status, err := b.Each(ctx, b.o.n, b.writeStatus)
	if err != nil {
		return out, err
	}
	gone, err := b.Each(ctx, b.o.n, func(ctx context.Context, i int) error {
		o := record(i)
		return errors.Join(b.Kube.Delete(ctx, o), b.Merge(ctx, o, map[string]any{
			"metadata": map[string]any{"finalizers": nil}}))
	})
	return bare{marked: marked, status: marked + status, gone: gone}, err
}

// writeStatus writes one as long as the operator's.
func (b *bench) writeStatus(ctx context.Context, i int) error {
	now := metav1.Now()
	return b.MergeStatus(ctx, record(i), v1alpha1.DNSRecordStatus{
		Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "RecordCreated",
			ObservedGeneration: 1, LastTransitionTime: now,
			Message: "DNSClass " + className + " has " + fqdn(i) + " A."}},
		State: v1alpha1.StateCreated, LastSyncTime: &now, FQDN: recordName(i) + "." + domain, ObservedGeneration: 1,
		Applied: &v1alpha1.Applied{Class: className, Server: b.hook.URL, Type: "A", Domain: domain,
			Subdomain: recordName(i), Confirmed: true,
			Hash: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
	})
}
