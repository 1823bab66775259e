package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// storage is what the control plane holds at one time.
type storage struct {
	records        int           // in all
	took           time.Duration // to create those since the time before
	etcd           int64         // octets of etcd's file
	apiserver, ram int64         // octets of memory: kube-apiserver's and etcd's
}

// part is after how many Records the storage is looked at.
const part = 50_000

// fill creates everything. The operator does not run.
func (b *bench) fill(ctx context.Context, out *result) error {
	if err := b.putBackend(ctx); err != nil {
		return err
	}
	if _, err := b.Create(ctx, b.o.zones, b.zone); err != nil {
		return err
	}
	for from := 0; from < b.o.n; from += part {
		n := min(part, b.o.n-from)
		took, err := b.Create(ctx, n, func(i int) client.Object { return b.record(from + i) })
		if err != nil {
			return err
		}
		s, err := b.storage(ctx)
		if err != nil {
			return err
		}
		s.records, s.took = from+n, took
		b.Say("%d Records: %s", s.records, s)
		out.storage = append(out.storage, s)
	}
	return nil
}

func (s storage) String() string {
	return fmt.Sprintf("the last in %.0f s; etcd's file %d MiB; memory: kube-apiserver %d, etcd %d MiB", s.took.Seconds(),
		s.etcd/figures.Mebi, s.apiserver/figures.Mebi, s.ram/figures.Mebi)
}

func (b *bench) storage(ctx context.Context) (s storage, err error) {
	text, err := b.Cluster.RunKubectl(ctx, "get", "--raw", "/metrics")
	if err != nil {
		return s, err
	}
	s.etcd = int64(figures.Sum(figures.Samples(text), "apiserver_storage_size_bytes"))
	for name, into := range map[string]*int64{"kube-apiserver": &s.apiserver, "etcd": &s.ram} {
		pids, wrong := figures.PIDs(name)
		if len(pids) != 1 {
			return s, errors.Join(wrong, fmt.Errorf("there are %d processes %s, want one", len(pids), name))
		}
		if *into, _, err = figures.MemoryOf(pids[0]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// list reads all Records in pages, as kubectl does, without an operator that keeps the API server busy.
func (b *bench) list(ctx context.Context, out *result) error {
	began, seen, from := time.Now(), 0, ""
	for {
		var page kubizone.RecordList
		if err := b.Kube.List(ctx, &page, client.Limit(500), client.Continue(from)); err != nil {
			return err
		}
		seen, from = seen+len(page.Items), page.Continue
		if from == "" {
			break
		}
	}
	if out.list = time.Since(began); seen != b.o.n {
		return fmt.Errorf("the API server lists %d Records, want %d", seen, b.o.n)
	}
	return nil
}

// begin starts the operator, and waits until BIND has all Records.
func (b *bench) begin(ctx context.Context, out *result) error {
	b.Say("listed in %.1f s; now the operator", out.list.Seconds())
	out.began = time.Now()
	if err := b.StartOperator(); err != nil {
		return err
	}
	err := b.Until(ctx, time.Minute, func() (bool, error) { return b.Operator.Live(), nil })
	if err != nil {
		return fmt.Errorf("waiting for the operator to live: %w", err)
	}
	profiled := b.ProfileCPU(ctx, "", 10*time.Second)
	for zone := range b.o.zones {
		last := (b.o.n-1-zone)/b.o.zones*b.o.zones + zone
		if err := b.bind.asker.Await(ctx, b.name(last), figures.Address(last)); err != nil {
			return err
		}
		if zone == 0 {
			out.first = time.Since(out.began)
		}
	}
	out.all = time.Since(out.began)
	if out.serving, out.servingPeak, err = figures.MemoryOf(b.Operator.PID()); err != nil {
		return err
	}
	b.Say("the first answer after %.1f s, all after %.1f s; comparing them", out.first.Seconds(), out.all.Seconds())
	return errors.Join(b.compare(ctx), <-profiled)
}

// settle waits until the operator has written all labels and statuses.
func (b *bench) settle(ctx context.Context, out *result) error {
	if !b.o.statuses {
		return nil
	}
	if err := b.awaitStatuses(ctx); err != nil {
		return err
	}
	out.statuses = time.Since(out.began)
	var err error
	if out.memory, out.peak, err = figures.MemoryOf(b.Operator.PID()); err != nil {
		return err
	}
	if out.cpu, err = figures.CPUOf(b.Operator.PID()); err != nil {
		return err
	}
	b.Say("all statuses after %.1f s; memory %d MiB, at its peak %d MiB", out.statuses.Seconds(), out.memory/figures.Mebi,
		out.peak/figures.Mebi)
	return b.ProfileHeap(ctx, "")
}

// awaitStatuses waits until the operator has written a label and a status for each Record, and nothing more for a
// while.
func (b *bench) awaitStatuses(ctx context.Context) error {
	writes := func() (float64, error) {
		m, err := b.Operator.Metrics("zonefold_api_writes_total")
		return figures.Sum(m, "zonefold_api_writes_total"), err
	}
	err := b.Until(ctx, time.Hour, func() (bool, error) {
		n, err := writes()
		if err == nil && n < float64(2*b.o.n) {
			err = figures.Pause(ctx, time.Second)
		}
		return n >= float64(2*b.o.n), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the labels and statuses of %d Records: %w", b.o.n, err)
	}
	return b.Quiet(ctx, 10*time.Minute, writes)
}
