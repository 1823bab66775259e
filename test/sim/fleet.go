package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/backend/bind9"
)

// These are the steps of nodes and of the pods of fleets, of which the first of an instance that is not ending is
// meant; without one nothing happens:
//
//	kill a/dns-primary-0     the pod is deleted, and serves for a moment more
//	evict a/dns-primary-0    the pod is gone at once, as when its node was lost
//	crash a/dns-primary-0    BIND ends, and starts again with what it had
//	empty a/dns-primary-0    BIND ends, and starts again with nothing
//	hang a/dns-primary-0     nothing in the pod answers
//	mute a/dns-primary-0     its sidecar does not answer
//	heal a/dns-primary-0     all pods of the instance are well again
//	slow 2m                  pods start later by that
//	lose-key a/dns-transfer-key   a Secret is gone, if it was there
//	ready a/dns-primary-0    all pods of the instance are ready by now
//	serves a/dns-primary-0   all pods of the instance show what the lines of the step say, or do not, after "not "
func (n *nodes) takes(words []string) bool {
	if n == nil || len(words) != 2 {
		return false
	}
	switch words[0] {
	case "kill", "evict", "crash", "empty", "hang", "mute", "heal", "slow", "lose-key", "ready", "serves":
		return true
	}
	return false
}

// step does what happens to nodes and pods.
func (n *nodes) step(words []string, text string) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer n.look()
	if words[0] == "serves" {
		return n.serves(words[1], text)
	}
	if words[0] == "slow" {
		n.slow, err = time.ParseDuration(words[1])
		return err
	}
	if words[0] == "lose-key" {
		return client.IgnoreNotFound(n.world.delete("Secret", words[1]))
	}
	var first *pod
	for _, p := range n.sorted() {
		if p.of.NamespacedName.String() != words[1] {
			continue
		}
		if words[0] == "heal" {
			p.silent, p.mute = false, false
		}
		if words[0] == "ready" && !p.ready {
			p.wrong("a pod is not ready")
		}
		if first == nil && p.running && p.leaves.IsZero() {
			first = p
		}
	}
	if first != nil {
		first.suffer(words[0])
	}
	return nil
}

// suffer does what happens to one pod. mu is held, as for all of this file from here on but for contents and promised.
func (p *pod) suffer(what string) {
	s := p.nodes.world.api.store
	switch what {
	case "kill":
		s.mu.Lock()
		s.end(p.ref)
		s.mu.Unlock()
	case "evict":
		p.nodes.drop(p)
	case "empty":
		*p.disk = *newDisk()
		p.restart()
	case "crash":
		p.restart()
	case "hang":
		p.silent, p.missed = true, true
	case "mute":
		p.mute = true
	}
}

// restart has BIND start again. What it does not show until then it shows anew.
func (p *pod) restart() {
	p.nodes.made++
	p.restarts++
	p.boot, p.up = p.nodes.made, p.nodes.now().Add(namedStart)
	p.tell()
}

// addressed gives a Service the address that the name of it has in each life.
func addressed(service *unstructured.Unstructured) {
	if is, _, _ := unstructured.NestedString(service.Object, "spec", "clusterIP"); is != "" {
		return
	}
	sum := fnv.New32a()
	fmt.Fprint(sum, service.GetNamespace(), "/", service.GetName())
	four := binary.BigEndian.AppendUint32(nil, sum.Sum32())
	at := netip.AddrFrom4([4]byte{10, 96, four[2], four[3]}).String()
	_ = unstructured.SetNestedField(service.Object, at, "spec", "clusterIP")
	_ = unstructured.SetNestedStringSlice(service.Object, []string{at}, "spec", "clusterIPs")
}

// pods is how an operator reaches those of fleets.
func (o *operator) pods() bind9.Network {
	if o.world.nodes == nil {
		return bind9.Network{}
	}
	return bind9.Network{HTTP: sideway{o}, DNS: o.daemon}
}

// binding is what the chart installs, and operators write the subjects of.
const binding = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: " +
	"zonefold-bindcar}, " +
	"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: zonefold-bindcar}}"

// house makes nodes.
func (w *World) house(ctx context.Context) error {
	if !slices.Contains(w.dialects, "bindy") {
		return nil
	}
	w.nodes = newNodes(w)
	w.parts.Go(func() { w.nodes.run(ctx) })
	return w.apply(ctx, binding)
}
