package homelab

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller"
)

// A class is what is known about a DNSClass.
type class struct {
	name     string
	object   *v1alpha1.DNSClass
	revision string // of the spec and of the Secrets that it names: what failed may work with another one

	checked  *check // the last health check; nil: none yet
	since    time.Time
	batch    bool      // the server takes several records at once
	fewer    int       // how many at most, since it has failed with more; 0: it has not
	noGet    bool      // the server does not tell what it has
	shown    bool      // it has told
	poorly   int       // how many checks in turn have found it unhealthy
	woken    time.Time // when a success has had what failed be tried again, although it was unhealthy
	pause    pause
	limiter  *rate.Limiter // of its requests; nil: there is no limit
	dial     controller.Turn
	hook     *dnshook.Client // guarded by dial, like
	hookOf   string          // the revision that it was made for
	hookErr  error
	hookTill time.Time // until when hookErr counts
}

// secretsOf lists the Secrets that a DNSClass names.
func secretsOf(c *v1alpha1.DNSClass) []types.NamespacedName {
	var out []types.NamespacedName
	if h := c.Spec.HMACAuth; h != nil && h.SecretRef != nil {
		out = append(out, types.NamespacedName{Namespace: h.SecretRef.Namespace, Name: h.SecretRef.Name})
	}
	if ca := c.Spec.CABundleRef; ca != nil {
		out = append(out, types.NamespacedName{Namespace: ca.Namespace, Name: ca.Name})
	}
	return out
}

// errSecret is why a Secret cannot be used.
type errSecret struct {
	text   string
	silent bool // of what ends it no event tells: rights are no objects that are followed
}

func (e *errSecret) Error() string { return e.text }

// errClass is why a DNSClass cannot be used.
type errClass struct{ text string }

func (e *errClass) Error() string { return e.text }

// connect returns a client of a class. It reads Secrets when they have changed only.
func (k *Controller) connect(ctx context.Context, c *class) (*dnshook.Client, error) {
	k.mu.Lock()
	object, revision := c.object, c.revision
	k.mu.Unlock()
	c.dial.Lock()
	defer c.dial.Unlock()
	if c.hookOf == revision && (c.hook != nil || c.hookErr != nil && k.Clock.Now().Before(c.hookTill)) {
		return c.hook, c.hookErr
	}
	hook, err := k.dial(ctx, object)
	if c.hook != nil {
		c.hook.Close()
	}
	c.hook, c.hookErr, c.hookOf, c.hookTill = hook, err, revision, k.Clock.Now().Add(10*time.Second)
	return hook, err
}

func (k *Controller) dial(ctx context.Context, o *v1alpha1.DNSClass) (*dnshook.Client, error) {
	r, err := reachOf(ctx, k.Live, o)
	if err != nil {
		return nil, err
	}
	if r.key != nil && k.Events != nil {
		if note := lineFeed(o.Spec.HMACAuth.SecretRef, r.key.Secret); note != "" {
			k.Events.Eventf(o, nil, "Warning", reasonLineFeed, "Sign", "%s", note)
		}
	}
	return r.dial(k.Clock.Now, k.Transport)
}

const reasonLineFeed = "SecretEndsInNewline"

// lineFeed warns of a secret that ends in a line feed, as those do that an editor wrote.
func lineFeed(ref *v1alpha1.SecretRef, secret []byte) string {
	if n := len(secret); ref == nil || n == 0 || secret[n-1] != '\n' {
		return ""
	}
	return fmt.Sprintf("The key %s of the Secret %s/%s ends in a line feed, which is part of the secret; if the "+
		"server's has none, signatures do not match.",
		ref.Key, ref.Namespace, ref.Name)
}
