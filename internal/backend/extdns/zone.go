package extdns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// place is a set at a server.
type place = rr.Key

// remembered is what the server made of a set when it was asked to adjust it.
type remembered struct{ want, adjusted rr.Set }

// list is what the server said it has.
type list struct {
	at    time.Time // zero: nothing is known
	wrote bool      // something was written since
	sets  map[place][]endpoint.Endpoint
}

// How long a list is taken for true. To judge or to undo what is there it has to be young, as it is for zones of one
// server that are read one after the other; that there is nothing at a name, one may believe for longer. What is
// asserted (backend.Batch.Assert) is judged by no list of before.
const (
	young = 10 * time.Second
	old   = 10 * time.Minute
)

// Zone is one zone of a server.
type Zone struct {
	client *Client
	name   dnsname.Name
}

var _ backend.Backend = (*Zone)(nil)

// maxChanges is how many sets a call changes: a server needs a while for each.
const maxChanges = 200

// Limits are those of the protocol.
func (z *Zone) Limits() backend.Limits {
	return backend.Limits{
		Atomic: backend.AtomicValue, Read: backend.ReadZone, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer,
		MinTTL: 1, MaxTTL: 1<<31 - 1, MaxChanges: maxChanges, MaxBytes: endpoint.MaxBody / 2, Size: size, Concurrency: 1,
	}
}

// size bounds what a change takes in JSON, where an octet of a text takes at most six.
func size(c plan.Change) int {
	n := 0
	for _, set := range []rr.Set{c.Have, c.Want} {
		n += 300 + 6*len(c.Key.Name.String())
		for _, data := range set.Data {
			n += 6*len(data) + 3
		}
	}
	return n
}

// Zones is the one zone.
func (z *Zone) Zones(context.Context) ([]dnsname.Name, error) { return []dnsname.Name{z.name}, nil }

// begin waits for the turn and sees to it that the server has the zone.
func (z *Zone) begin(ctx context.Context, name dnsname.Name) error {
	if name != z.name {
		return &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
			"zone %s was requested but %s was found", name, z.name)}
	}
	c := z.client
	if err := c.lock(ctx); err != nil {
		return err
	}
	err := c.negotiate(ctx)
	if err == nil && c.zoneOf(z.name) != z.name {
		err = &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: errors.New(
			"it is no longer among the server's zones")}
	}
	if err != nil {
		c.unlock()
	}
	return err
}

// mine reports whether a name is for this zone to read and to write, and not for a zone below it or for nobody.
func (z *Zone) mine(name dnsname.Name) bool {
	return z.client.zoneOf(name) == z.name && z.client.takes(name)
}

// look gets the list, unless the one that is there is young enough.
func (c *Client) look(ctx context.Context, age time.Duration, own bool) error {
	if c.list.sets != nil && (own || !c.list.wrote) && c.now().Sub(c.list.at) <= age {
		return nil
	}
	c.list = list{}
	at := c.now()
	var all []endpoint.Endpoint
	if err := c.call(ctx, http.MethodGet, "records", nil, &all); err != nil {
		return err
	}
	sets := map[place][]endpoint.Endpoint{}
	for _, e := range all {
		key, err := e.Key()
		if err != nil {
			return broken("%w", err)
		}
		sets[key] = append(sets[key], e)
	}
	c.list = list{at: at, sets: sets}
	return nil
}

// set is what the list has of a key. What the server has made of a wanted set counts as that set.
func (c *Client) set(key rr.Key) rr.Set {
	has := setOf(key, c.list.sets[key])
	if r, ok := c.known[key]; ok && len(has.Data) > 0 && (alike(has, r.adjusted) || alike(has, r.want)) {
		return r.want
	}
	return has
}

// Read lists all that the server has, of all its zones.
func (z *Zone) Read(ctx context.Context, name dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	found, err := z.read(ctx, name, ask)
	if err != nil {
		return backend.Observed{}, fmt.Errorf("reading zone %s from %s: %w", name, z.client.Server(), err)
	}
	return found, nil
}

func (z *Zone) read(ctx context.Context, name dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	if err := z.begin(ctx, name); err != nil {
		return backend.Observed{}, err
	}
	defer z.client.unlock()
	txn := rr.Sets{}.Txn()
	if ask.Keys != nil && len(ask.Keys) == 0 {
		return backend.Observed{}, nil // there is no SOA to be seen
	}
	if err := z.client.look(ctx, young, false); err != nil {
		return backend.Observed{}, err
	}
	if ask.Keys == nil {
		for key := range z.client.list.sets {
			if z.mine(key.Name) && key.Type.Refused() == "" {
				txn.Put(z.client.set(key))
			}
		}
	}
	for _, key := range ask.Keys {
		txn.Put(z.client.set(key))
	}
	return backend.Observed{Sets: txn.Sets()}, nil
}
