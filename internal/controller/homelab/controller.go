package homelab

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/zone"
)

// +kubebuilder:rbac:groups=dns.homelab.mortenolsen.pro,resources=dnsclasses;dnsrecords,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=dns.homelab.mortenolsen.pro,resources=dnsclasses/status;dnsrecords/status,verbs=patch
// +kubebuilder:rbac:groups=dns.homelab.mortenolsen.pro,resources=dnsclasses/finalizers;dnsrecords/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=dnsclasses.dns.homelab.mortenolsen.pro;dnsrecords.dns.homelab.mortenolsen.pro,verbs=get

// Schemas are what the dialect needs of the cluster.
func Schemas() []controller.Schema {
	return []controller.Schema{
		{CRD: "dnsclasses.dns.homelab.mortenolsen.pro", Version: "v1alpha1", Fields: []string{"spec.allowed",
			"spec.caBundleRef", "status.health.status"}},
		{CRD: "dnsrecords.dns.homelab.mortenolsen.pro", Version: "v1alpha1", Fields: []string{"status.applied.hash",
			"status.former", "status.conditions"}},
	}
}

// Config is what the dialect needs from outside.
type Config struct {
	Client  client.Client // reads from Cache
	Live    client.Reader // asks the API server: for Secrets
	Cache   cache.Cache   // has of Secrets the metadata only
	Events  events.EventRecorder
	Log     *slog.Logger
	Metrics *controller.Metrics
	Numbers *Numbers
	Clock   clock.WithTicker
	Rand    func() float64 // from 0 to less than 1
	Leads   func() bool    // whether nobody else can have become the leader; nil: nobody else ever does

	Transport http.RoundTripper // to servers; nil: each client has one of its own

	Late func() time.Time // until when a message of who led before may arrive; zero: none can; nil: nobody led

	Tracer trace.Tracer // follows changes until they are served; nil: nobody does

	Foresight  *core.Foresight      // is told what to ask; nil: nobody asks
	Inspection *delivery.Inspection // likewise

	Retry          servers.Retry
	HealthInterval time.Duration
	Audit          time.Duration // how often servers are asked what they have; 0: never
}

// Controller is the dialect at work. It is made for one term of leadership.
type Controller struct {
	Config
	Core *core.Core

	ctx       context.Context
	lingering context.Context // outlives ctx a little, so that what is under way is finished
	begun     chan struct{}   // closed when the World knows everything
	workers   sync.WaitGroup

	calls        servers.Config
	objects      *objects.Writer
	recordWriter *controller.Writer
	classWriter  *controller.Writer
	healths      *controller.Writer // which write nothing: their classes' servers are asked
	audits       *controller.Writer

	model    guarded.Value[model]
	first    sync.Once
	follower core.Follower
}

// model is what is known of records, their slots and classes.
type model struct {
	plan
	k *Controller

	records map[zone.ID]*record
	needs   map[string]map[*record]struct{} // for which a class has to stay
	queues  map[string]slotQueue
	secrets map[string]string // resourceVersions, by namespace/name
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	if c.Leads == nil {
		c.Leads = func() bool { return true }
	}
	if c.Late == nil {
		c.Late = func() time.Time { return time.Time{} }
	}
	k := &Controller{
		Config: c, begun: make(chan struct{}), follower: core.Follower{Tracer: c.Tracer},
	}
	m, unlock := k.model.Lock()
	*m = model{
		plan: plan{clock: c.Clock, late: c.Late, look: m.wake, slots: map[slotKey]*slot{}, classes: map[string]*class{}},
		k:    k, records: map[zone.ID]*record{}, needs: map[string]map[*record]struct{}{},
		queues: map[string]slotQueue{}, secrets: map[string]string{},
	}
	unlock()
	k.objects = &objects.Writer{Client: c.Client, Leads: c.Leads, Wrote: c.Metrics.Wrote, Now: c.Clock.Now}
	k.calls = servers.Config{Live: c.Live, Clock: c.Clock, Transport: c.Transport, Leads: c.Leads,
		Warned: func(o *v1alpha1.DNSClass, reason, note string) { warn(c.Events, o, reason, "Sign", note) },
		Asked:  c.Numbers.asked}
	k.Core = core.New(core.Config{
		Options: zone.Options{VerdictsOnly: true}, // servers of classes are told of single sets
		Clock:   c.Clock.Now, Metrics: c.Metrics, Log: c.Log, Settled: k.settled,
	})
	k.recordWriter = controller.NewWriter(16, c.Log, k.writeRecord)
	k.recordWriter.Busy = k.Core.Busy
	k.classWriter = controller.NewWriter(2, c.Log, k.writeClass)
	k.healths = controller.NewWriterBy(c.Clock, healthWorkers, c.Log, k.check)
	k.audits = controller.NewWriterBy(c.Clock, healthWorkers, c.Log, k.audit)
	return k
}

// Run follows the cluster and delivers until ctx ends; then it finishes what is under way and returns, so that the
// lease is released after the last write.
func (k *Controller) Run(ctx context.Context) error {
	lingering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	context.AfterFunc(ctx, func() { time.AfterFunc(linger, cancel) })
	k.ctx, k.lingering = ctx, lingering
	synced, err := k.gather(ctx)
	if err != nil {
		k.shutDown()
		return err
	}
	var parts sync.WaitGroup
	for _, w := range k.writers() {
		parts.Go(func() {
			k.await() // nothing is let go before it is known who needs it, and what was sent
			_ = w.Run(ctx)
		})
	}
	if k.Foresight != nil {
		k.Foresight.Use(k.Core, nil)
		defer k.Foresight.Use(nil, nil)
	}
	if k.Inspection != nil {
		defer k.Inspection.Use(k)()
	}
	err = k.Core.Run(ctx, func(ctx context.Context) bool {
		return toolscache.WaitForCacheSync(ctx.Done(), synced...)
	})
	<-ctx.Done()
	k.shutDown()
	parts.Wait()
	k.workers.Wait()
	return err
}

func (k *Controller) writers() []*controller.Writer {
	return []*controller.Writer{k.recordWriter, k.classWriter, k.healths, k.audits}
}

// shutDown ends all queues, and with them who waits for what is in them.
func (k *Controller) shutDown() {
	for _, w := range k.writers() {
		w.ShutDown()
	}
	m, unlock := k.model.Lock()
	defer unlock()
	for _, q := range m.queues {
		q.ShutDown()
	}
}

// await returns when the World knows everything, or the term is over.
func (k *Controller) await() {
	select {
	case <-k.begun:
	case <-k.ctx.Done():
	}
}

// settled takes over what one step of the World has decided.
func (k *Controller) settled(s core.Settlement) {
	m, unlock := k.model.Lock()
	defer unlock()
	for _, o := range s.Inputs {
		if r := m.records[o.ID]; r != nil {
			r.settled = o.Version
			m.trace(s, o, r)
			m.judge(o.ID, s.View)
		} else if o.ID.Kind == dialect.KindClass {
			m.wakeClass(o.ID.Name)
		}
	}
	for _, id := range s.Delta.Verdicts {
		m.judge(id, s.View)
	}
	k.first.Do(func() {
		m.assumeApplied()
		close(k.begun)
	})
}

// judge notes a verdict and looks at what depends on it.
func (m *model) judge(id zone.ID, w *zone.World) {
	r := m.records[id]
	if r == nil {
		return
	}
	v, _ := w.Verdict(id)
	m.k.Metrics.Judged(id.Kind, string(r.verdict.Reason), string(v.Reason))
	was := r.verdict
	if r.verdict = v; !was.Accepted || !v.Accepted { // its class may have to stay for it, or not any more
		m.index(r)
	}
	for _, key := range r.slots {
		m.wake(key)
	}
	m.k.recordWriter.Enqueue(id)
}
