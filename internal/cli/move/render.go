package move

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// newRender makes the command that shows what zones become of objects.
func newRender(env command.Env) *cobra.Command {
	var (
		in   command.InputFlags
		out  command.Output
		only string
		now  string
	)
	cmd := &cobra.Command{
		Use:   "render -f PATH...",
		Short: "Print what becomes of Zones, DNSZones, DNSClasses and all kinds of records in files",
		Long: `render prints each zone as a master file, then what was refused and why.

The order of files and objects does not matter; creationTimestamps count where objects have
them. If the same object occurs twice, it counts once; if different objects have the same
name, none of them counts. Grants of Backends count, and for them the labels of Namespaces.

A zone gets the serial of its status if the status describes the same content, otherwise the
next one. Where a master file needs more than the objects say, such as a name server or its
address, a placeholder with a comment takes its place, also for the addresses of servers that
a DNSZone gets only in a cluster. -o json has no placeholders.

For a DNSClass and for a DNSRecord of Gardener, render prints what their server should have.
Only the service knows the hosted zone of a Gardener DNSRecord, unless the object names it.

Exit codes: 0 if everything could be read, even if objects are refused; 2 if not.`,
		Example: `  zonefold render -f zones/
  zonefold render -f zones/ --zone example.org. | named-checkzone example.org. /dev/stdin
  kubectl get zones,records -A -o yaml | zonefold render -f - -o json`,
		Args: command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := command.Clock(env.Now, now)
			if err != nil {
				return err
			}
			name, err := command.ZoneName(only)
			if err != nil {
				return err
			}
			return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
				input, err := in.Read(env, p)
				if err != nil {
					return err
				}
				p.Begin("deciding about "+command.Count(len(input.Objects), "object"), 0)
				c := fold.Compose(input, at)
				p.End()
				return render(env, input, c, view{out, name})
			})
		},
	}
	in.Register(cmd)
	in.RegisterKustomize(cmd)
	out.Register(cmd)
	cmd.Flags().StringVar(&only, "zone", "", "print only the zone of this name, and what is refused in it")
	cmd.Flags().StringVar(&now, "now", "",
		"the time for new serials (RFC 3339), for output that can be repeated (default: now)")
	return cmd
}

// A view says how much to print, and how. A zero zone is all of them.
type view struct {
	form command.Output
	zone dnsname.Name
}

// render prints a composition.
func render(env command.Env, input *manifest.Input, c *fold.Composition, v view) error {
	if !v.zone.IsZero() {
		c = c.Only(v.zone)
		if err := v.missing(c); err != nil && v.form == command.OutputText {
			return err
		}
	}
	out := bufio.NewWriterSize(env.Stdout, 1<<16)
	var err error
	if v.form != command.OutputText {
		err = v.form.WriteValue(out, documentOf(c))
	} else {
		err = writeMasterFiles(out, c)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return command.Complain(env, input)
}

// missing returns an error if the zone that was asked for is not there.
func (v view) missing(c *fold.Composition) error {
	for _, z := range c.Zones {
		if z.Verdict.Accepted {
			return nil
		}
	}
	for _, z := range c.Zones {
		return fmt.Errorf("%s is not accepted: %s", v.zone, plain.Line(z.Verdict.Message))
	}
	return fmt.Errorf("the input has no Zone that is %s", v.zone)
}
