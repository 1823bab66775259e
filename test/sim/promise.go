package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// promises looks at objects and servers when all is calm: nothing waits for its end, and a Record that is Ready is
// served.
func (w *World) promises() {
	w.api.store.mu.Lock()
	objects := maps.Clone(w.api.store.objects)
	refs := w.api.store.sorted(func(r ref, _ *unstructured.Unstructured) bool { return r.kind.custom != nil })
	w.api.store.mu.Unlock()
	w.nodes.promised(objects)
	w.eyes.foretold(objects)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range refs {
		object := objects[r]
		if object.GetDeletionTimestamp() != nil {
			w.wrong = append(w.wrong, fmt.Sprintf("%s is still being deleted, and has finalizers %q", r, object.GetFinalizers()))
		}
		if r.kind.Kind == "Record" && r.kind.Group == "kubi.zone" && ready(object) && !w.served(object) {
			w.wrong = append(w.wrong, fmt.Sprintf("%s is Ready, and no server has it", r))
		}
		if succeeded(r, object) && !w.hosts(object, objects) {
			w.wrong = append(w.wrong, fmt.Sprintf("%s has succeeded, and no server has it", r))
		}
	}
	w.hooked(objects)
}

// settled looks whether servers have what objects ask for by now, and whether statuses say so; not while operators are
// busy with a fault.
func (w *World) settled() {
	w.mu.Lock()
	busy := w.api.store.now().Before(w.hurt.Add(calmAfter))
	w.mu.Unlock()
	if busy {
		return
	}
	w.api.store.mu.Lock()
	objects := maps.Clone(w.api.store.objects)
	w.api.store.mu.Unlock()
	w.eyes.foretold(objects)
}

// delivered is a zone at a server.
type delivered struct{ at, zone string }

// delivered returns which zones are, as the objects say, delivered to which servers.
func (w *World) delivered() map[delivered]bool {
	w.api.store.mu.Lock()
	defer w.api.store.mu.Unlock()
	servers, out := map[string][]string{}, map[delivered]bool{} // servers by Backend
	for r, object := range w.api.store.objects {
		if r.kind.Kind == "Backend" {
			servers[r.Name], _, _ = unstructured.NestedStringSlice(object.Object, "spec", "rfc2136", "servers")
		}
	}
	for r, object := range w.api.store.objects {
		if r.kind.Kind != "Zone" || r.kind.Group != "kubi.zone" {
			continue
		}
		backends, _, _ := unstructured.NestedSlice(object.Object, "status", "backends")
		for _, b := range backends {
			one, _ := b.(map[string]any)
			name, _ := one["name"].(string)
			zone, _ := one["fqdn"].(string)
			for _, at := range servers[name] {
				out[delivered{at, zone}] = true
			}
		}
	}
	return out
}

// trueOf returns a condition of an object, such as Ready, if it is true, and nil otherwise.
func trueOf(object *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		condition, ok := c.(map[string]any)
		if ok && condition["type"] == kind && condition["status"] == "True" {
			return condition
		}
	}
	return nil
}

// ready reports whether the condition Ready is true of an object, of whatever generation.
func ready(object *unstructured.Unstructured) bool { return trueOf(object, "Ready") != nil }

// readyNow reports whether the condition Ready is true of an object as it is now.
func readyNow(object *unstructured.Unstructured) bool {
	condition := trueOf(object, "Ready")
	return condition != nil && condition["observedGeneration"] == object.GetGeneration()
}

// served reports whether a server has what a Record says. mu is held.
func (w *World) served(record *unstructured.Unstructured) bool {
	spec := texts(record, "spec")
	name, err := dnsname.Parse(spec["domainName"])
	if err != nil || !strings.HasSuffix(spec["domainName"], ".") {
		return true // a relative name: no life has one whose place is known here
	}
	typ, err := rr.ParseType(spec["type"])
	if err != nil {
		return true
	}
	for _, s := range w.servers {
		for _, zone := range s.Zones() {
			if typ == rr.TypeNS && name == zone && s.Client(true).Limits().ApexNS == backend.ApexNSServer {
				return true // name servers are the service's own there
			}
			_, sets, _ := s.Truth(zone)
			if set, ok := sets.Get(rr.Key{Name: name, Type: typ}); ok && slices.Contains(set.Data, spec["rdata"]) {
				return true
			}
		}
	}
	return w.copied(rr.Key{Name: name, Type: typ}, spec["rdata"])
}

// texts are those of an object's fields, below some of them, that are texts.
func texts(object *unstructured.Unstructured, below ...string) map[string]string {
	out := map[string]string{}
	fields, _, _ := unstructured.NestedMap(object.Object, below...)
	for key, value := range fields {
		if text, ok := value.(string); ok {
			out[key] = text
		}
	}
	return out
}
