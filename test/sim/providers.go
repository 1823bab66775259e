package sim

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/api/dns/v1"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/cloudflare/cloudflaretest"
	"github.com/zonefold/zonefold/internal/backend/googleclouddns/clouddnstest"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Where services are.
const (
	googleHost     = "dns.googleapis.com"
	tokenHost      = "oauth2.googleapis.com" // Google's, too
	amazonHost     = "route53.amazonaws.com"
	cloudflareHost = "api.cloudflare.com"
)

// A providerKind makes a provider with a zone, and says what its name servers take.
type providerKind struct {
	limits backend.Limits
	begin  func(now func() time.Time, zone string) provider
}

func providers() map[string]providerKind {
	return map[string]providerKind{
		amazonHost: {kinds["route53"], func(now func() time.Time, zone string) provider {
			account := route53test.New(route53test.Options{Now: now, Delay: 3 * time.Second, Rate: 5, Burst: 10})
			a := account.NewAccount()
			return &amazon{account, a, a.NewUser("zonefold"), a.AddZone(zone, false)}
		}},
		cloudflareHost: {kinds["cloudflare"], func(_ func() time.Time, zone string) provider {
			hosted := &cloudflaretest.Zone{ID: strings.Repeat("0", 31) + "1", Name: zone, Account: "one",
				Records: map[string]map[string]any{}}
			return &cloudflare{cloudflaretest.New(hosted), hosted, cloudflaretest.Token}
		}},
		googleHost: {kinds["route53"], func(_ func() time.Time, zone string) provider {
			google := &google{clouddnstest.New(&dns.ManagedZone{Name: "one", DnsName: zone + ".", Visibility: "public"}), "one"}
			google.Async = 2
			return google
		}},
	}
}

// amazon is Route 53.
type amazon struct {
	*route53test.Server
	account *route53test.Account
	user    *route53test.User
	zone    string
}

func (a *amazon) credentials() map[string]string {
	return map[string]string{"AWS_ACCESS_KEY_ID": a.user.AccessKeyID, "AWS_SECRET_ACCESS_KEY": a.user.SecretAccessKey}
}

func (a *amazon) rotate()          { a.user.Rotate() }
func (a *amazon) throttle(on bool) { a.account.Exhaust(on) }

func (a *amazon) put(set rr.Set) {
	ttl := int64(set.TTL)
	a.Put(a.zone, route53test.Set{Name: set.Name.String(), Type: set.Type.String(), TTL: &ttl, Records: set.Data})
}

func (a *amazon) sets() (rr.Sets, error) {
	stored, _ := a.Sets(a.zone)
	txn := rr.Sets{}.Txn()
	for _, set := range stored {
		name, err := dnsname.Parse(set.Name)
		if err != nil {
			return rr.Sets{}, err
		}
		typ, err := rr.ParseType(set.Type)
		if err != nil {
			return rr.Sets{}, err
		}
		var data []string
		for _, value := range set.Records {
			d, err := rr.ParseData(typ, value)
			if err != nil {
				return rr.Sets{}, fmt.Errorf("%s %s: %w", name, typ, err)
			}
			data = append(data, d)
		}
		txn.Put(rr.NewSet(rr.Key{Name: name, Type: typ}, uint32(*set.TTL), data...))
	}
	return txn.Sets(), nil
}

// cloudflare is Cloudflare.
type cloudflare struct {
	*cloudflaretest.Server
	zone  *cloudflaretest.Zone
	token string
}

func (c *cloudflare) credentials() map[string]string {
	return map[string]string{"CLOUDFLARE_API_TOKEN": c.token}
}

func (c *cloudflare) rotate() {
	c.Lock()
	defer c.Unlock()
	scope := c.Tokens[c.token]
	delete(c.Tokens, c.token)
	c.token += "R"
	c.Tokens[c.token] = scope
}

func (c *cloudflare) throttle(on bool) {
	c.Lock()
	defer c.Unlock()
	if c.Throttle = 0; on {
		c.Throttle = 1 << 30
	}
}

func (c *cloudflare) put(set rr.Set) {
	c.Lock()
	defer c.Unlock()
	for i, data := range set.Data {
		id := fmt.Sprintf("%s%d", strings.Repeat("f", 31), (len(c.zone.Records)+i)%10)
		c.zone.Records[id] = map[string]any{"id": id, "name": strings.TrimSuffix(set.Name.String(), "."),
			"type": set.Type.String(), "ttl": float64(set.TTL), "content": data, "proxied": false}
	}
}

func (c *cloudflare) sets() (rr.Sets, error) { return c.Answers(c.zone) }

// google is Google Cloud DNS.
type google struct {
	*clouddnstest.Server
	zone string
}

func (g *google) credentials() map[string]string {
	g.Lock()
	defer g.Unlock()
	return map[string]string{"serviceaccount.json": g.Document}
}

func (g *google) rotate() { g.Rotate() }

func (g *google) throttle(on bool) {
	g.Lock()
	defer g.Unlock()
	if g.Throttle = ""; on {
		g.Throttle = "rateLimitExceeded"
	}
}

func (g *google) put(set rr.Set) {
	g.Lock()
	defer g.Unlock()
	g.Sets[g.zone][set.Name.String()+" "+set.Type.String()] = &dns.ResourceRecordSet{Name: set.Name.String(),
		Type: set.Type.String(), Ttl: int64(set.TTL), Rrdatas: set.Data}
}

func (g *google) sets() (rr.Sets, error) { return g.Answers(g.zone) }
