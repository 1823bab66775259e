package check

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/schema"
)

// newCheck makes the command that finds what is wrong with objects.
func newCheck(env command.Env) *cobra.Command {
	var (
		in       command.InputFlags
		out      = findingsAsText
		severity = failOn(asWarning)
	)
	cmd := &cobra.Command{
		Use:   "check -f PATH...",
		Short: "Find what is wrong with Zones, DNSZones, DNSClasses and all kinds of records in files",
		Long: `check prints what is wrong with the objects, one line each, and nothing if all is well.
Standard error says how many objects it has looked at, and which kinds it does not know. It
is made for the CI of a repository of manifests. It checks Zones, Records and Backends,
DNSZones and records of bindy, DNSClasses and their DNSRecords, and DNSRecords of Gardener.

An error is something that an API server or a zone would refuse: a field that does not
exist, a value that the schema forbids, a record that no delegation allows, and so on. A
warning is something that would be served but is unlikely to be meant.

Exit codes: 0 without findings, 1 with any (--fail-on=error: with any error), 2 if a file
cannot be read, or if there is nothing to check.`,
		Example: `  zonefold check -f zones/
  kustomize build . | zonefold check -f - -o json
  zonefold check -f zones/ -o sarif > zones.sarif`,
		Args: command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
				input, err := in.Read(env, p)
				if err != nil {
					return err
				}
				findings, err := check(cmd.Context(), input, env.Now, p)
				if err != nil {
					return err
				}
				p.End()
				return report(env, reporting{out, severity, coverageOf(input)}, findings)
			})
		},
	}
	in.Register(cmd)
	in.RegisterKustomize(cmd)
	cmd.Flags().VarP(&out, "output", "o",
		"the format of the output: text, json, yaml, sarif (2.1.0) or github (annotations of a workflow)")
	cmd.Flags().Var(&severity, "fail-on", "the least severe findings that make the exit code 1: error or warning")
	return cmd
}

// check gathers all findings.
func check(ctx context.Context, input *manifest.Input, now time.Time, p *command.Progress) ([]finding, error) {
	checker, err := schema.New(crd.Files)
	if err != nil {
		return nil, err
	}
	f := findings{}
	f.reading(input)
	if err := f.schema(ctx, checker, input, p.Begin("checking objects", len(input.Objects))); err != nil {
		return nil, err
	}
	p.Begin("deciding about "+command.Count(len(input.Objects), "object"), 0)
	c := fold.Compose(input, now) // after the schema, whose work is garbage by now
	f.deciding(c)
	f.spelling(c)
	return f.sorted(), nil
}

// failOn is the least severity of findings with which check fails.
type failOn string

func (f *failOn) String() string { return string(*f) }
func (f *failOn) Type() string   { return "error|warning" }

func (f *failOn) Set(s string) error {
	if s != asError && s != asWarning {
		return errors.New("it must be error or warning")
	}
	*f = failOn(s)
	return nil
}

// by reports whether a finding makes check fail.
func (f failOn) by(x finding) bool { return f == asWarning || x.Severity == asError }

// reporting says how findings are told, and with what.
type reporting struct {
	form     findingsForm
	failOn   failOn
	coverage coverage
}

// Checked is what check -o json prints.
type Checked struct {
	Findings []finding `json:"findings"`
	coverage
}

// report prints findings.
func report(env command.Env, how reporting, findings []finding) error {
	if how.coverage.Checked == 0 && len(findings) == 0 {
		return how.coverage.nothing()
	}
	out := bufio.NewWriter(env.Stdout)
	var err error
	switch how.form {
	case findingsAsJSON, findingsAsYAML:
		err = command.Output(how.form).WriteValue(out, Checked{findings, how.coverage})
	case findingsAsSARIF:
		err = command.WriteJSON(out, sarifOf(findings, env.Version.Version))
	case findingsAsGitHub:
		for _, f := range findings {
			fmt.Fprintln(out, f.annotation())
		}
	default:
		for _, f := range findings {
			fmt.Fprintln(out, f)
		}
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	how.coverage.tell(env.Stderr)
	if slices.ContainsFunc(findings, how.failOn.by) {
		return &command.ExitError{Code: command.ExitFindings}
	}
	return nil
}
