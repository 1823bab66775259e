package show

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/discovery"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/change"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/console"
	"github.com/zonefold/zonefold/internal/zone/diff"
)

// errFiles is about what files do not have.
var errFiles = errors.New("the objects come from files, so they have no history and nothing is published")

// objectText names an object as command.FindZone takes it.
func objectText(of console.Object) string {
	return strings.ToLower(of.Kind) + "/" + of.Namespace + "/" + of.Name
}

// History implements console.Source: it is what history says.
func (w *consoleWorld) History(ctx context.Context, of console.Object) (*console.History, error) {
	if !w.explainer().Cluster {
		return nil, errFiles
	}
	c, _, err := w.flags.Cluster.Connect(w.env)
	if err != nil {
		return nil, err
	}
	z, err := command.FindZone(ctx, c, "", objectText(of))
	if err != nil {
		return nil, err
	}
	list, err := ask.RevisionsOf(ctx, c, z)
	if err != nil {
		return nil, err
	}
	p := ask.PastOf(z, list, func(*ask.PastChange) bool { return true })
	out := &console.History{Serial: z.SerialText()}
	for i := range p.Revisions {
		r := &p.Revisions[i]
		one := console.Revision{Serial: fmt.Sprint(r.Serial), Previous: fmt.Sprint(r.PreviousSerial), Time: r.Time,
			Added: int(r.Added), Changed: int(r.Changed), Deleted: int(r.Deleted), Causes: r.Causes(), LeftOut: r.LeftOut}
		for _, line := range r.Delta {
			one.Lines = append(one.Lines, consoleLine(line))
		}
		out.Revisions = append(out.Revisions, one)
	}
	return out, nil
}

// actionTakes is how long the operator has to say that something is so.
const actionTakes = 10 * time.Second

// errOtherPlan says that something has changed since a person was asked.
var errOtherPlan = errors.New("its effect has changed since it was shown; look again")

// Plan implements console.Source: it says what a command would do.
func (w *consoleWorld) Plan(ctx context.Context, a console.Action) (*console.Plan, error) {
	if !w.explainer().Cluster {
		return nil, errFiles
	}
	switch {
	case a.Verb == console.Approve:
		return w.planApproval(ctx, a)
	case a.Verb.AboutRecord():
		e, err := w.edit(ctx, a)
		if err != nil {
			return nil, err
		}
		return w.planRecord(ctx, e)
	}
	c, _, err := w.flags.Cluster.Connect(w.env)
	if err != nil {
		return nil, err
	}
	z, err := command.FindZone(ctx, c, "", objectText(a.Of))
	if err != nil {
		return nil, err
	}
	out, err := w.planOf(ctx, c, z, a)
	if err != nil {
		return nil, err
	}
	if err := change.AnnotateAs(ctx, z, annotationsOf(a), "All"); err != nil {
		out.Refused = "You may not do this: " + err.Error() + "."
	}
	return out, nil
}

// planOf says what an action would do with a Zone.
func (w *consoleWorld) planOf(
	ctx context.Context, c *command.Cluster, z *command.FoundZone, a console.Action,
) (*console.Plan, error) {
	name := fmt.Sprintf("%s at serial %s", z, z.SerialText())
	switch a.Verb {
	case console.Freeze:
		return &console.Plan{ID: string(a.Verb), Sentence: name + " stays as published; changes wait."}, nil
	case console.Thaw:
		return &console.Plan{ID: string(a.Verb), Sentence: name + " follows its objects again; waiting changes are sent."},
			nil
	}
	to, err := strconv.ParseUint(a.Serial, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("%q is not a serial", a.Serial)
	}
	edits, err := (&change.RollingBack{To: int64(to)}).Plan(ctx, c, z)
	if err != nil {
		return nil, err
	}
	text := diff.Text(edits)
	sum := sha256.Sum256([]byte(string(z.UID) + "\n" + a.Serial + "\n" + text))
	out := &console.Plan{ID: hex.EncodeToString(sum[:]), Sentence: fmt.Sprintf(
		"%s goes back to serial %d, and is frozen there: %s would change.", name, to, command.Count(len(edits),
			"set"))}
	for line := range strings.Lines(text) {
		out.Lines = append(out.Lines, consoleLine(strings.TrimSuffix(line, "\n")))
	}
	return out, nil
}

// annotationsOf returns what has the operator act.
func annotationsOf(a console.Action) map[string]any {
	switch a.Verb {
	case console.Freeze:
		return map[string]any{zonefold.FreezeAnnotation: a.Reason}
	case console.Thaw:
		return map[string]any{zonefold.FreezeAnnotation: nil, zonefold.RollbackAnnotation: nil}
	}
	return map[string]any{zonefold.RollbackAnnotation: a.Serial}
}

// approval returns what approves, as the command does, and prints to out.
func (w *consoleWorld) approval(a console.Action, out *bytes.Buffer) (*change.Approval, string, error) {
	config, _, err := w.flags.Cluster.Config(w.env)
	if err != nil {
		return nil, "", err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, "", fmt.Errorf("connecting to the cluster: %w", err)
	}
	env := w.env
	env.Stdout = out
	return change.NewApproval(env, client.RESTClient(), a.Of.Namespace), strings.ToLower(a.Of.Kind) + "/" + a.Of.Name, nil
}

func (w *consoleWorld) planApproval(ctx context.Context, a console.Action) (*console.Plan, error) {
	approval, ref, err := w.approval(a, nil)
	if err != nil {
		return nil, err
	}
	_, z, err := approval.Find(ctx, ref)
	if err != nil {
		return nil, err
	}
	held := z.Status.Held
	if held == nil {
		return nil, fmt.Errorf("no deletions are held of %s", a.Of.String())
	}
	out := &console.Plan{ID: held.Plan, Sentence: fmt.Sprintf("The deletion of %s of %s will be made, among them:",
		command.Count(int(held.Sets), "set"), a.Of.String())}
	for _, example := range held.Examples {
		out.Lines = append(out.Lines, console.Line{Sign: "-", Text: example})
	}
	if held.Plan == "" {
		out.Refused = "The policy of its Backend keeps what is held, and it cannot be approved; change " +
			"spec.protection.policy of the Backend."
	}
	return out, nil
}

// Do implements console.Source: it does what a command does.
func (w *consoleWorld) Do(ctx context.Context, a console.Action, plan string) (string, error) {
	var said bytes.Buffer
	if !w.explainer().Cluster {
		return "", errFiles
	}
	if a.Verb.AboutRecord() {
		return w.doRecord(ctx, a, plan)
	}
	if a.Verb == console.Approve {
		approval, ref, err := w.approval(a, &said)
		if err != nil || plan == "" {
			return "", errors.Join(err, errOtherPlan)
		}
		err = approval.Approve(ctx, ref, plan)
		return strings.TrimSpace(said.String()), err
	}
	f := change.RollingBack{Freezing: change.Freezing{Env: w.env, Flags: w.flags.Cluster, Timeout: actionTakes,
		Form: command.OutputText}}
	f.Env.Stdout = &said
	told := map[console.Verb]func(*command.FoundZone) string{console.Freeze: f.Frozen, console.Thaw: f.Thawed}[a.Verb]
	if told == nil {
		f.To, _ = strconv.ParseInt(a.Serial, 10, 64) // which the plan has read
		told = f.RolledBack
	}
	err := f.Run(ctx, objectText(a.Of), func(ctx context.Context, c *command.Cluster, z *command.FoundZone) error {
		now, err := w.planOf(ctx, c, z, a)
		if err == nil && now.ID != plan {
			err = errOtherPlan
		}
		if err != nil {
			return err
		}
		return change.Annotate(ctx, z, annotationsOf(a))
	}, told)
	return strings.TrimSpace(said.String()), err
}
