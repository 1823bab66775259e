// Package servers finds the servers that Bind9Instances are, and the way to them: what each is to be, by its spec and
// its cluster; its pods; the Secrets with its keys; and the sidecars of its pods, each called within bounds and with a
// token of its namespace. It reads and calls. It makes nothing, which package fleet does, and knows no zones, which
// package zones does: both find servers here.
package servers

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// Config is what finding and calling servers takes.
type Config struct {
	dialect.Settings
	Client client.Client // reads from a cache
	Live   client.Reader // asks the API server
	Clock  func() time.Time
	Log    *slog.Logger
	// Token is what the sidecars of a namespace know the operator by; nil: a token of its ServiceAccount, for their
	// Audience.
	Token func(ctx context.Context, namespace string) (string, error)
	// Sidecars is the way to those; nil: the machine's.
	Sidecars http.RoundTripper
	Leads    func() bool // whether nobody else can have become the leader; nil: nobody else ever does
}

// Servers are those of all Bind9Instances, with what one term of leadership remembers of their Secrets and sidecars.
type Servers struct {
	Config
	secrets secrets
	calls   calls
	tokens  tokens
	http    *http.Client // to sidecars
}

// New returns Servers of which nothing is known yet.
func New(c Config) *Servers { return &Servers{Config: c, http: sidecarHTTP(c.Sidecars)} }

// Pods are the pods of a server, those on their way out as well.
func (s *Servers) Pods(ctx context.Context, server *dialect.Server) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := s.Client.List(ctx, &pods, client.InNamespace(server.Instance.Namespace),
		client.MatchingLabels(server.Selector())); err != nil {
		return nil, fmt.Errorf("listing the pods of Bind9Instance %s/%s: %w", server.Instance.Namespace,
			server.Instance.Name, err)
	}
	return pods.Items, nil
}

// Instances are all that there are, from memory. They may say that they have thousands of zones, and are only to be
// looked at.
func (s *Servers) Instances(ctx context.Context) ([]*v1beta1.Bind9Instance, error) {
	var list v1beta1.Bind9InstanceList
	if err := s.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("the instances cannot be listed: %w", err)
	}
	all := make([]*v1beta1.Bind9Instance, len(list.Items))
	for i := range list.Items {
		all[i] = &list.Items[i]
	}
	return all, nil
}
