package move

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/cli/zonefile"
)

// newImportFile makes the command that imports a master file.
func newImportFile(env command.Env) *cobra.Command {
	var (
		flags draftFlags
		zone  string
	)
	cmd := &cobra.Command{
		Use:   "file FILE --origin ZONE [-n NAMESPACE]",
		Short: "Write manifests for the zone of a master file",
		Long: `file reads a master file (RFC 1035), or standard input if FILE is -.

$INCLUDE can name files in the folder of FILE and in folders below it, by their path relative
to the file that includes them. $GENERATE is carried out. A record without a TTL gets that of
$TTL, otherwise the last TTL that was stated, otherwise the minimum of the SOA.

A file that cannot be read to its end is not imported at all.`,
		Example: `  zonefold import file db.example.org --origin example.org -n dns > example-org.yaml
  zonefold import file db.example.org --origin example.org -n dns --split team-a=*.team-a --to manifests/
  zonefold import file db.example.org --origin example.org | zonefold render -f -`,
		Args: command.Takes("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := command.Origin(zone)
			if err != nil {
				return err
			}
			return flags.run(cmd, env, func(i *importing) (*content.Zone, error) {
				z := i.zone(name)
				return z, i.readFile(z, args[0])
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&zone, "origin", "", "the zone that the file is of")
	return cmd
}

// readFile reads a master file into a zone.
func (i *importing) readFile(z *content.Zone, path string) error {
	if path == "-" {
		return zonefile.Read(i.env.Stdin, z, zonefile.Options{Name: "standard input", Step: i.beginStdin()})
	}
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("reading the zone: %w", err)
	}
	defer folder.Close() //nolint:errcheck // nothing was written
	file, err := folder.Open(filepath.Base(path))
	if err != nil {
		return fmt.Errorf("reading the zone: %w", err)
	}
	defer file.Close()
	step, err := i.beginFile(file, path, "a master file")
	if err != nil {
		return err
	}
	return zonefile.Read(file, z, zonefile.Options{Name: filepath.Base(path), Folder: folder.FS(), Step: step})
}

const kib = 1 << 10

// beginFile begins the reading of an open file, which is to be what; step is to be told of the octets that are read.
func (i *importing) beginFile(file *os.File, path, what string) (step func(octets int), err error) {
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the zone: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name %s", path, what)
	}
	return kibibytes(i.progress.Begin("reading "+filepath.Base(path)+" (KiB)", int((info.Size()+kib-1)/kib))), nil
}

// beginStdin begins the reading of the standard input, likewise.
func (i *importing) beginStdin() (step func(octets int)) {
	return kibibytes(i.progress.Begin("reading the standard input (KiB)", 0))
}

// kibibytes calls step for each KiB.
func kibibytes(step func()) func(octets int) {
	left := kib
	return func(octets int) {
		for left -= octets; left <= 0; left += kib {
			step()
		}
	}
}
