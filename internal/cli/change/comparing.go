package change

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/move"
	"github.com/zonefold/zonefold/internal/cli/plain"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Comparing finds out which zones to read from which servers.
type Comparing struct {
	*ask.Explainer
	Flags   *DiffFlags
	Pool    *all.Pool
	Cluster *command.Cluster // nil: the objects are those of files
	secrets move.Vault       // of Backends
	named   []all.Server     // by --server
	Others  bool             // it is for somebody else than this process, whose own credentials are not theirs

	AsksOperator bool // about servers that cannot be read from here
	asked        map[string]difference
}

// NewComparing compares objects with what servers have that flags lead to.
func NewComparing(env command.Env, objects *command.Found, flags *DiffFlags) (*Comparing, error) {
	c := &Comparing{Explainer: ask.NewExplainer(objects), Flags: flags, Pool: all.NewPool(command.Running(env.Now), nil)}
	return c, c.Reach(env)
}

// jobs returns what there is to compare: of all zones, or of one.
func (c *Comparing) jobs(ctx context.Context, name dnsname.Name) ([]*Comparison, error) {
	if err := c.known(); err != nil {
		return nil, err
	}
	var out []*Comparison
	known := false
	for i := range c.Composition.Zones {
		z := &c.Composition.Zones[i]
		if !z.Verdict.Accepted || z.Object.Zoneless() || !name.IsZero() && z.Verdict.Name != name {
			continue
		}
		known = true
		out = append(out, c.JobsOf(ctx, z, !name.IsZero())...)
	}
	if !known && !name.IsZero() {
		return nil, fmt.Errorf("no accepted Zone is %s%s; zonefold explain %s says why", name, c.MaybeUnseen("zones"), name)
	}
	return out, nil
}

// JobsOf returns what there is to compare of a zone. One that has no Backend is worth a word if it was asked for.
func (c *Comparing) JobsOf(ctx context.Context, z *fold.ZoneResult, asked bool) []*Comparison {
	if len(c.named) > 0 {
		return c.at(z, Comparison{}, c.named)
	}
	switch {
	case z.Object.Zone != nil:
	case len(c.Flags.backends) == 0:
		return c.fromOperator(ctx, z, Comparison{})
	case !asked:
		return nil
	}
	var out []*Comparison
	backends := c.Composition.BackendsOf(z)
	for _, name := range backends {
		if len(c.Flags.backends) == 0 || slices.Contains(c.Flags.backends, name) {
			out = append(out, c.backend(ctx, z, name)...)
		}
	}
	if len(out) > 0 || len(backends) > 0 && !asked {
		return out
	}
	why := "no requested Backend serves it"
	if len(backends) == 0 {
		why = "it goes to no Backend" + c.MaybeUnseen("backends")
	}
	return c.at(z, Comparison{Trouble: errors.New(why)}, []all.Server{{}})
}

// known refuses Backends that are not there.
func (c *Comparing) known() error {
	for _, name := range c.Flags.backends {
		if !slices.ContainsFunc(c.Composition.Backends, func(o *manifest.Object) bool { return o.Name == name }) {
			return fmt.Errorf("--backend: Backend %s does not exist%s", plain.Line(name), c.MaybeUnseen("backends"))
		}
	}
	return nil
}

// at returns the comparisons of a zone with servers that are alike.
func (c *Comparing) at(z *fold.ZoneResult, like Comparison, servers []all.Server) []*Comparison {
	var out []*Comparison
	for _, s := range servers {
		one := like
		one.Zone, one.server, one.Client = z, s.Name, s.Backend
		out = append(out, &one)
	}
	return out
}

// backend returns the comparisons of a zone with the servers of a Backend.
func (c *Comparing) backend(ctx context.Context, z *fold.ZoneResult, name string) []*Comparison {
	like := Comparison{Backend: name}
	servers, err := c.connect(ctx, z, &like)
	if err == nil {
		return c.at(z, like, servers)
	}
	like.Trouble = err
	return c.fromOperator(ctx, z, like)
}

func (c *Comparing) connect(ctx context.Context, z *fold.ZoneResult, like *Comparison) ([]all.Server, error) {
	b, err := c.backendNamed(like.Backend)
	if err != nil {
		return nil, err
	}
	spec := &b.Spec
	like.mode, like.keep = spec.Mode, spec.Foreign != zonefold.ForeignDelete
	if spec.Embedded != nil || spec.Bind9 != nil || spec.DNSClass != nil {
		return nil, ErrNotRead
	}
	r := move.Reached{Object: b, Secret: c.secrets, Operator: c.Flags.Operator, Surroundings: !c.Others}
	like.registry, err = dialect.Registries(spec.Registries, func(ref zonefold.SecretKeyRef) ([]byte, error) {
		text, err := r.Value(ctx, ref)
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
	servers, err := r.Connect(ctx, c.Pool, z.Verdict.Name)
	if err != nil {
		return nil, err
	}
	return r.Beside(ctx, c.Pool, servers)
}

// backendNamed returns a Backend.
func (c *Comparing) backendNamed(name string) (*zonefold.Backend, error) {
	i := slices.IndexFunc(c.Composition.Backends, func(o *manifest.Object) bool { return o.Name == name })
	if i < 0 || c.Composition.Backends[i].Backend == nil {
		return nil, fmt.Errorf("the Backend %s does not exist%s", name, c.MaybeUnseen("backends"))
	}
	return c.Composition.Backends[i].Backend, nil
}

// ErrNotRead is about Backends whose servers are not read by the command.
var ErrNotRead = errors.New("the command cannot read the servers of such a Backend")

// ledger returns the sets that an operator has written down as its own.
func (c *Comparing) ledger(ctx context.Context, z *fold.ZoneResult) (rr.Sets, error) {
	object := z.Object.Zone
	txn := rr.Sets{}.Txn()
	kubizone.PutEntries(txn, object.Status.Entries)
	if c.Cluster == nil || object.Status.Serial == nil {
		return txn.Sets(), nil
	}
	err := command.EachPage(ctx, c.Cluster.Zonefold("zoneslices"), object.Namespace, func(list *zonefold.ZoneSliceList) {
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
		return rr.Sets{}, fmt.Errorf("reading the ZoneSlices of %s, which list zonefold's sets: %w", z.Object.Ref, err)
	}
	return txn.Sets(), nil
}
