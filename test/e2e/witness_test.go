package e2e_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// An asked is a question of a witness, with the answers that are right, as dig has them.
type asked struct {
	name   string
	rrtype uint16
	right  []string
}

// A witness asks every pod of a namespace all the time, from its first moment on and whether it is ready or not, and
// the Services of the instances. A pod that has the zone has all of it; one that is ready has the zone; a Service leads
// to such pods only.
type witness struct {
	s         *site
	ctx       context.Context
	questions []asked
	work      sync.WaitGroup

	mu    sync.Mutex
	pods  map[types.UID]*corev1.Pod
	times map[string]int // right answers, by pod or Service
	wrong []string
}

// watchAnswers begins to ask, until the test ends.
func (s *site) watchAnswers(namespace string, questions ...asked) *witness {
	s.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	w := &witness{s: s, ctx: ctx, questions: questions, pods: map[types.UID]*corev1.Pod{}, times: map[string]int{}}
	of := []client.ListOption{client.InNamespace(namespace), client.MatchingLabels{v1beta1.AppLabel: v1beta1.AppValue}}
	var list corev1.PodList
	events, err := testoperator.Watch(ctx, s.client, &list, of...)
	if err != nil {
		s.Fatal(err)
	}
	for i := range list.Items {
		w.saw(&list.Items[i], false)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events.ResultChan() {
			if p, ok := e.Object.(*corev1.Pod); ok {
				w.saw(p, e.Type == "DELETED")
			}
		}
	}()
	s.Cleanup(func() { cancel(); events.Stop(); <-done; w.work.Wait() })
	return w
}

// saw notes a pod as it is now, and begins to ask it when it has an address.
func (w *witness) saw(p *corev1.Pod, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.pods[p.UID]
	if w.pods[p.UID] = p; gone {
		delete(w.pods, p.UID)
		return
	}
	ip, err := netip.ParseAddr(p.Status.PodIP)
	if err != nil || before != nil && before.Status.PodIP != "" {
		return
	}
	w.work.Go(func() {
		w.keepAsking(p.Name, netip.AddrPortFrom(ip, podPort), func() (ready, gone bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			now := w.pods[p.UID]
			return now != nil && isReady(now) && now.DeletionTimestamp.IsZero(), now == nil
		})
	})
}

// service has the Service of an instance asked too. Behind it there are ready pods only, or none.
func (w *witness) service(namespace string, instances ...string) {
	w.s.Helper()
	for _, name := range instances {
		at := w.s.service(namespace, name).At(servicePort)
		w.work.Go(func() {
			w.keepAsking("Service "+name, at, func() (ready, gone bool) { return true, false })
		})
	}
}

func (w *witness) keepAsking(who string, at netip.AddrPort, state func() (ready, gone bool)) {
	tick := time.NewTicker(20 * time.Millisecond) // there are dozens of pods on two processors
	defer tick.Stop()
	for n := 0; w.ctx.Err() == nil; n++ {
		was, gone := state()
		if gone {
			return
		}
		q := w.questions[n%len(w.questions)]
		got, err := dig(w.ctx, at, q.name, q.rrtype)
		is, gone := state()
		if err == nil && !gone && w.ctx.Err() == nil {
			w.judge(who, q, got, was && is)
		}
		select {
		case <-w.ctx.Done():
		case <-tick.C:
		}
	}
}

func (w *witness) judge(who string, q asked, got string, ready bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case slices.Contains(q.right, got):
		w.times[who]++
	case !ready && (got == noZone || got == "SERVFAIL"): // it does not have the zone, or has not transferred it yet
	default:
		w.wrong = append(w.wrong, fmt.Sprintf("%s %s, ready: %t, answers %q for %s", time.Now().Format(time.StampMilli), who,
			ready, got, q.name))
	}
}

// sawNothingWrong complains of wrong answers so far, and unless these were heard of by name.
func (w *witness) sawNothingWrong(t *site, who ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) > 0 {
		t.Errorf("%d answers were wrong:\n%s", len(w.wrong), strings.Join(w.wrong[:min(len(w.wrong), 20)], "\n"))
	}
	for _, name := range who {
		if w.times[name] < 10 {
			t.Errorf("%s answered %d times, which shows nothing", name, w.times[name])
		}
	}
	t.Logf("right answers so far: %v", w.times)
}
