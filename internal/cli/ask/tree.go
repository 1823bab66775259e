package ask

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	homelab "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/zone"
)

// newTree makes the command that shows who delegates what to whom.
func newTree(env command.Env) *cobra.Command {
	var (
		in       command.ObjectFlags
		out      command.Output
		dot, svg bool
	)
	cmd := &cobra.Command{
		Use:   "tree",
		Short: "Show Zones, what they delegate, and who has records in them",
		Long: `tree prints each Zone below the one that encloses it, with its rules, the number of records
of each namespace, the Backends that it goes to with the serial that each has confirmed, and,
if it is refused, the reason.

Exit codes: 0 when the tree is printed, even if you may not see all of it; 1 if not.`,
		Example: `  zonefold tree -f zones/
  zonefold tree --svg > zones.svg
  zonefold tree --dot | dot -Tpng > zones.png`,
		Args: command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
				objects, err := in.Read(cmd.Context(), env, p)
				if err != nil {
					return err
				}
				p.Begin("deciding about "+command.Count(len(objects.Objects), "object"), 0)
				t := NewExplainer(objects).Tree()
				p.End()
				switch {
				case svg:
					err = command.Buffered(env, t.writeSVG)
				case dot:
					err = command.Buffered(env, t.writeDot)
				default:
					err = out.Print(env, t, t.write)
				}
				if err != nil {
					return err
				}
				return command.Complain(env, objects.Input)
			})
		},
	}
	in.Register(cmd)
	in.RegisterKustomize(cmd)
	out.Register(cmd)
	cmd.Flags().BoolVar(&dot, "dot", false, "print a graph for Graphviz")
	cmd.Flags().BoolVar(&svg, "svg", false, "draw the tree as SVG")
	cmd.MarkFlagsMutuallyExclusive("dot", "svg", "output")
	return cmd
}

// A ZoneTree is what tree prints.
type ZoneTree struct {
	Zones  []*TreeZone `json:"zones"`
	Unseen []string    `json:"unseen"`
}

// A TreeZone is a Zone, with those below it.
type TreeZone struct {
	Kind     string         `json:"kind"`
	Zone     *explained.Ref `json:"zone"`
	FQDN     string         `json:"fqdn"`
	Accepted bool           `json:"accepted"`
	Reason   zone.Reason    `json:"reason"`
	Message  string         `json:"message"`
	Rules    []string       `json:"rules"`   // as the object has them, in JSON
	Records  []treeOwner    `json:"records"` // by namespace
	Backends []treeBackend  `json:"backends"`
	Zones    []*TreeZone    `json:"zones"` // below
}

type treeOwner struct {
	Namespace string `json:"namespace"`
	Records   int    `json:"records"`
}

type treeBackend struct {
	Name    string `json:"name"`
	Serial  *int64 `json:"serial"` // that it has confirmed; null: none, or nobody knows
	Message string `json:"message"`
}

// Tree puts all Zones below each other, by their names.
func (x *Explainer) Tree() *ZoneTree {
	t := &ZoneTree{Zones: []*TreeZone{}, Unseen: append([]string{}, x.Unseen...)}
	results := slices.Clone(x.Composition.Zones)
	results = slices.DeleteFunc(results, func(z fold.ZoneResult) bool { return z.Object.OfGardener() })
	slices.SortStableFunc(results, func(a, b fold.ZoneResult) int { return a.Verdict.Name.Compare(b.Verdict.Name) })
	var above []*TreeZone
	var names []fold.ZoneResult
	for _, z := range results {
		node := x.treeZone(&z)
		encloses := func(up fold.ZoneResult) bool {
			return !z.Verdict.Name.IsZero() && z.Object.Zone != nil && z.Verdict.Name.Below(up.Verdict.Name)
		}
		for len(names) > 0 && !encloses(names[len(names)-1]) {
			above, names = above[:len(above)-1], names[:len(names)-1]
		}
		if len(above) > 0 {
			up := above[len(above)-1]
			up.Zones = append(up.Zones, node)
		} else {
			t.Zones = append(t.Zones, node)
		}
		if z.Verdict.Accepted && z.Object.Zone != nil {
			above, names = append(above, node), append(names, z)
		}
	}
	return t
}

func (x *Explainer) treeZone(z *fold.ZoneResult) *TreeZone {
	out := &TreeZone{Kind: z.Object.Kind, Zone: explained.RefOf(z.ID()), Accepted: z.Verdict.Accepted,
		Reason:  z.Verdict.Reason,
		Message: z.Verdict.Message, Rules: rulesOf(z.Object), Records: []treeOwner{}, Backends: []treeBackend{},
		Zones: []*TreeZone{}}
	if !z.Verdict.Name.IsZero() && !z.Object.Zoneless() {
		out.FQDN = z.Verdict.Name.String()
	}
	owners := map[string]int{}
	x.fold.World.Adopted(z.ID(), func(id zone.ID) bool {
		owners[id.Namespace]++
		return true
	})
	for _, namespace := range slices.Sorted(maps.Keys(owners)) {
		out.Records = append(out.Records, treeOwner{namespace, owners[namespace]})
	}
	if !z.Verdict.Accepted {
		return out
	}
	for _, name := range x.Composition.BackendsOf(z) {
		out.Backends = append(out.Backends, backendIn(z.Object, name))
	}
	return out
}

// backendIn returns what the status of a Zone says of one Backend.
func backendIn(o *manifest.Object, name string) treeBackend {
	b := treeBackend{Name: name}
	for _, known := range o.Zone.Status.Backends {
		if known.Name == name {
			b.Message = known.Message
			if known.Serial != nil {
				b.Serial = new(int64(*known.Serial))
			}
		}
	}
	return b
}

// rulesOf returns the rules of an object as it has them.
func rulesOf(o *manifest.Object) []string {
	out := []string{}
	add := func(rule any) {
		if text, err := json.Marshal(rule); err == nil {
			out = append(out, string(text))
		}
	}
	if o.Zone != nil {
		for _, d := range o.Zone.Spec.Delegations {
			add(d)
		}
	}
	if c, ok := o.Homelab.(*homelab.DNSClass); ok {
		for _, a := range c.Spec.Allowed {
			add(a)
		}
	}
	return out
}

// write writes the tree for people.
func (t *ZoneTree) write(out io.Writer) {
	for _, z := range t.Zones {
		z.write(out, "", "")
	}
	for _, what := range command.Together(t.Unseen) {
		fmt.Fprintf(out, "not seen: %s\n", plain.Line(what))
	}
}

// title names a Zone, and counts its records.
func (z *TreeZone) title() string {
	out := zone.ID{Kind: z.Kind, Namespace: z.Zone.Namespace, Name: z.Zone.Name}.String()
	if z.FQDN != "" {
		out = z.FQDN + "  " + out
	}
	if !z.Accepted {
		return plain.Line(out + " is refused: " + z.Message)
	}
	return plain.Line(out)
}

// lines says what there is to say of a Zone besides its title.
func (z *TreeZone) lines() []string {
	var out []string
	for _, rule := range z.Rules {
		out = append(out, "rule "+rule)
	}
	for _, owner := range z.Records {
		out = append(out, command.Count(owner.Records, "record")+" of namespace "+owner.Namespace)
	}
	for _, b := range z.Backends {
		line := "at " + b.Name
		if b.Serial != nil {
			line += fmt.Sprintf(", serial %d", *b.Serial)
		}
		if b.Message != "" {
			line += ": " + b.Message
		}
		out = append(out, line)
	}
	return out
}

// write writes a Zone after what stands in front of its line, and what is below it.
func (z *TreeZone) write(out io.Writer, first, rest string) {
	fmt.Fprintf(out, "%s%s\n", first, z.title())
	lines := z.lines()
	for i, line := range lines {
		branch := "├─ "
		if i == len(lines)-1 && len(z.Zones) == 0 {
			branch = "└─ "
		}
		fmt.Fprintf(out, "%s%s%s\n", rest, branch, plain.Line(line))
	}
	for i, below := range z.Zones {
		if i == len(z.Zones)-1 {
			below.write(out, rest+"└─ ", rest+"   ")
		} else {
			below.write(out, rest+"├─ ", rest+"│  ")
		}
	}
}

// writeDot writes a graph for Graphviz: Zones in boxes, those that are refused dashed, and Backends in ellipses.
func (t *ZoneTree) writeDot(out io.Writer) error {
	fmt.Fprintln(out, "digraph zones {\n  rankdir=LR\n  node [shape=box, fontname=\"sans-serif\"]")
	var write func(z *TreeZone, above string)
	write = func(z *TreeZone, above string) {
		name := zone.ID{Kind: z.Kind, Namespace: z.Zone.Namespace, Name: z.Zone.Name}.String()
		id, label := fmt.Sprintf("%q", name), strings.TrimPrefix(z.FQDN+"\n"+name, "\n")
		style := ""
		if !z.Accepted {
			label, style = label+"\n"+string(z.Reason), ", style=dashed"
		}
		for _, owner := range z.Records {
			label += "\n" + owner.Namespace + ": " + command.Count(owner.Records, "record")
		}
		fmt.Fprintf(out, "  %s [label=%s%s]\n", id, dotQuoted(label), style)
		if above != "" {
			fmt.Fprintf(out, "  %s -> %s\n", above, id)
		}
		for _, b := range z.Backends {
			backend := fmt.Sprintf("%q", "Backend "+b.Name)
			fmt.Fprintf(out, "  %s [label=%s, shape=ellipse]\n", backend, dotQuoted(b.Name))
			fmt.Fprintf(out, "  %s -> %s [style=dotted]\n", id, backend)
		}
		for _, below := range z.Zones {
			write(below, id)
		}
	}
	for _, z := range t.Zones {
		write(z, "")
	}
	_, err := fmt.Fprintln(out, "}")
	return err
}

// dotQuoted quotes a label of several lines.
func dotQuoted(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain.Line(line))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
