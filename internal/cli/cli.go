package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/change"
	"github.com/zonefold/zonefold/internal/cli/check"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/move"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/cli/show"
)

// Env is what a command gets from its surroundings.
type Env = command.Env

// troubleOf returns the code of what goes wrong in a command. Where 1 means findings it is another one.
func troubleOf(cmd *cobra.Command) int {
	switch cmd.Name() {
	case "check", "conformance", "render", "serve":
		return command.ExitUnreadable
	}
	return command.ExitTrouble
}

// Run runs the command and returns its exit code: 0 if all is well, 1 if something went wrong, 2 if there are
// differences; of check and conformance 1 if there are findings, and 2 if something went wrong.
func Run(ctx context.Context, env Env) int {
	root := newRoot(env)
	root.SetArgs(env.Args[1:])
	cmd, err := root.ExecuteContextC(ctx)
	var exit *command.ExitError
	switch {
	case err == nil:
		return command.ExitDone
	case !errors.As(err, &exit):
		tell(env.Stderr, err)
		return troubleOf(cmd)
	case exit.Err != nil:
		tell(env.Stderr, exit.Err)
	}
	return exit.Code
}

// tell says what has gone wrong, of several things each on a line. Names of files and answers of servers may be a part
// of it, and give no orders to a terminal.
func tell(out io.Writer, err error) {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = plain.Line(lines[i])
	}
	fmt.Fprintf(out, "error: %s\n", strings.Join(lines, "\n"))
}

func newRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "zonefold",
		Short: "Show what the operator makes of Zones and Records, in files and clusters",
		Long: `zonefold shows what the zonefold operator makes of Zones and Records of kubi.zone, of DNSZones
and records of bindy, of DNSClasses and their DNSRecords, and of DNSRecords of Gardener.

render, check and serve work on files, without a cluster. explain, plan, diff and tree work on
files or on a cluster, and console shows them in a browser. import writes manifests, and
export writes zones. adopt and disown take over from external-dns and give back. freeze, thaw
and rollback control what is published of a Zone; history and blame show what was published.
doctor looks for problems in a cluster, and support packs what others need to look for them.
release frees Zones whose operator is gone. dnshook helps to write a server for
DNSClasses. If the program is in the PATH as kubectl-zonefold, it is also "kubectl zonefold".

Exit codes are 0 when all is well, 1 when something went wrong, and 2 when what is compared
differs, or there is more to do. For check and dnshook conformance, 1 stands for findings and
2 for what went wrong; render and serve use 2 for what went wrong, too. The help of each
command lists its codes.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          command.KnownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	if name := filepath.Base(env.Args[0]); strings.HasPrefix(name, "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl zonefold"}
	}
	root.SetFlagErrorFunc(command.WrongFlag)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.AddCommand(newVersion(env))
	for _, room := range []func(Env) []*cobra.Command{
		ask.Commands, change.Commands, check.Commands, move.Commands, show.Commands,
	} {
		root.AddCommand(room(env)...)
	}
	return root
}
