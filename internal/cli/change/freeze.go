package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/command"
)

// Freezing is one run of a command that holds what is published of a Zone, or lets it go.
type Freezing struct {
	Env     command.Env
	Flags   command.ClusterFlags
	Timeout time.Duration
	Form    command.Output
}

func (f *Freezing) register(cmd *cobra.Command) {
	f.Flags.Register(cmd)
	f.Form.Register(cmd)
	cmd.ValidArgsFunction = command.CompleteZones(f.Env, &f.Flags, &f.Flags.Namespace)
	cmd.Flags().DurationVar(&f.Timeout, "timeout", 30*time.Second,
		"how long to wait until the operator confirms it; 0: do not wait")
}

// newFreeze makes the command that holds what is published of a Zone.
func newFreeze(env command.Env) *cobra.Command {
	f := Freezing{Env: env}
	var reason string
	cmd := &cobra.Command{
		Use:   "freeze ZONE [--reason TEXT]",
		Short: "Freeze the published content of a Zone or DNSZone",
		Long: `freeze sets the annotation ` + zonefold.FreezeAnnotation + ` on a Zone or DNSZone. Its servers then
keep what they have. No change is sent, not even after a restart of the operator, and edits
on a server are reverted. The condition Frozen of the Zone says what is waiting, and Records
that wait are not Ready, with the reason Frozen. Use thaw to end it.

A Zone that is deleted or loses its name is still withdrawn.

ZONE is NAMESPACE/NAME of a Zone or DNSZone, or its domain name. You need the right to patch
it. If there are both of that name, put zone/ or dnszone/ before it.

Exit codes: 0 when the operator reports that the Zone is frozen; 1 when it does not within
--timeout, you may not do this, or there is no such Zone.`,
		Example: `  zonefold freeze example.org --reason "moving the mail servers"
  zonefold freeze dns/example-org`,
		Args: command.Takes("ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Run(cmd.Context(), args[0], func(ctx context.Context, _ *command.Cluster, z *command.FoundZone) error {
				return Annotate(ctx, z, map[string]any{zonefold.FreezeAnnotation: reason})
			}, f.Frozen)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, shown in the condition of the Zone")
	return cmd
}

// newThaw makes the command that lets a Zone follow its objects again.
func newThaw(env command.Env) *cobra.Command {
	f := Freezing{Env: env}
	cmd := &cobra.Command{
		Use:   "thaw ZONE",
		Short: "Let a frozen Zone or DNSZone follow its objects again",
		Long: `thaw removes the annotations of freeze and rollback from a Zone. Everything that has waited
is sent.

ZONE is NAMESPACE/NAME of a Zone or DNSZone, or its domain name. You need the right to patch
it. If there are both of that name, put zone/ or dnszone/ before it.

Exit codes: 0 when the operator reports that the Zone is not frozen; 1 when it does not
within --timeout, you may not do this, or there is no such Zone.`,
		Example: `  zonefold thaw example.org`,
		Args:    command.Takes("ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Run(cmd.Context(), args[0], func(ctx context.Context, _ *command.Cluster, z *command.FoundZone) error {
				return Annotate(ctx, z, map[string]any{zonefold.FreezeAnnotation: nil,
					zonefold.RollbackAnnotation: nil})
			}, f.Thawed)
		},
	}
	f.register(cmd)
	return cmd
}

// Annotate changes annotations of a Zone; nil takes one off.
func Annotate(ctx context.Context, z *command.FoundZone, annotations map[string]any) error {
	return AnnotateAs(ctx, z, annotations, "")
}

// AnnotateAs is annotate that the API server only tries with the value All for dryRun.
func AnnotateAs(ctx context.Context, z *command.FoundZone, annotations map[string]any,
	dryRun string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": z.UID, "annotations": annotations}})
	if err != nil {
		return err
	}
	if err := z.Patch(ctx, patch, dryRun); err != nil {
		return fmt.Errorf("annotating %s: %w", z, err)
	}
	return nil
}

// Run asks for a change of a Zone, and waits until a sentence about it can be said.
func (f *Freezing) Run(ctx context.Context, zone string, ask func(context.Context, *command.Cluster,
	*command.FoundZone) error,
	told func(*command.FoundZone) string) error {
	c, _, err := f.Flags.Connect(f.Env)
	if err != nil {
		return err
	}
	z, err := command.FindZone(ctx, c, f.Flags.Namespace, zone)
	if err != nil {
		return err
	}
	if err := ask(ctx, c, z); err != nil {
		return err
	}
	sentence := ""
	if f.Timeout > 0 {
		if sentence, err = f.wait(ctx, z, told); err != nil {
			return err
		}
	}
	return f.print(z, sentence)
}

// freezePoll is how often the Zone is read while somebody waits for the operator.
const freezePoll = 100 * time.Millisecond

// wait reads a Zone until told says something of it.
func (f *Freezing) wait(ctx context.Context, z *command.FoundZone,
	told func(*command.FoundZone) string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	ticker := time.NewTicker(freezePoll)
	defer ticker.Stop()
	for {
		if sentence := told(z); sentence != "" {
			return sentence, nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("the annotation is on %s, but the operator has not answered within %s; check that it runs, "+
				"and read the conditions of the %s", z, f.Timeout, z.Kind)
		case <-ticker.C:
		}
		if err := z.Read(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return "", fmt.Errorf("reading %s: %w", z, err)
		}
	}
}

// Frozen says that a Zone is frozen; "": it is not yet.
func (f *Freezing) Frozen(z *command.FoundZone) string {
	is := z.Condition(ask.ConditionFrozen)
	if is == nil || is.Status != metav1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf("%s is frozen at serial %s: %s", z, z.SerialText(), is.Message)
}

// Thawed says that a Zone follows its objects; "": it does not yet.
func (f *Freezing) Thawed(z *command.FoundZone) string {
	if z.Condition(ask.ConditionFrozen) != nil {
		return ""
	}
	return fmt.Sprintf("%s follows its objects again", z)
}
