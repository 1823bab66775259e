package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newVersion(env Env) *cobra.Command {
	out := outputText
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `version prints the version, and what the program was built from: the commit and its time, the
version of Go, and the platform.`,
		Args: takes(),
		RunE: func(*cobra.Command, []string) error { return printVersion(env, out) },
	}
	cmd.Flags().VarP(&out, "output", "o", "the form of the output: text, json or yaml")
	return cmd
}

func printVersion(env Env, out output) error {
	if out == outputText {
		_, err := fmt.Fprintln(env.Stdout, "zonefold", env.Version)
		return err
	}
	return out.writeValue(env.Stdout, env.Version)
}
