package ask

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dialect/revisions"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone/diff"
)

// A Past is the history of a Zone as it is printed. Its fields are fixed.
type Past struct {
	Zone      string       `json:"zone"`
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	Serial    int64        `json:"serial"`
	Revisions []PastChange `json:"revisions"` // newest first

	kind string // of the object
}

// A PastChange is one revision.
type PastChange struct {
	Serial         int64                     `json:"serial"`
	PreviousSerial int64                     `json:"previousSerial"`
	Time           time.Time                 `json:"time"`
	RolledBackTo   int64                     `json:"rolledBackTo,omitempty"`
	Added          int32                     `json:"added"`
	Changed        int32                     `json:"changed"`
	Deleted        int32                     `json:"deleted"`
	LeftOut        bool                      `json:"leftOut,omitempty"`
	Objects        []zonefold.RevisionObject `json:"objects"`
	ObjectCount    int32                     `json:"objectCount"`
	Delta          []string                  `json:"delta"`
}

// RevisionsOf returns the history of a Zone, oldest first.
func RevisionsOf(ctx context.Context, c *command.Cluster, z *command.FoundZone) ([]zonefold.ZoneRevision, error) {
	var out []zonefold.ZoneRevision
	err := command.EachPage(ctx, c.Zonefold("zonerevisions"), z.Namespace, func(list *zonefold.ZoneRevisionList) {
		for i := range list.Items {
			if metav1.IsControlledBy(&list.Items[i], z) {
				out = append(out, list.Items[i])
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading the ZoneRevisions of %s: %w", z, err)
	}
	slices.SortFunc(out, revisions.Compare)
	return out, nil
}

// PastOf returns the history of a Zone, of those revisions that keep lets in.
func PastOf(z *command.FoundZone, list []zonefold.ZoneRevision, keep func(*PastChange) bool) Past {
	out := Past{Zone: z.FQDN, Namespace: z.Namespace, Name: z.Name, Serial: z.Serial, Revisions: []PastChange{},
		kind: z.Kind}
	for i := range slices.Backward(list) {
		s := &list[i].Spec
		change := PastChange{
			Serial: s.Serial, PreviousSerial: s.PreviousSerial, Time: s.Time.UTC(), RolledBackTo: s.RolledBackTo,
			Added: s.Added, Changed: s.Changed, Deleted: s.Deleted, LeftOut: s.LeftOut, ObjectCount: s.ObjectCount,
			Objects: append([]zonefold.RevisionObject{}, s.Objects...),
			Delta:   append([]string{}, strings.FieldsFunc(s.Delta, func(r rune) bool { return r == '\n' })...),
		}
		if keep(&change) {
			out.Revisions = append(out.Revisions, change)
		}
	}
	return out
}

// newHistory makes the command that lists what was published of a Zone.
func newHistory(env command.Env) *cobra.Command {
	var (
		flags command.ClusterFlags
		out   command.Output
	)
	cmd := &cobra.Command{
		Use:   "history ZONE",
		Short: "List the contents of a Zone or DNSZone that were published, and what changed them",
		Long: `history lists the ZoneRevisions of a Zone or DNSZone, the newest first: the serial of each
content, when it was stored, how many sets were added, changed and deleted, which objects
changed since the content before, and who wrote to them last. The writer is what a program
calls itself (metadata.managedFields); for a deleted object it is not known. Changes within
ten seconds of each other may be one line. The operator keeps a history if --history is set
(value history of the chart).

With -o json or yaml it prints an object with zone, namespace, name, serial and revisions.
Each revision has serial, previousSerial, time, rolledBackTo, added, changed, deleted,
leftOut, objects (kind, namespace, name, deleted, manager), objectCount and delta. A delta
has a line for each record, - for those before and + for those after.

Exit codes: 0 when it is printed; 1 when you may not read it, or there is no such Zone.`,
		Example: `  zonefold history example.org
  zonefold history dns/example-org -o yaml`,
		Args: command.Takes("ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			c, _, err := flags.Connect(env)
			if err != nil {
				return err
			}
			z, err := command.FindZone(ctx, c, flags.Namespace, args[0])
			if err != nil {
				return err
			}
			list, err := RevisionsOf(ctx, c, z)
			if err != nil {
				return err
			}
			p := PastOf(z, list, func(*PastChange) bool { return true })
			return out.Print(env, p, func(w io.Writer) { p.table(w, env.Now) })
		},
	}
	flags.Register(cmd)
	cmd.ValidArgsFunction = command.CompleteZones(env, &flags, &flags.Namespace)
	out.Register(cmd)
	return cmd
}

// table prints the history.
func (p Past) table(w io.Writer, now time.Time) {
	if len(p.Revisions) == 0 {
		fmt.Fprintf(w, "%s %s/%s has no history: the operator keeps none, or nothing has changed since it started to\n",
			p.kind, plain.Line(p.Namespace), plain.Line(p.Name))
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	fmt.Fprintln(table, "SERIAL\tAGE\tADDED\tCHANGED\tDELETED\tOBJECTS")
	for _, c := range p.Revisions {
		fmt.Fprintf(table, "%d\t%s\t%d\t%d\t%d\t%s\n", c.Serial, duration.HumanDuration(now.Sub(c.Time)), c.Added, c.Changed,
			c.Deleted, plain.Line(c.Causes()))
	}
	_ = table.Flush() // w keeps its error
}

// namedObjects is how many objects a line of the table names.
const namedObjects = 3

// Causes names the objects that have changed.
func (c *PastChange) Causes() string {
	var out []string
	if c.RolledBackTo != 0 {
		out = append(out, fmt.Sprintf("rolled back to %d", c.RolledBackTo))
	}
	for _, o := range c.Objects[:min(len(c.Objects), namedObjects)] {
		text := strings.ToLower(o.Kind) + "/" + o.Name
		if o.Namespace != "" {
			text += " -n " + o.Namespace
		}
		switch {
		case o.Deleted:
			text += " (deleted)"
		case o.Manager != "":
			text += " (" + o.Manager + ")"
		}
		out = append(out, text)
	}
	if more := int(c.ObjectCount) - min(len(c.Objects), namedObjects); more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// newBlame makes the command that tells what has changed a name.
func newBlame(env command.Env) *cobra.Command {
	var (
		flags command.ClusterFlags
		out   command.Output
	)
	cmd := &cobra.Command{
		Use:   "blame NAME [TYPE]",
		Short: "Show which changes of a Zone concerned a name, and their causes",
		Long: `blame finds the Zone or DNSZone that has a name, and lists the ZoneRevisions that changed the
records at that name. The newest comes first, each with the records before (-) and after (+).
The objects listed are all objects of the Zone that changed at that time.

With -o json or yaml it prints the same object as history, with these revisions only.

Exit codes: 0 when it is printed; 1 when no stored revision changed the name, no Zone has it,
or you may not read it.`,
		Example: `  zonefold blame www.example.org
  zonefold blame www.example.org AAAA -o json`,
		Args: command.Takes("NAME", "[TYPE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			name, typ, err := nameAndType(args)
			if err != nil {
				return err
			}
			c, _, err := flags.Connect(env)
			if err != nil {
				return err
			}
			z, err := command.Enclosing(ctx, c, flags.Namespace, name)
			if err != nil {
				return err
			}
			list, err := RevisionsOf(ctx, c, z)
			if err != nil {
				return err
			}
			p := PastOf(z, list, func(change *PastChange) bool { return change.about(name, typ) })
			if len(p.Revisions) == 0 {
				return fmt.Errorf("no change in the history of %s concerned %s", z, strings.Join(args, " "))
			}
			return out.Print(env, p, p.blamed)
		},
	}
	flags.Register(cmd)
	cmd.ValidArgsFunction = command.CompleteZones(env, &flags, &flags.Namespace)
	out.Register(cmd)
	return cmd
}

// nameAndType reads NAME [TYPE]; without a type it is 0.
func nameAndType(args []string) (dnsname.Name, rr.Type, error) {
	name, err := dnsname.Parse(strings.TrimSuffix(args[0], ".") + ".")
	if err != nil || len(args) == 1 {
		return name, 0, err
	}
	typ, err := rr.ParseType(strings.ToUpper(args[1]))
	return name, typ, err
}

// about has a change keep the lines that are about a name, and reports whether there are any.
func (c *PastChange) about(name dnsname.Name, typ rr.Type) bool {
	c.Delta = slices.DeleteFunc(c.Delta, func(line string) bool {
		edits, err := diff.Parse(line)
		return err != nil || len(edits) != 1 || edits[0].Name != name || typ != 0 && edits[0].Type != typ
	})
	return len(c.Delta) > 0
}

// blamed prints changes with their lines.
func (p Past) blamed(w io.Writer) {
	for _, c := range p.Revisions {
		fmt.Fprintf(w, "serial %d, %s: %s\n", c.Serial, c.Time.Format(time.RFC3339), plain.Line(c.Causes()))
		for _, line := range c.Delta {
			fmt.Fprintln(w, "  "+plain.Line(line))
		}
	}
}
