package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// former is the system that served the objects of a cluster before.
type former string

// theirs says of each system that one may come from whether an object is one that it serves.
var theirs = map[former]func(*manifest.Object) bool{
	"kubizone":     func(o *manifest.Object) bool { return o.Zone != nil || o.Record != nil },
	"bindy":        func(o *manifest.Object) bool { return o.Bindy != nil },
	"external-dns": func(o *manifest.Object) bool { return o.Source != nil },
}

func (f *former) String() string { return string(*f) }
func (f *former) Type() string   { return "kubizone|bindy|external-dns" }

func (f *former) Set(s string) error {
	if theirs[former(s)] == nil {
		return errors.New("it is kubizone, bindy or external-dns")
	}
	*f = former(s)
	return nil
}

// comingFrom reports what would be served otherwise than by the system that served the objects until now. All of its
// objects count as accepted there.
func (f *doctorFlags) comingFrom(ctx context.Context, env Env, p *progress) error {
	f.diff.in.sources = f.former == "external-dns"
	objects, err := f.diff.in.read(ctx, env, p)
	if err != nil {
		return err
	}
	p.begin("deciding about "+count(len(objects.Objects), "object"), 0)
	after := newExplainer(objects).composition.of(theirs[f.former])
	d := difference(after.published(), after)
	d.Unseen = append(d.Unseen, objects.unseen...)
	p.end()
	return d.print(env, planForm(f.out))
}

// of returns what a composition has of some objects.
func (c *composition) of(meant func(*manifest.Object) bool) *composition {
	out := *c
	out.zones = slices.DeleteFunc(slices.Clone(c.zones), func(z zoneResult) bool { return !meant(z.object) })
	out.records = slices.DeleteFunc(slices.Clone(c.records), func(r recordResult) bool { return !meant(r.object) })
	return &out
}

// published returns the composition that the existing system has made of the same objects: of a Zone, what its status
// says; of others, which do not say, the same.
func (c *composition) published() *composition {
	out := *c
	out.zones, out.records = slices.Clone(c.zones), slices.Clone(c.records)
	for i := range out.zones {
		z := &out.zones[i]
		if z.object.Zone != nil {
			z.snapshot, z.verdict.Accepted = contentIn(z)
			z.verdict.Name = z.snapshot.Name
		}
	}
	for i := range out.records {
		out.records[i].verdict.Accepted = true
	}
	return &out
}

// contentIn returns the content in the status of a Zone, false if there is none.
func contentIn(z *zoneResult) (zone.Snapshot, bool) {
	entries := z.object.Zone.Status.Entries
	sets := rr.Sets{}.Txn()
	dialect.PutEntries(sets, entries)
	out := zone.Snapshot{ID: z.id(), Name: z.verdict.Name, Sets: sets.Sets()}
	for _, e := range entries {
		if e.Type != rr.TypeSOA.String() {
			continue
		}
		if soa, err := rr.ParseSOA(e.RData); err == nil {
			soa.TTL = uint32(e.TTL)
			out.SOA = soa
		}
	}
	return out, len(entries) > 0 && !z.verdict.Name.IsZero()
}
