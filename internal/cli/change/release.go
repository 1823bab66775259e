package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
}

// newRelease makes the command that frees Zones when the operator is gone.
func newRelease(env command.Env) *cobra.Command {
	var flags releaseFlags
	cmd := &cobra.Command{
		Use:   "release {ZONE... | --all} [-n NAMESPACE | -A]",
		Short: "Free Zones whose servers cannot be reached, or whose operator is gone",
		Long: `release lets go of Zones that were not withdrawn from their name servers. Such a Zone has the
finalizer ` + kubizone.Finalizer + `, and neither it nor its namespace can be deleted while the
finalizer is there.

While an operator is running (it renews a Lease, even without leader election), release asks
it to let go of Zones that are being deleted, by the annotation
` + zonefold.LeaveAnnotation + ` on the Zone. The operator lists what is published at
that time in status.leftBehind of each Backend, and removes it from the servers when they can
be reached. Zones that are not being deleted stay, and release names them: delete them first.

If the operator has been removed for good, release itself removes the finalizer of the Zones
and of their ZoneSlices, and with --all also that of ZoneSlices without a Zone. What was
published stays on the name servers, and release says what and where. With --force it does
this even if an operator is running or you may not list Leases. Nobody knows then what is
left on the servers.

DNSRecords and DNSClasses have other finalizers, which release does not touch. docs/homelab.md
and docs/gardener.md say under "Deletion" how to remove those.`,
		Example: `  zonefold release example-org -n dns
  zonefold release --all -A --dry-run`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := flags.check(names); err != nil {
				return err
			}
			c, namespace, err := flags.cluster.Connect(env)
			if err != nil {
				return err
			}
			if flags.allNamespaces {
				namespace = ""
			}
			err = command.OperatorGone(cmd.Context(), c, env.Now)
			runs, asked := errors.AsType[*command.OperatorRunsError](err)
			if err != nil && !asked && !flags.force && !flags.dryRun {
				return err
			}
			r := releaser{env: env, cluster: c, dryRun: flags.dryRun}
			if asked && !flags.force {
				r.operator = runs
			}
			return r.run(cmd.Context(), namespace, names)
		},
	}
	flags.cluster.Register(cmd)
	cmd.ValidArgsFunction = command.CompleteZoneObjects(env, &flags.cluster, &flags.cluster.Namespace)
	cmd.Flags().BoolVar(&flags.all, "all", false, "all Zones of the namespace")
	cmd.Flags().BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "with --all: of all namespaces")
	cmd.Flags().BoolVar(&flags.force, "force", false, "also while an operator is running")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "only say what would be done")
	return cmd
}

func (f *releaseFlags) check(names []string) error {
	switch {
	case len(names) == 0 && !f.all:
		return errors.New("name the Zones to release, or say --all")
	case len(names) > 0 && f.all:
		return errors.New("name the Zones to release, or say --all, not both")
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

	operator *command.OperatorRunsError // who is asked to; nil: nobody is there
}

// run releases the named Zones, or all that have the finalizer. One that cannot be
// released does not keep it from the others.
func (r *releaser) run(ctx context.Context, namespace string, names []string) error {
	zones, err := r.find(ctx, namespace, names)
	if r.operator != nil {
		return errors.Join(err, r.ask(ctx, zones, len(names) == 0))
	}
	freed, broken := r.freeSlices(ctx, namespace, zones, err == nil && len(names) == 0)
	failed := []error{err, broken}
	for i := range zones {
		if err := r.release(ctx, &zones[i]); err != nil {
			failed = append(failed, fmt.Errorf("releasing Zone %s/%s: %w", zones[i].Namespace, zones[i].Name, err))
		}
	}
	if err == nil && broken == nil && len(zones) == 0 && freed == 0 {
		fmt.Fprintln(r.env.Stdout, "no Zone has the finalizer; there is nothing to release")
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
		var z kubizone.Zone
		if err := r.zones().Of(r.zones().Get(), namespace).Name(name).Do(ctx).Into(&z); err != nil {
			missing = append(missing, fmt.Errorf("finding Zone %s/%s: %w", namespace, name, err))
			continue
		}
		out = append(out, z)
	}
	return out, errors.Join(missing...)
}

// release removes the finalizer from one Zone and says what that leaves.
func (r *releaser) release(ctx context.Context, z *kubizone.Zone) error {
	name := z.Namespace + "/" + z.Name
	had, err := command.DropFinalizer(ctx, r.zones(), z, r.dryRun)
	switch {
	case err != nil:
		return err
	case !had:
		fmt.Fprintf(r.env.Stdout, "Zone %s has no finalizer of zonefold; nothing to do\n", plain.Line(name))
	default:
		fmt.Fprintln(r.env.Stdout, plain.Line(r.told(name, z)))
	}
	return nil
}

// told returns the sentence about a Zone that was released.
func (r *releaser) told(name string, z *kubizone.Zone) string {
	what := "is released"
	switch gone := z.DeletionTimestamp != nil; {
	case r.dryRun && gone:
		what = "would be released, and so deleted"
	case r.dryRun:
		what = "would be released"
	case gone:
		what = "is released, and so deleted"
	}
	var left []string
	for _, b := range z.Status.Backends {
		if b.Serial != nil {
			left = append(left, fmt.Sprintf("%s stays published at %s", b.FQDN, b.Name))
		} else {
			left = append(left, fmt.Sprintf("%s may be published at %s", b.FQDN, b.Name))
		}
	}
	if len(left) == 0 {
		left = []string{"no Backend has got it"}
	}
	return fmt.Sprintf("Zone %s %s; %s", name, what, strings.Join(left, ", "))
}
