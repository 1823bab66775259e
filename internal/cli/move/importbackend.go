package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// BackendFlags say where a Backend and its Secret are.
type BackendFlags struct {
	Cluster  command.ClusterFlags
	Files    []string
	Built    []manifest.Text // by kustomize, besides
	Stdin    []byte          // where Files say -
	operator string
}

// newImportBackend makes the command that imports a zone that the server of a Backend has.
func newImportBackend(env command.Env) *cobra.Command {
	var (
		flags draftFlags
		from  BackendFlags
	)
	cmd := &cobra.Command{
		Use:   "backend NAME ZONE [-n NAMESPACE] [-f PATH...]",
		Short: "Write manifests for a zone that the server of a Backend has",
		Long: `backend reads a zone as an operator with this Backend would: from BIND, Knot or PowerDNS,
from Route 53, Cloudflare, Google Cloud DNS and others. It writes nothing there.

The Backend and its Secret are read from the cluster, and you need the right to read both;
with -f they are read from files. Record types that a server creates when it signs are not
imported.

The operator's own name server (embedded) and fleets of BIND (bind9) are name servers: use
import axfr or export for them.`,
		Example: `  zonefold import backend route53 example.org -n dns --to manifests/
  zonefold import backend powerdns example.org -f backend.yaml -f secret.yaml`,
		Args: command.Takes("NAME", "ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := command.Origin(args[1])
			if err != nil {
				return err
			}
			return flags.run(cmd, env, func(i *importing) (*content.Zone, error) {
				b, secret, err := from.find(cmd.Context(), i.env, args[0])
				if err != nil {
					return nil, err
				}
				z := i.zone(name)
				return z, i.readBackend(cmd.Context(), Reached{b, secret, from.operator, true}, z)
			})
		},
	}
	flags.register(cmd)
	cmd.ValidArgsFunction = command.CompleteBackends(env, &from.Cluster)
	f := cmd.Flags()
	f.StringVar(&from.Cluster.Kubeconfig, "kubeconfig", "", "the kubeconfig (default: $KUBECONFIG, else ~/.kube/config)")
	f.StringVar(&from.Cluster.Context, "context", "", "the context of the kubeconfig")
	f.StringArrayVarP(&from.Files, "filename", "f", nil,
		"a file or folder with the Backend and its Secret, instead of a cluster; repeatable")
	f.StringVar(&from.operator, "operator-namespace", "zonefold-system",
		"the namespace of the operator, for Secrets without a namespace")
	return cmd
}

// A Vault returns what a Secret holds.
type Vault func(ctx context.Context, namespace, name string) (map[string][]byte, error)

// Reached is a Backend with what is needed to reach its server.
type Reached struct {
	Object   *zonefold.Backend
	Secret   Vault
	Operator string // namespace of Secrets that name none

	Surroundings bool // the credentials of this process count
}

// patience is how long the server of a Backend may take to say what a zone holds.
const patience = 5 * time.Minute

// readBackend reads a zone from the server of a Backend.
func (i *importing) readBackend(ctx context.Context, r Reached, z *content.Zone) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	servers, err := r.Connect(ctx, all.NewPool(command.Running(i.env.Now), nil), z.Origin)
	if err != nil {
		return fmt.Errorf("backend %s: %w", r.Object.Name, err)
	}
	client := servers[0].Backend
	if client.Limits().Read == backend.ReadNone {
		return fmt.Errorf("backend %s: its server cannot list its records, so nothing can be imported from it",
			r.Object.Name)
	}
	i.progress.Begin("reading "+z.Origin.String(), 0)
	found, err := client.Read(ctx, z.Origin, backend.Ask{})
	switch {
	case errors.Is(err, backend.ErrNoZone):
		return fmt.Errorf("backend %s has no zone %s: %w", r.Object.Name, z.Origin, err)
	case err != nil:
		return fmt.Errorf("backend %s: %w", r.Object.Name, err)
	}
	z.SOA = found.SOA
	refuses := client.Limits().Refuses
	for set := range found.Sets.All() {
		if refuses != nil && refuses(set.Type) != "" { // what it has under that number is its own: it is no data of DNS
			for range set.Data {
				z.LeaveOut(set.Key().String(), "the server "+refuses(set.Type)+"; no Zone can hold them")
			}
			continue
		}
		if set.Hint != "" {
			z.Report(content.Loss{Kind: content.Changed, What: set.Key().String(),
				Why: "the service stores it in its own form (" + set.Hint + "); a Zone holds what it answers now"})
		}
		for _, data := range set.Data {
			if err := z.Add(content.Record{Name: set.Name, Type: set.Type, TTL: set.TTL, Data: data}); err != nil {
				return err
			}
		}
	}
	return nil
}

// zoneAt returns the client of a zone in an account.
func zoneAt(ctx context.Context, account backend.Account, id string, name dnsname.Name) (backend.Backend, error) {
	var hosted backend.HostedZone
	var err error
	if id != "" {
		hosted, err = account.HostedZone(ctx, id)
	} else {
		hosted, err = backend.FindZone(ctx, account, name)
	}
	switch {
	case err != nil:
		return nil, err
	case hosted.Name != name:
		return nil, fmt.Errorf("it has no zone %s; the nearest one is %s", name, hosted.Name)
	}
	return account.Backend(hosted), nil
}
