package check

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/support"
)

// supportFlags say what goes into a bundle.
type supportFlags struct {
	doctor doctorFlags // the cluster, and how servers are reached
	to     string
	redact bool
	size   int64 // MiB
}

// newSupport makes the command that writes a bundle for whom one asks for help.
func newSupport(env command.Env) *cobra.Command {
	var flags supportFlags
	cmd := &cobra.Command{
		Use:   "support",
		Short: "Write a bundle for those who help",
		Long: `support collects, with your rights, what somebody else needs to find out what is wrong:
versions; the findings of doctor; the operator's Deployment, Pods, Lease, logs and metrics;
events; and the objects of all dialects with their statuses. It writes nothing to the cluster.

It reads no Secret. It leaves out fields that hold a secret, and the part before the @ of a
URL. With --redact it replaces the data of records by hashes, in messages and logs too. The
same data has the same hash within a bundle, and another one in the next bundle. Names of
zones, records, namespaces and servers stay. Look into the bundle before you send it.

What you may not read is missing from the bundle. contents.json lists it, and the command
prints it.

Exit codes: 0 if a bundle is written, 1 if not.`,
		Example: `  zonefold support
  zonefold support --redact --to /tmp/zonefold.tar.gz`,
		Args: command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
				return flags.run(cmd.Context(), env, p)
			})
		},
	}
	f := cmd.Flags()
	diff := &flags.doctor.diff
	f.StringVarP(&diff.In.InputFlags.Namespace, "namespace", "n", "",
		"the namespace to look in if you may not list all (default: that of the context)")
	diff.In.Cluster.RegisterConnection(cmd)
	f.StringVar(&diff.Operator, "operator-namespace", "zonefold-system", "the namespace of the operator")
	f.StringVar(&flags.doctor.account, "operator-account", "zonefold-operator", "the ServiceAccount of the operator")
	f.DurationVar(&diff.Timeout, "timeout", 10*time.Second, "the timeout of one server for one zone")
	f.StringVar(&flags.to, "to", "",
		"the file to write, or - for the standard output (default: zonefold-support-TIME.tar.gz)")
	f.BoolVar(&flags.redact, "redact", false, "replace the data of records by hashes")
	f.Int64Var(&flags.size, "max-size", 64, "how many MiB the files may have together before they are compressed")
	return cmd
}

func (f *supportFlags) run(ctx context.Context, env command.Env, p *command.Progress) (err error) {
	if f.size < 1 {
		return errors.New("--max-size must be a number of MiB from 1")
	}
	diff := &f.doctor.diff
	diff.In.Cluster.Namespace = diff.In.InputFlags.Namespace
	config, namespace, err := diff.In.Cluster.Config(env)
	if err != nil {
		return err
	}
	api, err := command.NewFetcher(config, namespace)
	if err != nil {
		return err
	}
	o := support.Options{API: api.Client.RESTClient(), Namespace: namespace, Operator: diff.Operator,
		Version: env.Version.String(), Now: env.Now, MaxBytes: f.size << 20, Begin: func(stage string) { p.Begin(stage, 0) }}
	o.Doctor = func(ctx context.Context, out io.Writer) error {
		of, said := f.doctor, env
		of.out, said.Stdout = command.OutputJSON, out
		var exit *command.ExitError
		if err := of.run(ctx, said, p); !errors.As(err, &exit) || exit.Err != nil {
			return err
		}
		return nil
	}
	if f.redact {
		o.Key = make([]byte, 32)
		_, _ = rand.Read(o.Key) // it never fails
	}
	to := cmp.Or(f.to, "zonefold-support-"+env.Now.UTC().Format("20060102T150405Z")+".tar.gz")
	out := env.Stdout
	if to != "-" {
		file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("making the bundle: %w", err)
		}
		defer func() {
			if err = errors.Join(err, file.Close()); err != nil {
				_ = os.Remove(to) // half a bundle is none
			}
		}()
		out = file
	}
	summary, err := support.Write(ctx, out, o)
	if err != nil {
		return err
	}
	p.End()
	for _, what := range summary.Missing {
		fmt.Fprintf(env.Stderr, "missing: %s\n", plain.Line(what))
	}
	if to != "-" {
		fmt.Fprintf(env.Stdout, "%s has %s\n", to, command.Count(summary.Files, "file"))
	}
	return nil
}
