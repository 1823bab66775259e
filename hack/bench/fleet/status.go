package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// awaitStatus waits until each object says that it is ready. They are read when the operator has made as many writes as that takes,
// and until then left alone: to read them costs time that is to be measured.
func (r *rig) awaitStatus(ctx context.Context, l load) error {
	left := l.objects()
	err := r.until(ctx, func() (bool, error) {
		m, err := r.operator.Metrics("zonefold_api_writes_total")
		if err != nil || figures.Sum(m, "zonefold_api_writes_total") < float64(l.objects()) {
			return false, err
		}
		left, err = r.unfinished(ctx, l)
		return left == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting for %d objects that are not ready: %w", left, err)
	}
	return nil
}

// unfinished counts the objects to which the operator still has to write.
func (r *rig) unfinished(ctx context.Context, l load) (int, error) {
	var records v1beta1.ARecordList
	var zones v1beta1.DNSZoneList
	if err := errors.Join(r.kube.List(ctx, &records, client.InNamespace(namespace)), r.kube.List(ctx, &zones, client.InNamespace(namespace))); err != nil {
		return 0, err
	}
	left := l.objects() - len(records.Items) - len(zones.Items)
	for i := range records.Items {
		if o := &records.Items[i]; !figures.Ready(o.Status.Conditions, o.Generation) {
			left++
		}
	}
	for i := range zones.Items {
		if o := &zones.Items[i]; !figures.Ready(o.Status.Conditions, o.Generation) || o.Status.RecordsCount != int32(l.records) {
			left++
		}
	}
	return left, nil
}

// unload deletes everything while the operator runs, and waits until it has let all of it go.
func (r *rig) unload(ctx context.Context, l load) error {
	if err := r.remove(ctx, l); err != nil {
		return err
	}
	return r.until(ctx, func() (bool, error) {
		var zones v1beta1.DNSZoneList
		err := r.kube.List(ctx, &zones, client.InNamespace(namespace))
		return err == nil && len(zones.Items) == 0, err
	})
}

// profileCPU takes profiles of the operator and of the API server while the objects are created and written to, which takes a few
// times as long as creating them alone. The channel yields when they are stored.
func (r *rig) profileCPU(ctx context.Context, l load, creates time.Duration) <-chan error {
	done := make(chan error, 1)
	if r.o.profile == "" {
		done <- nil
		return done
	}
	query, file := fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(3*creates.Seconds())+1), r.o.profile+"."+l.word
	go func() {
		server := make(chan error, 1)
		go func() {
			text, err := r.cluster.RunKubectl(ctx, "get", "--raw", query)
			server <- errors.Join(err, os.WriteFile(file+".apiserver", []byte(text), 0o644))
		}()
		err := figures.Fetch(ctx, "http://"+r.pprof+query, file)
		done <- errors.Join(err, <-server)
	}()
	return done
}

// profileHeap stores what the operator keeps in memory.
func (r *rig) profileHeap(ctx context.Context, l load) error {
	if r.o.profile == "" {
		return nil
	}
	return figures.Fetch(ctx, "http://"+r.pprof+"/debug/pprof/heap?gc=1", r.o.profile+"."+l.word+".heap")
}
