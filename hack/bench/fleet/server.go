package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/bind9"
)

// A server is one pod.
type server struct {
	instance string
	primary  bool
	address  netip.Addr
	pid      int // of named
}

// findServers finds the pods, primaries first.
func (b *bench) findServers(ctx context.Context) error {
	var pods corev1.PodList
	if err := b.Kube.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	pids, err := figures.PIDs("named")
	if err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		s := &server{instance: p.Labels[v1beta1.InstanceLabel], primary: p.Labels[v1beta1.RoleLabel] == "primary"}
		if s.address, err = netip.ParseAddr(p.Status.PodIP); err != nil {
			return err
		}
		if s.pid, err = findPID(pids, p.Name); err != nil {
			return err
		}
		b.servers = append(b.servers, s)
	}
	slices.SortFunc(b.servers, func(a, b *server) int { return strings.Compare(a.instance, b.instance) })
	return nil
}

// findPID finds the process whose host name is the pod's.
func findPID(pids []int, pod string) (int, error) {
	for _, pid := range pids {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			return 0, err
		}
		if slices.Contains(strings.Split(string(environment), "\x00"), "HOSTNAME="+pod) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("no named of pod %s runs", pod)
}

func (s *server) dns() string { return netip.AddrPortFrom(s.address, bind9.DNSPort).String() }

// requests are those that the sidecar has got, but for probes and ours.
func (s *server) requests(ctx context.Context) (map[string]float64, error) {
	text, err := figures.Get(ctx, "http://"+netip.AddrPortFrom(s.address, 8080).String()+"/metrics")
	out := by(figures.Samples(string(text)), "bindcar_http_requests_total", "method", "path")
	for what := range out {
		if strings.HasSuffix(what, "/ready") || strings.HasSuffix(what, "/health") || strings.HasSuffix(what, "/metrics") {
			delete(out, what)
		}
	}
	return out, err
}

var updatesIn = regexp.MustCompile(`(?m)^ +([0-9]+) UPDATE$`)

// updates has BIND write down what it has counted, and reads how many UPDATE messages have come in.
func (s *server) updates(ctx context.Context) (int, error) {
	rndc := exec.CommandContext(ctx, "nsenter", "--target", strconv.Itoa(s.pid), "--mount", "--net", "--",
		"rndc", "-c", path.Join(bind9.ConfigDir, bind9.FileClient), "stats")
	if out, err := rndc.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("asking BIND of %s for its statistics: %w: %s", s.instance, err, out)
	}
	file := fmt.Sprintf("/proc/%d/root%s", s.pid, path.Join(bind9.DataDir, "named.stats"))
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	all := updatesIn.FindAllSubmatch(text, -1)
	if len(all) == 0 {
		return 0, os.Remove(file)
	}
	n, err := strconv.Atoi(string(all[len(all)-1][1]))
	return n, errors.Join(err, os.Remove(file)) // it is appended to
}

// keys are what the servers accept.
type keys struct{ update, transfer map[string]bind9.Key } // by instance

// readKeys reads the Secrets that the operator has made.
func (b *bench) readKeys(ctx context.Context) error {
	b.keys = keys{map[string]bind9.Key{}, map[string]bind9.Key{}}
	for _, s := range b.servers {
		var err error
		if b.keys.update[s.instance], err = b.key(ctx, s.instance+"-rndc-key", bind9.ForOperator); err != nil {
			return err
		}
		if b.keys.transfer[s.instance], err = b.key(ctx, fleet+"-transfer-key", bind9.ForTransfer); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) key(ctx context.Context, name string, purpose bind9.Purpose) (bind9.Key, error) {
	var secret corev1.Secret
	if err := b.Kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &secret); err != nil {
		return bind9.Key{}, err
	}
	ring, err := bind9.ReadRing(purpose, secret.Data, secret.Annotations)
	if err != nil {
		return bind9.Key{}, err
	}
	key, _ := ring.Key()
	return key, nil
}

// An asker asks a server.
type asker struct {
	*rig.Asker
	at *server
}

func (s *server) asker() (*asker, error) {
	a, err := rig.NewAsker(s.instance, s.dns())
	return &asker{a, s}, err
}
