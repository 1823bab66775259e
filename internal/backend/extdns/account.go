package extdns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// filter is what the server says about the names that it is for: either lists or expressions.
type filter struct {
	Include      []string `json:"include"`
	Filters      []string `json:"filters"` // as the protocol's description calls Include
	Exclude      []string `json:"exclude"`
	RegexInclude string   `json:"regexInclude"`
	RegexExclude string   `json:"regexExclude"`
}

// offer is what came of the negotiation.
type offer struct {
	agreed           bool
	filter           filter
	include, exclude *regexp.Regexp
	hosted           []dnsname.Name // the zones, longest first
}

// zoneNames reads names with commas between them.
func zoneNames(text string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.Trim(name, " \t\n."); name == "" {
			continue
		}
		if _, err := dnsname.Parse(name + "."); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// negotiate asks once what the server is for.
func (c *Client) negotiate(ctx context.Context) error {
	if c.agreed {
		return nil
	}
	var o offer
	if err := c.call(ctx, http.MethodGet, "", nil, &o.filter); err != nil {
		return err
	}
	o.filter.Include = append(o.filter.Include, o.filter.Filters...)
	var err, otherErr error
	if o.filter.RegexInclude != "" {
		o.include, err = regexp.Compile(o.filter.RegexInclude)
	}
	if o.filter.RegexExclude != "" {
		o.exclude, otherErr = regexp.Compile(o.filter.RegexExclude)
	}
	if err := errors.Join(err, otherErr); err != nil {
		return broken("its filter cannot be read: %w", err)
	}
	if err := o.host(c.zones); err != nil {
		return err
	}
	o.agreed = true
	c.offer = o
	return nil
}

// host decides which zones there are: those of the settings, or else the names that the filter includes.
func (o *offer) host(settings []string) error {
	texts := settings
	if len(texts) == 0 {
		texts = o.filter.Include
	}
	for _, text := range texts {
		name, err := dnsname.Parse(strings.Trim(text, ".") + ".")
		switch {
		case err != nil:
			return broken("its filter includes %q, which is not a name", text)
		case o.takes(name):
			o.hosted = append(o.hosted, name)
		case len(settings) > 0:
			return &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
				"the settings have zone %s, which the server's filter excludes", name)}
		}
	}
	if len(o.hosted) == 0 {
		return &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid,
			Err: errors.New("the server does not list its zones; name them in the setting zones")}
	}
	slices.SortFunc(o.hosted, func(a, b dnsname.Name) int { return len(b.String()) - len(a.String()) })
	o.hosted = slices.Compact(o.hosted)
	return nil
}

// takes reports whether the server is for a name, as external-dns decides it.
func (o *offer) takes(name dnsname.Name) bool {
	text := strings.TrimSuffix(name.String(), ".")
	if o.include != nil || o.exclude != nil {
		return (o.include == nil || o.include.MatchString(text)) && (o.exclude == nil || !o.exclude.MatchString(text))
	}
	under := func(suffix string) bool {
		suffix = strings.ToLower(strings.Trim(suffix, "."))
		return suffix != "" && (text == suffix || strings.HasSuffix(text, "."+suffix))
	}
	return (len(o.filter.Include) == 0 || slices.ContainsFunc(o.filter.Include, under)) &&
		!slices.ContainsFunc(o.filter.Exclude, under)
}

// zoneOf returns the zone that a name is in: the longest, so that what is in a zone below belongs to that zone.
func (o *offer) zoneOf(name dnsname.Name) dnsname.Name {
	for _, zone := range o.hosted {
		if name.Under(zone) {
			return zone
		}
	}
	return dnsname.Name{}
}

// HostedZones are the zones of the settings, or those that the server's filter includes.
func (c *Client) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	if err := c.lock(ctx); err != nil {
		return nil, err
	}
	defer c.unlock()
	c.agreed = false
	if err := c.negotiate(ctx); err != nil {
		return nil, fmt.Errorf("asking %s for its zones: %w", c.Server(), err)
	}
	var zones []backend.HostedZone
	for _, name := range c.hosted {
		zones = append(zones, c.zone(name))
	}
	return zones, nil
}

// HostedZone looks up a zone by its name.
func (c *Client) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	if err := c.lock(ctx); err != nil {
		return backend.HostedZone{}, err
	}
	defer c.unlock()
	if err := c.negotiate(ctx); err != nil {
		return backend.HostedZone{}, fmt.Errorf("asking %s for its zones: %w", c.Server(), err)
	}
	name, err := dnsname.Parse(strings.TrimSuffix(id, ".") + ".")
	if err != nil || !slices.Contains(c.hosted, name) {
		return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid, Err: fmt.Errorf(
			"%s has no zone %q", c.Server(), id)}
	}
	return c.zone(name), nil
}

func (c *Client) zone(name dnsname.Name) backend.HostedZone {
	return backend.HostedZone{
		ID: strings.TrimSuffix(name.String(), "."), Name: name,
		Target: backend.TargetKey{Server: "external-dns-webhook " + c.Server(), Zone: name},
	}
}

// Backend reaches one zone.
func (c *Client) Backend(zone backend.HostedZone) backend.Backend { return &Zone{c, zone.Name} }
