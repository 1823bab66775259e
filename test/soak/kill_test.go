package soak_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// A container that was killed twice within a short time is started again only after a while, and longer each time.
const restartsAtMost = 2

// victimWithin is how long one is looked for: those that were killed before may have to come back first.
const victimWithin = 5 * time.Second

// upAtLeast is how long the API server runs before it is killed again.
const upAtLeast = 15 * time.Second

// A killer ends things at random.
type killer struct {
	*field
	witness *witness
	random  *rand.Rand
	times   map[string]int // by what it was
	up      time.Time      // since when the API server answers
}

// kills are what it can do, each with how often of all.
func (k *killer) kills() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"pod":      k.pod,
		"named":    func(ctx context.Context) error { return k.inPod(ctx, "named", "named") },
		"bindcar":  func(ctx context.Context) error { return k.inPod(ctx, "bindcar", "bindcar") },
		"server":   func(ctx context.Context) error { return k.inPod(ctx, "server", "named", "bindcar") },
		"operator": k.operator,
		"api":      k.api,
		"kubelet":  k.kubelet,
	}
}

// run kills until ctx ends, every kind as often as any other, and leaves the API server running.
func (k *killer) run(ctx context.Context, kinds []string) error {
	all := k.kills()
	for {
		for _, i := range k.random.Perm(len(kinds)) {
			if !pause(ctx, time.Duration(k.random.IntN(1500))*time.Millisecond) {
				return nil
			}
			if err := all[kinds[i]](k.ctx); err != nil {
				return fmt.Errorf("killing %s: %w", kinds[i], err)
			}
		}
	}
}

// victim chooses a pod of the fleet, once some other one answers for everything: where all are killed at once nobody
// answers.
func (k *killer) victim(ctx context.Context, choose func(*corev1.Pod) bool) *corev1.Pod {
	ctx, cancel := context.WithTimeout(ctx, victimWithin)
	defer cancel()
	for pause(ctx, askEvery) {
		pods, err := k.pods(ctx, namespace)
		if err != nil {
			continue
		}
		pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool {
			return !p.DeletionTimestamp.IsZero() || p.Status.PodIP == "" || !choose(&p)
		})
		if len(pods) == 0 {
			continue
		}
		if p := &pods[k.random.IntN(len(pods))]; k.witness.answering(string(p.UID)) {
			return p
		}
	}
	return nil
}

func anyPod(*corev1.Pod) bool { return true }

// fresh reports whether a pod's containers are started again at once.
func fresh(p *corev1.Pod) bool { return restarts(p) < restartsAtMost }

func restarts(p *corev1.Pod) (n int32) {
	for _, c := range p.Status.ContainerStatuses {
		n = max(n, c.RestartCount)
	}
	return n
}

// pod deletes a pod of the fleet, at once or with the time that it is given.
func (k *killer) pod(ctx context.Context) error {
	p := k.victim(ctx, anyPod)
	if p == nil {
		return nil
	}
	k.witness.excuse(string(p.UID), true)
	var options []client.DeleteOption
	if k.random.IntN(2) == 0 {
		options = append(options, client.GracePeriodSeconds(0))
	}
	k.did("pod", "%s deleted, at once: %v", p.Name, len(options) > 0)
	return k.insist(ctx, func(ctx context.Context) error {
		return client.IgnoreNotFound(k.client.Delete(ctx, p, options...))
	})
}

// inPod ends programs in a pod of the fleet as a crash does.
func (k *killer) inPod(ctx context.Context, kind string, programs ...string) error {
	p := k.victim(ctx, fresh)
	if p == nil {
		return k.pod(ctx)
	}
	if slices.Contains(programs, "named") {
		k.witness.excuse(string(p.UID), false)
	}
	return k.end(kind, p, programs...)
}

// end kills programs of a pod by their ids in the host.
func (k *killer) end(kind string, p *corev1.Pod, programs ...string) error {
	for _, program := range programs {
		found, err := processes(p, program)
		if err != nil {
			return err
		}
		for _, pid := range found {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("ending %s of %s (process %d): %w", program, p.Name, pid, err)
			}
			k.did(kind, "%s of %s ended (process %d)", program, p.Name, pid)
		}
	}
	k.witness.ended(string(p.UID))
	return nil
}

// processes are those of a pod, whose UID is in the name of its control group, that run a program.
func processes(p *corev1.Pod, program string) (pids []int, err error) {
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || strings.TrimSpace(string(text)) != program {
			continue
		}
		group, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cgroup"))
		if err != nil || !strings.Contains(string(group), "/pod"+string(p.UID)+"/") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// operator ends one of the operator's pods or all, the one that leads in most cases, as a crash does or as people do.
func (k *killer) operator(ctx context.Context) error {
	var chosen []corev1.Pod
	err := k.insist(ctx, func(ctx context.Context) (err error) {
		chosen, err = k.pods(ctx, testoperator.Namespace)
		return err
	})
	if err != nil {
		return err
	}
	chosen = slices.DeleteFunc(chosen, func(p corev1.Pod) bool { return !p.DeletionTimestamp.IsZero() })
	leads := k.leads(ctx)
	if n := k.random.IntN(4); n > 0 {
		chosen = slices.DeleteFunc(chosen, func(p corev1.Pod) bool { return leads(p) == (n == 1) })
	}
	crash := k.random.IntN(2) == 0
	for i := range chosen {
		p := &chosen[i]
		if crash && fresh(p) {
			err = k.end("operator", p, "operator")
		} else {
			k.did("operator", "%s deleted", p.Name)
			err = k.insist(ctx, func(ctx context.Context) error { return client.IgnoreNotFound(k.client.Delete(ctx, p)) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// api ends the API server, and starts it again after a while, in which something else may be ended. Where it is away
// for most of the time the node counts as lost, and Services lead nowhere.
func (k *killer) api(ctx context.Context) error {
	if time.Since(k.up) < upAtLeast {
		return nil
	}
	p := k.victim(ctx, fresh)
	if err := k.cluster.KillAPIServer(ctx); err != nil {
		return err
	}
	k.did("api", "the API server ended")
	pause(ctx, time.Duration(k.random.IntN(2000))*time.Millisecond)
	if p != nil && k.random.IntN(2) == 0 {
		k.witness.excuse(string(p.UID), false)
		if err := k.end("api", p, [][]string{{"named"}, {"bindcar"}, {"named", "bindcar"}}[k.random.IntN(3)]...); err != nil {
			return err
		}
	}
	pause(ctx, time.Duration(k.random.IntN(4000))*time.Millisecond)
	if err := k.cluster.StartAPIServer(ctx); err != nil {
		return err
	}
	k.up = time.Now()
	k.tell("the API server is back")
	return nil
}

// kubelet ends kubelet, which is started again at once. Pods then count as not ready until they are probed, and no
// Service leads anywhere, whatever they are: this is done only where it is asked for.
func (k *killer) kubelet(ctx context.Context) error {
	k.did("kubelet", "kubelet ended")
	return k.cluster.RestartKubelet(ctx)
}

func (k *killer) did(kind, format string, args ...any) {
	k.times[kind]++
	k.tell(format, args...)
}

// leads reports whether an operator's pod is the one that leads: its address is in the Lease.
func (k *killer) leads(ctx context.Context) func(corev1.Pod) bool {
	var lease coordinationv1.Lease
	err := k.client.Get(ctx, client.ObjectKey{Namespace: testoperator.Namespace, Name: "zonefold-operator"}, &lease)
	return func(p corev1.Pod) bool {
		return err == nil && lease.Spec.HolderIdentity != nil && strings.HasPrefix(*lease.Spec.HolderIdentity, p.Status.PodIP+
			":")
	}
}
