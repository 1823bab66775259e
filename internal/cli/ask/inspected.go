package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	gardener "github.com/zonefold/zonefold/api/gardener/v1alpha1"
	homelab "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// inspectingTakes is how long the operator has to answer.
const inspectingTakes = 10 * time.Second

// askedAgain is how often it is asked again that has no room for a request.
const askedAgain = 1

// inspected adds to what is known of servers what the operator knows of them, where it can be asked; else the
// explanation says what could not be seen.
func (x *Explainer) inspected(ctx context.Context, e *explanation, servers []explained.Server) []explained.Server {
	if !x.Cluster || e.Subject == nil {
		return servers
	}
	resource, o := inspectedAs(e.Subject.Kind), *e.Subject
	// An object of another dialect may seem refused because what it refers to could not be seen.
	if hidden := strings.Contains(resource, ".") && len(e.Unseen) > 0; !e.Accepted && !hidden {
		return servers
	}
	if resource == "" && e.serving != nil && e.serving.Object.Zone != nil {
		resource, o = "zones", explained.Object(e.serving.Object.Ref)
	}
	found, why := x.inspect(ctx, resource, o)
	if why != "" {
		e.Unseen = append(e.Unseen, "What the operator last heard from servers, since when, and when it tries again: "+why)
		return servers
	}
	if e.FQDN == "" {
		e.FQDN = found.Zone
	}
	for _, s := range found.Servers {
		address, _ := strings.CutPrefix(s.Server, "dns ")
		i := slices.IndexFunc(servers, func(known explained.Server) bool {
			canonical, err := rfc2136.Canonical(known.Server)
			return known.Backend == s.Backend && known.Server != "" && (known.Server == address || err == nil &&
				canonical == address)
		})
		if i < 0 {
			i = slices.IndexFunc(servers, func(known explained.Server) bool {
				return known.Backend == s.Backend && known.Server == ""
			})
		}
		if i < 0 {
			servers, i = append(servers, explained.Server{Backend: s.Backend}), len(servers)
		}
		know(&servers[i], address, s)
	}
	return servers
}

// inspectedAs returns what a kind is called where the operator tells of it; "": it does not.
func inspectedAs(kind string) string {
	switch ref := (manifest.Ref{Kind: kind}); {
	case kind == manifest.Zone || kind == manifest.Record:
		return api.Resource(kubizone.GroupVersion.Group, strings.ToLower(kind)+"s")
	case ref.OfGardener():
		return api.Resource(gardener.GroupVersion.Group, "dnsrecords")
	case kind == manifest.DNSRecord:
		return api.Resource(homelab.GroupVersion.Group, "dnsrecords")
	case ref.Kind == manifest.DNSZone, ref.OfBindy() && strings.HasSuffix(kind, manifest.Record):
		return api.Resource(bindy.GroupVersion.Group, strings.ToLower(kind)+"s")
	}
	return ""
}

// inspect asks the operator about an object; or says why it cannot.
func (x *Explainer) inspect(ctx context.Context, resource string, o explained.Object) (found api.Inspection,
	why string) {
	if resource == "" {
		return found, fmt.Sprintf("it does not offer that for a %s.", o.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, inspectingTakes)
	defer cancel()
	return found, x.told(ctx, api.Path(o.Namespace, resource, o.Name), o, &found)
}

// DifferenceOf asks the operator what the servers of a zone hold otherwise than is wanted; or says why it cannot.
func (x *Explainer) DifferenceOf(ctx context.Context, o explained.Object) (found api.ZoneDifference, why string) {
	path := api.Path(o.Namespace, inspectedAs(o.Kind), o.Name) + "/" + api.Difference
	return found, x.told(ctx, path, o, &found)
}

// told asks the operator, through the API server, what it knows of an object; or says why it cannot.
func (x *Explainer) told(ctx context.Context, path string, o explained.Object, into any) (why string) {
	text, err := x.API.Get().AbsPath(path).SetHeader("Accept", "application/json").MaxRetries(askedAgain).DoRaw(ctx)
	status, answered := err.(apierrors.APIStatus)
	switch {
	case err == nil:
		err = json.Unmarshal(text, into)
	case apierrors.IsNotFound(err) && answered && status.Status().Details != nil &&
		status.Status().Details.Group == api.Group && status.Status().Details.Name == o.Name:
		return fmt.Sprintf("it has not looked at %s yet.", o.String())
	case apierrors.IsNotFound(err):
		return "the cluster does not offer " + api.Group + ", which inspect.enabled of the chart turns on."
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("you may not get %s.", o.String())
	}
	if err != nil {
		return fmt.Sprintf("it does not answer: %v.", err)
	}
	return ""
}

// tookUnit is how exactly it is told how long a change took.
const tookUnit = 100 * time.Microsecond

// know adds what the operator knows of a server.
func know(s *explained.Server, address string, from api.Server) {
	if s.Server == "" {
		s.Server = address
	}
	if from.Serial != nil {
		s.Serial = new(uint32(*from.Serial))
	}
	if from.Data != nil {
		s.Has = *from.Data
	}
	if s.Error == "" {
		s.Error = from.Message
	}
	s.Failures, s.Asking = from.Failures, from.Running
	s.LastHeard, s.Since, s.NextTry = stamp(from.LastHeard), stamp(from.Since), stamp(from.NextTry)
	if from.Published != nil && from.Confirmed != nil {
		s.Confirmed = from.Confirmed.UTC().Format(time.RFC3339Nano)
		s.Took = from.Confirmed.Sub(from.Published.Time).Round(tookUnit).String()
	}
	s.Inspected = true
}

func stamp(t *metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// hasAddress reports whether a server can be asked: others are called by what they are.
func hasAddress(s *explained.Server) bool {
	return s.Server != "" && !strings.ContainsAny(s.Server, " /")
}

// writeInspected writes what the operator knows of servers, a sentence each.
func (e *explanation) writeInspected(out io.Writer) {
	if !slices.ContainsFunc(e.Servers, func(s explained.Server) bool { return s.Inspected }) {
		return
	}
	fmt.Fprintln(out, "\nWhat the operator has heard from its servers:")
	for _, s := range e.Servers {
		if s.Inspected {
			fmt.Fprintf(out, "  %s (%s) %s\n", plain.Line(s.Backend), plain.Line(s.Server), heardOf(&s))
		}
	}
}

// heardOf says in a sentence what the operator has heard.
func heardOf(s *explained.Server) string {
	words := "has not answered yet"
	if s.LastHeard != "" {
		words = "answered last at " + s.LastHeard
	}
	switch {
	case s.Failures > 0:
		words += fmt.Sprintf("; since %s it has failed (%s)", s.Since, command.Count(s.Failures, "attempt"))
	case s.Since != "":
		words += ", and has not failed since " + s.Since
	}
	if s.Took != "" {
		words += "; it confirmed the newest change that it has after " + s.Took
	}
	switch {
	case s.Asking:
		words += "; it is being asked now"
	case s.NextTry != "" && s.Failures > 0:
		words += "; the operator tries again at " + s.NextTry
	case s.NextTry != "":
		words += "; the operator looks again at " + s.NextTry
	}
	return words + "."
}
