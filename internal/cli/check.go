package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/schema"
)

// newCheck makes the command that finds what is wrong with objects.
func newCheck(env Env) *cobra.Command {
	var (
		in  inputFlags
		out output
	)
	cmd := &cobra.Command{
		Use:   "check -f PATH...",
		Short: "Find what is wrong with Zones, DNSZones, DNSClasses and all kinds of records in files",
		Long: `check prints what is wrong with the objects, one line each, and nothing if all is
well. It is made for CI of a repository of manifests. Objects are Zones, Records and
Backends, DNSZones and records of bindy, DNSClasses and their DNSRecords, and
DNSRecords of Gardener.

An error is what an API server or a zone would refuse: fields that do not exist, values
that the schema forbids, records that no delegation allows, and so on. A warning is
what is served and yet unlikely to be meant.

Exit codes: 0 without findings, 1 with any, 2 if a file cannot be read at all.`,
		Example: `  zonefold check -f zones/
  kustomize build . | zonefold check -f - -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilDone(cmd.Context(), func() error {
				input, err := in.read(env)
				if err != nil {
					return err
				}
				findings, err := check(cmd.Context(), input, env.Now)
				if err != nil {
					return err
				}
				return report(env, out, findings)
			})
		},
	}
	in.register(cmd)
	out.register(cmd)
	return cmd
}

// check gathers all findings.
func check(ctx context.Context, input *manifest.Input, now time.Time) ([]finding, error) {
	checker, err := schema.New(crd.Files)
	if err != nil {
		return nil, err
	}
	f := findings{}
	f.reading(input)
	if err := f.schema(ctx, checker, input); err != nil {
		return nil, err
	}
	c := compose(input, now) // after the schema, whose work is garbage by now
	f.deciding(c)
	f.spelling(c)
	return f.sorted(), nil
}

// report prints findings.
func report(env Env, form output, findings []finding) error {
	out := bufio.NewWriter(env.Stdout)
	var err error
	if form == outputJSON {
		err = writeJSON(out, struct {
			Findings []finding `json:"findings"`
		}{findings})
	} else {
		for _, f := range findings {
			fmt.Fprintln(out, f)
		}
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	if len(findings) > 0 {
		return &exitError{code: exitFindings}
	}
	return nil
}
