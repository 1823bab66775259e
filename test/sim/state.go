package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	homelab "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// differs are the fields and annotations of objects that differ from life to life: times, serials, and what came first.
var differs = []string{
	"lastTransitionTime", "lastUpdateTime", "lastUpdated", "serial", "serialCeiling", "creationTimestamp", "managedFields",
	"resourceVersion", "uid", "generation",
	"observedGeneration", "serialObserved",
	"lastSyncTime", "lastHealthCheck", "lastCheck", "timestamp", // of DNSRecords and DNSClasses
	homelab.AppliedAnnotation,                   // where a record was to be sent first
	"lastReconciledAt", bindy.AppliedAnnotation, // of DNSZones and Bind9Instances: it has the UIDs of owners in it
	zonefold.UpdateMessageAnnotation, // which message wrote a Record: it has its time in it
}

// equal are values that count as others: a server that is told a DNSRecord a second time, since nobody heard what came
// of the first, has updated it.
var equal = map[string]string{
	string(homelab.StateUpdated): string(homelab.StateCreated),
	"RecordUpdated":              "RecordCreated",
}

// podName finds the names of pods, whose ends differ from life to life, in messages.
var podName = regexp.MustCompile(`\b([a-z0-9-]+)-[0-9a-f]{8}-[0-9]{5}\b`)

// state is what there is: the custom objects, and what the servers hold.
func (w *World) state() string {
	var out strings.Builder
	var objects []string
	w.api.store.mu.Lock()
	for _, r := range w.api.store.sorted(func(r ref, object *unstructured.Unstructured) bool {
		return r.kind.custom != nil && object.Object["journal"] != true // one page of it may stay, to be used again
	}) {
		object := w.api.store.objects[r].DeepCopy()
		if r.kind.Kind == "DNSClass" {
			object.SetFinalizers(nil) // it keeps the one that it got when a DNSRecord first used it
		}
		text, err := json.MarshalIndent(plain(object.Object), "", " ")
		if err != nil {
			fmt.Fprintln(&out, err)
		}
		objects = append(objects, updatedName.ReplaceAllString(fmt.Sprintf("%s\n%s\n", r, text), "$1-*"))
	}
	w.api.store.mu.Unlock()
	slices.Sort(objects) // by what is left of their names
	out.WriteString(strings.Join(objects, ""))
	out.WriteString(w.nodes.contents())
	wanted := w.delivered()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(w.servers)) {
		fmt.Fprintf(&out, "server %s\n%s", at, w.servers[at].content(func(zone dnsname.Name) bool {
			return wanted[delivered{at, zone.String()}]
		}))
	}
	for _, at := range slices.Sorted(maps.Keys(w.hooks)) {
		fmt.Fprintf(&out, "webhook %s\n%s", at, w.hooks[at].content())
	}
	return out.String()
}

// content is what a server holds, without serials. What a server cannot be without, its SOA and its name servers, stays
// where a zone was delivered once, and tells nothing.
func (s *server) content(wanted func(dnsname.Name) bool) string {
	var out strings.Builder
	for _, zone := range s.Zones() {
		soa, sets, _ := s.Truth(zone)
		if soa.Serial = 0; sets.Len() == 0 {
			continue // what is left of a zone that was withdrawn, or never delivered
		}
		if wanted(zone) {
			fmt.Fprintf(&out, " %s %d %s\n", zone, soa.TTL, soa.Data())
		}
		for set := range sets.All() {
			if !wanted(zone) && set.Key() == (rr.Key{Name: zone, Type: rr.TypeNS}) {
				continue
			}
			fmt.Fprintf(&out, "  %s %d %s\n", set.Key(), set.TTL, strings.Join(set.Data, ", "))
		}
	}
	return out.String()
}

// plain is a value without what differs from life to life.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if slices.Contains(differs, key) || v["type"] == "SOA" && key == "rdata" {
				continue
			}
			if is := plain(inner); !empty(is) {
				out[key] = is
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case string:
		if other, there := equal[v]; there {
			return other
		}
		return podName.ReplaceAllString(v, "$1")
	}
	return value
}

// empty reports whether a value says nothing: some clients leave such a one out.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// judge looks at what servers have ever served. With which serial a server comes back concerns nobody where no Zone is.
func (w *World) judge() {
	wanted := w.delivered()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(w.servers)) {
		for _, zone := range w.servers[at].Zones() {
			all := w.servers[at].BrokenByWrites(zone)
			if wanted[delivered{at, zone.String()}] {
				all = w.servers[at].Broken(zone)
			}
			for _, broken := range all {
				w.wrong = append(w.wrong, fmt.Sprintf("%s: %s: %s", at, zone, broken))
			}
		}
	}
}

// holds notes it as wrong if a server has something else than a text says, in which each set has a line.
func (w *World) holds(at, want string) error {
	wanted := w.delivered()
	w.mu.Lock()
	defer w.mu.Unlock()
	var is string
	switch {
	case w.servers[at] != nil:
		is = w.servers[at].content(func(zone dnsname.Name) bool { return wanted[delivered{at, zone.String()}] })
	case w.hooks[at] != nil:
		is = w.hooks[at].content()
	default:
		return errors.New("there is no such server")
	}
	lines := func(text string) (out []string) {
		for line := range strings.Lines(text) {
			out = append(out, strings.TrimSpace(line))
		}
		return out
	}
	if !slices.Equal(lines(is), lines(want)) {
		w.wrong = append(w.wrong, fmt.Sprintf("%s has\n%s\nand not\n%s", at, is, want))
	}
	return nil
}
