package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// rollingBack is one run of rollback.
type rollingBack struct {
	freezing

	to  int64
	yes bool
}

// newRollback makes the command that publishes an earlier content of a Zone.
func newRollback(env Env) *cobra.Command {
	r := rollingBack{freezing: freezing{env: env}}
	cmd := &cobra.Command{
		Use:   "rollback ZONE --to SERIAL",
		Short: "Publish an earlier content of a Zone, and freeze it at that",
		Long: `rollback publishes the content that a serial of the history stands for, under a new serial,
and freezes the Zone there, because its objects still say otherwise. thaw makes the Zone
follow its objects again.

It prints the records that are removed (-) and added (+), and asks; with --yes it does not
ask. Then it sets the annotation ` + zonefold.RollbackAnnotation + ` on the Zone. You need the
rights to read the Zone and its ZoneRevisions, to patch the Zone, and, if it has ZoneSlices,
to read them.

Exit codes: 0 when the operator reports that the Zone is rolled back; 1 when you say no, the
history cannot restore that content, the operator does not answer within --timeout, you may
not do this, or there is no such Zone or serial.`,
		Example: `  zonefold rollback example.org --to 2026112503`,
		Args:    takes("ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.to <= 0 || r.to > 1<<32-1 {
				return errors.New("say with --to to which serial; zonefold history lists them")
			}
			return r.run(cmd.Context(), args[0], r.ask, r.rolledBack)
		},
	}
	r.register(cmd)
	cmd.Flags().Int64Var(&r.to, "to", 0, "the `serial` whose content is to be published")
	cmd.Flags().BoolVarP(&r.yes, "yes", "y", false, "do not ask")
	return cmd
}

// errNo says that somebody has not said yes.
var errNo = errors.New("nothing is done: say yes, or --yes")

// ask shows what would change, and annotates the Zone if that is what is wanted.
func (r *rollingBack) ask(ctx context.Context, c *cluster, z *kubizone.Zone) error {
	edits, err := r.plan(ctx, c, z)
	if err != nil {
		return err
	}
	for line := range strings.Lines(zone.EditText(edits)) {
		fmt.Fprintln(r.env.Stdout, oneLine(strings.TrimSuffix(line, "\n")))
	}
	fmt.Fprintf(r.env.Stdout, "Zone %s/%s at serial %s goes back to serial %d: %s.\n", z.Namespace, z.Name, serialText(z),
		r.to, count(len(edits), "set")+" of it would be otherwise")
	if !r.yes {
		fmt.Fprint(r.env.Stderr, "Publish that, and freeze the Zone? [y/N] ")
		answer, _ := bufio.NewReader(r.env.Stdin).ReadString('\n')
		if said := strings.ToLower(strings.TrimSpace(answer)); said != "y" && said != "yes" {
			return errNo
		}
	}
	return annotate(ctx, c, z, map[string]any{zonefold.RollbackAnnotation: strconv.FormatInt(r.to, 10)})
}

// plan returns what the rollback changes.
func (r *rollingBack) plan(ctx context.Context, c *cluster, z *kubizone.Zone) ([]zone.Edit, error) {
	list, err := revisionsOf(ctx, c, z)
	if err != nil {
		return nil, err
	}
	name, err := dnsname.Parse(z.Status.FQDN)
	if err != nil || z.Status.Serial == nil {
		return nil, fmt.Errorf("nothing of Zone %s/%s is published", z.Namespace, z.Name)
	}
	now, err := publishedBy(ctx, c, name, z)
	if err != nil {
		return nil, err
	}
	then, err := zone.Earlier(now.snapshot, dialect.Revisions(list), uint32(r.to))
	if err != nil {
		return nil, err
	}
	return zone.EditsBetween(now.snapshot, then, nil), nil
}

// rolledBack says what the operator has made of it, "" for nothing yet.
func (r *rollingBack) rolledBack(z *kubizone.Zone) string {
	is := apimeta.FindStatusCondition(z.Status.Conditions, conditionFrozen)
	if is == nil || !strings.Contains(is.Message, fmt.Sprintf("to serial %d", r.to)) {
		return ""
	}
	return fmt.Sprintf("Zone %s/%s: %s", z.Namespace, z.Name, is.Message)
}
