package change

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/move"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dialect/revisions"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
	"github.com/zonefold/zonefold/internal/zone/diff"
)

// RollingBack is one run of rollback.
type RollingBack struct {
	Freezing

	To  int64
	yes bool
}

// newRollback makes the command that publishes an earlier content of a Zone.
func newRollback(env command.Env) *cobra.Command {
	r := RollingBack{Freezing: Freezing{Env: env}}
	cmd := &cobra.Command{
		Use:   "rollback ZONE --to SERIAL",
		Short: "Publish an earlier content of a Zone or DNSZone, and freeze it there",
		Long: `rollback publishes the content that a serial of the history stands for, under a new serial,
and freezes the Zone there, because its objects still differ. thaw makes the Zone follow its
objects again.

It prints the records that are removed (-) and added (+), and asks; with --yes it does not
ask. Then it sets the annotation ` + zonefold.RollbackAnnotation + ` on the Zone. You need the
rights to read the Zone and its ZoneRevisions, to patch the Zone, and, if it has ZoneSlices,
to read them.

Exit codes: 0 when the operator reports that the Zone is rolled back; 1 when you say no, the
history cannot restore that content, the operator does not answer within --timeout, you may
not do this, or there is no such Zone or serial.`,
		Example: `  zonefold rollback example.org --to 2026112503`,
		Args:    command.Takes("ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.To <= 0 || r.To > 1<<32-1 {
				return errors.New("choose a serial with --to; zonefold history lists them")
			}
			return r.Run(cmd.Context(), args[0], r.ask, r.RolledBack)
		},
	}
	r.register(cmd)
	cmd.Flags().Int64Var(&r.To, "to", 0, "the `serial` whose content to publish")
	cmd.Flags().BoolVarP(&r.yes, "yes", "y", false, "do not ask")
	return cmd
}

// errNo says that somebody has not said yes.
var errNo = errors.New("nothing was done; answer yes, or use --yes")

// ask shows what would change, and annotates the Zone if that is what is wanted.
func (r *RollingBack) ask(ctx context.Context, c *command.Cluster, z *command.FoundZone) error {
	edits, err := r.Plan(ctx, c, z)
	if err != nil {
		return err
	}
	shown := r.Env.Stdout
	if r.Form != command.OutputText {
		shown = r.Env.Stderr
	}
	for line := range strings.Lines(diff.Text(edits)) {
		fmt.Fprintln(shown, plain.Line(strings.TrimSuffix(line, "\n")))
	}
	fmt.Fprintf(shown, "%s at serial %s goes back to serial %d: %s would change.\n", z, z.SerialText(),
		r.To, command.Count(len(edits), "set"))
	if !r.yes {
		fmt.Fprint(r.Env.Stderr, "Publish that, and freeze the Zone? [y/N] ")
		answer, _ := bufio.NewReader(r.Env.Stdin).ReadString('\n')
		if said := strings.ToLower(strings.TrimSpace(answer)); said != "y" && said != "yes" {
			return errNo
		}
	}
	return Annotate(ctx, z, map[string]any{zonefold.RollbackAnnotation: strconv.FormatInt(r.To, 10)})
}

// Plan returns what the rollback changes.
func (r *RollingBack) Plan(ctx context.Context, c *command.Cluster, z *command.FoundZone) ([]diff.Edit, error) {
	list, err := ask.RevisionsOf(ctx, c, z)
	if err != nil {
		return nil, err
	}
	name, err := dnsname.Parse(z.FQDN)
	if err != nil || z.Serial == 0 {
		return nil, fmt.Errorf("nothing of %s is published", z)
	}
	if z.DNSZone != nil { // its content is on its servers
		hash, _, _ := strings.Cut(z.DNSZone.Status.Content, " ")
		return diff.Back(zone.Snapshot{Name: name, Hash: hash}, revisions.Of(list), uint32(r.To))
	}
	now, err := move.PublishedBy(ctx, c, name, z.Zone)
	if err != nil {
		return nil, err
	}
	then, err := diff.Earlier(now.Snapshot, revisions.Of(list), uint32(r.To))
	if err != nil {
		return nil, err
	}
	return diff.Between(now.Snapshot, then, nil), nil
}

// RolledBack says what the operator has made of it, "" for nothing yet.
func (r *RollingBack) RolledBack(z *command.FoundZone) string {
	is := z.Condition(ask.ConditionFrozen)
	if is == nil || !strings.Contains(is.Message, fmt.Sprintf("to serial %d", r.To)) {
		return ""
	}
	return fmt.Sprintf("%s: %s", z, is.Message)
}
