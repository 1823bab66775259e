package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// auditEvery is how often zones are read back in a run with an idle phase.
const auditEvery = 2 * time.Minute

// StartOperator starts the operator, with flags of its own and those that the options need.
func (r *Rig) StartOperator(args ...string) (err error) {
	if r.o.Idle > 0 {
		args = append(args, "--audit-interval", auditEvery.String())
	}
	r.Operator, err = r.StartReplica(args...)
	return err
}

// StartReplica starts one more operator, which whoever called ends.
func (r *Rig) StartReplica(args ...string) (*testoperator.Process, error) {
	if r.o.Profile != "" {
		var err error
		if r.pprof, err = figures.FreeAddress(); err != nil {
			return nil, err
		}
		args = append(args, "--pprof-bind-address", r.pprof)
	}
	o := testoperator.Options{Path: r.program, Kubeconfig: r.Kubeconfig, Args: args}
	if r.log != nil {
		o.Log = r.log
	}
	return testoperator.Start(o)
}

// StopOperator ends the operator if it runs.
func (r *Rig) StopOperator() {
	if r.Operator != nil {
		r.Operator.Stop()
		r.Operator = nil
	}
}

// Until waits with patience for something to come true. It fails at once when the operator ends.
func (r *Rig) Until(ctx context.Context, patience time.Duration, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return figures.Until(ctx, r.Operator, done)
}

// Quiet waits with patience until a count of what the operator does has not moved for three seconds.
func (r *Rig) Quiet(ctx context.Context, patience time.Duration, count func() (float64, error)) error {
	var last float64
	since := time.Now()
	return r.Until(ctx, patience, func() (bool, error) {
		now, err := count()
		if err != nil || now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 3*time.Second, err
	})
}

// ProfileCPU takes profiles of the operator and of the API server while objects are created and written to, which takes
// a few times as long as creating them alone. Their files are Options.Profile with a suffix. The channel yields when
// they are stored.
func (r *Rig) ProfileCPU(ctx context.Context, suffix string, alone time.Duration) <-chan error {
	done := make(chan error, 1)
	if r.o.Profile == "" {
		done <- nil
		return done
	}
	query, file := fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(3*alone.Seconds())+1), r.o.Profile+suffix
	go func() {
		server := make(chan error, 1)
		go func() {
			text, err := r.Cluster.RunKubectl(ctx, "get", "--raw", query)
			server <- errors.Join(err, os.WriteFile(file+".apiserver", []byte(text), 0o644))
		}()
		err := figures.Fetch(ctx, "http://"+r.pprof+query, file)
		done <- errors.Join(err, <-server)
	}()
	return done
}

// ProfileHeap stores what the operator keeps in memory, in Options.Profile with a suffix and ".heap".
func (r *Rig) ProfileHeap(ctx context.Context, suffix string) error {
	if r.o.Profile == "" {
		return nil
	}
	return figures.Fetch(ctx, "http://"+r.pprof+"/debug/pprof/heap?gc=1", r.o.Profile+suffix+".heap")
}
