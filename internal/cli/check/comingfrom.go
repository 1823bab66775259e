package check

import (
	"context"
	"errors"
	"slices"

	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/change"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
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
		return errors.New("it must be kubizone, bindy or external-dns")
	}
	*f = former(s)
	return nil
}

// comingFrom reports what would be served otherwise than by the system that served the objects until now. All of its
// objects count as accepted there.
func (f *doctorFlags) comingFrom(ctx context.Context, env command.Env, p *command.Progress) error {
	f.diff.In.Sources = f.former == "external-dns"
	objects, err := f.diff.In.Read(ctx, env, p)
	if err != nil {
		return err
	}
	p.Begin("deciding about "+command.Count(len(objects.Objects), "object"), 0)
	after := of(ask.NewExplainer(objects).Composition, theirs[f.former])
	d := change.Difference(formerly(after), after)
	d.Unseen = append(d.Unseen, objects.Unseen...)
	p.End()
	return d.Print(env, change.PlanForm(f.out))
}

// of returns what a composition has of some objects.
func of(c *fold.Composition, meant func(*manifest.Object) bool) *fold.Composition {
	out := *c
	out.Zones = slices.DeleteFunc(slices.Clone(c.Zones), func(z fold.ZoneResult) bool { return !meant(z.Object) })
	out.Records = slices.DeleteFunc(slices.Clone(c.Records), func(r fold.RecordResult) bool { return !meant(r.Object) })
	return &out
}

// formerly returns the composition that the existing system has made of the same objects: of a Zone, what its status
// says; of others, which do not say, the same.
func formerly(c *fold.Composition) *fold.Composition {
	out := *c
	out.Zones, out.Records = slices.Clone(c.Zones), slices.Clone(c.Records)
	for i := range out.Zones {
		z := &out.Zones[i]
		if z.Object.Zone != nil {
			z.Snapshot, z.Verdict.Accepted = contentIn(z)
			z.Verdict.Name = z.Snapshot.Name
		}
	}
	for i := range out.Records {
		out.Records[i].Verdict.Accepted = true
	}
	return &out
}

// contentIn returns the content in the status of a Zone, false if there is none.
func contentIn(z *fold.ZoneResult) (zone.Snapshot, bool) {
	entries := z.Object.Zone.Status.Entries
	sets := rr.Sets{}.Txn()
	dialect.PutEntries(sets, entries)
	out := zone.Snapshot{ID: z.ID(), Name: z.Verdict.Name, Sets: sets.Sets()}
	for _, e := range entries {
		if e.Type != rr.TypeSOA.String() {
			continue
		}
		if soa, err := rr.ParseSOA(e.RData); err == nil {
			soa.TTL = uint32(e.TTL)
			out.SOA = soa
		}
	}
	return out, len(entries) > 0 && !z.Verdict.Name.IsZero()
}
