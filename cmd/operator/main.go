// Command operator is zonefold's controller: it folds the DNS objects of a cluster
// into zones and delivers them.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/trace"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	gardener "github.com/zonefold/zonefold/api/gardener/v1alpha1"
	homelab "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/bind9"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/objects"
	bindydialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/tracing"
	"github.com/zonefold/zonefold/internal/version"
)

// options are the flags.
type options struct {
	kubeconfig    string
	namespace     string
	credentials   string
	secrets       namespaceList // of the dialects; none: all
	election      bool
	lease         time.Duration
	renew         time.Duration
	retry         time.Duration
	metrics       metricsOptions
	health        string
	dns           string
	advertise     string
	externalDNS   externalDNSOptions
	podIP         string
	pprof         string
	logs          logOptions
	version       version.Question
	maxSet        int
	maxEntries    int
	history       int
	audit         time.Duration
	requireGrants bool
	clientsHidden bool
	dialects      dialects
	sources       sourceOptions
	fleet         bindydialect.Settings
	admission     admissionOptions
	inspect       string
	hooks         hooks
	gardener      gardenerOptions
	tenants       tenantServers
	apiService    string // host of the API server in the cluster
	readMemory    int64  // octets; 0: a share of all
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if os.Getenv("GOGC") == "" {
		tuneGC()
	}
	err := run(ctx, os.Args[1:], os.Getenv, os.Stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	if !errors.Is(err, errLogged) {
		fmt.Fprintln(os.Stderr, "operator:", err)
	}
	os.Exit(1)
}

func parse(args []string, env func(string) string) (options, error) {
	o := options{podIP: env("POD_IP"), apiService: env("KUBERNETES_SERVICE_HOST"), dialects: usualDialects()}
	namespace := cmp.Or(env("POD_NAMESPACE"), "zonefold-system")
	f := flag.NewFlagSet("operator", flag.ContinueOnError)
	f.StringVar(&o.kubeconfig, "kubeconfig", env("KUBECONFIG"),
		"kubeconfig `file`; empty: the Pod's ServiceAccount")
	f.StringVar(&o.namespace, "namespace", namespace,
		"`namespace` of the operator: of its Lease and of the Secrets of Backends")
	f.StringVar(&o.credentials, "credentials-namespaces", "",
		"further `namespaces`, separated by commas, whose Secrets with the label "+zonefold.CredentialsLabel+
			`: "true" may be read`)
	f.Var(&o.secrets, "secrets-namespaces",
		"`namespaces`, separated by commas, whose Secrets the objects of bindy, homelab and gardener may name (default all)")
	f.BoolVar(&o.election, "leader-elect", true, "let only one of several operators act at a time")
	f.DurationVar(&o.lease, "leader-elect-lease-duration", 15*time.Second,
		"how long other operators wait after the leader's last renewal, in whole seconds")
	f.DurationVar(&o.renew, "leader-elect-renew-deadline", 10*time.Second,
		"how long the leader tries to renew before it ends; less than the lease duration")
	f.DurationVar(&o.retry, "leader-elect-retry-period", time.Second,
		"the pause between two tries; an operator that waits to lead takes up to 2.2 times as long")
	metricsFlags(f, &o.metrics)
	f.StringVar(&o.health, "health-probe-bind-address", ":8081", "`address` of /healthz and /readyz; 0 turns them off")
	f.StringVar(&o.dns, "dns-bind-address", "0",
		"`addresses` of the operator's own name server, UDP and TCP, separated by commas, such as :5353; 0 turns it off")
	f.StringVar(&o.advertise, "dns-advertise-address", "", "`address` and port at which the other replicas reach this "+
		"one's name server (default what it listens on, or $POD_IP)")
	externalDNSFlags(f, &o.externalDNS)
	f.StringVar(&o.pprof, "pprof-bind-address", "0",
		"`address` of /debug/pprof/, which reveals everything about the process; 0 turns it off")
	logFlags(f, &o.logs)
	f.Var(&o.version, "version", "print the version and end; with =json, as JSON")
	f.IntVar(&o.maxSet, "max-set-size", 0, "records that a set may have (default 100, BIND's limit)")
	f.IntVar(&o.maxEntries, "max-status-entries", 0,
		"entries that a Zone's status may have before they are kept in ZoneSlices; 0: as many as 900 KiB hold")
	f.IntVar(&o.history, "history", 0,
		"how many ZoneRevisions each Zone of kubi.zone and DNSZone of bindy keeps as its history; 0: none")
	f.DurationVar(&o.audit, "audit-interval", time.Hour,
		"how often a zone is read back from its servers, unless its Backend sets that")
	f.BoolVar(&o.requireGrants, "require-grants", false,
		"refuse root Zones without a grant of a Backend, even while no Backend has grants")
	f.BoolVar(&o.clientsHidden, "dns-clients-hidden", false, "warn of transfer rules with addresses: the name server "+
		"sees addresses of nodes instead of those outside the cluster")
	sourceFlags(f, &o.sources)
	f.Var(&o.dialects, "dialects", "the enabled `dialects`, separated by commas")
	fleetFlags(f, &o.fleet, env)
	admissionFlags(f, &o.admission)
	inspectFlags(f, &o.inspect)
	gardenerFlags(f, &o.gardener)
	tenantServersFlags(f, &o.tenants)
	f.Func("read-memory", "`octets` of memory, such as 128Mi, for everything that is being read from servers; one "+
		"answer may have half (default a quarter of the operator's memory)",
		o.setReadMemory)
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q; see -help", f.Arg(0))
	}
	if err := o.check(); err != nil {
		return o, err
	}
	o.fleet.Namespace = o.namespace
	var err error
	o.hooks, err = parseHooks(env)
	return o, err
}

// errLogged is about an error that the log has.
var errLogged = errors.New("the log says why")

// run runs the operator with these flags, and writes the log to said. Before there is one, it returns what is wrong.
func run(ctx context.Context, args []string, env func(string) string, said io.Writer) error {
	o, err := parse(args, env)
	if err != nil {
		return err
	}
	if o.version.Asked() {
		return o.version.Answer(os.Stdout, "operator", version.Read())
	}
	log := slog.New(o.logs.handler(said))
	logLibraries(log)
	if err := begin(ctx, log, o, env); err != nil {
		log.Error("The operator ends.", "error", err)
		return errLogged
	}
	return nil
}

// begin runs the operator in its cluster.
func begin(ctx context.Context, log *slog.Logger, o options, env func(string) string) error {
	traces, err := tracing.New(ctx, "zonefold-operator", version.Release(), env)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	return operate(ctx, config, o, process{log: log, traces: traces, registry: metrics.Registry, chance: rand.Float64})
}

// A process is what an operator has from the program that it runs in.
type process struct {
	log      *slog.Logger
	traces   *trace.TracerProvider // nil: nothing is traced
	registry prometheus.Registerer
	// comes before who makes clients of servers; nil: nobody does
	connect func(connector) connector
	// comes before who opens the accounts of DNSRecords of Gardener; nil: nobody does
	open func(opener) opener
	// to the APIs of services that host zones; nil: transports of the clients' own
	services http.RoundTripper
	// to name servers of fleets; its zero value: the machine's
	pods bind9.Network
	// to the servers of DNSClasses; nil: one of each client's own
	hooked  http.RoundTripper
	streams streams // between replicas
	// has reviews asked for until the context ends; nil: over TLS
	admit  func(context.Context, http.Handler) error
	scheme *runtime.Scheme // of newScheme; nil: one of its own
	chance func() float64  // from 0 to less than 1: for whatever need not be secret
}

// operate runs an operator in a cluster until the context ends.
func operate(ctx context.Context, config *rest.Config, o options, from process) error {
	config.UserAgent = "zonefold-operator"
	config.QPS = -1                           // the API server's own priority and fairness decides
	config.WarningHandler = rest.NoWarnings{} // a warning on each write to an object that an older schema let in
	config.Wrap(objects.Fenced)
	scheme, err := from.scheme, error(nil)
	if scheme == nil {
		scheme, err = newScheme()
	}
	if err != nil {
		return err
	}
	server, err := serveDNS(ctx, config, scheme, o, from)
	if err != nil {
		return err
	}
	defer server.end(ctx)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	at, err := leadsFrom(server, o)
	if err != nil {
		return err
	}
	blind := newUnread(o, time.Now)
	if err := from.registry.Register(controller.NewUnreadKinds(blind.kinds)); err != nil {
		return fmt.Errorf("setting up metrics: %w", err)
	}
	caches := endsWith(ctx)
	manager, term, err := newManager(config, ctrl.Options{Scheme: scheme, Logger: logr.FromSlogHandler(from.log.Handler()),
		NewCache: caches}, at, o, blind)
	if err != nil {
		return err
	}
	term.end = end
	all := &parts{Manager: manager, server: server, at: at, term: term, options: o, process: from, blind: blind,
		newCache: caches, answers: budget.NewPool(o.readBudget(memoryLimit(os.ReadFile) / 4))}
	defer all.end()
	if err := errors.Join(addDialects(ctx, all), addPresence(all)); err != nil {
		return err
	}
	from.log.Info("starting", "version", version.Release(), "namespace", o.namespace, "dialects", o.dialects.String())
	if err := manager.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	if err := context.Cause(ctx); errors.Is(err, errOverthrown) || errors.Is(err, errUndone) {
		return err
	}
	return nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kubizone.AddToScheme, bindy.AddToScheme,
		homelab.AddToScheme, gardener.AddToScheme, zonefold.AddToScheme, externaldns.AddToScheme, gatewayv1.Install} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return scheme, nil
}

func newManager(config *rest.Config, all ctrl.Options, at netip.AddrPort, o options,
	blind *unread) (ctrl.Manager, *term, error) {
	lock, err := leaderLock(config, o, at)
	if err != nil {
		return nil, nil, err
	}
	patience := 20 * time.Second
	all.Metrics, all.Cache = o.metrics.server(), cacheOptions(o)
	all.HealthProbeBindAddress, all.PprofBindAddress = o.health, o.pprof
	all.LeaderElection, all.LeaderElectionResourceLockInterface = o.election, lock
	all.LeaderElectionID = zonefold.LeaderLease // the label of leader_election_master_status
	all.LeaseDuration, all.RenewDeadline, all.RetryPeriod = &o.lease, &o.renew, &o.retry
	all.LeaderElectionReleaseOnCancel = true // the workers have stopped by then
	all.GracefulShutdownTimeout = &patience
	manager, err := ctrl.NewManager(config, all)
	if err != nil {
		return nil, nil, fmt.Errorf("setting up: %w", err)
	}
	blind.events = manager.GetEventRecorder("zonefold")
	if err := manager.AddHealthzCheck("process", func(*http.Request) error { return nil }); err != nil {
		return nil, nil, err
	}
	return manager, lock, manager.AddReadyzCheck("caches", filled(manager.GetCache()))
}

// filled says whether a cache holds what there is.
func filled(c cache.Cache) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !c.WaitForCacheSync(ctx) {
			return errors.New("some objects of the cluster have not been read yet")
		}
		return nil
	}
}
