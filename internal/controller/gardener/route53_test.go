package gardener_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/controller/gardener"
)

// An aws is a server that is Route 53, with one account, and a world that reaches it.
type aws struct {
	*world
	server  *route53test.Server
	account *route53test.Account
}

func newAWS(t *testing.T) *aws {
	t.Helper()
	server, err := route53test.Start(t.Context(), route53test.Options{Now: time.Now, Delay: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	pool := all.NewPool(time.Now, nil)
	a := &aws{server: server, account: server.NewAccount()}
	a.world = newWorld(t, func(c *gardener.Config) {
		c.Filter.Types = []string{"aws-route53"}
		c.Open = func(r gardener.Request) (backend.Account, error) {
			return pool.Open(all.ProviderConfig{Type: r.Type, Data: r.Data, Region: r.Region, Options: map[string]string{
				"endpoint": server.URL}})
		}
	})
	user := a.account.NewUser("gardener")
	a.secret("creds", map[string]string{"accessKeyID": user.AccessKeyID, "secretAccessKey": user.SecretAccessKey})
	return a
}

// has waits until a hosted zone has some sets at a name, each as "TYPE value", an alias as "TYPE alias target".
func (a *aws) has(id, name string, want ...string) {
	a.t.Helper()
	a.eventually("the sets of "+name, func() string {
		var got []string
		sets, _ := a.server.Sets(id)
		for _, s := range sets {
			switch {
			case s.Name != name:
			case s.AliasTarget != nil:
				got = append(got, s.Type+" alias "+s.AliasTarget.DNSName)
			default:
				got = append(got, s.Type+" "+strings.Join(s.Records, " "))
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			return "there are " + strings.Join(got, ", ") + ", not " + strings.Join(want, ", ")
		}
		return ""
	})
}

func TestALoadBalancerIsAnAlias(t *testing.T) {
	const api, balancer, other = "api.example.org.", "app-1.eu-west-1.elb.amazonaws.com",
		"net-1.elb.eu-west-1.amazonaws.com"
	a := newAWS(t)
	id := a.account.AddZone("example.org", false)
	become := func(stack, value string, want ...string) {
		t.Helper()
		a.record("api", "aws-route53 creds CNAME api.example.org "+value)
		a.patch("api", `{"metadata":{"annotations":{"dns.gardener.cloud/ip-stack":`+stack+`}}}`)
		a.ask("api", "reconcile")
		a.until("api", "Reconcile Succeeded")
		a.has(id, api, want...)
	}
	a.record("api", "aws-route53 creds CNAME api.example.org other.example.net")
	a.until("api", "Create Succeeded")
	become(`null`, "host.example.net", "CNAME host.example.net.")
	become(`null`, balancer, "A alias "+balancer+".")
	become(`"dual-stack"`, balancer, "A alias "+balancer+".", "AAAA alias "+balancer+".")
	become(`"ipv6"`, other, "AAAA alias "+other+".")
	become(`"dual-stack"`, other, "A alias "+other+".", "AAAA alias "+other+".")
	become(`"nonsense"`, other, "A alias "+other+".")
	become(`"dual-stack"`, "host.example.net", "CNAME host.example.net.")
	become(`"dual-stack"`, balancer, "A alias "+balancer+".", "AAAA alias "+balancer+".")
	a.delete("api")
	a.until("api", "gone")
	a.has(id, api)
	a.record("api", "aws-route53 creds CNAME api.example.org "+balancer)
	a.until("api", "Create Succeeded")
	a.has(id, api, "A alias "+balancer+".")
	a.stop() // and nobody remembers what it was
	a.start()
	a.delete("api")
	a.until("api", "gone")
	a.has(id, api)
}

func TestAPublicZoneGoesBeforeAPrivateOne(t *testing.T) {
	a := newAWS(t)
	private, public := a.account.AddZone("example.org", true), a.account.AddZone("example.org", false)
	late := a.account.AddZone("example.org", true)
	a.record("api", "aws-route53 creds A api.example.org 192.0.2.1")
	a.record("inside", "aws-route53 creds A inside.example.org 192.0.2.2", "zone: "+private)
	a.until("api", "Create Succeeded")
	a.until("inside", "Create Succeeded")
	a.has(public, "api.example.org.", "A 192.0.2.1")
	a.has(private, "api.example.org.")
	a.has(late, "api.example.org.")
	a.has(private, "inside.example.org.", "A 192.0.2.2")
	a.has(public, "inside.example.org.")
	if o := a.get("api"); o.Status.Zone == nil || *o.Status.Zone != public {
		t.Errorf("the zone is %v, want %s", o.Status.Zone, public)
	}
	a.delete("inside")
	a.until("inside", "gone")
	a.has(private, "inside.example.org.")
}

// TestAZoneIsMadeAnew has the account be asked for its zones a moment before one of them is replaced.
func TestAZoneIsMadeAnew(t *testing.T) {
	a := newAWS(t)
	first := a.account.AddZone("example.org", false)
	a.record("api", "aws-route53 creds A api.example.org 192.0.2.1")
	a.until("api", "Create Succeeded")
	a.server.RemoveZone(first)
	second := a.account.AddZone("example.org", false)
	a.ask("api", "reconcile")
	a.until("api", "Reconcile Succeeded") // nobody asks twice
	a.has(second, "api.example.org.", "A 192.0.2.1")
	if z := a.get("api").Status.Zone; z == nil || *z != second {
		t.Errorf("the zone is %v, want %s", z, second)
	}
}

// TestADeletionAfterARestartListsNothing has the service, which deletes only what is named in full, be told what the
// objects ask for. Where that is not what the service has, it is asked.
func TestADeletionAfterARestartListsNothing(t *testing.T) {
	a := newAWS(t)
	id := a.account.AddZone("example.org", false)
	for _, r := range []string{"api A api.example.org 192.0.2.1", "www CNAME www.example.org other.example.net",
		"lb CNAME lb.example.org app-1.eu-west-1.elb.amazonaws.com", "odd A odd.example.org 192.0.2.2"} {
		name, rest, _ := strings.Cut(r, " ")
		a.record(name, "aws-route53 creds "+rest)
		a.until(name, "Create Succeeded")
	}
	a.stop()
	ttl := int64(120)
	a.server.Put(id, route53test.Set{Name: "odd.example.org.", Type: "A", TTL: &ttl, Records: []string{"192.0.2.9"}})
	a.start()
	lists := a.server.Count("ListResourceRecordSets")
	for _, name := range []string{"api", "www", "lb"} {
		a.delete(name)
		a.until(name, "gone")
	}
	a.has(id, "api.example.org.")
	a.has(id, "www.example.org.")
	a.has(id, "lb.example.org.")
	if n := a.server.Count("ListResourceRecordSets") - lists; n != 0 {
		t.Errorf("it lists the sets of a zone %d times", n)
	}
	a.delete("odd")
	a.until("odd", "gone")
	a.has(id, "odd.example.org.")
}
