package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// releaseFlags say which Zones to release.
type releaseFlags struct {
	cluster       command.ClusterFlags
	all           bool
	allNamespaces bool
	dryRun        bool
	force         bool
	out           command.Output
}

// newRelease makes the command that frees Zones when the operator is gone.
func newRelease(env command.Env) *cobra.Command {
	var flags releaseFlags
	cmd := &cobra.Command{
		Use:   "release {ZONE... | --all} [-n NAMESPACE | -A]",
		Short: "Release Zones whose servers cannot be reached, or whose operator is gone",
		Long: `release frees Zones that were not withdrawn from their name servers. Such a Zone has the
finalizer ` + kubizone.Finalizer + `, and neither it nor its namespace can be deleted while the
finalizer is there.

While an operator is running (it renews a Lease, even without leader election), release sets
the annotation ` + zonefold.LeaveAnnotation + ` on Zones that are being deleted. That asks
the operator to release them. It lists what is published at that time in status.leftBehind of
each Backend, and removes it from the servers when they can be reached. Zones that are not
being deleted stay, and release names them: delete them first.

If the operator has been removed for good, release itself removes the finalizer of the Zones
and of their ZoneSlices, and with --all also that of ZoneSlices without a Zone. What was
published stays on the name servers, and release says what and where. With --force it does
this even if an operator is running or you may not list Leases. Nobody knows then what is
left on the servers.

ZONE is the name of the object in the namespace, or NAMESPACE/NAME, or the domain name of the
Zone. A DNSZone goes by itself after a minute. DNSRecords and DNSClasses have other
finalizers, which release does not touch. docs/homelab.md and docs/gardener.md say under
"Deletion" how to remove those.

Exit codes: 0 if all that was named is released, or the operator was asked to release it, or
there is nothing to release; 1 if not.`,
		Example: `  zonefold release example-org -n dns
  zonefold release dns/example-org example.net
  zonefold release --all -A --dry-run`,
		Args: command.TakesAny("ZONE"),
		RunE: func(cmd *cobra.Command, names []string) error { return flags.run(cmd.Context(), env, names) },
	}
	flags.cluster.Register(cmd)
	flags.out.Register(cmd)
	cmd.ValidArgsFunction = command.CompleteZoneObjects(env, &flags.cluster, &flags.cluster.Namespace)
	cmd.Flags().BoolVar(&flags.all, "all", false, "all Zones of the namespace")
	cmd.Flags().BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "with --all: of all namespaces")
	cmd.Flags().BoolVar(&flags.force, "force", false, "even while an operator is running")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "only show what would be done")
	return cmd
}

func (f *releaseFlags) run(ctx context.Context, env command.Env, names []string) error {
	if err := f.check(names); err != nil {
		return err
	}
	c, namespace, err := f.cluster.Connect(env)
	if err != nil {
		return err
	}
	err = command.OperatorGone(ctx, c, env.Now)
	runs, asked := errors.AsType[*command.OperatorRunsError](err)
	if err != nil && !asked && !f.force && !f.dryRun {
		return err
	}
	r := releaser{env: env, cluster: c, dryRun: f.dryRun, within: f.cluster.Namespace, form: f.out,
		out: Released{Zones: []ReleasedZone{}, DryRun: f.dryRun}}
	if asked && !f.force {
		r.operator = runs
	}
	if f.allNamespaces {
		namespace = ""
	}
	err = r.run(ctx, namespace, names)
	if f.out != command.OutputText {
		err = errors.Join(err, f.out.Print(env, r.out, nil))
	}
	return err
}

func (f *releaseFlags) check(names []string) error {
	switch {
	case len(names) == 0 && !f.all:
		return errors.New("name the Zones to release, or use --all")
	case len(names) > 0 && f.all:
		return errors.New("name the Zones to release, or use --all, not both")
	case f.allNamespaces && !f.all:
		return errors.New("-A goes with --all; name a Zone of another namespace with -n")
	}
	return nil
}

// A releaser removes finalizers.
type releaser struct {
	env     command.Env
	cluster *command.Cluster
	dryRun  bool
	within  string // the namespace of domain names; "": all
	form    command.Output
	out     Released

	operator *command.OperatorRunsError // who is asked to; nil: nobody is there
}

// say says a sentence, where that is the form.
func (r *releaser) say(format string, args ...any) {
	if r.form == command.OutputText {
		fmt.Fprintln(r.env.Stdout, plain.Line(fmt.Sprintf(format, args...)))
	}
}

// run releases the named Zones, or all that have the finalizer. One that cannot be
// released does not keep it from the others.
func (r *releaser) run(ctx context.Context, namespace string, names []string) error {
	zones, err := r.find(ctx, namespace, names)
	if r.operator != nil {
		return errors.Join(err, r.ask(ctx, zones, len(names) == 0))
	}
	broken := r.freeSlices(ctx, namespace, zones, err == nil && len(names) == 0)
	failed := []error{err, broken}
	for i := range zones {
		if err := r.release(ctx, &zones[i]); err != nil {
			failed = append(failed, fmt.Errorf("releasing Zone %s/%s: %w", zones[i].Namespace, zones[i].Name, err))
		}
	}
	if err == nil && broken == nil && len(zones) == 0 && r.out.ZoneSlices == 0 {
		r.say("no Zone has the finalizer; there is nothing to release")
	}
	return errors.Join(failed...)
}

func (r *releaser) zones() command.Kind { return command.ZonesOf(r.cluster) }

// find returns the Zones to release. The error tells of those that it did not find.
func (r *releaser) find(ctx context.Context, namespace string, names []string) ([]kubizone.Zone, error) {
	var out []kubizone.Zone
	if len(names) == 0 {
		err := command.EachPage(ctx, r.zones(), namespace, func(list *kubizone.ZoneList) {
			for i := range list.Items {
				if slices.Contains(list.Items[i].Finalizers, kubizone.Finalizer) {
					out = append(out, list.Items[i])
				}
			}
		})
		if err != nil {
			return nil, fmt.Errorf("listing Zones: %w", err)
		}
		return out, nil
	}
	var missing []error
	for _, name := range names {
		z, err := r.named(ctx, namespace, name)
		if err != nil {
			missing = append(missing, err)
			continue
		}
		out = append(out, *z)
	}
	return out, errors.Join(missing...)
}

// named returns the Zone that is called so in a namespace, or has that namespace and name, or that domain name.
func (r *releaser) named(ctx context.Context, namespace, name string) (*kubizone.Zone, error) {
	var z kubizone.Zone
	if !strings.Contains(name, "/") {
		err := r.zones().Of(r.zones().Get(), namespace).Name(name).Do(ctx).Into(&z)
		switch {
		case err == nil:
			return &z, nil
		case !apierrors.IsNotFound(err) || !strings.Contains(name, "."):
			return nil, fmt.Errorf("finding Zone %s/%s: %w", namespace, plain.Line(name), err)
		}
	}
	found, err := command.FindZone(ctx, r.cluster, r.within, name)
	if err != nil {
		return nil, err
	}
	if found.Zone == nil {
		return nil, fmt.Errorf("%s disappears by itself a minute after it is deleted: docs/bindy.md", found)
	}
	return found.Zone, nil
}

// release removes the finalizer from one Zone and says what that leaves.
func (r *releaser) release(ctx context.Context, z *kubizone.Zone) error {
	had, err := command.DropFinalizer(ctx, r.zones(), z, r.dryRun)
	if err != nil {
		return err
	}
	told := ReleasedZone{Namespace: z.Namespace, Name: z.Name, Action: "none", Left: []LeftAt{}}
	if had {
		told.Action, told.Deleted = "released", z.DeletionTimestamp != nil
		for _, b := range z.Status.Backends {
			told.Left = append(told.Left, LeftAt{b.Name, b.FQDN, (*int64)(b.Serial)})
		}
	}
	r.out.Zones = append(r.out.Zones, told)
	r.say("%s", told.sentence(r.dryRun))
	return nil
}
