package bindy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bindcar"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// Bounds of calls to sidecars.
const (
	sidecarsAtOnce = 8 // of one object
	objectsAtOnce  = 2 // of one namespace: its pods, if they do not answer, keep no more workers from others
	objectWait     = 100 * time.Millisecond
	sidecarDial    = 2 * time.Second
	sidecarCall    = 8 * time.Second  // also for all pods of an object together
	sidecarStart   = 30 * time.Second // in which one that does not answer is starting, and nothing is wrong
)

// The bounds of how soon a sidecar that did not answer is asked again.
const (
	leastRetry = 500 * time.Millisecond
	mostRetry  = 30 * time.Second
	busyRetry  = 5 * time.Second
	firstPause = time.Second // of one that took all of its time; doubled each time
	mostPause  = 2 * time.Minute
)

// sidecars calls those of pods. Its zero value is ready for use.
type sidecars struct {
	mu sync.Mutex
	// of an instance, its pods that know what they are to have, and how often each had been started again
	declared map[client.ObjectKey]map[types.UID]int32
	places   map[string]chan struct{} // of a namespace, those of its objects whose pods are being called
	silent   map[types.UID]silence
}

// sidecarHTTP goes straight to pods: through no proxy, and not where an answer points to, for a token is in the
// request. The transport is nil where it is the machine's.
func sidecarHTTP(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			DialContext:     (&net.Dialer{Timeout: sidecarDial}).DialContext,
			IdleConnTimeout: sidecarStart, MaxIdleConnsPerHost: 1, ResponseHeaderTimeout: sidecarCall,
		}
	}
	return &http.Client{
		Timeout: sidecarCall, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// errUndelivered says that a pod does not have all zones that it is to have before it is ready.
var errUndelivered = errors.New("not all of its zones have been delivered to it")

var errNoAddress = errors.New("it has no address yet")

// sidecar is the client of a pod's sidecar. The pod says where that is: the spec of the instance may be newer.
func (b *Controller) sidecar(ctx context.Context, p *corev1.Pod) (*bindcar.Client, error) {
	i := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == dialect.BindcarContainer })
	if i < 0 || len(p.Spec.Containers[i].Ports) == 0 || p.Status.PodIP == "" {
		return nil, errNoAddress
	}
	token, err := b.token(ctx, p.Namespace)
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(int(p.Spec.Containers[i].Ports[0].ContainerPort))
	return &bindcar.Client{
		BaseURL: "http://" + net.JoinHostPort(p.Status.PodIP, port), Pod: string(p.UID), HTTP: b.http,
		Token: func() (string, error) { return token, nil },
	}, nil
}

// declare tells the sidecar of each pod which zones it has to have before it is ready, once for each start of it. after
// says when to try again those that could not be told; 0: an event will tell.
func (b *Controller) declare(ctx context.Context, s *dialect.Server,
	pods []corev1.Pod) (after time.Duration, troubles []dialect.Trouble) {
	now := b.Clock()
	instance := client.ObjectKeyFromObject(s.Instance)
	told := b.sidecars.forget(instance, pods)
	todo := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool {
		began, _ := sidecarState(&p)
		before, ok := told[p.UID]
		return began.IsZero() || !dialect.IsServer(&p) || !p.DeletionTimestamp.IsZero() || isOver(&p) ||
			p.Status.PodIP == "" || ok && before == startsOf(&p)
	})
	errs := b.sidecars.each(ctx, now, todo, func(ctx context.Context, i int) error {
		return b.declareTo(ctx, instance, &todo[i])
	})
	for i, err := range errs {
		if err == nil {
			b.sidecars.declare(instance, todo[i].UID, startsOf(&todo[i]))
			continue
		}
		if errors.Is(err, errUndelivered) {
			continue // the zones say what is in the way, and an event that it is not any more
		}
		again, bad := b.failing(&todo[i], err, now)
		troubles = append(troubles, bad...)
		if after == 0 || again < after {
			after = again
		}
	}
	return after, troubles
}

// declareTo tells one sidecar, unless it knows already: it writes that down beside its zones.
func (b *Controller) declareTo(ctx context.Context, instance client.ObjectKey, p *corev1.Pod) error {
	c, err := b.sidecar(ctx, p)
	if err != nil {
		return err
	}
	content, err := c.Content(ctx)
	if err != nil || content.Declared {
		return err
	}
	if b.zones != nil {
		b.zones.addPending(instance)
		zones, complete := b.zones.contentOf(instance, p.UID)
		if !complete {
			return errUndelivered
		}
		return c.Declare(ctx, zones)
	}
	zones, err := c.Zones(ctx)
	if err != nil {
		return err
	}
	return c.Declare(ctx, zones)
}

// forget drops what is known of pods that are gone, and returns the rest.
func (s *sidecars) forget(instance client.ObjectKey, pods []corev1.Pod) map[types.UID]int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := map[types.UID]int32{}
	for i := range pods {
		if restarts, ok := s.declared[instance][pods[i].UID]; ok {
			left[pods[i].UID] = restarts
		}
	}
	if s.declared == nil {
		s.declared = map[client.ObjectKey]map[types.UID]int32{}
	}
	if s.declared[instance] = left; len(left) == 0 {
		delete(s.declared, instance)
	}
	out := make(map[types.UID]int32, len(left))
	for uid, restarts := range left {
		out[uid] = restarts
	}
	return out
}

func (s *sidecars) declare(instance client.ObjectKey, pod types.UID, restarts int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.declared[instance] == nil {
		s.declared[instance] = map[types.UID]int32{}
	}
	s.declared[instance][pod] = restarts
}

// restartsOf is how often a container of a pod was started again.
func restartsOf(p *corev1.Pod, container string) int32 {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.Name == container {
			return c.RestartCount
		}
	}
	return 0
}

// startsOf is how often what knows the zones of a pod was started again: BIND, and who was told which those are.
func startsOf(p *corev1.Pod) int32 {
	return restartsOf(p, dialect.NamedContainer) + restartsOf(p, dialect.BindcarContainer)
}

// sidecarState is since when the sidecar of a pod runs, zero if it does not, and how often it was started again.
func sidecarState(p *corev1.Pod) (began time.Time, restarts int32) {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.Name == dialect.BindcarContainer {
			if c.State.Running != nil {
				began = c.State.Running.StartedAt.Time
			}
			return began, c.RestartCount
		}
	}
	return time.Time{}, 0
}

// failing says when to ask a sidecar again that did not do what it was asked for, and what people have to know: nothing
// as long as it is starting. Messages are the same for the same cause: they stand in statuses.
func (b *Controller) failing(p *corev1.Pod, err error,
	now time.Time) (again time.Duration, troubles []dialect.Trouble) {
	if errors.Is(err, bindcar.ErrUnauthorized) {
		b.tokens.refused(p.Namespace, now)
	}
	began, _ := sidecarState(p)
	age := now.Sub(began)
	if began.IsZero() {
		return mostRetry, nil // that it runs is an event
	}
	if errors.Is(err, errBusy) {
		return busyRetry, nil
	}
	again = max(min(max(age/4, leastRetry), mostRetry), b.sidecars.pause(p, now))
	var answer *bindcar.Error
	errors.As(err, &answer)
	b.Log.Debug("a sidecar does not do what it is asked for", "pod", client.ObjectKeyFromObject(p).String(), "error", err)
	switch {
	case errors.Is(err, bindcar.ErrThrottled) && answer != nil:
		return max(again, answer.RetryAfter), nil
	case age < sidecarStart, errors.Is(err, errNoAddress), errors.Is(err, context.Canceled),
		errors.Is(err, bindcar.ErrMisdirected) && dialect.WasReady(p):
		return again, nil
	}
	return again, []dialect.Trouble{{Reason: v1beta1.ReasonReconcileFailed, Message: b.complaint(p, err, answer)}}
}

// complaint is what people have to know about a sidecar that fails.
func (b *Controller) complaint(p *corev1.Pod, err error, answer *bindcar.Error) string {
	what := fmt.Sprintf("The sidecar of Pod %s", client.ObjectKeyFromObject(p))
	user := fmt.Sprintf("system:serviceaccount:%s:%s", b.Namespace, b.ServiceAccount)
	switch {
	case errors.Is(err, errToken):
		return dialect.Sentence("%s cannot be asked: %v.", what, err)
	case errors.Is(err, bindcar.ErrMisdirected):
		return dialect.Sentence("At %s, the address of Pod %s, another pod answers. If bindcarConfig.envVars has POD_UID, "+
			"remove it; if the pod is on a node that is lost, delete the pod.",
			p.Status.PodIP, client.ObjectKeyFromObject(p))
	case errors.Is(err, bindcar.ErrUnauthorized):
		return dialect.Sentence(
			"%s does not let the operator in. It has to let in %s, and the API server has to tell it whose token it is shown: "+
				"see that this is the operator's ServiceAccount, and that the ClusterRoleBinding zonefold-bindcar names "+
				"ServiceAccount %s of namespace %s.", what, user, dialect.ServiceAccount, p.Namespace)
	case errors.Is(err, bindcar.ErrNotFound):
		return dialect.Sentence("%s does not know the call: its image %s is not of the sidecar that belongs to this "+
			"operator, so that the pod cannot be told what zones it is to have, "+
			"and is not ready. Take bindcarConfig.image out, and the operator's own is used, or name one of zonefold's sidecar.",
			what, dialect.ImageIn(p, dialect.BindcarContainer))
	case answer != nil && answer.Status != 0:
		return dialect.Sentence("%s answers with HTTP %d. Its log says why.", what, answer.Status)
	}
	return dialect.Sentence("%s does not answer the operator at %s. A NetworkPolicy may be in the way.", what,
		p.Status.PodIP)
}
