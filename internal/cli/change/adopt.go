package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// adoptFlags say whose sets change hands, and where.
type adoptFlags struct {
	diff  DiffFlags // the objects, and how servers are reached
	owner string
	yes   bool
	out   command.Output
}

// newAdopt makes the command that takes the place of an external-dns.
func newAdopt(env command.Env) *cobra.Command {
	return newHandover(env, &cobra.Command{
		Use:   "adopt ZONE --external-dns-owner OWNER",
		Short: "Take over a zone from external-dns",
		Long: `adopt makes a Backend take over from an owner of external-dns. It shows what would change,
and with --yes adds the owner to spec.registries of the Backend. From then on, zonefold owns
those sets of the owner that objects ask for. A set that is already as wanted is not written,
so its answers do not change; sets shown as changed do.

An owner counts for every zone of the Backend that has a Zone, and adopt shows all of them.
Sets of the owner that no object asks for stay as they are and are marked with =. Write
Records for them. Options of external-dns such as --txt-prefix must be in spec.registries
first: docs/migrating-from-external-dns.md. You need the rights for diff with --sources, and
the right to patch the Backend.

Exit codes: 0 if zonefold has taken over; 2 if --yes is missing; 1 if anything went wrong. In
that case nothing is written.`,
		Example: `  zonefold adopt example.org --external-dns-owner prod
  zonefold adopt example.org --external-dns-owner prod --yes`,
	}, adopting)
}

// newDisown makes the command that gives the place back.
func newDisown(env command.Env) *cobra.Command {
	return newHandover(env, &cobra.Command{
		Use:   "disown ZONE --external-dns-owner OWNER",
		Short: "Give a zone back to external-dns",
		Long: `disown gives the zones of a Backend back to an owner of external-dns, in two steps. It shows
the next step, and carries it out with --yes.

The first step sets write: true in spec.registries of the Backend, and the operator writes
the owner's registry records for all of its sets. When the servers have these records and
nothing else differs, the second step sets mode: Observe. From then on the operator writes
nothing, and everything stays, even if Zones are deleted. Then start external-dns with that
owner.

Exit codes: 0 if the Backend only observes, so that external-dns may be started; 2 if there
is more to do; 1 if anything went wrong. In that case nothing is written.`,
		Example: `  zonefold disown example.org --external-dns-owner prod --yes`,
	}, disowning)
}

func newHandover(env command.Env, cmd *cobra.Command, next func(*handover) (*step, error)) *cobra.Command {
	var flags adoptFlags
	cmd.Args = command.Takes("ZONE")
	cmd.ValidArgsFunction = command.CompleteZones(env, &flags.diff.In.Cluster, &flags.diff.In.InputFlags.Namespace)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
			name, err := command.Origin(args[0])
			if err != nil {
				return err
			}
			return flags.run(cmd.Context(), env, p, name, next)
		})
	}
	f := cmd.Flags()
	f.StringVarP(&flags.diff.In.InputFlags.Namespace, "namespace", "n", "",
		"the namespace to look in if you may not list all (default: that of the context)")
	flags.diff.In.Cluster.RegisterConnection(cmd)
	f.BoolVar(&flags.diff.In.Sources, "sources", true,
		"read Services, Ingresses, routes and the like, too; false is for an operator without --source")
	f.StringVar(&flags.owner, "external-dns-owner", "", "the --txt-owner-id of the external-dns")
	f.StringArrayVar(&flags.diff.backends, "backend", nil, "the Backend (default: the only one of the zone)")
	command.CompleteFlag(cmd, "backend", command.CompleteBackends(env, &flags.diff.In.Cluster))
	f.StringVar(&flags.diff.Operator, "operator-namespace", "zonefold-system",
		"the namespace of the operator, for Secrets without a namespace")
	f.DurationVar(&flags.diff.Timeout, "timeout", time.Minute, "the timeout of one server for one zone")
	f.BoolVar(&flags.yes, "yes", false, "carry it out")
	flags.out.Register(cmd)
	return cmd
}

// A handover is a Backend whose zones change hands, with what its servers hold.
type handover struct {
	owner   string
	backend *zonefold.Backend
	compare func(*zonefold.BackendSpec) (*Compared, error) // by a spec that the Backend could have
}

// A step is what is to become of the spec of a Backend, and what comes of it.
type step struct {
	spec  *zonefold.BackendSpec // nil: nothing is to become of it
	shown *Compared
	says  string
	done  bool // after it there is nothing more to do
}

func (f *adoptFlags) run(
	ctx context.Context, env command.Env, p *command.Progress, name dnsname.Name, next func(*handover) (*step, error),
) error {
	if f.owner == "" {
		return errors.New("name the external-dns with --external-dns-owner: its --txt-owner-id")
	}
	objects, err := f.diff.In.Read(ctx, env, p)
	if err != nil {
		return err
	}
	c, err := NewComparing(env, objects, &f.diff)
	if err != nil {
		return err
	}
	b, err := c.handedOver(name)
	if err != nil {
		return err
	}
	object := b.DeepCopy()
	f.diff.backends = []string{b.Name}
	s, err := next(&handover{f.owner, object, func(spec *zonefold.BackendSpec) (*Compared, error) {
		b.Spec = *spec
		jobs, err := c.jobs(ctx, dnsname.Name{})
		if err != nil {
			return nil, err
		}
		found := &Compared{Zones: CompareAll(ctx, jobs, f.diff.Timeout, p), Unseen: objects.Unseen}
		for i := range found.Zones {
			if z := &found.Zones[i]; z.Error != "" {
				return nil, errors.New(z.Title())
			}
		}
		return found, nil
	}})
	if err != nil {
		return fmt.Errorf("backend %s: %w", b.Name, err)
	}
	p.End()
	return f.take(ctx, env, c.Cluster, object, s)
}

// handedOver returns the Backend of a zone that is meant.
func (c *Comparing) handedOver(name dnsname.Name) (*zonefold.Backend, error) {
	if err := c.known(); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(c.Composition.Zones, func(z fold.ZoneResult) bool {
		return z.Verdict.Accepted && z.Verdict.Name == name && z.Object.Zone != nil
	})
	if i < 0 {
		return nil, fmt.Errorf("no accepted Zone is %s%s; zonefold explain %s says why", name, c.MaybeUnseen("zones"), name)
	}
	names := c.Composition.BackendsOf(&c.Composition.Zones[i])
	if len(c.Flags.backends) > 0 {
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(c.Flags.backends, n) })
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("%s goes to %s%s; choose one with --backend", name,
			command.Count(len(names), "such Backend"), c.MaybeUnseen("backends"))
	}
	b, err := c.backendNamed(names[0])
	if err != nil {
		return nil, err
	}
	if spec := &b.Spec; spec.RFC2136 == nil && spec.PowerDNS == nil && spec.Provider == nil ||
		spec.Foreign == zonefold.ForeignDelete {
		return nil, fmt.Errorf("backend %s does not share zones: that needs the kind rfc2136, powerdns or provider, and "+
			"foreign: Keep", b.Name)
	}
	return b, nil
}

// take shows a step, and takes it if somebody says so.
func (f *adoptFlags) take(ctx context.Context, env command.Env, c *command.Cluster, b *zonefold.Backend,
	s *step) error {
	writes := s.spec != nil && f.yes
	h := HandedOver{Backend: b.Name, Zones: []comparedZone{}, Message: s.says, Written: writes, Done: s.done,
		Unseen: []string{}}
	if s.shown != nil {
		h.Zones, h.Unseen = append(h.Zones, s.shown.Zones...), append(h.Unseen, s.shown.Unseen...)
	}
	if writes {
		if err := change(ctx, c, b, s.spec); err != nil {
			return fmt.Errorf("changing the Backend %s: %w", b.Name, err)
		}
	}
	if err := f.out.Print(env, h, func(out io.Writer) {
		if s.shown != nil {
			s.shown.write(out)
		}
		fmt.Fprintf(out, "Backend %s: %s\n", b.Name, s.says)
		if s.spec != nil && !f.yes {
			fmt.Fprintln(out, "Nothing is written yet; add --yes to do it.")
		}
	}); err != nil {
		return err
	}
	if !s.done || s.spec != nil && !f.yes {
		return &command.ExitError{Code: command.ExitDifferences}
	}
	return nil
}

// change writes what has become of a spec into a Backend that is as it was shown.
func change(ctx context.Context, c *command.Cluster, b *zonefold.Backend, spec *zonefold.BackendSpec) error {
	fields := map[string]any{"registries": spec.Registries}
	if spec.Mode != b.Spec.Mode {
		fields["mode"] = spec.Mode
	}
	patch, err := json.Marshal(map[string]any{"spec": fields,
		"metadata": map[string]any{"resourceVersion": b.ResourceVersion}})
	if err != nil {
		return err
	}
	backends := c.Zonefold("backends")
	return backends.Of(backends.Patch(types.MergePatchType), "").Name(b.Name).Body(patch).Do(ctx).Error()
}

// adopting takes the place of an owner.
func adopting(h *handover) (*step, error) {
	before, err := h.compare(&h.backend.Spec)
	if err != nil {
		return nil, err
	}
	spec := h.backend.Spec.DeepCopy()
	if spec.Registries, err = dialect.Adopt(spec.Registries, h.owner); err != nil {
		return nil, err
	}
	after, err := h.compare(spec)
	if err != nil {
		return nil, err
	}
	became := len(refusedIn(before)) - len(refusedIn(after))
	left := 0
	for _, z := range after.Zones {
		for _, s := range z.Foreign {
			if s.Owner == h.owner && s.Type != "TXT" {
				left++
			}
		}
	}
	if reflect.DeepEqual(spec.Registries, h.backend.Spec.Registries) {
		return &step{shown: after, done: true, says: fmt.Sprintf(
			"zonefold has already adopted %q, and leaves %s of it that no object asks for", h.owner,
			command.Count(left, "set"))}, nil
	}
	return &step{spec: spec, shown: after, done: true, says: fmt.Sprintf("%s of %q that objects ask for become "+
		"zonefold's, %d that no object asks for stay", command.Count(became, "set"), h.owner, left)}, nil
}

// refusedIn returns the sets that are wanted and somebody else's.
func refusedIn(c *Compared) []refusedSet {
	var out []refusedSet
	for _, z := range c.Zones {
		out = append(out, z.Refused...)
	}
	return out
}

// disowning takes the next step of giving zones back.
func disowning(h *handover) (*step, error) {
	spec := h.backend.Spec.DeepCopy()
	var err error
	if spec.Registries, err = dialect.Note(spec.Registries, h.owner); err != nil {
		return nil, err
	}
	found, err := h.compare(spec)
	if err != nil {
		return nil, err
	}
	noted := reflect.DeepEqual(spec.Registries, h.backend.Spec.Registries)
	differing := slices.ContainsFunc(found.Zones, func(z comparedZone) bool { return z.Differs() })
	switch {
	case !noted:
		return &step{spec: spec, shown: found, says: fmt.Sprintf("the registry of %q is kept for all of zonefold's sets; "+
			"run disown again when the Zones are served", h.owner)}, nil
	case differing:
		return &step{shown: found,
			says: "its servers do not have everything yet; run disown again when the Zones are served"}, nil
	case spec.Mode == zonefold.ModeObserve:
		return &step{shown: found, done: true, says: fmt.Sprintf("it only observes; start external-dns with the owner %q",
			h.owner)}, nil
	}
	spec.Mode = zonefold.ModeObserve
	return &step{spec: spec, shown: found, done: true, says: fmt.Sprintf(
		"the operator no longer writes (mode: Observe); then start external-dns with the owner %q", h.owner)}, nil
}
