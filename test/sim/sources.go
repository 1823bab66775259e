package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml" // whole numbers are int64, as the API server has them
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	"github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// sourceKinds are the kinds of objects that ask for names, by the names of sources.
var sourceKinds = map[string]string{"service": "Service", "ingress": "Ingress", "node": "Node", "crd": "DNSEndpoint",
	"gateway": "Gateway", "gateway-httproute": "HTTPRoute"}

// maySource reports whether sources may be about a kind: Kubernetes' own, and that of external-dns.
func maySource(k *kind) bool { return k.custom == nil || k.Kind == "DNSEndpoint" }

// typedSource returns an object of a kind that sources are about as its type, nil if it is of none.
func typedSource(k *kind, object *unstructured.Unstructured) metav1.Object {
	switch k.Kind {
	case "Service":
		return typed[corev1.Service](object)
	case "Ingress":
		return typed[networkingv1.Ingress](object)
	case "EndpointSlice":
		return typed[discoveryv1.EndpointSlice](object)
	case "Node":
		return typed[corev1.Node](object)
	case "Namespace":
		return typed[corev1.Namespace](object)
	case "Gateway":
		return typed[gatewayv1.Gateway](object)
	case "HTTPRoute":
		return typed[gatewayv1.HTTPRoute](object)
	case "DNSEndpoint":
		return typed[externaldns.DNSEndpoint](object)
	}
	return nil
}

// asking is what Services and others ask for, by all that ever happened to them: an operator that knows the last of it
// alone has to come to the same.
type asking struct {
	names     []string // of the sources that are on
	kinds     []string // of the objects that ask for names
	inventory *sources.Inventory
	known     map[zone.ID]known
}

// known is what is known of one object.
type known struct {
	uid       types.UID
	endpoints []sources.Endpoint
	claims    []zone.ID
}

func newAsking(names []string) *asking {
	a := &asking{names: names, known: map[zone.ID]known{},
		inventory: sources.NewInventory(sources.Options{NodeNamespace: "kube-system"})}
	for _, name := range names {
		a.kinds = append(a.kinds, sourceKinds[name])
	}
	return a
}

// afresh knows no objects yet, and which addresses they have lost.
func (a *asking) afresh() *asking {
	out := newAsking(a.names)
	out.known = maps.Clone(a.known)
	return out
}

// takeSource takes in an object that may ask for names, which has become after, nil if it is gone. It reports whether
// it is of such a kind.
func (w *wishes) takeSource(r ref, before, after *unstructured.Unstructured) bool {
	a := w.asking
	if len(a.kinds) == 0 || !maySource(r.kind) {
		return false
	}
	object, change := after, a.inventory.Put
	if after == nil {
		object, change = before, a.inventory.Delete
	}
	is := typedSource(r.kind, object)
	if is == nil {
		return false
	}
	for _, id := range change(is) {
		if slices.Contains(a.kinds, id.Kind) {
			w.ask(id)
		}
	}
	return true
}

// ask has the world know what an object asks for by now.
func (w *wishes) ask(id zone.ID) {
	a := w.asking
	before, now := a.known[id], known{}
	if wish, is := a.inventory.Wish(id); is {
		if now.uid = wish.Object.GetUID(); now.uid == before.uid {
			wish.Keep(before.endpoints)
		}
		now.endpoints = wish.Endpoints
		for _, claim := range wish.Claims() {
			for _, data := range claim.Data { // a name and an address may be of two objects: mayBeMixed
				key := rr.Key{Name: claim.Where.Name, Type: claim.Type}
				w.values[value{key, data}], w.values[value{Key: key}], w.values[value{data: data}] = true, true, true
			}
			now.claims = append(now.claims, claim.ID)
			w.world.PutClaim(claim)
		}
	}
	for _, claim := range before.claims {
		if !slices.Contains(now.claims, claim) {
			w.world.DeleteClaim(claim)
		}
	}
	a.known[id] = now
}

// follows takes in what has become of an object that may ask for names.
func (w *witness) follows(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wishes.takeSource(e.ref, e.before, e.after) {
		w.wishes.settle(w.now())
		w.notice(e.kind.String())
	}
}

// say has somebody write the status of an object, such as the controller of a load balancer.
func (w *World) say(ctx context.Context, kind, name, text string) error {
	var status map[string]any
	if err := yaml.Unmarshal([]byte(text), &status); err != nil {
		return fmt.Errorf("reading a status: %w", err)
	}
	return w.editAs(ctx, write{manager: "cloud", subresource: "status"}, kind, name, func(o *unstructured.Unstructured) {
		o.Object["status"] = status
	})
}
