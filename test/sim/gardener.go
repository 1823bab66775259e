package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller/gardener"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// opener opens accounts at name servers that take updates; those of services are opened as usual.
func (o *operator) opener(usual Opener) Opener {
	return func(r gardener.Request) (backend.Account, error) {
		if r.Type != "rfc2136" {
			return usual(r)
		}
		return o.open(r)
	}
}

// open opens the account that the Secret of a DNSRecord of Gardener holds.
func (o *operator) open(r gardener.Request) (backend.Account, error) {
	at := string(r.Data["Server"])
	o.world.mu.Lock()
	server := o.world.servers[at]
	o.world.mu.Unlock()
	if server == nil {
		return nil, fmt.Errorf("there is no server at %q", at)
	}
	return account{way{o, server, at, string(r.Data["TSIGSecret"])}}, nil
}

// An account reaches the zones of one server with one key. Two of equal credentials are equal.
type account struct{ way way }

// HostedZones implements backend.Account.
func (a account) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	names, err := a.way.Zones(ctx)
	if err != nil {
		return nil, unreached(err)
	}
	var out []backend.HostedZone
	for _, name := range names {
		id := strings.TrimSuffix(name.String(), ".")
		out = append(out, backend.HostedZone{ID: id, Name: name, Target: backend.TargetKey{Server: a.way.at, Zone: name}})
	}
	return out, nil
}

// HostedZone implements backend.Account.
func (a account) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	zones, err := a.HostedZones(ctx)
	if err != nil {
		return backend.HostedZone{}, err
	}
	i := slices.IndexFunc(zones, func(z backend.HostedZone) bool { return z.ID == id })
	if i < 0 {
		return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid,
			Words: "there is no zone " + id}
	}
	return zones[i], nil
}

// Backend implements backend.Account.
func (a account) Backend(backend.HostedZone) backend.Backend {
	w := a.way
	return &w
}

// unreached gives the end of an operator the class of what is not answered.
func unreached(err error) error {
	if errors.Is(err, errCrashed) || errors.Is(err, errStopped) {
		return &backend.Error{Class: backend.ErrUnavailable, Err: err}
	}
	return err
}

// annotate has an object have an annotation, as KEY=VALUE.
func (w *World) annotate(ctx context.Context, kind, name, annotation string) error {
	key, value, set := strings.Cut(annotation, "=")
	return w.edit(ctx, kind, name, func(o *unstructured.Unstructured) {
		all := o.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		if all[key] = value; !set {
			delete(all, strings.TrimSuffix(key, "-"))
			delete(all, key)
		}
		o.SetAnnotations(all)
	})
}

// succeeded reports whether a DNSRecord of Gardener says that its set is there as its spec has it.
func succeeded(r ref, object *unstructured.Unstructured) bool {
	if r.kind.Kind != "DNSRecord" || r.kind.Group != "extensions.gardener.cloud" {
		return false
	}
	state, _, _ := unstructured.NestedString(object.Object, "status", "lastOperation", "state")
	kind, _, _ := unstructured.NestedString(object.Object, "status", "lastOperation", "type")
	seen, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return state == "Succeeded" && kind != "Migrate" && seen == object.GetGeneration()
}

// hosts reports whether a server has the set of a DNSRecord of Gardener, with the values of one of those that ask for
// it. mu is held.
func (w *World) hosts(record *unstructured.Unstructured, all map[ref]*unstructured.Unstructured) bool {
	spec := texts(record, "spec")
	name, err := dnsname.Parse(strings.TrimSuffix(spec["name"], ".") + ".")
	if err != nil {
		return false
	}
	typ, err := rr.ParseType(spec["recordType"])
	if err != nil {
		return false
	}
	for _, s := range w.servers {
		for _, zone := range s.Zones() {
			_, sets, _ := s.Truth(zone)
			set, ok := sets.Get(rr.Key{Name: name, Type: typ})
			for r, other := range all {
				if of := texts(other, "spec"); ok && succeeded(r, other) && of["name"] == spec["name"] &&
					of["recordType"] == spec["recordType"] {
					values, _, _ := unstructured.NestedStringSlice(other.Object, "spec", "values")
					if sameValues(values, set.Data) {
						return true
					}
				}
			}
		}
	}
	return false
}

// sameValues reports whether values are those of a set, however each of both writes them.
func sameValues(values, data []string) bool {
	bare := func(all []string) []string {
		out := []string{}
		for _, s := range all {
			out = append(out, strings.Trim(s, `".`))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(bare(values), bare(data))
}
