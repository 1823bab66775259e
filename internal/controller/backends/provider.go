package backends

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/guarded"
)

// ProviderSettings are those of an account at a service that hosts zones.
type ProviderSettings struct {
	Type    string
	Data    map[string][]byte // of the Secret; nil: the surroundings have the credentials
	Region  string
	Zone    string // the ID of the only zone that is meant; "": all
	Options map[string]string
}

// A Hosting lists the zones of an account, each as a server of its own: one for each name. Anew says that what was
// listed a while ago is not good enough.
type Hosting func(ctx context.Context, anew bool) ([]delivery.Server, error)

// optionZone is the setting that names a zone by its ID; the others are the service's.
const optionZone = "zone"

func (r resolver) provider(spec *v1alpha1.Provider) (Settings, *controller.Outcome) {
	p := &ProviderSettings{Type: spec.Type, Region: spec.Region, Zone: spec.Config[optionZone],
		Options: maps.Clone(spec.Config)}
	delete(p.Options, optionZone)
	if spec.SecretRef == nil || r.blind {
		return Settings{Provider: p}, nil
	}
	secret, where, trouble := r.consenting(spec.SecretRef.Namespace, spec.SecretRef.Name)
	if trouble != nil {
		return Settings{}, trouble
	}
	if len(secret.Data) == 0 {
		return Settings{}, problem(controller.ReasonSecretNotFound,
			"Secret %s is empty; add the credentials, or remove secretRef to use the operator's own.", where)
	}
	p.Data = secret.Data
	return Settings{Provider: p}, nil
}

// How often zones are listed: always, and while a Zone waits for the service to have it; and how long one listing may
// take.
const (
	listEvery     = 30 * time.Minute
	listMissing   = 10 * time.Second
	listPatience  = time.Minute
	listAgain     = 5 * time.Second // after a failure, and then twice that, …
	listAgainMost = 5 * time.Minute
)

// A host is an account whose zones are being followed.
type host struct {
	list  Hosting
	look  func() // at its Backend, when it has news: what that finds may outlive the host
	stop  context.CancelFunc
	heard chan struct{} // closed when it has answered, or failed to, for the first time
	has   guarded.Value[hosted]
}

// hosted is what an account has.
type hosted struct {
	listed  bool // else the servers are those of the account before, reached with the former credentials
	servers []delivery.Server
	trouble *controller.Outcome
}

// provider returns what is known of an account, and begins to list its zones if it is a new one. The zones of the
// former one are used until those are known.
func (b *Controller) provider(ctx context.Context, name string, settings Settings, old known) known {
	h := old.host
	if h == nil || !reflect.DeepEqual(old.settings, settings) {
		list, err := b.Host(*settings.Provider)
		if e, ok := errors.AsType[*backend.Error](err); ok && e.Cause == backend.CauseUnsupported {
			return known{trouble: problem(controller.ReasonNotSupported, "This operator cannot use the Backend: %v.", e.Err)}
		} else if err != nil {
			return known{trouble: problem(controller.ReasonInvalidSpec, "The Backend cannot be used: %v.", err)}
		}
		h = &host{list: list, look: func() { b.look(ctx, name) }, heard: make(chan struct{})}
		has, unlock := h.has.Lock()
		if has.servers = old.servers; len(has.servers) == 0 {
			has.trouble = problem(controller.ReasonPending, "The operator is listing the zones of %s.", settings.Provider.Type)
		}
		unlock()
		lives, stop := context.WithCancel(ctx)
		h.stop = stop
		go b.followZones(lives, name, settings.Provider.Type, h)
	}
	has, unlock := h.has.Lock()
	defer unlock()
	return known{settings: settings, servers: has.servers, trouble: has.trouble, host: h}
}

// followZones lists the zones of an account, again and again, until ctx ends.
func (b *Controller) followZones(ctx context.Context, name, kind string, h *host) {
	failed, again := 0, backend.Doubled{First: listAgain, Most: listAgainMost}
	heard := sync.OnceFunc(func() { close(h.heard) })
	defer heard()
	for anew := false; ; anew = true {
		call, cancel := context.WithTimeout(ctx, listPatience)
		servers, err := h.list(call, anew)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if h.hear(kind, servers, err) {
			h.look()
		}
		heard()
		pause := listEvery
		if failed++; err != nil {
			pause = again.After(failed)
		} else {
			failed = 0
		}
		if !b.pause(ctx, name, pause) {
			return
		}
	}
}

// firstPatience is how long a start waits for the zones of providers. Who waits longer is told of as not ready for a
// moment.
const firstPatience = 5 * time.Second

// hostsHeard waits until each provider has said which zones it has: until then nobody knows that a Zone is right as it
// is.
func (b *Controller) hostsHeard(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstPatience)
	defer cancel()
	st, unlock := b.state.Lock()
	var all []chan struct{}
	for _, k := range st.known {
		if k.host != nil {
			all = append(all, k.host.heard)
		}
	}
	unlock()
	for _, heard := range all {
		select {
		case <-heard:
		case <-ctx.Done():
			return
		}
	}
}

// hear notes what was listed, and reports whether anything is new. What was listed before stays when nothing can be.
// When a service refuses credentials that it has never taken, those before them are not to be used any more either.
func (h *host) hear(kind string, servers []delivery.Server, err error) bool {
	has, unlock := h.has.Lock()
	defer unlock()
	oldServers, oldTrouble := has.servers, has.trouble
	switch class := backend.Class(err); {
	case err == nil:
		has.servers, has.listed, has.trouble = servers, true, nil
	case class == backend.ErrNotAuthorised:
		has.trouble = problem(controller.ReasonNotAuthorised,
			"The zones of %s cannot be listed: %v. Correct the credentials, or what they are allowed.", kind, err)
		if !has.listed {
			has.servers = nil
		}
	default:
		has.trouble = problem(controller.ReasonOf(class), "The zones of %s cannot be listed: %v.", kind, err)
	}
	return !slices.Equal(oldServers, has.servers) || !reflect.DeepEqual(oldTrouble, has.trouble)
}

// pause waits for the next listing, which is soon when a Zone is not among those listed.
func (b *Controller) pause(ctx context.Context, name string, long time.Duration) bool {
	end := time.NewTimer(long)
	defer end.Stop()
	tick := time.NewTicker(listMissing)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-end.C:
			return true
		case <-tick.C:
			if b.Places.Unhosted(name) {
				return true
			}
		}
	}
}

// ServersOf are hosted zones as servers: of several zones with one name the one that is meant, which is a public one.
func ServersOf(account backend.Account, kind string, zones []backend.HostedZone) []delivery.Server {
	zones = slices.SortedFunc(slices.Values(zones), func(a, b backend.HostedZone) int {
		if c := a.Name.Compare(b.Name); c != 0 {
			return c
		}
		return a.Compare(b)
	})
	var servers []delivery.Server
	for i, z := range zones {
		if i > 0 && zones[i-1].Name == z.Name {
			continue
		}
		servers = append(servers, delivery.Server{
			Name: z.Target.Server, View: z.Target.View, Title: fmt.Sprintf("%s, zone %s", kind, z.ID), Zone: z.Name,
			Backend: account.Backend(z),
		})
	}
	return servers
}
