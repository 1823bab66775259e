package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/change"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/parallel"
	"github.com/zonefold/zonefold/internal/rr"
)

// unseenObjects tells of objects that could not be listed.
func (d *doctor) unseenObjects() {
	for _, what := range command.Together(d.Unseen) {
		d.say(doctorUnknown, "the objects", strings.TrimSuffix(what, "."), "")
	}
}

// servers looks at Backends: at what their conditions say, and at each zone at each server.
func (d *doctor) servers(ctx context.Context, p *command.Progress) {
	for _, o := range d.Composition.Backends {
		if o.Backend == nil {
			continue
		}
		for _, c := range o.Backend.Status.Conditions {
			if c.Type == "Ready" && c.Status != "True" {
				d.say(doctorError, "Backend "+o.Name, fmt.Sprintf("it is not ready, %s: %s", c.Reason, c.Message), "")
			}
		}
	}
	var jobs []*change.Comparison
	for i := range d.Composition.Zones {
		z := &d.Composition.Zones[i]
		if z.Object.Zone != nil && z.Verdict.Accepted {
			d.behind(z)
			jobs = append(jobs, d.JobsOf(ctx, z, false)...)
		}
	}
	// what the operator says of these is all that there is
	jobs = slices.DeleteFunc(jobs, func(j *change.Comparison) bool { return errors.Is(j.Trouble, change.ErrNotRead) })
	step := p.Begin("asking servers", len(jobs))
	findings := make([]*diagnosis, len(jobs))
	parallel.Do(len(jobs), func(i int) {
		defer step()
		findings[i] = d.server(ctx, jobs[i])
	})
	for _, f := range findings {
		if f != nil {
			d.findings = append(d.findings, *f)
		}
	}
}

// behind tells of Backends that have not got a zone, as the operator says.
func (d *doctor) behind(z *fold.ZoneResult) {
	for _, b := range z.Object.Zone.Status.Backends {
		if b.Reason != "" && b.Reason != "Observing" {
			d.say(doctorError, fmt.Sprintf("%s at Backend %s", z.Object.Ref, b.Name), b.Reason+": "+b.Message, "")
		}
	}
}

// server looks for a zone at a server, and returns what is wrong.
func (d *doctor) server(ctx context.Context, j *change.Comparison) *diagnosis {
	zone := j.Zone.Verdict.Name
	object := fmt.Sprintf("%s at %s", j.Zone.Object.Ref, j.Place())
	if !j.Readable() {
		return &diagnosis{doctorUnknown, object, j.Trouble.Error(), ""}
	}
	ctx, cancel := context.WithTimeout(ctx, d.flags.diff.Timeout)
	defer cancel()
	found, err := j.Client.Read(ctx, zone, backend.Ask{Keys: []rr.Key{}})
	said := &diagnosis{doctorError, object, fmt.Sprint(err), ""}
	switch backend.Class(err) {
	case "":
		return d.serial(j, object, found.SOA)
	case backend.ErrNoZone:
		if j.Client.Limits().Creates {
			said.Severity, said.Way = doctorWarning, "the operator makes the zone, unless the Backend observes"
		} else {
			said.Way = "create the zone there, or correct the Zone's backendRefs"
		}
	case backend.ErrNotAuthorised:
		said.Way = "correct the credentials in the Backend's Secret, or their rights on the server"
	default:
		said.Way = "check that the server runs and is reachable from here and from the operator"
	}
	return said
}

// serial compares a serial with what the operator has written down.
func (d *doctor) serial(j *change.Comparison, object string, soa rr.SOA) *diagnosis {
	if soa == (rr.SOA{}) || j.Client.Limits().SOA != backend.SOAClient {
		return nil
	}
	status := j.Zone.Object.Zone.Status.Backends
	i := slices.IndexFunc(status, func(b kubizone.ZoneBackend) bool {
		return b.Name == j.Backend && b.FQDN == j.Zone.Verdict.Name.String()
	})
	if i < 0 || status[i].Serial == nil || uint32(*status[i].Serial) == soa.Serial {
		return nil
	}
	return &diagnosis{doctorWarning, object,
		fmt.Sprintf("it has serial %d, but the status of the Zone has %d", soa.Serial, *status[i].Serial),
		fmt.Sprintf("if that persists, something else writes to the zone; zonefold diff %s shows what", j.Zone.Verdict.Name)}
}

// delegations asks the world for the name servers of zones.
func (d *doctor) delegations(ctx context.Context, p *command.Progress) {
	if d.flags.resolver == "" {
		return
	}
	var roots []*fold.ZoneResult
	for i := range d.Composition.Zones {
		z := &d.Composition.Zones[i]
		if z.Object.Zone != nil && z.Verdict.Accepted && z.Verdict.Zone.IsZero() {
			roots = append(roots, z)
		}
	}
	step := p.Begin("asking "+d.flags.resolver, len(roots))
	findings := make([]*diagnosis, len(roots))
	parallel.Do(len(roots), func(i int) {
		defer step()
		findings[i] = d.delegation(ctx, roots[i])
	})
	for _, f := range findings {
		if f != nil {
			d.findings = append(d.findings, *f)
		}
	}
}

// delegation asks for the name servers of one zone.
func (d *doctor) delegation(ctx context.Context, z *fold.ZoneResult) *diagnosis {
	ctx, cancel := context.WithTimeout(ctx, d.flags.diff.Timeout)
	defer cancel()
	name := z.Verdict.Name.String()
	object := fmt.Sprintf("%s, %s", z.Object.Ref, name)
	q := new(dns.Msg)
	q.SetQuestion(name, dns.TypeNS)
	q.SetEdns0(1232, false)
	answer, err := ask.ExchangeMessage(ctx, nil, d.flags.resolver, q)
	if err != nil {
		return &diagnosis{doctorUnknown, object, err.Error(), "check that --resolver names a server that answers"}
	}
	world := serversIn(answer, name)
	own := []string{}
	if set, ok := z.Snapshot.Sets.Get(rr.Key{Name: z.Verdict.Name, Type: rr.TypeNS}); ok {
		own = set.Data
	}
	way := "delegate it in the zone above to the name servers that serve it"
	switch {
	case answer.Rcode != dns.RcodeSuccess:
		return &diagnosis{doctorError, object, fmt.Sprintf("%s answers %s to a query for its name servers",
			d.flags.resolver, dns.RcodeToString[answer.Rcode]), way}
	case len(world) == 0:
		return &diagnosis{doctorError, object, d.flags.resolver + " has no name servers for it", way}
	case len(own) == 0:
		return &diagnosis{doctorWarning, object, fmt.Sprintf("its Zone has no name servers at its apex, but %s says %s",
			d.flags.resolver, strings.Join(world, ", ")), "write NS Records for it, unless its servers have their own"}
	case !slices.Equal(world, own):
		return &diagnosis{doctorError, object, fmt.Sprintf("its name servers are %s in its Zone, but %s at %s",
			strings.Join(own, ", "), strings.Join(world, ", "), d.flags.resolver),
			"correct the delegation in the zone above, or the NS Records of the Zone"}
	}
	return nil
}

// serversIn returns the name servers in an answer or a referral, sorted.
func serversIn(answer *dns.Msg, name string) []string {
	var out []string
	for _, section := range [][]dns.RR{answer.Answer, answer.Ns} {
		for _, record := range section {
			if ns, ok := record.(*dns.NS); ok && strings.EqualFold(ns.Hdr.Name, name) {
				out = append(out, strings.ToLower(ns.Ns))
			}
		}
		if len(out) > 0 {
			break
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// soon is how long before its end a certificate should have been renewed.
const soon = 7 * 24 * time.Hour

// zonesOfNamespaces returns the namespaces that have Zones, sorted.
func (d *doctor) zonesOfNamespaces() []string {
	var out []string
	for i := range d.Composition.Zones {
		if ref := d.Composition.Zones[i].Object.Ref; ref.Kind == manifest.Zone {
			out = append(out, ref.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
