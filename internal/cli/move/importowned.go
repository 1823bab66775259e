package move

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// ownedFlags say of which external-dns the sets are that are imported. They are called as that external-dns has them.
type ownedFlags struct {
	owners []string
	format registry.Format
	key    string

	registry string // its kind: one of registryTXT, registryTable
	table    string
	region   string
	endpoint string // which external-dns takes from its environment
}

const (
	registryTXT   = "txt"
	registryTable = "dynamodb"
)

func (f *ownedFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.owners, "txt-owner-id", nil,
		"import only what external-dns with this owner has, by its registry; repeatable")
	flags.StringVar(&f.format.Prefix, "txt-prefix", "", "with --txt-owner-id: the flag of that external-dns")
	flags.StringVar(&f.format.Suffix, "txt-suffix", "", "the same")
	flags.StringVar(&f.format.Wildcard, "txt-wildcard-replacement", "", "the same")
	flags.StringVar(&f.key, "txt-encrypt-aes-key-file", "", "a file with the key of --txt-encrypt-aes-key")
	flags.StringVar(&f.registry, "registry", registryTXT,
		"with --txt-owner-id: the registry of that external-dns: txt or dynamodb")
	flags.StringVar(&f.table, "dynamodb-table", "external-dns", "with --registry=dynamodb: the name of the table")
	flags.StringVar(&f.region, "dynamodb-region", "", "the region of the table (default: that of the environment)")
	flags.StringVar(&f.endpoint, "dynamodb-endpoint", "", "the URL of DynamoDB (default: that of the region)")
}

// begin returns what the flags say, nil if everything is imported.
func (f *ownedFlags) begin() (*ownedImport, error) {
	format := f.format
	switch {
	case f.registry != registryTXT && f.registry != registryTable:
		return nil, fmt.Errorf("--registry %q is neither txt nor dynamodb", f.registry)
	case f.registry == registryTXT && f.region+f.endpoint != "":
		return nil, errors.New("--dynamodb-region and --dynamodb-endpoint go with --registry=dynamodb")
	case len(f.owners) == 0:
		if f.registry == registryTable || f.key != "" || format.Prefix+format.Suffix+format.Wildcard != "" {
			return nil, errors.New("--registry, --txt-prefix and the like describe the registry of an external-dns; name its " +
				"owner with --txt-owner-id")
		}
		return nil, nil //nolint:nilnil // there is none
	}
	if f.key != "" {
		raw, err := readSmall(f.key)
		if err != nil {
			return nil, fmt.Errorf("reading the key of the TXT registry: %w", err)
		}
		if format.Key, err = registry.ParseKey(strings.TrimSpace(string(raw))); err != nil {
			return nil, fmt.Errorf("%s has no key of a TXT registry: %w", f.key, err)
		}
	}
	o := &ownedImport{registry: &registry.Registry{Formats: []registry.Format{format}, Owners: f.owners},
		notes: rr.Sets{}.Txn()}
	if f.registry == registryTable {
		o.table = f.table
		o.at = all.ProviderConfig{Region: f.region, Surroundings: true}
		if f.endpoint != "" {
			o.at.Options = map[string]string{"endpoint": f.endpoint}
		}
		// An external-dns that moves from TXT records to a table goes by both.
		o.registry.Formats = append(o.registry.Formats, registry.InTable(f.table))
	}
	return o, nil
}

// readSmall reads a regular file with a key.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxKeyFile {
		return nil, fmt.Errorf("%s is too large, or not a file", path)
	}
	return os.ReadFile(path)
}

// An ownedImport takes what the owners of a registry have.
type ownedImport struct {
	registry *registry.Registry
	notes    *rr.SetsTxn
	count    int // of notes in the zone

	table string // of DynamoDB, "": there is none
	at    all.ProviderConfig
}

// readTable reads the notes of the table. It does so after the zone: external-dns enters a set into the table first.
func (o *ownedImport) readTable(ctx context.Context, env command.Env) error {
	if o.table == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	table, err := all.NewPool(command.Running(env.Now), nil).Table(o.table, o.at)
	if err != nil {
		return fmt.Errorf("--registry=dynamodb: %w", err)
	}
	notes, err := table.Notes(ctx)
	if err != nil {
		return err
	}
	for note := range notes.All() {
		o.notes.Put(note)
	}
	return nil
}

// aside takes the notes out of a zone that is read: their names may be such as no Record can have.
func (o *ownedImport) aside(r content.Record) bool {
	if r.Type != rr.TypeTXT {
		return false
	}
	data, err := rr.ParseData(r.Type, r.Data)
	if err != nil {
		return false
	}
	note := rr.NewSet(rr.Key{Name: r.Name, Type: r.Type}, r.TTL, data)
	if !o.registry.IsNote(note) {
		return false
	}
	o.count++
	if before, is := o.notes.Get(note.Key()); is {
		note = rr.NewSet(note.Key(), note.TTL, append(slices.Clone(before.Data), data)...)
	}
	o.notes.Put(note)
	return true
}

// own leaves out of a zone what is not that of the owners, and tells of each set.
func (o *ownedImport) own(z *content.Zone) {
	notes := o.notes.Sets()
	z.Keep(func(key rr.Key) bool {
		claims := o.registry.Claims(notes, key)
		why := "external-dns has no registry entry for it"
		other := slices.IndexFunc(claims, func(c registry.Claim) bool { return !o.registry.Ours(c) })
		switch {
		case other >= 0:
			why = fmt.Sprintf("the external-dns %q owns it, as %s says", claims[other].Owner, claims[other].Where())
		case len(claims) > 0:
			return true
		}
		z.Report(content.Loss{Kind: content.Noted, What: key.String(), Why: "it is not imported: " + why})
		return false
	})
	if o.count > 0 {
		z.Report(content.Loss{Kind: content.Noted, What: command.Count(o.count, "note") + " of the TXT registry",
			Why: "they are not imported; with spec.registries of a Backend the operator reads them"})
	}
}
