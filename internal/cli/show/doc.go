// Package show has the commands that run until they are interrupted, and follow what changes: serve answers DNS
// questions from the zones of files, and console shows zones, records and servers in a browser.
package show

import (
	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
)

// Commands are those of this room.
func Commands(env command.Env) []*cobra.Command {
	return []*cobra.Command{newServe(env), newConsole(env)}
}
