package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/dnshook/conformance"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// newDNSHook makes the group of commands for who writes a server for DNSClasses.
func newDNSHook(env command.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dnshook",
		Short: "Test a server for DNSClasses",
		Args:  command.KnownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConformance(env))
	return cmd
}

// conformanceFlags say which server is asked.
type conformanceFlags struct {
	server, secretFile, algorithm, domain string
	timeout                               time.Duration
}

func newConformance(env command.Env) *cobra.Command {
	var flags conformanceFlags
	cmd := &cobra.Command{
		Use:   "conformance --server URL",
		Short: "Check whether a server speaks the protocol of DNSClasses",
		Long: `conformance sends a server every request that the operator may send, and invalid ones. It
says whether each answer is right: endpoints, statuses, headers, error codes, signatures,
replays, all record types, and invalid records.

It creates records below the domain, under names that start with zonefold- and a random
number, and deletes them again. It creates a TXT record of the domain itself only if there
is none.

Exit codes: 0 if all is right, 1 if anything fails, 2 if the server cannot be reached.`,
		Example: `  zonefold dnshook conformance --server http://127.0.0.1:7100 --secret-file secret --domain example.com`,
		Args:    command.Takes(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return flags.run(cmd.Context(), env) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.server, "server", "", "the server's URL, as spec.server of a DNSClass has it")
	f.StringVar(&flags.secretFile, "secret-file", "",
		"a file with the secret; every octet counts (default: nothing is signed)")
	f.StringVar(&flags.algorithm, "algorithm", string(dnshook.SHA256), "SHA256 or SHA512")
	f.StringVar(&flags.domain, "domain", "example.com", "a domain below which the server may make records")
	f.DurationVar(&flags.timeout, "timeout", 10*time.Second, "how long an answer may take")
	return cmd
}

func (c conformanceFlags) run(ctx context.Context, env command.Env) error {
	if c.server == "" {
		return errors.New("name the server to check, such as --server http://127.0.0.1:7100")
	}
	cfg := conformance.Config{Server: c.server, Domain: c.domain, Timeout: c.timeout, Now: command.Running(env.Now)}
	if c.secretFile != "" {
		secret, err := os.ReadFile(c.secretFile)
		if err != nil {
			return fmt.Errorf("reading the secret: %w", err)
		}
		if bytes.HasSuffix(secret, []byte("\n")) {
			fmt.Fprintf(env.Stderr, "warning: %s ends in a line feed, which is part of the secret\n", c.secretFile)
		}
		cfg.Key = &dnshook.Key{Secret: secret, Algorithm: dnshook.Algorithm(c.algorithm)}
	}
	results, err := conformance.Run(ctx, cfg)
	count := map[conformance.Verdict]int{}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, r := range results {
		count[r.Verdict]++
		fmt.Fprintf(table, "%s\t%s\t%s\n", r.Verdict, r.Check, plain.Line(r.Sentence))
	}
	if flushErr := table.Flush(); err == nil {
		err = flushErr
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "\n%d passed, %d failed, %d not supported\n", count[conformance.Pass], count[conformance.Fail],
		count[conformance.Unsupported])
	if count[conformance.Fail] > 0 {
		return &command.ExitError{Code: command.ExitFindings}
	}
	return nil
}
