package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// WriteReference writes what every command says of itself, as Markdown: docs/cli.md.
func WriteReference(out io.Writer, env Env) {
	fmt.Fprint(out, "# The command\n\n`zonefold` and, as `kubectl-zonefold` in the PATH, `kubectl zonefold` are one "+
		"program. In a clone of the repository,\n`go build -o bin/ ./cmd/zonefold` makes it. This page is made from its "+
		"help texts. `zonefold completion bash` (or zsh,\nfish, powershell) prints a script with which a shell completes "+
		"commands, flags, and the names of Zones and DNSZones.\n")
	writeReference(out, newRoot(env))
}

func writeReference(out io.Writer, cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.Name() == "help" || sub.Name() == "completion" {
			continue
		}
		sub.InitDefaultHelpFlag()
		fmt.Fprintf(out, "\n## %s\n\n```\n%s\n```\n", sub.CommandPath(), strings.TrimSpace(helpOf(sub)))
		writeReference(out, sub)
	}
}

// helpOf returns the help text of a command.
func helpOf(cmd *cobra.Command) string {
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	return strings.TrimSpace(text) + "\n\n" + cmd.UsageString()
}
