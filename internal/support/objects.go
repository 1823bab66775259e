package support

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A group is an API group of objects that the operator serves; only, if any, are those of its resources that are meant.
type group struct {
	name string
	only []string
}

// groups returns them, those first from which most is seen.
func groups() []group {
	return []group{{name: "zonefold.dev"}, {name: "kubi.zone"}, {name: "bindy.firestoned.io"},
		{name: "dns.homelab.mortenolsen.pro"}, {"extensions.gardener.cloud", []string{"dnsrecords"}},
		{name: "externaldns.k8s.io"}}
}

// lastOfAll are resources that are large and tell least.
var lastOfAll = []string{"zoneslices", "zonerevisions"}

// A resource is one kind of objects in the API.
type resource struct {
	path, name string // of the group and version; of the kind, in the plural
	group      string
	namespaced bool
}

// resources asks the API server which kinds of objects there are.
func (g *gatherer) resources(ctx context.Context) (all []resource) {
	for _, of := range groups() {
		var about metav1.APIGroup
		err := g.get(ctx, "/apis/"+of.name, &about)
		if apierrors.IsNotFound(err) {
			continue
		}
		at := "/apis/" + about.PreferredVersion.GroupVersion
		var list metav1.APIResourceList
		if err == nil {
			err = g.get(ctx, at, &list)
		}
		if err != nil {
			g.lacks("objects of "+of.name, err)
			continue
		}
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") &&
				(of.only == nil || slices.Contains(of.only, r.Name)) {
				all = append(all, resource{at, r.Name, of.name, r.Namespaced})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b resource) int {
		return slices.Index(lastOfAll, a.name) - slices.Index(lastOfAll, b.name)
	})
	return all
}

// objects has the objects of all kinds, one file each kind, with an object on each line.
func (g *gatherer) objects(ctx context.Context) error {
	for _, r := range g.resources(ctx) {
		what := r.name + "." + r.group
		err := g.objectsOf(ctx, r, r.path+"/"+r.name)
		if r.namespaced && errors.Is(err, errForbidden) {
			g.missing = append(g.missing, fmt.Sprintf("%s in namespaces other than %s: you may not list them", what,
				g.Namespace))
			err = g.objectsOf(ctx, r, r.path+"/namespaces/"+g.Namespace+"/"+r.name)
		}
		if err != nil {
			g.lacks(what, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// objectsOf has those of one kind that a path lists: as many as have room.
func (g *gatherer) objectsOf(ctx context.Context, r resource, at string) error {
	var text strings.Builder
	n := 0
	err := g.list(ctx, at, func(o map[string]any) error {
		g.redact.clean(o)
		line, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("writing an object: %w", err)
		}
		if int64(text.Len()+len(line)+1) > g.room {
			return fmt.Errorf("%w; there are those of the first %d", errFull, n)
		}
		text.Write(line)
		text.WriteByte('\n')
		n++
		return nil
	})
	if n > 0 {
		err = errors.Join(err, g.add(path.Join("objects", r.group, r.name+".jsonl"), text.String()))
	}
	return err
}

// events has the events about objects of these groups, and of the namespace of the operator.
func (g *gatherer) events(ctx context.Context) error {
	const all, of = "/apis/events.k8s.io/v1/events", "/apis/events.k8s.io/v1/namespaces/%s/events"
	var text strings.Builder
	take := func(e map[string]any) error {
		about, _ := e["regarding"].(map[string]any)
		version, _ := about["apiVersion"].(string)
		name, _, _ := strings.Cut(version, "/")
		ours := slices.ContainsFunc(groups(), func(g group) bool { return g.name == name })
		if namespace, _ := about["namespace"].(string); !ours && namespace != g.Operator {
			return nil
		}
		g.redact.clean(e)
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
		if int64(text.Len()+len(line)+1) > min(g.room, maxPart) {
			return errFull
		}
		text.Write(line)
		text.WriteByte('\n')
		return nil
	}
	err := g.list(ctx, all, take)
	if errors.Is(err, errForbidden) {
		g.missing = append(g.missing, fmt.Sprintf("events in namespaces other than %s: you may not list them", g.Namespace))
		err = g.list(ctx, fmt.Sprintf(of, g.Namespace), take)
	}
	if text.Len() > 0 {
		err = errors.Join(err, g.add("events.jsonl", text.String()))
	}
	return err
}
