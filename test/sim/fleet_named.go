package sim

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	backendbind9 "github.com/zonefold/zonefold/internal/backend/bind9"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// confirmWithin is how long a BIND that starts again in its pod waits to be told what it is to have.
const confirmWithin = 30 * time.Second

// A disk is what BIND and its sidecar keep: it ends with a pod, or outlives it, as a volume does.
type disk struct {
	zones    *backendtest.Memory // content
	sites    map[dnsname.Name]*site
	declared bool      // somebody has said which zones it is to have
	of       types.UID // the pod that it was said for
	boot     int       // the start of BIND since which it was said
	content  []string  // those zones
}

// A site is how BIND has a zone.
type site struct {
	primary                              bool
	held                                 bool // it is being filled, and shown to nobody
	loaded                               bool // a secondary has it
	alsoNotify, allowTransfer, primaries []string
	policy                               string
	asks                                 time.Time // when a secondary asks its primaries next
	last                                 uint32    // serial that it has shown of the zone of an object
	of                                   types.UID // that object
}

// shown reports whether a zone is there for everybody.
func (s *site) shown() bool { return s.primary && !s.held || !s.primary && s.loaded }

func newDisk() *disk {
	return &disk{sites: map[dnsname.Name]*site{}, zones: backendtest.NewMemory(backendtest.Profile{Limits: backend.Limits{
		Atomic: backend.AtomicBatch, Read: backend.ReadZone, SOA: backend.SOAClient, ApexNS: backend.ApexNSRequired,
		Creates: true, Removes: true,
	}})}
}

// secretKeys are the keys that a pod has from its Secrets.
type secretKeys struct {
	versions         string
	update, transfer []bind9.Key
}

// of returns those by which messages are taken that change something, or others.
func (k secretKeys) of(writes bool) []bind9.Key {
	if writes {
		return k.update
	}
	return k.transfer
}

func (k secretKeys) same(o secretKeys) bool {
	return k.versions == o.versions || len(o.update) == 0 || len(o.transfer) == 0
}

// secrets are the keys as they stand in the Secrets of a pod. store.mu is held.
func (p *pod) secrets() (out secretKeys) {
	objects, kind := p.nodes.world.api.store.objects, p.nodes.world.api.kinds.named("Secret")
	for _, v := range p.spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.Secret == nil {
				continue
			}
			object := objects[ref{kind, types.NamespacedName{Namespace: p.of.Namespace, Name: source.Secret.Name}}]
			if object == nil {
				continue
			}
			out.versions += object.GetResourceVersion() + " "
			for item, into := range map[string]*[]bind9.Key{"rndc.key": &out.update, "transfer.key": &out.transfer} {
				text, found, _ := unstructured.NestedString(object.Object, "data", item)
				if plain, err := base64.StdEncoding.DecodeString(text); found && err == nil {
					*into, _ = bind9.ParseKeys(string(plain))
				}
			}
		}
	}
	return out
}

// answers reports whether BIND does.
func (p *pod) answers(now time.Time) bool { return p.running && !p.silent && !now.Before(p.up) }

// serves reports whether a pod is ready, as its sidecar says.
func (p *pod) serves(now time.Time) bool {
	d := p.disk
	if !p.answers(now) || p.mute || !p.leaves.IsZero() || !d.declared || d.of != p.uid ||
		d.boot != p.boot && now.Before(p.up.Add(confirmWithin)) {
		return false
	}
	return !slices.ContainsFunc(d.content, func(text string) bool {
		zone, err := dnsname.Parse(text + ".")
		s := d.sites[zone]
		return err != nil || s == nil || !s.shown()
	})
}

// refresh has the zones that a pod follows ask their primaries, and says when the next is due.
func (p *pod) refresh(now time.Time) (next time.Time) {
	if !p.running {
		return time.Time{}
	}
	for zone, s := range p.disk.sites {
		if s.primary {
			continue
		}
		if !now.Before(s.asks) && p.answers(now) {
			p.transfer(zone, s, false)
		}
		if s.asks.After(now) && (next.IsZero() || s.asks.Before(next)) {
			next = s.asks
		}
	}
	if p.up.After(now) && (next.IsZero() || p.up.Before(next)) {
		next = p.up
	}
	return next
}

// transfer has a secondary take a zone from one of its primaries: a newer one, or, if it is to be anew, whatever that
// has.
func (p *pod) transfer(zone dnsname.Name, s *site, anew bool) {
	now := p.nodes.now()
	s.asks = now.Add(retryDelay)
	have, _, _ := p.disk.zones.Truth(zone)
	for _, text := range s.primaries {
		at, key, _ := strings.Cut(text, " key ")
		from := p.nodes.at(at)
		if from == nil || !from.answers(now) {
			continue
		}
		other := from.disk.sites[zone]
		if other == nil || !other.shown() || !keyed(from.keys.transfer, p.keys.transfer, key) &&
			(key != "" || !slices.Contains(other.allowTransfer, p.address.String())) {
			continue
		}
		soa, sets, _ := from.disk.zones.Truth(zone)
		s.asks = now.Add(time.Duration(soa.Refresh) * time.Second)
		if !s.loaded || anew || rr.SerialLess(have.Serial, soa.Serial) {
			p.disk.zones.AddZone(zone, soa, slices.Collect(sets.All())...)
			s.loaded = true
			p.shows(zone, s)
			p.nodes.look()
		}
		return
	}
}

// keyed reports whether both have a key of a name, and it is the same.
func keyed(a, b []bind9.Key, name string) bool {
	named := func(k bind9.Key) bool { return k.Name == name }
	i, j := slices.IndexFunc(a, named), slices.IndexFunc(b, named)
	return i >= 0 && j >= 0 && a[i] == b[j]
}

// notify has the secondaries of a zone ask soon.
func (p *pod) notify(s *site, zone dnsname.Name) {
	for _, at := range s.alsoNotify {
		to := p.nodes.at(at)
		if to == nil || to.disk.sites[zone] == nil {
			continue
		}
		to.disk.sites[zone].asks = p.nodes.now().Add(notifyDelay)
		p.nodes.look()
	}
}

// at is the pod that has an address, nil if none has.
func (n *nodes) at(address string) *pod {
	host, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil
	}
	for _, p := range n.pods {
		if p.running && p.address == host.Addr() {
			return p
		}
	}
	return nil
}

// A daemon is named as an operator reaches it, by its address.
type daemon struct {
	*rfc2136.Client // of which nothing is used that sends

	from *operator
	keys func() (rfc2136.Keys, error)
}

func (o *operator) daemon(cfg rfc2136.Config) (backendbind9.Nameserver, error) {
	c, err := rfc2136.New(cfg)
	return &daemon{c, o, cfg.Keys}, err
}

// reach finds the pod that answers, and sees that it takes a key. A pod that is silent is waited for.
func (d *daemon) reach(ctx context.Context, writes bool, do func(*pod) error) error {
	n := d.from.world.nodes
	keys, err := d.keys()
	if err != nil {
		return &backend.Error{Class: backend.ErrNotAuthorised, Err: err}
	}
	n.mu.Lock()
	p := n.at(d.Server())
	if p != nil && p.silent {
		n.mu.Unlock()
		<-ctx.Done()
		return &backend.Error{Class: backend.ErrUnavailable, Err: ctx.Err()}
	}
	defer n.mu.Unlock()
	if p == nil || !p.answers(n.now()) {
		return &backend.Error{Class: backend.ErrUnavailable, Err: errors.New("connection refused")}
	}
	key := keys.Read
	if writes {
		key = keys.Update
	}
	if !p.knows(key, writes) {
		meant := p.before == nil || !p.before.knows(key, writes) // else it was for that one
		if meant && !d.from.isOver() {                           // else it was paused: it has the key of then
			p.refuses(key.Name.String(), p.keys.of(writes))
		}
		return &backend.Error{Class: backend.ErrNotAuthorised, Words: "BADKEY"}
	}
	return do(p)
}

// knows reports whether a pod takes messages that change something, or others, with a key.
func (p *pod) knows(key rfc2136.Key, writes bool) bool {
	return slices.ContainsFunc(p.keys.of(writes), func(k bind9.Key) bool {
		return k.Name+"." == key.Name.String() && k.Secret == key.Secret
	})
}

// refuses looks, when a pod does not know the key of a message, whether the Secrets have one that it knows: that one is
// to be used until it has the other.
func (p *pod) refuses(name string, known []bind9.Key) {
	s := p.nodes.world.api.store
	s.mu.Lock()
	now := p.secrets()
	s.mu.Unlock()
	for _, k := range known {
		if slices.Contains(now.update, k) || slices.Contains(now.transfer, k) {
			p.wrong("a message is signed with the key %s, which is not known here yet; %s is", name, k.Name)
			return
		}
	}
}

// Prove implements bind9.Nameserver.
func (d *daemon) Prove(ctx context.Context) error {
	if err := d.from.pass(ctx, messageTime); err != nil {
		return unreached(err)
	}
	return d.reach(ctx, true, func(*pod) error { return nil })
}

// Read implements bind9.Nameserver.
func (d *daemon) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (found backend.Observed, err error) {
	if err := d.from.pass(ctx, messageTime); err != nil {
		return found, &backend.Error{Class: backend.ErrUnavailable, Err: err}
	}
	err = d.reach(ctx, false, func(p *pod) error {
		switch s := p.disk.sites[zone]; {
		case s == nil, s.held:
			return &backend.Error{Class: backend.ErrNotAuthorised, Words: "REFUSED"}
		case !s.shown():
			return &backend.Error{Class: backend.ErrUnavailable, Words: "SERVFAIL"}
		}
		found, err = p.disk.zones.Client(true).Read(ctx, zone, ask)
		return err
	})
	return found, err
}

// Apply implements bind9.Nameserver.
func (d *daemon) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (result backend.Result, err error) {
	what := fmt.Sprintf("%s%s at %s", update, zone, d.from.world.nodes.name(d.Server()))
	err = d.from.effect(ctx, messageTime, what, func() error {
		return d.reach(ctx, true, func(p *pod) error {
			switch s := p.disk.sites[zone]; {
			case s == nil:
				return &backend.Error{Class: backend.ErrNoZone, Words: "NOTAUTH"}
			case !s.primary:
				return &backend.Error{Class: backend.ErrNotAuthorised, Words: "REFUSED"}
			default:
				result, err = p.disk.zones.Client(true).Apply(onTheWire(ctx), zone, b)
				p.shows(zone, s)
				p.notify(s, zone)
			}
			if b.SOA != nil {
				result.SOA = *b.SOA
			}
			return err
		})
	})
	return result, unreached(err)
}

// name is what a pod is called in effects: the same in each life.
func (n *nodes) name(address string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.at(address); p != nil {
		return p.of.NamespacedName.String()
	}
	return "nobody"
}
