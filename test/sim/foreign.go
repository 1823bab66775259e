package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// setOf reads a set of one value: name, type and data.
func setOf(words []string) (rr.Set, error) {
	if len(words) < 3 {
		return rr.Set{}, errors.New("name, type or data are missing")
	}
	name, err := dnsname.Parse(words[0])
	if err != nil {
		return rr.Set{}, err
	}
	typ, err := rr.ParseType(words[1])
	if err != nil {
		return rr.Set{}, err
	}
	return rr.NewSet(rr.Key{Name: name, Type: typ}, 60, strings.Join(words[2:], " ")), nil
}

// write has somebody else put a set into a zone, under the serial that comes next.
func (s *server) write(words []string) error {
	set, err := setOf(words)
	if err != nil {
		return err
	}
	var in dnsname.Name
	for _, zone := range s.Zones() {
		if set.Name.Under(zone) && (in.IsZero() || zone.Under(in)) {
			in = zone
		}
	}
	if in.IsZero() {
		return errors.New("the server has no zone of that name")
	}
	s.Foreign(in, []rr.Set{set}, nil)
	return nil
}

// apply has the server take a message; one that is unsynced has lost it when it comes back.
func (w *way) apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	w.from.world.mu.Lock()
	unsynced := w.to.unsynced
	w.to.unsynced = false
	w.from.world.mu.Unlock()
	before := w.to.Copy(zone)
	result, err := w.client().Apply(onTheWire(ctx), zone, b)
	if err == nil && b.SOA != nil {
		w.from.world.eyes.uses(w.from, w.at, zone.String(), b.SOA.Serial)
	}
	if unsynced && err == nil {
		w.to.Lose(zone, before)
		w.to.SetDown(true)
		time.AfterFunc(100*time.Millisecond, func() { w.to.SetDown(false) }) // before it is asked again
	}
	return result, err
}

// strip takes all finalizers off an object.
func (w *World) strip(ctx context.Context, kind, name string) error {
	return w.edit(ctx, kind, name, func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
}

// edit has somebody change an object.
func (w *World) edit(ctx context.Context, kind, name string, change func(*unstructured.Unstructured)) error {
	return w.editAs(ctx, write{manager: "person"}, kind, name, change)
}

// editAs has somebody change an object by a write.
func (w *World) editAs(ctx context.Context, as write, kind, name string,
	change func(*unstructured.Unstructured)) error {
	r, err := w.refOf(kind, name)
	if err != nil {
		return err
	}
	as.ref = r
	was, err := w.api.get(as.ref)
	if err != nil {
		return err
	}
	next := was.DeepCopy()
	change(next)
	_, _, err = w.api.update(ctx, as, next)
	return err
}
