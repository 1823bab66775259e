package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// newPlan makes the command that says what a change of objects would do.
func newPlan(env Env) *cobra.Command {
	var (
		in      objectFlags
		against []string
		out     = planAsText
	)
	cmd := &cobra.Command{
		Use:   "plan -f NEW [--against OLD]",
		Short: "Say what a change of objects would do to zones",
		Long: `plan compares what becomes of objects before and after a change: which sets of which zone are
added, changed and deleted, with their data and the Backends concerned, and which objects are
refused.

With --against, the objects of NEW replace all those of OLD, as one branch of a repository
replaces another: what NEW lacks is deleted. Without it, NEW is applied to the cluster as by
kubectl apply: objects of the cluster that are not in NEW stay. An object that already exists
keeps its age; new ones are younger than all others.

Exit codes: 0 if nothing changes, 2 if something does, 1 if that cannot be determined.`,
		Example: `  zonefold plan -f zones/
  zonefold plan -f zones/ --against /tmp/main/zones -o markdown
  kubectl kustomize overlays/production | zonefold plan -f -`,
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilDone(cmd.Context(), env, func(env Env, p *progress) error {
				before, after, err := in.readBoth(cmd.Context(), env, p, against)
				if err != nil {
					return err
				}
				p.begin("deciding about "+count(len(after.Objects), "object"), 0)
				change := difference(compose(before.Input, env.Now), compose(after.Input, env.Now))
				change.Unseen = append(change.Unseen, before.unseen...)
				p.end()
				return change.print(env, out)
			})
		},
	}
	in.register(cmd)
	cmd.Flags().StringArrayVar(&against, "against", nil,
		"a file or a folder with the objects before the change; repeatable (default: those of the cluster)")
	cmd.Flags().VarP(&out, "output", "o", "the form of the output: text, json, yaml or markdown")
	return cmd
}

// readBoth reads the objects before and after a change.
func (f *objectFlags) readBoth(
	ctx context.Context, env Env, p *progress, against []string,
) (before, after *objects, err error) {
	if len(f.files) == 0 {
		return nil, nil, errors.New("there is no change: say with -f which files have the objects after it")
	}
	changed, err := f.read(ctx, env, p)
	if err != nil {
		return nil, nil, err
	}
	if err := complain(env, changed.Input); err != nil {
		return nil, nil, err
	}
	old := objectFlags{inputFlags: inputFlags{files: against, namespace: f.inputFlags.namespace}, cluster: f.cluster,
		sources: f.sources}
	if before, err = old.read(ctx, env, p); err != nil {
		return nil, nil, err
	}
	if len(against) > 0 {
		if err := complain(env, before.Input); err != nil {
			return nil, nil, err
		}
		keepAges(before.Objects, changed.Objects, env.Now)
		return before, changed, nil
	}
	after = &objects{Input: &manifest.Input{}, namespace: changed.namespace}
	keepAges(before.Objects, changed.Objects, env.Now)
	applied := map[manifest.Ref]bool{}
	for _, o := range changed.Objects {
		applied[o.Ref] = true
	}
	after.Objects = slices.Clone(changed.Objects)
	for _, o := range before.Objects {
		if !applied[o.Ref] {
			after.Objects = append(after.Objects, o)
		}
	}
	slices.SortStableFunc(after.Objects, func(a, b *manifest.Object) int { return a.Compare(b.Ref) })
	return before, after, nil
}

// keepAges gives objects that are there already their age: the time of their creation, or else one between that of all
// that say theirs and those that come.
func keepAges(before, after []*manifest.Object, now time.Time) {
	old := map[manifest.Ref]metav1.Time{}
	for _, o := range before {
		if m := o.Meta(); m != nil {
			old[o.Ref] = m.GetCreationTimestamp()
		}
	}
	for _, o := range after {
		created, known := old[o.Ref]
		m := o.Meta()
		if !known || m == nil {
			continue
		}
		if own := m.GetCreationTimestamp(); created.IsZero() && own.IsZero() {
			created = metav1.NewTime(now)
		} else if created.IsZero() {
			created = own
		}
		m.SetCreationTimestamp(created)
	}
}

// planForm is the form in which a plan is printed.
type planForm string

const (
	planAsText     planForm = "text"
	planAsJSON     planForm = "json"
	planAsYAML     planForm = "yaml"
	planAsMarkdown planForm = "markdown"
)

func (f *planForm) String() string { return string(*f) }
func (f *planForm) Type() string   { return "text|json|yaml|markdown" }

func (f *planForm) Set(s string) error {
	if !slices.Contains([]planForm{planAsText, planAsJSON, planAsYAML, planAsMarkdown}, planForm(s)) {
		return errors.New("it is text, json, yaml or markdown")
	}
	*f = planForm(s)
	return nil
}

// print prints a change, and returns what the program ends with.
func (d *planned) print(env Env, form planForm) error {
	text := d.write
	if form == planAsMarkdown {
		form, text = planAsText, d.writeMarkdown
	}
	if err := output(form).print(env, d, text); err != nil {
		return err
	}
	if d.changes() {
		return &exitError{code: exitDifferences}
	}
	return nil
}
