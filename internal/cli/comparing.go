package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// A comparing finds out which zones to read from which servers.
type comparing struct {
	*explainer
	flags   *diffFlags
	pool    *all.Pool
	cluster *cluster     // nil: the objects are those of files
	secrets vault        // of Backends
	named   []all.Server // by --server
	others  bool         // it is for somebody else than this process, whose own credentials are not theirs
}

// newComparing compares objects with what servers have that flags lead to.
func newComparing(env Env, objects *objects, flags *diffFlags) (*comparing, error) {
	c := &comparing{explainer: newExplainer(objects), flags: flags, pool: all.NewPool(running(env.Now), nil)}
	return c, c.reach(env)
}

// jobs returns what there is to compare: of all zones, or of one.
func (c *comparing) jobs(ctx context.Context, name dnsname.Name) ([]*comparison, error) {
	if err := c.known(); err != nil {
		return nil, err
	}
	var out []*comparison
	known := false
	for i := range c.composition.zones {
		z := &c.composition.zones[i]
		if !z.verdict.Accepted || z.object.Zoneless() || !name.IsZero() && z.verdict.Name != name {
			continue
		}
		known = true
		out = append(out, c.jobsOf(ctx, z, !name.IsZero())...)
	}
	if !known && !name.IsZero() {
		return nil, fmt.Errorf("no accepted Zone is %s%s; zonefold explain %s says why", name, c.maybeUnseen("zones"), name)
	}
	return out, nil
}

// jobsOf returns what there is to compare of a zone. One that has no Backend is worth a word if it was asked for.
func (c *comparing) jobsOf(ctx context.Context, z *zoneResult, asked bool) []*comparison {
	if len(c.named) > 0 {
		return c.at(z, comparison{}, c.named)
	}
	var out []*comparison
	backends := c.composition.backendsOf(z)
	for _, name := range backends {
		if len(c.flags.backends) == 0 || slices.Contains(c.flags.backends, name) {
			out = append(out, c.backend(ctx, z, name)...)
		}
	}
	if len(out) > 0 || len(backends) > 0 && !asked {
		return out
	}
	why := "no Backend that was asked for serves it"
	switch {
	case z.object.Zone == nil:
		why = "its servers are not those of a Backend; say with --server which name server to transfer it from"
	case len(backends) == 0:
		why = "it goes to no Backend" + c.maybeUnseen("backends")
	}
	return c.at(z, comparison{trouble: errors.New(why)}, []all.Server{{}})
}

// known refuses Backends that are not there.
func (c *comparing) known() error {
	for _, name := range c.flags.backends {
		if !slices.ContainsFunc(c.composition.backends, func(o *manifest.Object) bool { return o.Name == name }) {
			return fmt.Errorf("--backend: there is no Backend %s%s", oneLine(name), c.maybeUnseen("backends"))
		}
	}
	return nil
}

// at returns the comparisons of a zone with servers that are alike.
func (c *comparing) at(z *zoneResult, like comparison, servers []all.Server) []*comparison {
	var out []*comparison
	for _, s := range servers {
		one := like
		one.zone, one.server, one.client = z, s.Name, s.Backend
		out = append(out, &one)
	}
	return out
}

// backend returns the comparisons of a zone with the servers of a Backend.
func (c *comparing) backend(ctx context.Context, z *zoneResult, name string) []*comparison {
	like := comparison{backend: name}
	servers, err := c.connect(ctx, z, &like)
	if err != nil {
		like.trouble = err
		servers = []all.Server{{}}
	}
	return c.at(z, like, servers)
}

func (c *comparing) connect(ctx context.Context, z *zoneResult, like *comparison) ([]all.Server, error) {
	b, err := c.backendNamed(like.backend)
	if err != nil {
		return nil, err
	}
	spec := &b.Spec
	like.mode, like.keep = spec.Mode, spec.Foreign != zonefold.ForeignDelete
	if spec.Embedded != nil || spec.Bind9 != nil || spec.DNSClass != nil {
		return nil, errNotRead
	}
	r := reached{b, c.secrets, c.flags.operator, !c.others}
	like.registry, err = dialect.Registries(spec.Registries, func(ref zonefold.SecretKeyRef) ([]byte, error) {
		text, err := r.value(ctx, ref)
		if err != nil {
			return nil, err
		}
		return registry.ParseKey(text)
	})
	if err != nil {
		return nil, err
	}
	if like.keep {
		if like.written, err = c.ledger(ctx, z); err != nil {
			return nil, err
		}
	}
	return r.connect(ctx, c.pool, z.verdict.Name)
}

// backendNamed returns a Backend.
func (c *comparing) backendNamed(name string) (*zonefold.Backend, error) {
	i := slices.IndexFunc(c.composition.backends, func(o *manifest.Object) bool { return o.Name == name })
	if i < 0 || c.composition.backends[i].Backend == nil {
		return nil, fmt.Errorf("there is no Backend %s%s", name, c.maybeUnseen("backends"))
	}
	return c.composition.backends[i].Backend, nil
}

// errNotRead is about Backends whose servers are not read by the command.
var errNotRead = errors.New("its servers cannot be read as those of a Backend; say with --server from which name " +
	"server to transfer the zone, or with --backend which Backends to compare")

// ledger returns the sets that an operator has written down as its own.
func (c *comparing) ledger(ctx context.Context, z *zoneResult) (rr.Sets, error) {
	object := z.object.Zone
	txn := rr.Sets{}.Txn()
	kubizone.PutEntries(txn, object.Status.Entries)
	if c.cluster == nil || object.Status.Serial == nil {
		return txn.Sets(), nil
	}
	err := pages(ctx, kind{c.cluster.slices, "zoneslices"}, object.Namespace, func(list *zonefold.ZoneSliceList) {
		for i := range list.Items {
			s := &list.Items[i]
			switch {
			case !metav1.IsControlledBy(s, object):
			case s.Journal:
				kubizone.PutEntries(txn, kubizone.EntriesIn(s.Text))
			default:
				kubizone.PutEntries(txn, kubizone.SliceEntries(s.Entries))
			}
		}
	})
	if err != nil {
		return rr.Sets{}, fmt.Errorf("reading which sets are zonefold's, in the ZoneSlices of %s: %w", z.object.Ref, err)
	}
	return txn.Sets(), nil
}
