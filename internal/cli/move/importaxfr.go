package move

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// newImportAXFR makes the command that imports a zone by transfer.
func newImportAXFR(env command.Env) *cobra.Command {
	var (
		flags draftFlags
		key   string
	)
	cmd := &cobra.Command{
		Use:   "axfr SERVER[:PORT] ZONE [-n NAMESPACE]",
		Short: "Write manifests for a zone that a name server has, by a transfer",
		Long: `axfr transfers a zone (RFC 5936) over TCP and writes manifests for it. A transfer that breaks
off is not imported at all. The whole zone is always transferred: manifests say what is
there, not what has changed since a serial (RFC 1995).

With --tsig the transfer is signed. The file has a key clause as tsig-keygen writes it and
dig -k reads it, or one line ALGORITHM:NAME:SECRET as for dig -y.`,
		Example: `  zonefold import axfr 192.0.2.53 example.org -n dns --tsig transfer.key
  zonefold import axfr ns1.example.net:5353 example.org --to manifests/`,
		Args: command.Takes("SERVER", "ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := command.Origin(args[1])
			if err != nil {
				return err
			}
			cfg := rfc2136.Config{Server: args[0], Now: command.Running(env.Now)}
			if key != "" {
				if cfg.Key, err = ReadKey(key); err != nil {
					return err
				}
			}
			client, err := rfc2136.New(cfg)
			if err != nil {
				return err
			}
			return flags.run(cmd, env, func(i *importing) (*content.Zone, error) {
				z := i.zone(name)
				return z, i.transfer(cmd.Context(), client, z)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&key, "tsig", "", "a file with the key that signs the transfer")
	return cmd
}

// transfer reads a zone from a server, a message at a time.
func (i *importing) transfer(ctx context.Context, client *rfc2136.Client, z *content.Zone) error {
	defer client.Close() //nolint:errcheck // the connection has served
	step := i.progress.Begin("transferring records", 0)
	var decoder rr.Decoder
	return client.Each(ctx, z.Origin, func(record dns.RR) error {
		step()
		key, data, err := decoder.Decode(record)
		if err != nil {
			z.LeaveOut(record.Header().Name, err.Error())
			return nil
		}
		return z.Add(content.Record{Name: key.Name, Type: key.Type, TTL: record.Header().Ttl, Data: data})
	})
}

var (
	keyClause = regexp.MustCompile(`(?s)key\s+"?([^\s"{]+)"?\s*\{(.*?)\}`)
	algorithm = regexp.MustCompile(`algorithm\s+"?([^\s";]+)"?\s*;`)
	keySecret = regexp.MustCompile(`secret\s+"?([^\s";]+)"?\s*;`)
)

// maxKeyFile bounds a file with a key, in octets.
const maxKeyFile = 64 << 10

// ReadKey reads a TSIG key. What it says names the file, and nothing that is in it.
func ReadKey(path string) (rfc2136.Key, error) {
	raw, err := readSmall(path)
	if err != nil {
		return rfc2136.Key{}, fmt.Errorf("reading the TSIG key: %w", err)
	}
	var name string
	var key rfc2136.Key
	if clause := keyClause.FindSubmatch(raw); clause != nil {
		name = string(clause[1])
		if m := algorithm.FindSubmatch(clause[2]); m != nil {
			key.Algorithm = string(m[1])
		}
		if m := keySecret.FindSubmatch(clause[2]); m != nil {
			key.Secret = string(m[1])
		}
	} else if parts := strings.Split(strings.TrimSpace(string(raw)), ":"); len(parts) == 3 {
		key.Algorithm, name, key.Secret = parts[0], parts[1], parts[2]
	}
	key.Name, err = dnsname.Parse(strings.TrimSuffix(name, ".") + ".")
	if _, problem := backend.TSIGSecret(key.Secret); name == "" || err != nil || problem != nil {
		return rfc2136.Key{}, fmt.Errorf(
			"%s contains no TSIG key; it must be a key clause with algorithm and secret, as tsig-keygen writes it, or "+
				"ALGORITHM:NAME:SECRET", path)
	}
	return key, nil
}
