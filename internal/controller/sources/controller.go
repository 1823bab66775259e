package sources

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// +kubebuilder:rbac:groups="",resources=services;nodes;namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;watch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=get;list;watch
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=gateways;listenersets;httproutes;grpcroutes;tlsroutes;tcproutes;udproutes,verbs=get;list;watch
// +kubebuilder:rbac:groups=externaldns.k8s.io,resources=dnsendpoints,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// kinds are what each source needs to be followed, by the names that external-dns gives to sources.
func kinds() map[string][]client.Object {
	routes := func(o client.Object) []client.Object {
		return []client.Object{o, &gatewayv1.Gateway{}, &gatewayv1.ListenerSet{}, &corev1.Namespace{}}
	}
	return map[string][]client.Object{
		"service":           {&corev1.Service{}, &discoveryv1.EndpointSlice{}, &corev1.Node{}},
		"ingress":           {&networkingv1.Ingress{}},
		"node":              {&corev1.Node{}},
		"crd":               {&externaldns.DNSEndpoint{}},
		"gateway":           {&gatewayv1.Gateway{}},
		"gateway-httproute": routes(&gatewayv1.HTTPRoute{}),
		"gateway-grpcroute": routes(&gatewayv1.GRPCRoute{}),
		"gateway-tlsroute":  routes(&gatewayv1.TLSRoute{}),
		"gateway-tcproute":  routes(&gatewayv1.TCPRoute{}),
		"gateway-udproute":  routes(&gatewayv1.UDPRoute{}),
	}
}

// Names are the names of all sources, in order.
func Names() []string {
	var out []string
	for name := range kinds() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Objects are what some sources read from the cache, each kind once.
func Objects(names []string) []client.Object {
	var out []client.Object
	seen := map[string]bool{}
	for _, name := range names {
		for _, o := range kinds()[name] {
			if kind := fmt.Sprintf("%T", o); !seen[kind] {
				seen[kind] = true
				out = append(out, o)
			}
		}
	}
	return out
}

// Config is what the sources need from outside.
type Config struct {
	Cache      cache.Cache
	Events     events.EventRecorder
	Log        *slog.Logger
	Core       *controller.Core
	Sources    []string // names of those that are on
	Options    dialect.Options
	DeleteLost bool // records go when the address of a name is lost
	// Written returns what an earlier run has published of the zones that names are in, by its records.
	Written func(ctx context.Context, names []dnsname.Name) ([]rr.Set, error)
}

// Controller follows the sources that are on, for one term of leadership.
type Controller struct {
	Config
	synced []toolscache.InformerSynced

	mu    sync.Mutex
	state state
}

// state is what is known of the sources.
type state struct {
	inventory *dialect.Inventory
	ready     bool // all that exists is known: claims can be made
	held      map[zone.ID]*held
	told      map[zone.ID]zone.Reason // of refused claims
}

// held is what was made of one object.
type held struct {
	endpoints []dialect.Endpoint
	claims    []zone.ID
	version   controller.Version
	notes     []zone.Note
}

// New returns a Controller that has not begun.
func New(c Config) *Controller {
	return &Controller{Config: c, state: state{
		inventory: dialect.NewInventory(c.Options), held: map[zone.ID]*held{}, told: map[zone.ID]zone.Reason{}}}
}

// Gather follows the objects from now on.
func (s *Controller) Gather(ctx context.Context) error {
	for _, o := range Objects(s.Sources) {
		has, err := controller.Follow(ctx, s.Cache, nil, o, controller.Handler(
			func(_, after client.Object) { s.put(after) }, func(o client.Object) { s.drop(o) }))
		if err != nil {
			return err
		}
		s.synced = append(s.synced, has)
	}
	return nil
}

// Ready waits until all objects that exist are known, and makes their claims. Where an object has lost its address, and
// an earlier run may have known it, the claim is what the zone was last published with.
func (s *Controller) Ready(ctx context.Context) bool {
	if !toolscache.WaitForCacheSync(ctx.Done(), s.synced...) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var wishes []*dialect.Wish
	lost := map[dnsname.Name]string{}
	for _, id := range s.state.inventory.All() {
		w, is := s.wish(id)
		if !is {
			continue
		}
		wishes = append(wishes, w)
		for _, host := range w.Lost() {
			if name, err := dnsname.Parse(host + "."); err == nil {
				lost[name] = host
			}
		}
	}
	written := map[string][]rr.Set{}
	if len(lost) > 0 && !s.DeleteLost {
		var names []dnsname.Name
		for name := range lost {
			names = append(names, name)
		}
		sets, err := s.Written(ctx, names)
		if err != nil {
			s.Log.Error("what names without an address had cannot be read; nothing begins before it can", "error", err)
			return false
		}
		for _, set := range sets {
			written[lost[set.Name]] = append(written[lost[set.Name]], set)
		}
	}
	s.state.ready = true
	dialect.RestoreAll(wishes, written)
	for _, w := range wishes {
		s.take(w)
	}
	return true
}

func (s *Controller) put(o metav1.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look(s.state.inventory.Put(o))
}

func (s *Controller) drop(o metav1.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look(s.state.inventory.Delete(o))
}

// wish returns what an object asks for, if its source is on.
func (s *Controller) wish(id zone.ID) (*dialect.Wish, bool) {
	if _, on := sourceOf(id.Kind, s.Sources); !on {
		return nil, false
	}
	return s.state.inventory.Wish(id)
}

// sourceOf returns the source of a kind, and whether it is on: of some kinds others need to know, too.
func sourceOf(kind string, on []string) (string, bool) {
	for name, objects := range kinds() {
		if dialect.KindOf(objects[0]).Kind == kind {
			return name, slices.Contains(on, name)
		}
	}
	return "", false
}

// look makes the claims of objects those that they ask for now.
func (s *Controller) look(ids []zone.ID) {
	if !s.state.ready {
		return
	}
	for _, id := range ids {
		w, is := s.wish(id)
		if !is {
			s.forget(id)
			continue
		}
		if have := s.state.held[id]; have != nil && !s.DeleteLost && have.version.UID == w.Object.GetUID() {
			w.Keep(have.endpoints)
		}
		s.take(w)
	}
}

// take puts the claims of a wish into the Core.
func (s *Controller) take(w *dialect.Wish) {
	version := controller.VersionOf(w.Object)
	now := &held{endpoints: w.Endpoints, version: version, notes: w.Notes}
	claims := w.Claims()
	for i := range claims {
		now.claims = append(now.claims, claims[i].ID)
		s.Core.PutClaim(claims[i], version)
	}
	before := s.state.held[w.ID]
	if before == nil {
		before = &held{}
	}
	for _, old := range before.claims {
		if !slices.Contains(now.claims, old) {
			s.delete(old)
		}
	}
	s.state.held[w.ID] = now
	for _, n := range w.Notes {
		if !slices.Contains(before.notes, n) {
			s.tell(w.ID, "Warning", n.Reason, n.Message)
		}
	}
}

func (s *Controller) forget(id zone.ID) {
	if have := s.state.held[id]; have != nil {
		for _, claim := range have.claims {
			s.delete(claim)
		}
		delete(s.state.held, id)
	}
}

func (s *Controller) delete(claim zone.ID) {
	delete(s.state.told, claim)
	s.Core.DeleteClaim(claim)
}

// Judged tells of the verdict about a claim, if it is news.
func (s *Controller) Judged(claim zone.ID, v zone.Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.state.held[claim.Object()]
	if have == nil || !slices.Contains(have.claims, claim) {
		return
	}
	switch was := s.state.told[claim]; {
	case !v.Accepted && was != v.Reason:
		s.state.told[claim] = v.Reason
		s.tell(claim.Object(), "Warning", v.Reason, v.Message)
	case v.Accepted && was != "":
		delete(s.state.told, claim)
		s.tell(claim.Object(), "Normal", v.Reason, v.Message)
	}
}

func (s *Controller) tell(id zone.ID, kind string, reason zone.Reason, message string) {
	if o, is := s.state.inventory.Object(id).(client.Object); is {
		s.Events.Eventf(o, nil, kind, string(reason), "Claim", "%s", controller.Note(message))
	}
}
