package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/testcluster/images"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// content are zones of the user's own that every server has from its start.
const content = `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ~, name: own-zones}, data: {named.conf.zones: 'zone "h6.example" { type primary; file "/data/zones/h6"; };'}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: ~, name: bindy-zones}
data:
  h6: |
    $TTL 60
    @ SOA ns admin 1 3600 600 86400 60
    @ NS ns
    ns A 192.0.2.53
    www A 192.0.2.6`

const withContent = `configMapRefs: {namedConfZones: own-zones}, volumes: [{name: zones, configMap: {name: bindy-zones}}], volumeMounts: [{name: zones, mountPath: /data/zones}]`

// A sequence is what came of watching the pods of a cluster: how many of them were not ready at once, at most.
type sequence struct {
	mu     sync.Mutex
	pods   map[types.UID]*corev1.Pod
	most   int
	worst  string
	broken []string // instances that had none that was ready, once they had one, and for how long
	served map[string]bool
	lost   map[string]time.Time // those that have none, and since when
	heard  []string             // each event
}

// flap is how long a pod may count as not ready that is: kubelet may write what it had found before a probe succeeded
// once more after it has written that the pod is ready (SetPodStatus after SetContainerReadiness), and mends that at
// once. A server that is not ready is so for two probes, which are two seconds apart. Whether answers are lost in the
// meantime, clients find out.
const flap = time.Second

// watchPods follows the pods of a namespace until the test ends.
func (s *site) watchPods(namespace string) *sequence {
	s.Helper()
	q := &sequence{pods: map[types.UID]*corev1.Pod{}, served: map[string]bool{}, lost: map[string]time.Time{}}
	var list corev1.PodList
	of := []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{v1beta1.AppLabel: v1beta1.AppValue}}
	ctx, cancel := context.WithCancel(s.ctx)
	events, err := testoperator.Watch(ctx, s.client, &list, of...)
	if err != nil {
		s.Fatal(err)
	}
	for i := range list.Items {
		q.saw(&list.Items[i], false)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events.ResultChan() {
			if p, ok := e.Object.(*corev1.Pod); ok {
				q.saw(p, e.Type == "DELETED")
			}
		}
	}()
	s.Cleanup(func() { cancel(); events.Stop(); <-done })
	return q
}

func (q *sequence) saw(p *corev1.Pod, gone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pods[p.UID] = p; gone {
		delete(q.pods, p.UID)
	}
	q.heard = append(q.heard, fmt.Sprintf("%s %s version %s gone %t: %s", time.Now().Format(time.StampMilli), p.Name,
		p.ResourceVersion, gone, stateOf(p)))
	var unready []string
	serving := map[string]bool{}
	for _, p := range q.pods {
		name := p.Labels[v1beta1.InstanceLabel]
		switch {
		case isReady(p) && p.DeletionTimestamp.IsZero():
			serving[name] = true
		case p.DeletionTimestamp.IsZero():
			unready = append(unready, p.Name)
		}
	}
	if len(unready) > q.most {
		q.most, q.worst = len(unready), strings.Join(unready, ", ")
	}
	for name := range q.served {
		since, isLost := q.lost[name]
		switch {
		case !serving[name] && !isLost:
			q.lost[name] = time.Now()
		case serving[name] && isLost:
			q.found(name, time.Since(since))
			delete(q.lost, name)
		}
	}
	for name := range serving {
		q.served[name] = true
	}
}

// found takes in for how long an instance had no ready pod. mu is held.
func (q *sequence) found(name string, lasted time.Duration) {
	if lasted >= flap {
		q.broken = append(q.broken, fmt.Sprintf("%s for %s", name, lasted.Round(time.Millisecond)))
	}
}

// oneAtATime complains if more than one pod was not ready at once, or an instance had none that was.
func (s *site) oneAtATime(q *sequence) {
	s.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.most > 1 {
		s.Errorf("%d pods were not ready at once: %s", q.most, q.worst)
	}
	for name, since := range q.lost {
		q.found(name, time.Since(since))
	}
	if len(q.broken) > 0 {
		s.Errorf("these had no ready pod: %v; the watch said\n%s", q.broken, strings.Join(q.heard, "\n"))
	}
}

// stateOf says what a pod is judged by.
func stateOf(p *corev1.Pod) string {
	said := fmt.Sprintf("%s, ready %t", p.Status.Phase, isReady(p))
	if p.DeletionTimestamp != nil {
		said += ", being deleted"
	}
	for _, c := range p.Status.ContainerStatuses {
		said += fmt.Sprintf(", %s ready %t after %d restarts", c.Name, c.Ready, c.RestartCount)
	}
	return said
}

func TestH6ChangesAreRolledOutOneAtATime(t *testing.T) {
	s := siteFor(t)
	ns := s.namespace("a")
	s.apply("%s", strings.ReplaceAll(content, "~", ns))
	s.apply(clusterManifest, ns, "dns", "primaryReplicas: 2, secondaryReplicas: 1, "+withContent)
	dns := cluster(ns, "dns")
	s.awaitReady(dns)
	seen := s.watchPods(ns)
	var clients []*busy
	for _, name := range s.instances(ns) {
		for _, network := range []string{"udp", "tcp"} {
			at := s.service(ns, name).At(servicePort)
			s.resolves(at, "www.h6.example", "192.0.2.6")
			clients = append(clients, s.keep("asking "+name+" over "+network, func(ctx context.Context, _ int) error {
				got, err := lookup(ctx, network, at, "www.h6.example")
				if errors.Is(err, os.ErrDeadlineExceeded) && network == "udp" {
					// lost on its way, which every resolver expects; a refusal is none
					got, err = lookup(ctx, network, at, "www.h6.example")
				}
				if err != nil || got != "192.0.2.6" {
					return fmt.Errorf("the answer is %q: %w", got, err)
				}
				return nil
			}))
		}
	}
	for _, change := range []struct{ sentence, patch string }{
		{"another version", `{"spec":{"version":"` + images.OtherVersion + `"}}`},
		{"other options", `{"spec":{"global":{"allowTransfer":["192.0.2.1"]}}}`},
		{"an image", `{"spec":{"image":{"image":"` + images.BIND + ":" + images.Version + `"}}}`},
	} {
		before := s.podUIDs(ns)
		s.patch(dns, change.patch)
		s.awaitReady(dns)
		for uid, name := range s.podUIDs(ns) {
			if before[uid] != "" {
				t.Errorf("%s: the pod of %s is the one from before", change.sentence, name)
			}
		}
	}

	// One that cannot start holds up the others, which serve as before.
	before := s.podUIDs(ns)
	s.patch(dns, `{"spec":{"image":null,"version":"9.99"}}`)
	s.eventually("one pod cannot start", func() string {
		for _, p := range s.pods(ns, "") {
			for _, c := range p.Status.ContainerStatuses {
				if c.State.Waiting != nil && strings.Contains(c.State.Waiting.Reason, "Pull") {
					return s.notReady(dns)
				}
			}
		}
		return "all can"
	})
	s.quiet(5 * time.Second)
	after := s.podUIDs(ns)
	for uid, name := range before {
		if after[uid] == "" {
			t.Errorf("the pod of %s is gone for one that cannot start", name)
		}
	}
	if len(after) != len(before)+1 {
		t.Errorf("there were %d pods and are %d", len(before), len(after))
	}
	s.patch(dns, `{"spec":{"version":"`+images.Version+`"}}`)
	s.awaitReady(dns)
	for _, c := range clients {
		s.wasNeverFailed(c)
	}
	s.oneAtATime(seen)
}

// notReady says that an object is ready, or says so of an older spec.
func (s *site) notReady(object *v1beta1.Bind9Cluster) string {
	s.Helper()
	must(s, object, object.Namespace, object.Name)
	c := meta.FindStatusCondition(object.Status.Conditions, v1beta1.ConditionReady)
	if c == nil || c.Status != metav1.ConditionFalse || c.ObservedGeneration != object.Generation {
		return fmt.Sprintf("%s says %+v", object.Name, c)
	}
	return ""
}

// podUIDs are the instances of pods, by the pods' UIDs.
func (s *site) podUIDs(namespace string) map[types.UID]string {
	s.Helper()
	out := map[types.UID]string{}
	for _, p := range s.pods(namespace, "") {
		out[p.UID] = p.Labels[v1beta1.InstanceLabel]
	}
	return out
}
