package move

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/cli/octodns"
)

// newImportOctoDNS makes the command that imports a file of octoDNS.
func newImportOctoDNS(env command.Env) *cobra.Command {
	var (
		flags draftFlags
		zone  string
	)
	cmd := &cobra.Command{
		Use:   "octodns FILE [-n NAMESPACE]",
		Short: "Write manifests for a zone of octoDNS",
		Long: `octodns reads a file for octoDNS' YamlProvider. The zone is the name of the file without
.yaml, unless --origin names another. A record without a TTL gets 3600 seconds, as in
octoDNS.

ALIAS and URLFWD are not DNS types and are left out, and so are geo and dynamic, which a Zone
cannot express. The file has no SOA, so the Zone gets the defaults.`,
		Example: `  zonefold import octodns config/example.org.yaml -n dns --to manifests/`,
		Args:    command.Takes("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if zone == "" && args[0] != "-" {
				zone = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(args[0]), ".yaml"), ".yml")
			}
			name, err := command.Origin(zone)
			if err != nil {
				return err
			}
			return flags.run(cmd, env, func(i *importing) (*content.Zone, error) {
				z := i.zone(name)
				return z, i.readOctoDNS(z, args[0])
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&zone, "origin", "", "the zone (default: the name of the file)")
	return cmd
}

func (i *importing) readOctoDNS(z *content.Zone, path string) error {
	if path == "-" {
		if err := octodns.Read(i.env.Stdin, z, i.beginStdin()); err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the zone: %w", err)
	}
	defer file.Close()
	step, err := i.beginFile(file, path, "a file of octoDNS")
	if err != nil {
		return err
	}
	if err := octodns.Read(file, z, step); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
