package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// takes returns what checks the arguments of a command by their names; those in brackets may be left out. What it
// refuses it tells with the way out.
func takes(names ...string) cobra.PositionalArgs {
	var needed []string
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			needed = append(needed, "a "+name)
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		path := cmd.CommandPath()
		switch {
		case len(args) < len(needed):
			return fmt.Errorf("%s needs %s; see %s --help", path, strings.Join(needed, " and "), path)
		case len(args) <= len(names):
			return nil
		}
		err := fmt.Errorf("%s does not take %q", path, args[len(names)])
		if cmd.Flags().Lookup("filename") != nil {
			return fmt.Errorf("%w; name files and folders with -f, such as -f %s", err, args[len(names)])
		}
		return fmt.Errorf("%w; see %s --help", err, path)
	}
}

// wrongFlag says of a flag that there is not, or that has no such value, where to read which there are.
func wrongFlag(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
}
