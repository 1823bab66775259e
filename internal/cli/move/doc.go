// Package move takes zones in and out: import writes manifests of zones that are elsewhere; render and export write
// zones, of files and of a cluster. They report what one form of a zone can say and another cannot. The package also
// reaches the servers of Backends, with the credentials that their Secrets have.
package move

import (
	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
)

// Commands are those of this room.
func Commands(env command.Env) []*cobra.Command {
	return []*cobra.Command{newImport(env), newExport(env), newRender(env)}
}
