package gardener

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func publicAndPrivate(t *testing.T, a *account) {
	private, public, another := a.zone("example.com", "private"), a.zone("example.com", "public"), a.zone("example.com",
		"private")
	f := a.flow("public")
	f.deploy()
	f.placed(public)
	f.holds(public, "A", "120 192.0.2.1")
	f.holds(private, "A", "")
	f.holds(another, "A", "")

	named := a.flow("private")
	named.values.DNSName, named.values.Values, named.values.Zone = f.values.DNSName, []string{"192.0.2.2"}, ptr.To(private)
	named.deploy()
	named.holds(private, "A", "120 192.0.2.2")
	named.holds(public, "A", "120 192.0.2.1")
	f.destroy()
	named.holds(public, "A", "")
	named.holds(private, "A", "120 192.0.2.2")
	named.destroy()
	named.holds(private, "A", "")
}

func madeAnew(t *testing.T, a *account) {
	first := a.zone("example.com", "public")
	f := a.flow("anew")
	f.deploy()
	f.placed(first)
	here.ask(t, "aws remove "+first)
	second := a.zone("example.com", "public")
	f.speed = 1 // accounts remember for some seconds what they have heard, and gardenlet waits longer than that
	f.deploy()
	f.placed(second)
	f.holds(second, "A", "120 192.0.2.1")

	here.ask(t, "aws remove "+second) // then there is nothing to delete
	f.destroy()
}

func longerName(t *testing.T, a *account) {
	short := a.zone("example.com", "public")
	f := a.flow("longer")
	f.deploy()
	long := a.zone(strings.TrimPrefix(f.values.DNSName, "api."), "public")
	f.values.Values = []string{"192.0.2.2"}
	f.deploy()
	f.placed(short)
	f.holds(short, "A", "120 192.0.2.2")
	f.holds(long, "A", "")

	f.values.Zone = &long // whoever wants it there says so; what was in the other one stays, as with Gardener's own
	f.deploy()
	f.placed(long)
	f.holds(long, "A", "120 192.0.2.2")
	f.destroy()
	f.holds(long, "A", "")
	f.holds(short, "A", "120 192.0.2.2")
}

// aliases has the value of a CNAME be a name of a load balancer of AWS, for which there are aliases of the types A and
// AAAA, as the annotation says. Gardener's own extension leaves them there when it is another name, or another
// annotation.
func aliases(t *testing.T, a *account) {
	const balancer, alias = "a-1.eu-west-1.elb.amazonaws.com", "alias of a-1.eu-west-1.elb.amazonaws.com."
	zone := a.zone("example.com", "public")
	f := a.flow("alias")
	f.values.RecordType = typeCNAME
	for _, c := range []struct{ name, stack, cname, a, aaaa string }{
		{"lb.elsewhere.example", "ipv4", "120 lb.elsewhere.example.", "", ""},
		{balancer, "ipv4", "", alias, ""},
		{balancer, "dual-stack", "", alias, alias},
		{"lb.elsewhere.example", "dual-stack", "120 lb.elsewhere.example.", "", ""},
		{balancer, "ipv6", "", "", alias},
		{balancer, "dual-stack", "", alias, alias},
		{balancer, "ipv4", "", alias, ""},
	} {
		f.values.Values, f.values.IPStack = []string{c.name}, c.stack
		f.deploy()
		f.holds(zone, "CNAME", c.cname)
		f.holds(zone, "A", c.a)
		f.holds(zone, "AAAA", c.aaaa)
	}
	f.destroy()
	f.holds(zone, "A", "")
}

func rotated(t *testing.T, a *account) {
	zone := a.zone("example.com", "public")
	f := a.flow("rotated")
	f.deploy()
	a.rotate()
	f.values.Values = []string{"192.0.2.2"}
	wantCode(t, f.tryDeploy(), gardencorev1beta1.ErrorInfraUnauthenticated)
	f.holds(zone, "A", "120 192.0.2.1")
	f.secret = a.data()
	f.deploy()
	f.holds(zone, "A", "120 192.0.2.2")

	a.rotate() // gardenlet deploys the new ones before it deletes
	f.secret = a.data()
	f.destroy()
	f.holds(zone, "A", "")
}

func denied(t *testing.T, a *account) {
	zone := a.zone("example.com", "public")
	f := a.flow("denied")
	f.deploy()
	here.ask(t, fmt.Sprintf("aws deny %s ChangeResourceRecordSets", a.key))
	f.values.Values = []string{"192.0.2.2"}
	wantCode(t, f.tryDeploy(), gardencorev1beta1.ErrorInfraUnauthorized)
	f.holds(zone, "A", "120 192.0.2.1")
	here.ask(t, fmt.Sprintf("aws deny %s nothing", a.key))
	f.deploy()
	f.holds(zone, "A", "120 192.0.2.2")
	f.destroy()
}

func throttled(t *testing.T, a *account) {
	zone := a.zone("example.com", "public")
	here.ask(t, fmt.Sprintf("aws busy %s yes", a.key))
	f := a.flow("throttled")
	f.speed = 1 // what is throttled waits for half a minute
	g := f.gardenlet()
	if err := g.Deploy(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.waitsForRate()
	here.ask(t, fmt.Sprintf("aws busy %s no", a.key))
	if err := g.Wait(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.holds(zone, "A", "120 192.0.2.1")

	here.ask(t, fmt.Sprintf("aws busy %s yes", a.key))
	g = f.gardenlet()
	if err := g.Destroy(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.waitsForRate()
	here.ask(t, fmt.Sprintf("aws busy %s no", a.key))
	if err := g.WaitCleanup(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.holds(zone, "A", "")
}

// waitsForRate waits until an object says that the service throttles: without an error, which would end gardenlet's
// flow.
func (f *flow) waitsForRate() {
	f.t.Helper()
	eventually(f.t, "the operation waits", func() bool {
		last := f.object().Status.LastOperation
		return last != nil && last.State == gardencorev1beta1.LastOperationStateProcessing &&
			strings.Contains(last.Description, "Rate exceeded")
	})
	if e := f.object().Status.LastError; e != nil {
		f.t.Errorf("there is an error: %+v", e)
	}
}

func othersThrottled(t *testing.T, a *account) {
	zone := a.zone("example.com", "public")
	other := newAccount(t)
	other.zone("example.com", "public")
	here.ask(t, fmt.Sprintf("aws busy %s yes", other.key))
	waits := other.flow("busy")
	if err := waits.gardenlet().Deploy(waits.ctx); err != nil {
		t.Fatal(err)
	}
	waits.waitsForRate()
	f := a.flow("idle")
	f.deploy()
	f.holds(zone, "A", "120 192.0.2.1")
	f.destroy()
	f.holds(zone, "A", "")
	here.ask(t, fmt.Sprintf("aws busy %s no", other.key))
	waits.speed = 1
	waits.destroy()
}

func twoAccounts(t *testing.T, a *account) {
	b := newAccount(t)
	here1, there := a.zone("example.com", "public"), b.zone("example.com", "public")
	f, g := a.flow("one"), b.flow("two")
	g.values.DNSName, g.values.Values = f.values.DNSName, []string{"192.0.2.2"}
	f.deploy()
	g.deploy()
	f.holds(here1, "A", "120 192.0.2.1")
	f.holds(there, "A", "120 192.0.2.2")
	g.values.Zone = &here1 // what is another one's is not reached by naming it
	wantCode(t, g.tryDeploy(), gardencorev1beta1.ErrorInfraUnauthorized)
	f.holds(here1, "A", "120 192.0.2.1")
	g.values.Zone = nil
	before := g.object()
	changed := before.DeepCopy()
	changed.Spec.Zone = nil
	if err := here.client.Patch(g.ctx, changed, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	f.destroy()
	g.destroy()
	f.holds(here1, "A", "")
	f.holds(there, "A", "")
}

func atOnce(t *testing.T, a *account) {
	zone := a.zone("example.com", "public")
	var flows []*flow
	var shoots sync.WaitGroup
	for range 12 {
		f := a.flow("rate")
		f.speed = 1
		flows = append(flows, f)
		shoots.Go(func() {
			if err := f.tryDeploy(); err != nil {
				t.Error(err)
			}
		})
	}
	shoots.Wait()
	for _, f := range flows {
		f.holds(zone, "A", "120 192.0.2.1")
		f.destroy()
		f.holds(zone, "A", "")
	}
}
