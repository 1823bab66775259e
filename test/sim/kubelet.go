package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// How long things take at nodes, in virtual time.
const (
	podGrace    = int64(30)              // seconds that a pod has to end
	podStart    = 3 * time.Second        // from being wanted to running
	namedStart  = time.Second            // of BIND, when it is started again
	probeDelay  = 2 * time.Second        // until kubelet sees that a pod is ready, or is not
	keysDelay   = 40 * time.Second       // until a pod has what changed in a Secret
	lookDelay   = 20 * time.Millisecond  // until controllers have seen what changed
	notifyDelay = 500 * time.Millisecond // of BIND
	retryDelay  = 30 * time.Second       // of a secondary that nobody gave a zone
)

// Nodes run the pods of Deployments: kube-controller-manager and kubelet as far as servers of fleets need them. There
// are no ReplicaSets; pods name the one that they would have.
type nodes struct {
	world *World
	wake  chan struct{}
	seen  uint64 // revision; only run looks at it

	mu      sync.Mutex
	pods    map[types.UID]*pod
	lastAt  map[netip.Addr]*pod // that got an address
	disks   map[types.UID]*disk // by PersistentVolumeClaim
	plans   map[ref]*rollout    // of Deployments
	stories map[story]*telling
	made    int           // pods
	wrong   []string      // that deploy has found
	slow    time.Duration // by which pods start later
}

// A rollout is what a Deployment wants.
type rollout struct {
	version  string
	replicas int
	hash     string // of the template
	recreate bool
	template corev1.PodTemplateSpec
	raw      map[string]any
}

// A pod is one that runs BIND and its sidecar.
type pod struct {
	nodes    *nodes
	ref      ref
	uid      types.UID
	of       ref // its Deployment
	hash     string
	address  netip.Addr
	before   *pod // that had its address, and may be meant by who has not heard that it is gone; nil: none
	spec     *corev1.PodSpec
	disk     *disk
	starts   time.Time // when it does, or did
	running  bool
	up       time.Time // when BIND is, again
	restarts int
	boot     int       // of BIND, by which it is known whether it was told what it is to have since
	leaves   time.Time // when it ends; zero: it stays
	claim    bool
	ready    bool      // as the API server has it
	since    time.Time // when that changed
	turns    time.Time // when that changes; zero: it does not
	keys     secretKeys
	remounts time.Time // when it has other keys; zero: it has those that there are
	silent   bool      // nothing answers
	missed   bool      // and when it is ready again, it may lack what came meanwhile
	mute     bool      // the sidecar does not answer
}

func newNodes(w *World) *nodes {
	return &nodes{
		world: w, wake: make(chan struct{}, 1), pods: map[types.UID]*pod{}, lastAt: map[netip.Addr]*pod{},
		disks: map[types.UID]*disk{}, plans: map[ref]*rollout{}, stories: map[story]*telling{},
	}
}

func (n *nodes) now() time.Time { return n.world.api.store.now() }

// look has everything looked at.
func (n *nodes) look() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// run works until the context ends.
func (n *nodes) run(ctx context.Context) {
	for {
		changed, _ := n.news()
		n.mu.Lock()
		next := n.turn()
		n.mu.Unlock()
		var due <-chan time.Time
		if !next.IsZero() {
			due = time.After(max(next.Sub(n.now()), time.Millisecond))
		}
		for again := true; again; {
			select {
			case <-ctx.Done():
				return
			case <-due:
				again = false
			case <-n.wake:
				again = false
			case <-changed:
				var matters bool
				changed, matters = n.news()
				again = !matters
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookDelay):
		}
	}
}

// news reports whether something has happened since the last look that pods are made of, and is told of more.
func (n *nodes) news() (more <-chan struct{}, matters bool) {
	s := n.world.api.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.log) - 1; i >= 0 && s.log[i].revision > n.seen; i-- {
		switch s.log[i].kind.Kind {
		case "Deployment", "Pod", "Secret", "PersistentVolumeClaim":
			matters = true
		}
	}
	n.seen = s.revision
	return s.next(nil), matters
}

// turn does all that is due, and says when more is. mu is held, as for all of this file from here on.
func (n *nodes) turn() (next time.Time) {
	soon := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	n.follow()
	now := n.now()
	for _, p := range n.sorted() {
		soon(p.live(now))
	}
	for _, p := range n.sorted() {
		soon(p.refresh(now))
	}
	n.deploy()
	for _, p := range n.sorted() {
		if !p.running {
			soon(p.starts)
		}
	}
	return next
}

func (n *nodes) sorted() []*pod {
	return slices.SortedFunc(maps.Values(n.pods), func(a, b *pod) int {
		return strings.Compare(a.ref.String(), b.ref.String())
	})
}

// follow notes which pods are being deleted, or are gone, and which Secrets have changed.
func (n *nodes) follow() {
	s := n.world.api.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid, p := range n.pods {
		object := s.objects[p.ref]
		switch {
		case object == nil || object.GetUID() != uid:
			delete(n.pods, uid)
			continue
		case object.GetDeletionTimestamp() != nil && p.leaves.IsZero():
			p.leaves = n.now().Add(time.Second)
			if p.running && !p.claim {
				p.leaves = n.now().Add(time.Duration(farewell(p.spec)) * time.Second)
			}
		}
		if p.running && p.remounts.IsZero() && !p.keys.same(p.secrets()) {
			p.remounts = n.now().Add(keysDelay)
		}
	}
}

// farewell is for how many seconds a pod serves that is to go.
func farewell(spec *corev1.PodSpec) int64 {
	for _, c := range spec.Containers {
		if c.Lifecycle != nil && c.Lifecycle.PreStop != nil && c.Lifecycle.PreStop.Sleep != nil {
			return c.Lifecycle.PreStop.Sleep.Seconds
		}
	}
	return 1
}

// live takes a pod one step further, and says when the next is due.
func (p *pod) live(now time.Time) (next time.Time) {
	n := p.nodes
	switch {
	case !p.leaves.IsZero() && !now.Before(p.leaves):
		n.drop(p)
		return time.Time{}
	case !p.running && !now.Before(p.starts) && !p.start(now):
		p.starts = now.Add(retryDelay)
		return p.starts
	case !p.running:
		return p.leaves
	}
	if !p.remounts.IsZero() && !now.Before(p.remounts) {
		p.remounts = time.Time{}
		s := n.world.api.store
		s.mu.Lock()
		p.keys = p.secrets()
		s.mu.Unlock()
	}
	is := p.serves(now)
	switch {
	case is == p.ready:
		p.turns = time.Time{}
	case p.turns.IsZero():
		p.turns = now.Add(probeDelay)
	case !now.Before(p.turns):
		p.ready, p.since, p.turns = is, now, time.Time{}
		if is {
			p.appear(now)
		}
		p.tell()
	}
	for _, at := range []time.Time{p.turns, p.remounts, p.leaves} {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if !is && p.disk.declared && p.up.After(now) && (next.IsZero() || p.up.Before(next)) {
		next = p.up
	}
	if confirm := p.up.Add(confirmWithin); !is && p.boot != p.disk.boot && confirm.After(now) &&
		(next.IsZero() || confirm.Before(next)) {
		next = confirm
	}
	return next
}

// start has a pod run, and reports whether there is all that it needs.
func (p *pod) start(now time.Time) bool {
	s := p.nodes.world.api.store
	s.mu.Lock()
	p.keys = p.secrets()
	s.mu.Unlock()
	if len(p.keys.update) == 0 || len(p.keys.transfer) == 0 {
		return false
	}
	p.nodes.made++
	p.address = p.nodes.free()
	p.before, p.nodes.lastAt[p.address] = p.nodes.lastAt[p.address], p
	p.running, p.up, p.boot = true, now, p.nodes.made
	p.tell()
	return true
}

// free is an address that no pod has: it may be that of one that has just gone.
func (n *nodes) free() netip.Addr {
	at := netip.AddrFrom4([4]byte{10, 0, 0, 1})
	for slices.ContainsFunc(n.sorted(), func(p *pod) bool { return p.running && p.address == at }) {
		at = at.Next()
	}
	return at
}

// tell writes the status of a pod.
func (p *pod) tell() {
	truth := map[bool]string{true: "True", false: "False"}
	at := p.nodes.now().UTC().Format(time.RFC3339)
	status := map[string]any{"phase": "Pending"}
	if p.running {
		var containers []any
		for _, c := range p.spec.Containers {
			restarts := 0
			if c.Name == dialect.NamedContainer {
				restarts = p.restarts
			}
			containers = append(containers, map[string]any{
				"name": c.Name, "ready": p.ready, "started": true, "image": c.Image, "imageID": c.Image,
				"restartCount": int64(restarts),
				"state":        map[string]any{"running": map[string]any{"startedAt": p.starts.UTC().Format(time.RFC3339)}},
			})
		}
		status = map[string]any{
			"phase": "Running", "podIP": p.address.String(), "podIPs": []any{map[string]any{"ip": p.address.String()}},
			"hostIP":            "192.0.2.77",
			"containerStatuses": containers,
			"conditions": []any{
				map[string]any{"type": "PodScheduled", "status": "True", "lastTransitionTime": p.starts.UTC().Format(time.RFC3339)},
				map[string]any{"type": "Ready", "status": truth[p.ready], "lastTransitionTime": at},
			},
		}
	}
	s := p.nodes.world.api.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if object := s.objects[p.ref]; object != nil && object.GetUID() == p.uid {
		object = object.DeepCopy()
		object.Object["status"] = status
		s.put(p.ref, object)
	}
}

// drop ends a pod.
func (n *nodes) drop(p *pod) {
	delete(n.pods, p.uid)
	s := n.world.api.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if object := s.objects[p.ref]; object != nil && object.GetUID() == p.uid {
		s.remove(p.ref)
	}
}

// planOf reads a Deployment.
func (n *nodes) planOf(r ref, object *unstructured.Unstructured) *rollout {
	known := n.plans[r]
	if known != nil && known.version == object.GetResourceVersion() {
		return known
	}
	template, _, _ := unstructured.NestedMap(object.Object, "spec", "template")
	replicas, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if !found {
		replicas = 1
	}
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "strategy", "type")
	text, err := json.Marshal(template)
	if err != nil {
		n.world.fail("a Deployment cannot be read: " + err.Error())
	}
	sum := fnv.New32a()
	_, _ = sum.Write(text)
	out := &rollout{version: object.GetResourceVersion(), replicas: int(replicas), hash: fmt.Sprintf("%08x", sum.Sum32()),
		recreate: kind == "Recreate", raw: template}
	if known != nil && known.hash == out.hash {
		out.template = known.template
	} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, &out.template); err != nil {
		n.world.fail("a Deployment cannot be read: " + err.Error())
	}
	if known != nil && known.hash != out.hash {
		n.rolls(r, known, out)
	}
	n.plans[r] = out
	return out
}
