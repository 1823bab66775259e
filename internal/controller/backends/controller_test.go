package backends

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// oneBackend is a cluster with nothing but one Backend.
type oneBackend struct {
	client.Client
	backend v1alpha1.Backend
}

func (c *oneBackend) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	c.backend.DeepCopyInto(o.(*v1alpha1.Backend))
	return nil
}

func (c *oneBackend) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// config is what a Controller needs from outside to look at the Backend.
func (c *oneBackend) config() Config {
	metrics, log := controller.NewMetrics(), slog.New(slog.DiscardHandler)
	return Config{
		Source: Source{Client: c, Log: log}, Clock: time.Now, Metrics: metrics,
		Core: core.New(core.Config{Clock: time.Now, Metrics: metrics, Settled: func(core.Settlement) {}}),
		Places: delivery.New(delivery.Config{
			Clock: time.Now, Log: log, Metrics: metrics, Changed: func(zone.ID) {}, Settled: func([]zone.ID) {},
			Refresh: func(zone.ID) {}, RefreshSets: func(zone.ID, []rr.Key) {},
		}).Places(),
	}
}

// changing are fleets whose only one changes while it is asked for the first time: just after that was answered.
type changing struct {
	delivery.Fleets
	asked   atomic.Int32
	changed func()
}

func (f *changing) Fleet(types.NamespacedName) ([]delivery.Server, *controller.Outcome) {
	if f.asked.Add(1) > 1 {
		return []delivery.Server{{Name: "new"}}, nil
	}
	told := make(chan struct{})
	go func() { defer close(told); f.changed() }()
	select {
	case <-told:
	case <-time.After(100 * time.Millisecond): // it waits, perhaps for us
	}
	return nil, nil
}

// Protect implements controller.Fleets.
func (f *changing) Protect(string, types.NamespacedName, plan.Protection) {}

// TestAFleetThatChangesWhileItsBackendIsLookedAtForTheFirstTime has nobody know yet that the Backend is that cluster.
func TestAFleetThatChangesWhileItsBackendIsLookedAtForTheFirstTime(t *testing.T) {
	objects, fleets := &oneBackend{}, &changing{}
	objects.backend.Name = "b"
	objects.backend.Spec.Bind9 = &v1alpha1.Bind9{ClusterRef: v1alpha1.ClusterRef{Namespace: "a", Name: "dns"}}
	config := objects.config()
	config.Fleets = fleets
	b := New(config)
	heard := make(chan struct{})
	fleets.changed = func() {
		defer close(heard)
		b.onFleet(t.Context(), types.NamespacedName{Namespace: "a", Name: "dns"})
	}
	b.look(t.Context(), "b")
	select {
	case <-heard:
	case <-time.After(10 * time.Second):
		t.Fatal("the news of the fleet is not taken in")
	}
	if k, _ := b.lookup("b"); len(k.servers) != 1 || k.servers[0].Name != "new" {
		t.Errorf("it has the servers %v, and the fleet has another one", k.servers)
	}
}

// TestWhoseZonesAreUsedWhileAnAccountCannotBeListed changes the account of a Backend, to ones that answer as they are
// called.
func TestWhoseZonesAreUsedWhileAnAccountCannotBeListed(t *testing.T) {
	for _, c := range []struct {
		sentence string
		accounts []string
		servers  int
		stopped  bool
	}{
		{"the account that is the first", []string{"works"}, 1, false},
		{"one that was refused from the start", []string{"refuses"}, 0, true},
		{"one that refuses after it has worked", []string{"works once"}, 1, false},
		{"one that refuses in the place of one that works", []string{"works", "refuses"}, 0, true},
		{"one that fails in the place of one that works", []string{"works", "fails"}, 1, false},
		{"one that fails, and then refuses", []string{"works", "fails once"}, 0, true},
		{"one that has not answered yet, after one that refuses", []string{"works", "refuses", "waits"}, 0, false},
		{"one that works after one that refuses", []string{"works", "refuses", "works"}, 1, false},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			objects := &oneBackend{}
			objects.backend.Name = "b"
			config := objects.config()
			config.Host = account
			synctest.Test(t, func(t *testing.T) {
				b := New(config)
				defer b.End()
				defer b.replace("b", nil)
				for _, name := range c.accounts {
					objects.backend.Spec.Provider = &v1alpha1.Provider{Type: "memory", Config: map[string]string{"name": name}}
					b.look(t.Context(), "b")
					<-time.After(listEvery + time.Second) // in the bubble
				}
				if k, _ := b.lookup("b"); len(k.servers) != c.servers || k.stopped != c.stopped {
					t.Errorf("it has %d servers, and is stopped: %t", len(k.servers), k.stopped)
				}
			})
		})
	}
}

// TestAnAccountThatIsReplacedWhileItIsListed has the former one look at the Backend before who hears of the change.
func TestAnAccountThatIsReplacedWhileItIsListed(t *testing.T) {
	objects := &oneBackend{}
	objects.backend.Name = "b"
	replace := func(name string) {
		objects.backend.Spec.Provider = &v1alpha1.Provider{Type: "memory", Config: map[string]string{"name": name}}
	}
	replace("former")
	config := objects.config()
	config.Host = func(s ProviderSettings) (Hosting, error) {
		return func(context.Context, bool) ([]delivery.Server, error) {
			replace("new")
			return []delivery.Server{{Name: "zone of the " + s.Options["name"]}}, nil
		}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		b := New(config)
		defer b.End()
		defer b.replace("b", nil)
		b.look(t.Context(), "b")
		synctest.Wait()
		b.look(t.Context(), "b")
		<-time.After(listEvery + time.Second) // in the bubble
		if k, _ := b.lookup("b"); len(k.servers) != 1 || k.servers[0].Name != "zone of the new" {
			t.Errorf("it has the servers %v", k.servers)
		}
	})
}

// account is a service whose accounts say in their name how they answer.
func account(s ProviderSettings) (Hosting, error) {
	asked, name := 0, s.Options["name"]
	return func(ctx context.Context, _ bool) ([]delivery.Server, error) {
		asked++
		switch name, once := strings.CutSuffix(name, " once"); {
		case name == "works" && (!once || asked == 1):
			return []delivery.Server{{Name: "zone"}}, nil
		case name == "fails" && (!once || asked == 1):
			return nil, &backend.Error{Class: backend.ErrUnavailable}
		case name == "waits":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, &backend.Error{Class: backend.ErrNotAuthorised}
	}, nil
}

// A crowd is a cluster with one Backend and a hundred Namespaces, as a Client and as a Cache.
type crowd struct {
	*oneBackend
	listed int // how often Namespaces were
}

func (c *crowd) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *v1alpha1.BackendList:
		list.Items = []v1alpha1.Backend{c.backend}
	case *corev1.NamespaceList:
		c.listed++
	}
	return nil
}

// informers are those of a crowd.
type informers struct {
	cache.Cache
	namespaces toolscache.ResourceEventHandler
}

func (i *informers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer,
	error) {
	if _, is := o.(*corev1.Namespace); is {
		return &informer{tell: func(h toolscache.ResourceEventHandler) {
			i.namespaces = h
			for range 100 {
				h.OnAdd(&corev1.Namespace{}, true)
			}
		}}, nil
	}
	return &informer{tell: func(toolscache.ResourceEventHandler) {}}, nil
}

type informer struct {
	cache.Informer
	tell func(toolscache.ResourceEventHandler)
}

func (i *informer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration,
	error) {
	i.tell(h)
	return synced{}, nil
}

func (*informer) RemoveEventHandler(toolscache.ResourceEventHandlerRegistration) error { return nil }

type synced struct {
	toolscache.ResourceEventHandlerRegistration
}

func (synced) HasSynced() bool { return true }

// TestNamespacesHaveFewBackendsLookedAt counts how often all of them are listed: for each look at a Backend.
func TestNamespacesHaveFewBackendsLookedAt(t *testing.T) {
	for sentence, c := range map[string]struct {
		selector *metav1.LabelSelector
		listed   int
	}{
		"whose grants name namespaces":   {nil, 1},
		"whose grants select namespaces": {&metav1.LabelSelector{}, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects, events := &crowd{oneBackend: &oneBackend{}}, &informers{}
			objects.backend.Name = "b"
			objects.backend.Spec.Grants = []v1alpha1.Grant{{Zones: []string{"*.org."}, NamespaceSelector: c.selector}}
			config := objects.config()
			config.Client, config.Cache = objects, events
			b := New(config)
			defer b.End()
			if err := b.Gather(t.Context()); err != nil || !b.Ready(t.Context()) {
				t.Fatal(err)
			}
			if objects.listed != 1 {
				t.Errorf("at the start, with a hundred Namespaces, they were listed %d times", objects.listed)
			}
			events.namespaces.OnAdd(&corev1.Namespace{}, false)
			if objects.listed != c.listed {
				t.Errorf("after one more came, they were listed %d times, want %d", objects.listed, c.listed)
			}
		})
	}
}

// TestOurOwnNameServerAnswersWhateverKeepsOthersFromItsZones has a Backend with an entry that cannot be used.
func TestOurOwnNameServerAnswersWhateverKeepsOthersFromItsZones(t *testing.T) {
	for _, c := range []struct {
		sentence string
		server   bool // the operator is one
		entries  []v1alpha1.TransferRule
		servers  int
		trouble  string
	}{
		{"all is well", true, nil, 1, ""},
		{"an entry cannot be used", true, []v1alpha1.TransferRule{{}}, 1, controller.ReasonInvalidSpec},
		{"there is no name server", false, nil, 0, controller.ReasonNotSupported},
	} {
		objects := &oneBackend{}
		objects.backend.Name = "b"
		objects.backend.Spec.Embedded = &v1alpha1.Embedded{Transfer: c.entries}
		config := objects.config()
		config.Embedded = c.server
		config.Connect = func(s Settings) ([]delivery.Server, error) {
			return []delivery.Server{{Name: "embedded " + s.Embedded.Name}}, nil
		}
		b := New(config)
		t.Cleanup(b.End)
		b.look(t.Context(), "b")
		trouble := ""
		k, _ := b.lookup("b")
		if k.trouble != nil {
			trouble = k.trouble.Reason
		}
		if len(k.servers) != c.servers || trouble != c.trouble || k.stopped {
			t.Errorf("%s: it has the servers %v, and the trouble %q", c.sentence, k.servers, trouble)
		}
	}
}

func TestWhereForeignSetsStay(t *testing.T) {
	type spec = v1alpha1.BackendSpec
	for sentence, c := range map[string]struct {
		spec  spec
		keeps bool
	}{
		"a server":                    {spec{RFC2136: &v1alpha1.RFC2136{}}, true},
		"a server of ours alone":      {spec{RFC2136: &v1alpha1.RFC2136{}, Foreign: v1alpha1.ForeignDelete}, false},
		"our own name server":         {spec{Embedded: &v1alpha1.Embedded{}}, false},
		"a fleet of ours":             {spec{Bind9: &v1alpha1.Bind9{}, Foreign: v1alpha1.ForeignKeep}, false},
		"a server that lists nothing": {spec{DNSClass: &v1alpha1.DNSClass{}, Foreign: v1alpha1.ForeignDelete}, true},
	} {
		if got := keeps(&c.spec); got != c.keeps {
			t.Errorf("%s: foreign sets stay: %t", sentence, got)
		}
	}
}
