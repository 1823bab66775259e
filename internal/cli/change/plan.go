package change

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// newPlan makes the command that says what a change of objects would do.
func newPlan(env command.Env) *cobra.Command {
	var (
		in      command.ObjectFlags
		against []string
		out     = planAsText
	)
	cmd := &cobra.Command{
		Use:   "plan -f NEW [--against OLD]",
		Short: "Show what a change of objects would do to zones",
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
		Args: command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
				before, after, err := readBoth(cmd.Context(), env, p, &in, against)
				if err != nil {
					return err
				}
				p.Begin("deciding about "+command.Count(len(after.Objects), "object"), 0)
				change := Difference(fold.Compose(before.Input, env.Now), fold.Compose(after.Input, env.Now))
				change.Unseen = append(change.Unseen, before.Unseen...)
				p.End()
				return change.Print(env, out)
			})
		},
	}
	in.Register(cmd)
	in.RegisterKustomize(cmd)
	cmd.Flags().StringArrayVar(&against, "against", nil,
		"a file or a folder with the objects before the change; repeatable (default: those of the cluster)")
	cmd.Flags().VarP(&out, "output", "o", "the format of the output: text, json, yaml or markdown")
	return cmd
}

// readBoth reads the objects before and after a change.
func readBoth(
	ctx context.Context, env command.Env, p *command.Progress, f *command.ObjectFlags, against []string,
) (before, after *command.Found, err error) {
	if !f.FromFiles() {
		return nil, nil, errors.New("nothing to compare; name the files of the change with -f")
	}
	if slices.Contains(f.Files, "-") && slices.Contains(against, "-") {
		return nil, nil, errors.New("the standard input (-) can be read only once; name a file with -f or with --against")
	}
	if len(against) == 0 && f.InputFlags.Namespace == "" { // as kubectl apply takes it
		if _, namespace, err := f.Cluster.Config(env); err == nil {
			f.InputFlags.Namespace = namespace
		}
	}
	changed, err := f.Read(ctx, env, p)
	if err != nil {
		return nil, nil, err
	}
	if len(against) == 0 {
		if err := complain(env, changed.Input); err != nil {
			return nil, nil, err
		}
		if len(changed.Objects) == 0 { // as where what was to write them has failed
			return nil, nil, errors.New(
				"nothing to compare: the input has no objects; name files with them (*.yaml, *.yml, *.json) with -f")
		}
	}
	old := command.ObjectFlags{InputFlags: command.InputFlags{Files: against, Namespace: f.InputFlags.Namespace},
		Cluster: f.Cluster,
		Sources: f.Sources || slices.ContainsFunc(changed.Objects, func(o *manifest.Object) bool { return o.Source != nil })}
	if before, err = old.Read(ctx, env, p); err != nil {
		return nil, nil, err
	}
	if len(against) > 0 {
		if err := complain(env, changed.Input, before.Input); err != nil {
			return nil, nil, err
		}
		keepAges(before.Objects, changed.Objects, env.Now)
		return before, changed, nil
	}
	apply(before.Objects, changed.Objects)
	changed.StandAs(before)
	keepStatuses(before.Objects, changed.Objects)
	after = &command.Found{Input: &manifest.Input{}, Namespace: changed.Namespace}
	keepAges(before.Objects, changed.Objects, env.Now)
	applied := byRef(changed.Objects)
	after.Objects = slices.Clone(changed.Objects)
	for _, o := range before.Objects {
		if applied[o.Ref] == nil {
			after.Objects = append(after.Objects, o)
		}
	}
	slices.SortStableFunc(after.Objects, func(a, b *manifest.Object) int { return a.Compare(b.Ref) })
	return before, after, nil
}

// complain is command.Complain. It also fails if a changed object is of an unknown kind, as one that is misspelt:
// nobody knows what it changes, and to whoever asks before a merge, "nothing changes" is an answer.
func complain(env command.Env, changed *manifest.Input, before ...*manifest.Input) error {
	if err := command.Complain(env, append([]*manifest.Input{changed}, before...)...); err != nil {
		return err
	}
	if slices.ContainsFunc(changed.Problems, func(p manifest.Problem) bool { return p.Reason == manifest.UnknownKind }) {
		return errors.New("a changed object is of a kind that zonefold does not know, so what changes cannot be " +
			"determined; correct its apiVersion and kind")
	}
	return nil
}

// apply makes objects that are there already what they are when these have been applied to them.
func apply(before, after []*manifest.Object) {
	old := byRef(before)
	for i, o := range after {
		if there := old[o.Ref]; there != nil {
			after[i] = o.AppliedTo(there)
		}
	}
}

func byRef(objects []*manifest.Object) map[manifest.Ref]*manifest.Object {
	out := map[manifest.Ref]*manifest.Object{}
	for _, o := range objects {
		out[o.Ref] = o
	}
	return out
}

// keepAges gives objects that are there already their age: the time of their creation, or else one between that of all
// that say theirs and those that come, which have none yet, whatever they say.
func keepAges(before, after []*manifest.Object, now time.Time) {
	old := byRef(before)
	for _, o := range after {
		there, known := old[o.Ref]
		m, created := o.Meta(), metav1.Time{}
		if m == nil {
			continue
		}
		if known && there.Meta() != nil {
			created = there.Meta().GetCreationTimestamp()
		}
		if own := m.GetCreationTimestamp(); known && created.IsZero() && own.IsZero() {
			created = metav1.NewTime(now)
		} else if known && created.IsZero() {
			created = own
		}
		m.SetCreationTimestamp(created)
	}
}

// keepStatuses gives objects that are there already their statuses, which applying them does not change.
func keepStatuses(before, after []*manifest.Object) {
	status := func(o *manifest.Object) reflect.Value {
		if m := o.Meta(); m != nil {
			return reflect.ValueOf(m).Elem().FieldByName("Status")
		}
		return reflect.Value{}
	}
	old := byRef(before)
	for _, o := range after {
		there, known := old[o.Ref]
		if !known {
			continue
		}
		if is, was := status(o), status(there); is.IsValid() && was.IsValid() && is.Type() == was.Type() {
			is.Set(was)
		}
	}
}

// PlanForm is the form in which a plan is printed.
type PlanForm string

const (
	planAsText     PlanForm = "text"
	planAsJSON     PlanForm = "json"
	planAsYAML     PlanForm = "yaml"
	planAsMarkdown PlanForm = "markdown"
)

// String implements pflag.Value.
func (f *PlanForm) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *PlanForm) Type() string { return "text|json|yaml|markdown" }

// Set implements pflag.Value.
func (f *PlanForm) Set(s string) error {
	if !slices.Contains([]PlanForm{planAsText, planAsJSON, planAsYAML, planAsMarkdown}, PlanForm(s)) {
		return errors.New("it must be text, json, yaml or markdown")
	}
	*f = PlanForm(s)
	return nil
}

// Print prints a change, and returns what the program ends with.
func (d *Planned) Print(env command.Env, form PlanForm) error {
	text := d.write
	if form == planAsMarkdown {
		form, text = planAsText, d.writeMarkdown
	}
	if err := command.Output(form).Print(env, d, text); err != nil {
		return err
	}
	if d.changes() {
		return &command.ExitError{Code: command.ExitDifferences}
	}
	return nil
}
