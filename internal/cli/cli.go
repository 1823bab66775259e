package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/version"
)

// Exit codes. Scripts take exitDifferences for an answer, so what goes wrong has another code, wrong usage too.
const (
	exitDone        = 0
	exitTrouble     = 1
	exitDifferences = 2 // what was compared, or written, is not the same; there is something to do

	exitFindings   = 1 // of check and conformance: they found something
	exitUnreadable = 2 // of these, render and serve: wrong usage, or input that cannot be read

	exitInterrupted = 130 // as shells have it for SIGINT
)

// Env is what a command gets from its surroundings.
type Env struct {
	Args    []string // the program's name first
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Now     time.Time // for new serials
	Getenv  func(string) string
	Version version.Info // of the program

	Terminal bool // Stderr is a terminal, on which a line may be written again
}

// exitError ends the program with a code other than that of trouble. Without an error everything has been said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// troubleOf returns the code of what goes wrong in a command. Where 1 means findings it is another one.
func troubleOf(cmd *cobra.Command) int {
	switch cmd.Name() {
	case "check", "conformance", "render", "serve":
		return exitUnreadable
	}
	return exitTrouble
}

// Run runs the command and returns its exit code: 0 if all is well, 1 if something went wrong, 2 if there are
// differences; of check and conformance 1 if there are findings, and 2 if something went wrong.
func Run(ctx context.Context, env Env) int {
	root := newRoot(env)
	root.SetArgs(env.Args[1:])
	cmd, err := root.ExecuteContextC(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitDone
	case !errors.As(err, &exit):
		fmt.Fprintf(env.Stderr, "error: %s\n", err)
		return troubleOf(cmd)
	case exit.err != nil:
		fmt.Fprintf(env.Stderr, "error: %s\n", exit.err)
	}
	return exit.code
}

func newRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "zonefold",
		Short: "See what becomes of Zones and Records, in files and in clusters",
		Long: `zonefold shows what the zonefold operator makes of Zones and Records of kubi.zone, of DNSZones
and records of bindy, of DNSClasses and their DNSRecords, and of DNSRecords of Gardener.

render, check and serve work on files, without a cluster. explain, plan, diff and tree work on
files or on a cluster, and console shows them in a browser. import writes manifests, and
export writes zones. adopt and disown take over from external-dns and give back. freeze, thaw
and rollback control what is published of a Zone; history and blame show what was published.
doctor looks for problems in a cluster, and support packs what others need to look for them.
release lets go of Zones whose operator is gone. dnshook helps to write a server for
DNSClasses. If the program is in the PATH as kubectl-zonefold, it is also "kubectl zonefold".

Exit codes are 0 when all is well, 1 when something went wrong, and 2 when what is compared
differs, or there is more to do. For check and dnshook conformance, 1 stands for findings and
2 for what went wrong; render and serve use 2 for what went wrong, too. The help of each
command lists its codes.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	if name := filepath.Base(env.Args[0]); strings.HasPrefix(name, "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl zonefold"}
	}
	root.SetFlagErrorFunc(wrongFlag)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.AddCommand(newRender(env), newCheck(env), newExplain(env), newPlan(env), newDiff(env), newDoctor(env),
		newTree(env), newConsole(env), newImport(env), newExport(env), newServe(env), newAdopt(env), newDisown(env),
		newApprove(env), newFreeze(env), newThaw(env), newHistory(env), newBlame(env), newRollback(env), newRelease(env),
		newSupport(env), newDNSHook(env), newVersion(env))
	return root
}

// knownCommand refuses what is no command, and says which one may be meant.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if likely := cmd.SuggestionsFor(args[0]); len(likely) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(likely, " or "))
	}
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}
