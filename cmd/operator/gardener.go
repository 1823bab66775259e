package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	api "github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/gardener"
)

// gardenerOptions are the flags about DNSRecords of Gardener.
type gardenerOptions struct {
	types     words
	classes   words
	ignore    bool
	seed      bool
	heartbeat time.Duration
	admission bool
	endpoints endpoints
}

// words is a flag: words of a list, separated by commas.
type words struct {
	known []string
	on    []string
}

// String implements flag.Value.
func (w *words) String() string { return strings.Join(w.on, ",") }

// Set implements flag.Value.
func (w *words) Set(text string) error {
	var on []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); !slices.Contains(w.known, word) {
			return fmt.Errorf("there is no %q; choose from %s", word, strings.Join(w.known, ", "))
		}
		on = append(on, word)
	}
	w.on = on
	return nil
}

// endpoints is a flag: URLs of services by the type that they are of.
type endpoints struct {
	known []string
	at    map[string]string
}

// String implements flag.Value.
func (e *endpoints) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e.at)) {
		all = append(all, name+"="+e.at[name])
	}
	return strings.Join(all, ",")
}

// Set implements flag.Value.
func (e *endpoints) Set(text string) error {
	e.at = map[string]string{}
	for word := range strings.SplitSeq(text, ",") {
		name, url, ok := strings.Cut(strings.TrimSpace(word), "=")
		if !ok || !slices.Contains(e.known, name) {
			return fmt.Errorf("%q is not of the form type=URL; types are %s", word, strings.Join(e.known, ", "))
		}
		e.at[name] = url
	}
	return nil
}

// options are those of a DNSRecord, and where the operator says that its service is.
func (e *endpoints) options(of gardener.Request) map[string]string {
	all := maps.Clone(of.Options)
	if at := e.at[of.Type]; at != "" {
		if all == nil {
			all = map[string]string{}
		}
		all["endpoint"] = at
	}
	return all
}

func gardenerFlags(f *flag.FlagSet, o *gardenerOptions) {
	o.types = words{all.Providers(), all.Providers()}
	classes := []string{string(api.ClassGarden), string(api.ClassSeed), string(api.ClassShoot)}
	o.classes = words{classes, []string{string(api.ClassShoot)}}
	f.Var(&o.types, "gardener-types", "the `types` of Gardener's DNSRecords to handle, separated by commas")
	f.Var(&o.classes, "gardener-classes", "the `classes` of Gardener's DNSRecords to handle, separated by commas")
	f.BoolVar(&o.ignore, "gardener-ignore-operation-annotation", false,
		"carry out every change of a DNSRecord of Gardener, instead of waiting for the annotation gardener.cloud/operation")
	f.BoolVar(&o.seed, "gardener-seed", false, "the cluster is a seed of Gardener: DNSRecords may name Secrets in other "+
		"namespaces, and the operator renews the Lease "+gardener.HeartbeatName)
	f.DurationVar(&o.heartbeat, "gardener-heartbeat-interval", 30*time.Second,
		"how often that Lease is renewed; 0 turns it off")
	o.endpoints = endpoints{known: all.Providers()}
	f.Var(&o.endpoints, "gardener-endpoints",
		"other URLs of the services of types of Gardener's DNSRecords: `type=URL`, separated by commas")
	f.BoolVar(&o.admission, "gardener-admission", false, "review Gardener's DNSRecords, as Gardener itself does in seeds")
}

// An opener opens the account that a DNSRecord names.
type opener = func(gardener.Request) (backend.Account, error)

// longestHold is how long Zones wait until it is known which sets in their places are those of DNSRecords: an account
// that does not answer must not keep the Zones of all others. A set that a Zone overwrites then is sent anew as soon as
// it is known.
const longestHold = 15 * time.Second

// addGardener has the manager run the dialect of Gardener while it leads.
func addGardener(ctx context.Context, m *parts, numbers *controller.Metrics) error {
	trigger := gardener.Trigger{IgnoreAnnotation: m.gardener.ignore}
	objects, c, err := m.reads(ctx, dialectGardener, gardener.CacheOptions(m.GetScheme()),
		gardener.Objects(m.GetRESTMapper(), trigger))
	if err != nil {
		return err
	}
	if m.gardener.admission {
		m.examiners = append(m.examiners, gardener.Examiner())
	}
	if o := m.gardener; o.seed && o.heartbeat > 0 {
		beat := m.heartbeat(gardener.HeartbeatName, "zonefold")
		beat.Interval, beat.Length = o.heartbeat, o.heartbeat
		if err := m.Add(manager.RunnableFunc(beat.Run)); err != nil {
			return err
		}
	}
	pool := m.pool()
	var guard *dialguard.Guard
	if !m.gardener.seed { // in a seed Gardener itself writes the Secrets
		guard = m.tenants.guard(ctx, m.GetConfig(), m.podIP, m.apiService)
	}
	var open opener = func(r gardener.Request) (backend.Account, error) {
		return pool.Open(all.ProviderConfig{Type: r.Type, Data: r.Data, Region: r.Region,
			Options: m.gardener.endpoints.options(r), Guard: guard})
	}
	if m.open != nil {
		open = m.open(open)
	}
	filter := gardener.Filter{Types: m.gardener.types.on}
	for _, class := range m.gardener.classes.on {
		filter.Classes = append(filter.Classes, api.Class(class))
	}
	inspection := &delivery.Inspection{}
	m.resources = append(m.resources, gardener.Resources(inspection)...)
	shared, placed := m.dialects.has(dialectKubizone), func() {}
	if shared {
		placed = m.engine.HoldZones("rfc2136", "powerdns", "provider")
	}
	catchUp, err := m.catchUp(objects, c)
	if err != nil {
		return err
	}
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		late := time.AfterFunc(longestHold, placed)
		defer late.Stop()
		if err := catchUp.Wait(ctx, &api.DNSRecord{}); err != nil {
			return nil // the term is over before it has begun
		}
		return gardener.New(gardener.Config{
			Client: c, Live: m.live(), Cache: objects, Events: m.GetEventRecorder("zonefold"), Log: m.log, Metrics: numbers,
			Clock: time.Now, Rand: m.chance, Leads: m.leads(), Engine: m.engine, Open: open, Filter: filter, Trigger: trigger,
			Seed: m.gardener.seed, Inspection: inspection, Shared: shared, Placed: placed,
		}).Run(ctx)
	}))
}
