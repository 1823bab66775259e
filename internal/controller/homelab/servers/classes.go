package servers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/guarded"
)

const (
	classWorkers  = 4                // how many classes are looked at at a time
	classPatience = 10 * time.Second // for the Secrets and the server of one
	knownPatience = 3 * time.Second  // how long a term waits at its begin for servers that do not answer
	askAgain      = time.Second      // after a failure, doubled up to
	askRarely     = 30 * time.Second
)

var _ controller.Classes = (*Classes)(nil)

// Classes are the DNSClasses that Backends name. Whether a server shows records is asked once for each version of a
// class.
type Classes struct {
	Cached client.Reader // reads from Cache
	Live   client.Reader // asks the API server: for Secrets
	Cache  cache.Cache
	Clock  clock.WithTicker

	Transport http.RoundTripper // to servers; nil: each client has one of its own

	asked guarded.Value[asked]
}

// asked are the classes that somebody has asked for, and the queue of those that are to be looked at.
type asked struct {
	queue workqueue.TypedDelayingInterface[string] // nil: nobody follows classes yet
	known map[string]*named
}

// A named class is one that was asked for.
type named struct {
	server   controller.ClassServer
	trouble  *controller.Outcome
	secrets  []types.NamespacedName // that the class names
	looked   chan struct{}          // closed when it was looked at once; nil: it was
	asked    string                 // the version of the class whose server has said whether it shows records
	blind    bool
	failures int // in a row
}

// Follow implements controller.Classes. There is one at a time.
func (c *Classes) Follow(ctx context.Context, f func(class string)) error {
	queue := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Clock: c.Clock})
	a, unlock := c.asked.Lock()
	*a = asked{queue, map[string]*named{}}
	unlock()
	context.AfterFunc(ctx, queue.ShutDown)
	classes, secrets := controller.HandlerOf(c.putClass, c.putClass), controller.HandlerOf(c.putSecret, c.putSecret)
	if _, err := controller.Follow(ctx, c.Cache, nil, &v1alpha1.DNSClass{}, classes); err != nil {
		return err
	}
	if _, err := controller.Follow(ctx, c.Cache, nil, Secrets(), secrets); err != nil {
		return err
	}
	for range classWorkers {
		go c.work(ctx, queue, f)
	}
	return nil
}

func (c *Classes) work(ctx context.Context, queue workqueue.TypedDelayingInterface[string], f func(string)) {
	for {
		name, end := queue.Get()
		if end {
			return
		}
		if ctx.Err() == nil && c.look(ctx, name) {
			f(name)
		}
		queue.Done(name)
	}
}

// Secrets are what is followed of Secrets: which there are, and which version of them.
func Secrets() client.Object {
	secrets := &metav1.PartialObjectMetadata{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return secrets
}

// putClass has a class looked at again that a Backend names.
func (c *Classes) putClass(o *v1alpha1.DNSClass) {
	a, unlock := c.asked.Lock()
	defer unlock()
	if a.known[o.Name] != nil {
		a.queue.Add(o.Name)
	}
}

// putSecret has the classes looked at again that name a Secret.
func (c *Classes) putSecret(o *metav1.PartialObjectMetadata) {
	a, unlock := c.asked.Lock()
	defer unlock()
	for name, n := range a.known {
		if slices.Contains(n.secrets, types.NamespacedName{Namespace: o.Namespace, Name: o.Name}) {
			a.queue.Add(name)
		}
	}
}

// Known implements controller.Classes.
func (c *Classes) Known(ctx context.Context) bool {
	a, unlock := c.asked.Lock()
	var looked []chan struct{}
	for _, n := range a.known {
		if n.looked != nil {
			looked = append(looked, n.looked)
		}
	}
	unlock()
	enough := c.Clock.After(knownPatience)
	for _, ch := range looked {
		select {
		case <-ch:
		case <-enough:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Class implements controller.Classes.
func (c *Classes) Class(name string) (controller.ClassServer, *controller.Outcome) {
	a, unlock := c.asked.Lock()
	defer unlock()
	if a.queue == nil {
		return controller.ClassServer{}, asking(name)
	}
	n := a.known[name]
	if n == nil {
		n = &named{looked: make(chan struct{}), trouble: asking(name)}
		a.known[name] = n
		a.queue.Add(name)
	}
	return n.server, n.trouble
}

func asking(name string) *controller.Outcome {
	o := controller.Not(ReasonPending, fmt.Sprintf(
		"The operator is asking the server of DNSClass %s whether it shows records.",
		name))
	return &o
}

// Examine implements controller.Classes.
func (c *Classes) Examine(ctx context.Context, name string) *controller.Outcome {
	class, err := c.class(ctx, name)
	if err == nil {
		_, err = Examine(ctx, c.Live, c.Clock.Now, class)
	}
	return outcomeOf(name, err)
}

// errNoClass is that a class does not exist.
var errNoClass = errors.New("it does not exist")

func outcomeOf(name string, err error) *controller.Outcome {
	if err == nil {
		return nil
	}
	f, _, _ := Explain(name, err)
	var secret *SecretError
	switch {
	case errors.As(err, &secret) && secret.silent: // nobody has taken the Secret away, so what was read of it counts still
		f.Reason = ReasonServerError
	case errors.Is(err, errNoClass):
		f.Reason, f.Message = ReasonClassNotFound, fmt.Sprintf(
			"DNSClass %s does not exist; create it, or name another one in spec.dnsClass.", name)
	}
	o := controller.Not(f.Reason, f.Message)
	return &o
}

// class reads a class. That one does not exist is known once the cache is filled, which the operator waits for before
// it is ready.
func (c *Classes) class(ctx context.Context, name string) (*v1alpha1.DNSClass, error) {
	var class v1alpha1.DNSClass
	err := c.Cached.Get(ctx, types.NamespacedName{Name: name}, &class)
	if apierrors.IsNotFound(err) {
		return nil, errNoClass
	}
	if err != nil {
		return nil, fmt.Errorf("reading it: %w", err)
	}
	return &class, nil
}

// look looks at a class, and reports whether it is another one than before.
func (c *Classes) look(ctx context.Context, name string) bool {
	limited, cancel := context.WithTimeout(ctx, classPatience)
	defer cancel()
	a, unlock := c.asked.Lock()
	n := a.known[name]
	blind, asked := n.blind, n.asked
	unlock()
	var r Reach
	class, err := c.class(limited, name)
	if err == nil {
		_, unlock = c.asked.Lock()
		n.secrets = SecretsOf(class) // before they are read: of what changes later an event tells
		unlock()
		r, err = Examine(limited, c.Live, c.Clock.Now, class)
	}
	if err == nil {
		if version := fmt.Sprint(class.UID, " ", class.Generation); version != asked {
			blind, err = c.blind(limited, r)
			asked = version
		}
	}
	if ctx.Err() != nil {
		return false
	}
	a, unlock = c.asked.Lock()
	defer unlock()
	before, was := n.server, n.trouble
	n.server, n.trouble = controller.ClassServer{}, outcomeOf(name, err)
	switch {
	case err == nil:
		n.asked, n.blind, n.failures = asked, blind, 0
		n.server = r.server(blind)
	case !errors.Is(err, errNoClass): // of that an event tells
		n.failures++
		a.queue.AddAfter(name, backend.Doubled{First: askAgain, Most: askRarely}.After(n.failures))
	}
	if n.looked != nil {
		close(n.looked)
		n.looked = nil
	}
	same := was == n.trouble || was != nil && n.trouble != nil && *was == *n.trouble
	return before != n.server || !same
}

// server is what others are told.
func (r Reach) server(blind bool) controller.ClassServer {
	s := controller.ClassServer{URL: r.url, CABundle: string(r.bundle), Timeout: r.wait, Blind: blind, InRDATA: r.rdata}
	if r.key != nil {
		s.Secret, s.Algorithm = string(r.key.Secret), string(r.key.Algorithm)
	}
	return s
}

// blind asks a server for a record that there is not, in a zone that nobody has (RFC 6761, section 6.4): a server that
// does not want to hear of that zone shows records too.
func (c *Classes) blind(ctx context.Context, r Reach) (bool, error) {
	hook, err := r.Dial(c.Clock.Now, c.Transport)
	if err != nil {
		return false, err
	}
	defer hook.Close()
	_, _, err = hook.Get(ctx, dnshook.ID{Type: "TXT", Domain: "zonefold.invalid", Subdomain: "_zonefold"})
	var e *dnshook.Error
	switch {
	case errors.Is(err, dnshook.ErrNoGet):
		return true, nil
	case errors.As(err, &e) && reasonOf(e) == ReasonValidationFailed:
		return false, nil
	}
	return false, err
}
