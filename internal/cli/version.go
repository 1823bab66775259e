package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
)

func newVersion(env Env) *cobra.Command {
	out := command.OutputText
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `version prints the version, and what the program was built from: the commit and its time, the
version of Go, and the platform.`,
		Args: command.Takes(),
		RunE: func(*cobra.Command, []string) error { return printVersion(env, out) },
	}
	cmd.Flags().VarP(&out, "output", "o", "the format of the output: text, json or yaml")
	return cmd
}

func printVersion(env Env, out command.Output) error {
	if out == command.OutputText {
		_, err := fmt.Fprintln(env.Stdout, "zonefold", env.Version)
		return err
	}
	return out.WriteValue(env.Stdout, env.Version)
}
