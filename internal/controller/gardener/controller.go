package gardener

import (
	"context"
	"log/slog"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// +kubebuilder:rbac:groups=extensions.gardener.cloud,resources=dnsrecords,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=extensions.gardener.cloud,resources=dnsrecords/status,verbs=patch
// +kubebuilder:rbac:groups=extensions.gardener.cloud,resources=dnsrecords/finalizers,verbs=update
// +kubebuilder:rbac:groups=extensions.gardener.cloud,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=dnsrecords.extensions.gardener.cloud,verbs=get
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=zonefold-system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=zonefold-system,resources=leases,resourceNames=gardener-extension-heartbeat,verbs=get;update;patch

// HeartbeatName is the Lease by which Gardener hears of an extension.
const HeartbeatName = "gardener-extension-heartbeat"

// Schemas are what the dialect needs of the cluster. Gardener's own definition has it, too.
func Schemas() []controller.Schema {
	return []controller.Schema{
		{CRD: "dnsrecords.extensions.gardener.cloud", Version: "v1alpha1", Fields: []string{"spec.class",
			"status.lastOperation.state", "status.conditions", "status.zone"}},
	}
}

// A Request says which account at which kind of DNS service is meant.
type Request struct {
	Type    string
	Data    map[string][]byte // of the Secret
	Region  string            // "": see Data
	Options map[string]string // of providerConfig
}

// Config is what the dialect needs from outside.
type Config struct {
	Client  client.Client // reads from Cache
	Live    client.Reader // asks the API server: for Secrets
	Cache   cache.Cache   // has of Secrets and Namespaces the metadata only
	Events  events.EventRecorder
	Log     *slog.Logger
	Metrics *controller.Metrics
	Clock   func() time.Time
	Rand    func() float64 // from 0 to less than 1
	Leads   func() bool    // whether nobody else can have become the leader; nil: nobody else ever does

	Engine *delivery.Engine
	// Open returns the account that credentials open; for equal ones the same. It asks nobody.
	Open func(Request) (backend.Account, error)

	Filter  Filter
	Trigger Trigger
	Seed    bool // the cluster is a seed: Secrets of other namespaces may be named
	Shared  bool // Zones are delivered too, perhaps into the same hosted zones
	// Inspection is told what knows of DNSRecords; nil: nobody asks.
	Inspection *delivery.Inspection
	// Placed, unless nil, is called once when it is known where the sets are that the services have from an earlier term.
	Placed func()
}

// Controller is the dialect at work. It is made for one term of leadership.
type Controller struct {
	Config

	ctx     context.Context
	opener  opener
	objects *objects.Writer
	writer  *controller.Writer
	asking  sync.WaitGroup

	state guarded.Value[state]
}

// state is what a Controller knows.
type state struct {
	k *Controller

	records     map[zone.ID]*record
	sets        map[rr.Key]map[*record]struct{}   // who asks for a set, wherever
	users       map[string]map[*record]struct{}   // of Secrets, by namespace/name, whether these exist or not
	secrets     map[string]string                 // their versions
	accounts    map[backend.Account]*accountQueue // that are in use
	hostedZones map[string]*hostedZone            // that have something of ours, or are to lose it, by feed
	shoots      map[string]shoot                  // as they were last seen, by namespace
	opened      int                               // accounts
	numbered    uint64                            // hosted zones, of which one may be closed and come again
	searches    map[*record]struct{}              // of which it is being found out where their sets are
	synced      bool                              // every object that existed was seen
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	k := &Controller{Config: c, opener: opener{c.Live, c.Seed, c.Open}}
	s, unlock := k.state.Lock()
	*s = state{
		k: k, records: map[zone.ID]*record{}, sets: map[rr.Key]map[*record]struct{}{},
		users:    map[string]map[*record]struct{}{},
		secrets:  map[string]string{},
		accounts: map[backend.Account]*accountQueue{}, hostedZones: map[string]*hostedZone{},
		shoots: map[string]shoot{}, searches: map[*record]struct{}{},
	}
	unlock()
	k.objects = &objects.Writer{
		Client: c.Client, Leads: c.Leads, Wrote: func(_, what string) { c.Metrics.Wrote(dialect.Kind, what) },
		Now: c.Clock,
	}
	k.writer = controller.NewWriter(workers, c.Log, k.work)
	return k
}

// workers is how many objects are worked at at the same time. None of them waits for a DNS service.
const workers = 16

// Run follows the cluster and delivers until ctx ends; then it finishes what is under way and returns, so that the
// lease is released after the last write.
func (k *Controller) Run(ctx context.Context) error {
	k.ctx = ctx
	defer k.writer.ShutDown() // it does not run if the term is over before all is known
	synced, err := gatherer{k}.gather(ctx)
	if err != nil {
		return err
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), synced...) {
		return nil
	}
	s, unlock := k.state.Lock()
	s.synced = true
	s.sought(nil)
	unlock()
	if k.Inspection != nil {
		defer k.Inspection.Use(k)()
	}
	err = k.writer.Run(ctx)
	k.asking.Wait()
	s, unlock = k.state.Lock()
	defer unlock()
	for _, p := range s.hostedZones {
		s.close(p)
	}
	return err
}
