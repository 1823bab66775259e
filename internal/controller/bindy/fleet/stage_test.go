package fleet

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/bindytest"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
)

func TestMain(m *testing.M) { bindytest.Main(m, "../../../..") }

// A stage is one on which reconcilers work, and servers get no zones.
type stage struct{ *bindytest.Stage }

func newStage(t *testing.T) *stage {
	t.Helper()
	return &stage{bindytest.NewStage(t)}
}

// fleetStage is a stage on which what the chart installs for sidecars is there, and all reconcilers run.
func fleetStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t)
	s.Install()
	s.start((*Controller).parts)
	return s
}

// start runs the reconcilers that pick chooses, as one term of leadership of an operator.
func (s *stage) start(pick func(b *Controller) []part) *Controller {
	s.Helper()
	o := s.Operator(CacheOptions(s.Scheme))
	b := New(Config{
		Settings: o.Settings, Client: o.Client, Live: o.Live, Cache: o.Cache, Events: o.Events, Log: o.Log, Clock: o.Clock,
		Rand: rand.Float64, Objects: &objects.Writer{Client: o.Client, Wrote: controller.NewMetrics().Wrote, Now: o.Clock},
		Servers: servers.New(servers.Config{Settings: o.Settings, Client: o.Client, Live: o.Live, Clock: o.Clock,
			Log: o.Log, Token: o.Token}),
	})
	s.Begin(o, func(ctx context.Context) error { return b.run(ctx, pick(b)) })
	return b
}

// another is an operator that knows nothing of what this one remembers.
func another(b *Controller) *Controller {
	c := b.Config
	c.Objects = &objects.Writer{Client: c.Client, Wrote: c.Objects.Wrote, Now: c.Clock}
	c.Servers = servers.New(c.Servers.Config)
	return New(c)
}

// hierarchy are the reconcilers that make no pods. Instances, of which nothing runs then, go when they are deleted.
func hierarchy(b *Controller) []part {
	return []part{b.providers.part(), b.clusters.part(), {kind: &v1beta1.Bind9Instance{},
		reconcile: func(ctx context.Context, key client.ObjectKey) (time.Duration, error) {
			var i v1beta1.Bind9Instance
			if err := b.Client.Get(ctx, key, &i); err != nil || i.DeletionTimestamp.IsZero() {
				return 0, client.IgnoreNotFound(err)
			}
			return 0, b.instances.withoutFinalizer(ctx, &i, v1beta1.InstanceFinalizer)
		}}}
}
