package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bindcar"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// CallTime is how long a call to a sidecar may take, or those to all pods of an object together.
const CallTime = 8 * time.Second

// Bounds of calls to sidecars.
const (
	sidecarsAtOnce = 8 // of one object
	objectsAtOnce  = 2 // of one namespace: its pods, if they do not answer, keep no more workers from others
	objectWait     = 100 * time.Millisecond
	sidecarDial    = 2 * time.Second
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

// sidecarHTTP goes straight to pods: through no proxy, and not where an answer points to, for a token is in the
// request. The transport is nil where it is the machine's.
func sidecarHTTP(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			DialContext:     (&net.Dialer{Timeout: sidecarDial}).DialContext,
			IdleConnTimeout: sidecarStart, MaxIdleConnsPerHost: 1, ResponseHeaderTimeout: CallTime,
		}
	}
	return &http.Client{
		Timeout: CallTime, Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

var errNoAddress = errors.New("it has no address yet")

// Sidecar is the client of a pod's sidecar. The pod says where that is: the spec of the instance may be newer.
func (s *Servers) Sidecar(ctx context.Context, p *corev1.Pod) (*bindcar.Client, error) {
	i := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == dialect.BindcarContainer })
	if i < 0 || len(p.Spec.Containers[i].Ports) == 0 || p.Status.PodIP == "" {
		return nil, errNoAddress
	}
	token, err := s.TokenFor(ctx, p.Namespace)
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(int(p.Spec.Containers[i].Ports[0].ContainerPort))
	return &bindcar.Client{
		BaseURL: "http://" + net.JoinHostPort(p.Status.PodIP, port), Pod: string(p.UID), HTTP: s.http,
		Token: func() (string, error) { return token, nil }, Leads: s.Leads,
	}, nil
}

// Failing says when to ask a sidecar again that did not do what it was asked for, and what people have to know: nothing
// as long as it is starting. Messages are the same for the same cause: they stand in statuses.
func (s *Servers) Failing(p *corev1.Pod, err error,
	now time.Time) (again time.Duration, troubles []dialect.Trouble) {
	if errors.Is(err, bindcar.ErrUnauthorized) {
		s.tokens.refused(p.Namespace, now)
	}
	began, _ := dialect.SidecarState(p)
	age := now.Sub(began)
	if began.IsZero() {
		return mostRetry, nil // that it runs is an event
	}
	if errors.Is(err, errBusy) {
		return busyRetry, nil
	}
	again = max(min(max(age/4, leastRetry), mostRetry), s.calls.pause(p, now))
	var answer *bindcar.Error
	errors.As(err, &answer)
	s.Log.Debug("a sidecar does not carry out a call", "pod", client.ObjectKeyFromObject(p).String(), "error", err)
	switch {
	case errors.Is(err, bindcar.ErrThrottled) && answer != nil:
		return max(again, answer.RetryAfter), nil
	case age < sidecarStart, errors.Is(err, errNoAddress), errors.Is(err, context.Canceled),
		errors.Is(err, bindcar.ErrNotLeading),
		errors.Is(err, bindcar.ErrMisdirected) && dialect.WasReady(p):
		return again, nil
	}
	return again, []dialect.Trouble{{Reason: v1beta1.ReasonReconcileFailed, Message: s.complaint(p, err, answer)}}
}

// complaint is what people have to know about a sidecar that fails.
func (s *Servers) complaint(p *corev1.Pod, err error, answer *bindcar.Error) string {
	what := fmt.Sprintf("The sidecar of Pod %s", client.ObjectKeyFromObject(p))
	user := fmt.Sprintf("system:serviceaccount:%s:%s", s.Namespace, s.ServiceAccount)
	switch {
	case errors.Is(err, ErrToken):
		return dialect.Sentence("%s cannot be called: %v.", what, err)
	case errors.Is(err, bindcar.ErrMisdirected):
		return dialect.Sentence("At %s, the address of Pod %s, another pod answers. Remove POD_UID from "+
			"bindcarConfig.envVars if it is there; if the pod's node is lost, delete the pod.",
			p.Status.PodIP, client.ObjectKeyFromObject(p))
	case errors.Is(err, bindcar.ErrUnauthorized):
		return dialect.Sentence(
			"%s refuses the operator's token. Check that the operator's ServiceAccount is %s, and that ClusterRoleBinding "+
				"zonefold-bindcar names ServiceAccount %s of namespace %s.", what, user, dialect.ServiceAccount, p.Namespace)
	case errors.Is(err, bindcar.ErrNotFound):
		return dialect.Sentence("%s does not support the call: its image %s is not a sidecar of this operator, so the pod "+
			"cannot become ready. Remove bindcarConfig.image to use the operator's own, or use one of zonefold's images.",
			what, dialect.ImageIn(p, dialect.BindcarContainer))
	case answer != nil && answer.Status != 0:
		return dialect.Sentence("%s answers with HTTP %d. Its log says why.", what, answer.Status)
	}
	return dialect.Sentence("%s does not answer the operator at %s. A NetworkPolicy may block it.", what,
		p.Status.PodIP)
}
