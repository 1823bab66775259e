package cli

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// newRender makes the command that shows what zones become of objects.
func newRender(env Env) *cobra.Command {
	var (
		in   inputFlags
		out  output
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
		Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := clock(env.Now, now)
			if err != nil {
				return err
			}
			name, err := zoneName(only)
			if err != nil {
				return err
			}
			return untilDone(cmd.Context(), env, func(env Env, p *progress) error {
				input, err := in.read(env, p)
				if err != nil {
					return err
				}
				p.begin("deciding about "+count(len(input.Objects), "object"), 0)
				c := compose(input, at)
				p.end()
				return render(env, input, c, view{out, name})
			})
		},
	}
	in.register(cmd)
	out.register(cmd)
	cmd.Flags().StringVar(&only, "zone", "", "print only the zone of this name, and what is refused in it")
	cmd.Flags().StringVar(&now, "now", "",
		"the time for new serials (RFC 3339), for output that can be repeated (default: now)")
	return cmd
}

// clock returns the time that is meant. A serial of the form YYYYMMDD00 has room for
// the years that it takes.
func clock(now time.Time, flag string) (time.Time, error) {
	if flag == "" {
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, flag)
	if err != nil {
		return at, fmt.Errorf("--now %q is not a time like 2026-01-31T12:00:00Z", flag)
	}
	if year := at.UTC().Year(); year < 1970 || year > 4293 {
		return at, fmt.Errorf("--now %q is of no year from 1970 to 4293, which serials can express", flag)
	}
	return at, nil
}

// zoneName reads the value of --zone; the trailing dot may be missing.
func zoneName(flag string) (dnsname.Name, error) {
	if flag == "" {
		return dnsname.Name{}, nil
	}
	if !strings.HasSuffix(flag, ".") {
		flag += "."
	}
	name, err := dnsname.Parse(flag)
	if err != nil {
		return name, fmt.Errorf("--zone: %w", err)
	}
	return name, nil
}

// A view says how much to print, and how. A zero zone is all of them.
type view struct {
	form output
	zone dnsname.Name
}

// render prints a composition.
func render(env Env, input *manifest.Input, c *composition, v view) error {
	if !v.zone.IsZero() {
		c = c.only(v.zone)
		if err := v.missing(c); err != nil && v.form == outputText {
			return err
		}
	}
	out := bufio.NewWriterSize(env.Stdout, 1<<16)
	var err error
	if v.form != outputText {
		err = v.form.writeValue(out, documentOf(c))
	} else {
		err = writeMasterFiles(out, c)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return complain(env, input)
}

// missing returns an error if the zone that was asked for is not there.
func (v view) missing(c *composition) error {
	for _, z := range c.zones {
		if z.verdict.Accepted {
			return nil
		}
	}
	for _, z := range c.zones {
		return fmt.Errorf("%s is not accepted: %s", v.zone, oneLine(z.verdict.Message))
	}
	return fmt.Errorf("the input has no Zone that is %s", v.zone)
}

// only leaves what concerns one zone: the Zones that ask for its name, the Records
// that they adopted, and those at or below the name that nobody did.
func (c *composition) only(name dnsname.Name) *composition {
	out := &composition{}
	for _, z := range c.zones {
		if z.verdict.Name == name && !z.object.OfGardener() {
			out.zones = append(out.zones, z)
		}
	}
	for _, r := range c.records {
		adopted := false
		for _, z := range out.zones {
			adopted = adopted || r.verdict.Zone == z.id()
		}
		if adopted || r.verdict.Zone.IsZero() && r.verdict.Name.Under(name) {
			out.records = append(out.records, r)
		}
	}
	return out
}

// complain tells on standard error what is not in the output at all. It fails if a
// document could not be read: then zones may lack what stands there.
func complain(env Env, input *manifest.Input) error {
	broken := false
	for _, p := range input.Problems {
		switch p.Reason {
		case manifest.Unreadable, manifest.NoObject, manifest.UnknownKind:
			fmt.Fprintf(env.Stderr, "%s: error: %s\n", oneLine(p.Place.String()), oneLine(p.Message))
			broken = broken || p.Reason == manifest.Unreadable
		}
	}
	if broken {
		return errors.New("a document could not be read, so the output is not complete")
	}
	return nil
}
