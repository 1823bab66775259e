// Package route53 delivers zones to Amazon Route 53.
//
// One batch is one ChangeResourceRecordSets request, which is carried out whole or not at all. Zones, their SOA and
// their name servers are the service's; a zone is known by its ID, since there may be a public and a private one of one
// name. What zones hold that DNS does not know (sets with routing policies, aliases of AWS' own resources) is foreign
// here and is not shown: nothing of it is changed unless the very set is wanted or asserted to be gone.
package route53

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/time/rate"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// Rate is how many requests the service takes a second, of all users of an account together; a few may come at once.
const (
	Rate  = 5
	burst = 5
)

// Client is one account.
type Client struct {
	api     *route53.Client
	service string // what targets are called by
	limit   *rate.Limiter
}

var _ backend.Account = (*Client)(nil)

// New makes a client; nothing is sent yet.
func New(cfg Config) (*Client, error) {
	c := &Client{service: "aws-route53", limit: rate.NewLimiter(Rate, burst)}
	web := cfg.web()
	options := route53.Options{Region: cfg.region(), HTTPClient: web, Retryer: aws.NopRetryer{}} // the engine tries again
	endpoint := (*string)(nil)
	if cfg.Endpoint != "" {
		endpoint = aws.String(cfg.Endpoint)
		c.service += " " + cfg.Endpoint
	}
	options.BaseEndpoint = endpoint
	var err error
	if options.Credentials, err = cfg.credentials(web); err != nil {
		return nil, err
	}
	c.api = route53.New(options)
	return c, nil
}

// credentials are those that requests are signed with.
func (c Config) credentials(web *http.Client) (aws.CredentialsProvider, error) {
	switch {
	case c.Chain:
		// Credentials are asked for with the SDK's own client, which alone can do what variables such as AWS_CA_BUNDLE say.
		surroundings, err := config.LoadDefaultConfig(context.Background(), config.WithRegion(c.region()))
		if err != nil {
			return nil, fmt.Errorf("reading the credentials of the environment: %w", err)
		}
		return surroundings.Credentials, nil
	case c.Token != "":
		roles := sts.New(tokenService(c, web))
		return aws.NewCredentialsCache(stscreds.NewWebIdentityRoleProvider(roles, c.RoleARN, identity(c.Token))), nil
	}
	return credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.SecretAccessKey, c.SessionToken), nil
}

// Credentials returns what gets the credentials that requests to other services of the account are signed with. Its
// errors have a class.
func (c Config) Credentials() (func(context.Context) (aws.Credentials, error), error) {
	provider, err := c.credentials(c.web())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (aws.Credentials, error) {
		got, err := provider.Retrieve(ctx)
		if err != nil {
			return aws.Credentials{}, classed(err)
		}
		return got, nil
	}, nil
}

// NamedRegion returns the region that the Config names, or, if the credentials are those of the surroundings, these;
// "" if none does. It is for services that are another one in each region.
func (c Config) NamedRegion() (string, error) {
	if c.Region != "" || !c.Chain {
		return c.Region, nil
	}
	surroundings, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		return "", fmt.Errorf("reading the region of the environment: %w", err)
	}
	return surroundings.Region, nil
}

// web makes a client that follows no redirect, which could take signed requests to somebody else.
func (c Config) web() *http.Client {
	way := c.HTTP
	if way == nil {
		way = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: concurrency,
			IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second}
	}
	return &http.Client{Transport: way,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// tokenService says where roles are assumed: never at the endpoint of Route 53, which would be shown a token that is
// for another service.
func tokenService(cfg Config, web *http.Client) sts.Options {
	o := sts.Options{Region: cfg.region(), HTTPClient: web, Retryer: aws.NopRetryer{}}
	if cfg.STSEndpoint != "" {
		o.BaseEndpoint = aws.String(cfg.STSEndpoint)
	}
	return o
}

// identity is a token that proves who a workload is.
type identity string

// GetIdentityToken returns the token.
func (t identity) GetIdentityToken() ([]byte, error) { return []byte(t), nil }

// HostedZones lists the zones of the account.
func (c *Client) HostedZones(ctx context.Context) ([]backend.HostedZone, error) {
	var zones []backend.HostedZone
	ask := &route53.ListHostedZonesInput{}
	for {
		page, err := call(ctx, c, ask, c.api.ListHostedZones)
		if err != nil {
			return nil, fmt.Errorf("listing the hosted zones of Route 53: %w", err)
		}
		for _, z := range page.HostedZones {
			zone, err := c.hosted(z)
			if err != nil {
				return nil, err
			}
			zones = append(zones, zone)
		}
		if !page.IsTruncated {
			return zones, nil
		}
		if page.NextMarker == nil || ask.Marker != nil && *ask.Marker == *page.NextMarker {
			return nil, broken("a page of the list of hosted zones announces more pages, but not where they start")
		}
		ask.Marker = page.NextMarker
	}
}

// HostedZone looks up a zone by its ID, with or without "/hostedzone/" before it.
func (c *Client) HostedZone(ctx context.Context, id string) (backend.HostedZone, error) {
	id = strings.TrimPrefix(strings.TrimPrefix(id, "/"), "hostedzone/")
	if id == "" || len(id) > 32 || strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) {
		return backend.HostedZone{}, &backend.Error{Class: backend.ErrNoZone, Cause: backend.CauseInvalid,
			Err: fmt.Errorf("%q is not the ID of a hosted zone; write one such as Z0123456789ABCDEFGHIJ", id)}
	}
	found, err := call(ctx, c, &route53.GetHostedZoneInput{Id: &id}, c.api.GetHostedZone)
	if err != nil {
		return backend.HostedZone{}, fmt.Errorf("looking for hosted zone %s of Route 53: %w", id, err)
	}
	return c.hosted(*found.HostedZone)
}

func (c *Client) hosted(z types.HostedZone) (backend.HostedZone, error) {
	name, err := parseName(aws.ToString(z.Name))
	if err != nil {
		return backend.HostedZone{}, broken("hosted zone %s: %w", aws.ToString(z.Id), err)
	}
	id := strings.TrimPrefix(aws.ToString(z.Id), "/hostedzone/")
	return backend.HostedZone{
		ID: id, Name: name, Private: z.Config != nil && z.Config.PrivateZone,
		Target: backend.TargetKey{Server: c.service, Zone: name, View: id},
	}, nil
}

// Backend reaches one zone.
func (c *Client) Backend(zone backend.HostedZone) backend.Backend {
	return &Zone{client: c, id: zone.ID, name: zone.Name}
}

// broken is an answer that is none.
func broken(format string, args ...any) error {
	return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf(format, args...)}
}

// call makes one request, at the account's rate. Errors have a class.
func call[In, Out any](ctx context.Context, c *Client, in In,
	do func(context.Context, In, ...func(*route53.Options)) (Out, error)) (Out, error) {
	var none Out
	if err := c.wait(ctx); err != nil {
		return none, err
	}
	if err := backend.MaySend(ctx); err != nil {
		return none, err
	}
	out, err := do(ctx, in)
	if err != nil {
		return none, classed(err)
	}
	return out, nil
}

// wait waits for the account's rate, unless that takes longer than the context has.
func (c *Client) wait(ctx context.Context) error {
	err := c.limit.Wait(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &backend.Error{Class: backend.ErrUnavailable,
			Err: fmt.Errorf("waiting to ask Route 53: %w", context.Cause(ctx))}
	}
	return &backend.Error{Class: backend.ErrThrottled, Err: fmt.Errorf(
		"the limit of Route 53, %d requests a second, is reached, and other requests come first", Rate)}
}

// parseName reads a name as the service writes it.
func parseName(text string) (dnsname.Name, error) { return dnsname.Parse(hear(absolute(text))) }
