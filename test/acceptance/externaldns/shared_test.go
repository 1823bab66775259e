package externaldns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider/rfc2136"
	theirs "sigs.k8s.io/external-dns/registry"
	theirTable "sigs.k8s.io/external-dns/registry/dynamodb"
	"sigs.k8s.io/external-dns/registry/txt"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/dynamodb"
	"github.com/zonefold/zonefold/internal/backend/dynamodb/dynamodbtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	ours "github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/backend/route53"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

const (
	soak   = 2 * time.Minute
	secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	apex   = "example.org."
	names  = 40 // of each side
)

// A shared zone is one at a real BIND that external-dns and zonefold's engine write to.
type sharedZone struct {
	*testing.T
	bind *nameserver.Server

	// with a registry in a table; nil: it is in the zone
	server *dynamodbtest.Server
	table  *dynamodb.Table

	// external-dns' side
	registry theirs.Registry
	restart  func()            // has the registry forget what it has read
	desired  map[string]string // address by name, without the final dot

	// zonefold's side
	engine *engine.Engine
	feed   *engine.Feed
	client *ours.Client
	wanted map[string]string
	mu     sync.Mutex
	last   engine.Report
	seq    uint64
}

func share(t *testing.T, byTable bool) *sharedZone {
	key := nameserver.TSIG{Name: name(t, "shared."), Algorithm: "hmac-sha256", Secret: secret}
	bind, err := nameserver.StartBIND(t.Context(), nameserver.Options{Dir: t.TempDir(), Keys: []nameserver.TSIG{key},
		Zones: []nameserver.Zone{{Name: name(t, apex)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bind.Close)
	z := &sharedZone{T: t, bind: bind, desired: map[string]string{}, wanted: map[string]string{}}
	host, port, _ := net.SplitHostPort(bind.Addr())
	c := &externaldns.Config{RFC2136Host: []string{host}, RFC2136Zone: []string{"example.org"},
		RFC2136TSIGKeyName: "shared", RFC2136TSIGSecret: secret, RFC2136TSIGSecretAlg: "hmac-sha256", RFC2136AXFR: true,
		RFC2136BatchChangeSize: 50, RFC2136LoadBalancingStrategy: "disabled", TXTOwnerID: "prod", Policy: "sync",
		ManagedDNSRecordTypes: []string{"A"}}
	c.RFC2136Port, _ = strconv.Atoi(port)
	provider, err := rfc2136.New(t.Context(), c, endpoint.NewDomainFilter([]string{"example.org"}))
	if err != nil {
		t.Fatal(err)
	}
	z.restart = func() {
		open := txt.New
		if byTable {
			open = theirTable.New
		}
		if z.registry, err = open(c, provider); err != nil {
			t.Fatal(err)
		}
	}
	if byTable {
		z.withTable(c)
	}
	z.restart()
	z.client, err = ours.New(ours.Config{Server: bind.Addr(), Now: time.Now,
		Key: ours.Key{Name: key.Name, Algorithm: key.Algorithm, Secret: secret}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.client.Close() })
	store := &backendtest.Store{}
	z.engine = engine.New(engine.Config{Ceilings: store, Ledger: store, Clock: backend.SystemClock{}, Rand: rand.Float64,
		Report: z.report})
	t.Cleanup(func() { z.engine.Stop(context.Background()) })
	z.feed = z.engine.NewFeed(engine.FeedConfig{ID: apex, Zone: name(t, apex)})
	return z
}

// withTable has both sides use a table.
func (z *sharedZone) withTable(c *externaldns.Config) {
	var err error
	if z.server, err = dynamodbtest.Start(z.Context(), "external-dns", time.Now); err != nil {
		z.Fatal(err)
	}
	z.Cleanup(func() { _ = z.server.Stop() })
	z.server.Page = 20
	c.AWSDynamoDBTable, c.AWSDynamoDBRegion = "external-dns", "eu-west-1"
	z.Setenv("AWS_ACCESS_KEY_ID", dynamodbtest.AccessKeyID)
	z.Setenv("AWS_SECRET_ACCESS_KEY", dynamodbtest.SecretAccessKey)
	z.Setenv("AWS_ENDPOINT_URL_DYNAMODB", z.server.URL)
	z.table, err = dynamodb.New(dynamodb.Config{Table: "external-dns", Account: route53.Config{
		AccessKeyID: dynamodbtest.AccessKeyID, SecretAccessKey: dynamodbtest.SecretAccessKey, Region: "eu-west-1",
		Endpoint: z.server.URL}}, time.Now)
	if err != nil {
		z.Fatal(err)
	}
}

func (z *sharedZone) report(r engine.Report) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.last = r
}

// run is one round of external-dns, in the steps of its controller (Controller.RunOnce), whose package cannot be had
// without the clients of every cloud.
func (z *sharedZone) run() *plan.Changes {
	records, err := z.registry.Records(z.Context())
	if err != nil {
		z.Fatal(err)
	}
	var desired []*endpoint.Endpoint
	for name, address := range z.desired {
		e := endpoint.NewEndpointWithTTL(name, "A", 300, address)
		e.Labels[endpoint.ResourceLabelKey] = "ingress/web/" + strings.Split(name, ".")[0]
		desired = append(desired, e)
	}
	if desired, err = z.registry.AdjustEndpoints(desired); err != nil {
		z.Fatal(err)
	}
	p := &plan.Plan{Policies: []plan.Policy{&plan.SyncPolicy{}}, Current: records, Desired: desired,
		ManagedRecords: []string{"A"}, OwnerID: z.registry.OwnerID()}
	changes := p.Calculate().Changes
	if changes.HasChanges() {
		if err := z.registry.ApplyChanges(z.Context(), changes); err != nil {
			z.Fatal(err)
		}
	}
	return changes
}

// publish has zonefold want what it wants now.
func (z *sharedZone) publish(changed ...string) {
	txn := rr.Sets{}.Txn()
	hash := make([]string, 0, len(z.wanted))
	for n, address := range z.wanted {
		txn.Put(rr.NewSet(z.key(n), 300, address))
		hash = append(hash, n+"="+address)
	}
	slices.Sort(hash)
	var keys []rr.Key
	for _, n := range changed {
		keys = append(keys, z.key(n))
	}
	soa, err := rr.ParseSOA("localhost. hostmaster.localhost. 0 3600 600 604800 300")
	if err != nil {
		z.Fatal(err)
	}
	soa.TTL = 300
	z.seq = z.feed.Publish(engine.Content{Sets: txn.Sets(), SOA: soa, Hash: strings.Join(hash, " ")}, keys)
}

func (z *sharedZone) key(n string) rr.Key { return rr.Key{Name: name(z.T, n+"."), Type: rr.TypeA} }

func (z *sharedZone) attach(r *registry.Registry, observe bool) {
	client := backend.Backend(z.client)
	if z.table != nil {
		client = z.table.Beside(client, r.Owners)
	}
	z.engine.Attach(backend.TargetKey{Server: z.bind.Addr(), Zone: name(z.T, apex)}, engine.Attachment{Name: "shared",
		Feed: z.feed, Backend: client, Keep: true, Registry: r, Observe: observe})
}

// await waits until zonefold has confirmed what it wants.
func (z *sharedZone) await(what string, done func(engine.Report) bool) {
	z.Helper()
	for end := time.Now().Add(time.Minute); ; {
		z.mu.Lock()
		r := z.last
		z.mu.Unlock()
		if r.Seq == z.seq && r.Err == nil && done(r) {
			return
		}
		if time.Now().After(end) {
			z.Fatalf("%s: after a minute the report is %+v", what, r)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// has reads the addresses and the owners in the zone.
func (z *sharedZone) has(ctx context.Context) (addresses map[string][]string, owners map[string]string, err error) {
	addresses, owners = map[string][]string{}, map[string]string{}
	inTable := func() {
		if z.server == nil {
			return
		}
		for key, owner := range z.server.Owners() {
			owners[strings.TrimSuffix(key, "#A#")] = owner
		}
	}
	inTable() // and once more: an item comes before its set, and goes after it
	sets, err := z.bind.Transfer(ctx, name(z.T, apex))
	inTable()
	for _, s := range sets {
		n := strings.TrimSuffix(s.Name.String(), ".")
		switch s.Type {
		case rr.TypeA:
			addresses[n] = s.Data
		case rr.TypeTXT:
			_, owner, _ := strings.Cut(strings.Join(s.Data, ""), "owner=")
			owner, _, _ = strings.Cut(strings.Trim(owner, `"`), ",")
			owners[strings.TrimPrefix(n, "a-")] = owner
		}
	}
	return addresses, owners, err
}

func own(side string, i int) string { return fmt.Sprintf("%s%d.example.org", side, i) }

// The sides' addresses; what is contested both want.
func of(side string, r *rand.Rand) string {
	return fmt.Sprintf("%s.%d", map[string]string{"x": "203.0.113", "z": "192.0.2"}[side], 1+r.IntN(250))
}

// change changes some of what a side wants, and returns what.
func change(side string, r *rand.Rand, wants map[string]string) (changed []string) {
	for range 1 + r.IntN(5) {
		n := own(side, r.IntN(names))
		if r.IntN(4) == 0 {
			n = own("both", r.IntN(names/4))
		}
		if wants[n] = of(side, r); r.IntN(4) == 0 {
			delete(wants, n)
		}
		changed = append(changed, n)
	}
	return changed
}

// watch reads the zone all the time, and tells of sets that have an address of the other side.
func (z *sharedZone) watch(ctx context.Context) (looks int, wrong []string) {
	mixed := map[string]time.Time{}
	for ctx.Err() == nil {
		addresses, owners, err := z.has(ctx)
		if err != nil {
			continue
		}
		looks++
		if stable := addresses["stable.example.org"]; !slices.Equal(stable, []string{"203.0.113.254"}) {
			wrong = append(wrong, fmt.Sprintf("stable.example.org is %v", stable))
		}
		for n, data := range addresses {
			theirs := slices.ContainsFunc(data, func(d string) bool { return strings.HasPrefix(d, "203.") })
			mine := slices.ContainsFunc(data, func(d string) bool { return strings.HasPrefix(d, "192.") })
			alone := n[0] == 'x' && mine || n[0] == 'z' && theirs || n[0] == 'x' && owners[n] != "prod" ||
				n[0] == 'z' && owners[n] != ""
			// external-dns writes without looking: it may add a value to what was created a moment ago, and puts that right
			// in its next round
			if bad := mine && (theirs || owners[n] != ""); !bad {
				delete(mixed, n)
			} else if mixed[n].IsZero() {
				mixed[n] = time.Now()
			}
			if since := mixed[n]; alone || !since.IsZero() && time.Since(since) > 10*time.Second {
				wrong = append(wrong, fmt.Sprintf("%s has %v and the owner %q", n, data, owners[n]))
			}
		}
	}
	return looks, wrong
}

// TestExternalDNSAndBack has external-dns and zonefold change one zone for two minutes; then zonefold takes over what
// external-dns has, and gives back all of it.
func TestExternalDNSAndBack(t *testing.T) {
	t.Parallel()
	thereAndBack(share(t, false), registry.Format{})
}

// TestExternalDNSAndBackByTable has its registry in a table of DynamoDB.
func TestExternalDNSAndBackByTable(t *testing.T) {
	thereAndBack(share(t, true), registry.InTable("external-dns"))
}

func thereAndBack(z *sharedZone, f registry.Format) {
	z.desired["stable.example.org"] = "203.0.113.254"
	z.run()
	z.attach(&registry.Registry{Formats: []registry.Format{f}}, false)
	z.publish()
	z.sideBySide()

	z.desired["stable.example.org"] = "203.0.113.254"
	z.run()
	z.run()
	for n, address := range z.desired { // Records are written for everything
		z.wanted[n] = address
	}
	ctx, cancel := context.WithCancel(z.Context())
	var asking sync.WaitGroup
	var wrong []string
	asking.Go(func() { wrong = z.askFor(ctx, z.wanted) })
	z.publish()
	z.await("before it is taken over", func(r engine.Report) bool { return len(r.Refused) == len(z.desired) })
	taken := &registry.Registry{Formats: []registry.Format{f}, Owners: []string{"prod"}, Writes: &f, Writer: "prod"}
	z.attach(taken, false)
	z.await("taken over", func(r engine.Report) bool { return len(r.Refused) == 0 })
	cancel()
	asking.Wait()
	if len(wrong) > 0 {
		z.Errorf("while it was taken over %d answers were wrong, such as %s", len(wrong), wrong[0])
	}
	z.matches("taken over", z.wanted, "prod")
	z.wanted["stable.example.org"] = "192.0.2.254"
	z.publish("stable.example.org")
	z.await("changed", func(engine.Report) bool { return true })
	z.matches("changed", z.wanted, "prod")
	z.back(taken)
}

// back has external-dns go on where zonefold has stopped.
func (z *sharedZone) back(taken *registry.Registry) {
	z.attach(taken, true)
	var d *engine.Difference
	z.await("observing", func(r engine.Report) bool { d = r.Difference; return d != nil })
	if d.Added+d.Changed+d.Deleted > 0 {
		z.Errorf("when it is given back, there is a difference: %+v", d)
	}
	z.restart()
	z.desired = map[string]string{}
	for n, address := range z.wanted {
		z.desired[n] = address
	}
	if c := z.run(); len(c.Create)+len(c.Delete)+len(c.UpdateNew) > 0 {
		z.Errorf("external-dns does not find its sets as they were: %d to create, %d to delete, %d to change", len(c.Create),
			len(c.Delete), len(c.UpdateNew))
	}
	for n := range z.desired {
		z.desired[n] = "203.0.113.7"
	}
	z.run()
	z.matches("external-dns goes on", z.desired, "prod")
	clear(z.desired)
	z.run()
	z.run()
	z.matches("external-dns has deleted everything", nil, "prod")
}

// sideBySide has both sides change the zone at random, and a reader look at it.
func (z *sharedZone) sideBySide() {
	ctx, cancel := context.WithTimeout(z.Context(), soak)
	defer cancel()
	var sides sync.WaitGroup
	rounds, published, looks := 0, 0, 0
	var wrong []string
	sides.Go(func() { looks, wrong = z.watch(ctx) })
	sides.Go(func() {
		r := rand.New(rand.NewPCG(1, 18))
		for ; ctx.Err() == nil; rounds++ {
			change("x", r, z.desired)
			z.run()
			<-time.After(time.Duration(r.IntN(300)) * time.Millisecond)
		}
	})
	sides.Go(func() {
		r := rand.New(rand.NewPCG(2, 18))
		for ; ctx.Err() == nil; published++ {
			z.publish(change("z", r, z.wanted)...)
			<-time.After(time.Duration(r.IntN(300)) * time.Millisecond)
		}
	})
	sides.Wait()
	z.Logf("%d rounds of external-dns, %d contents of zonefold, %d looks at the zone", rounds, published, looks)
	if len(wrong) > 0 {
		z.Errorf("one side touched what is the other's: %d times, such as %s", len(wrong), wrong[0])
	}
	if rounds < 50 || published < 50 || looks < 50 {
		z.Error("too little happened")
	}
	z.settled()
}

// settled has both sides come to rest, and compares the zone with what they want: what both want is external-dns' where
// its note says so, and zonefold's else.
func (z *sharedZone) settled() {
	z.run()
	z.publish()
	z.await("at rest", func(engine.Report) bool { return true })
	z.run()
	addresses, owners, err := z.has(z.Context())
	if err != nil {
		z.Fatal(err)
	}
	all := map[string]bool{}
	for _, m := range []map[string]string{z.desired, z.wanted} {
		for n := range m {
			all[n] = true
		}
	}
	for n := range all {
		want, wanted := z.desired[n]
		if owners[n] != "prod" {
			want, wanted = z.wanted[n]
		}
		if wanted && !slices.Equal(addresses[n], []string{want}) {
			z.Errorf("at rest %s is %v with the owner %q; external-dns wants %q and zonefold %q", n, addresses[n], owners[n],
				z.desired[n], z.wanted[n])
		}
	}
	for n, data := range addresses {
		if !all[n] {
			z.Errorf("at rest %s is %v, and nobody wants it", n, data)
		}
	}
	for n := range z.wanted { // what both want stays with the side that has it
		if _, both := z.desired[n]; both && owners[n] == "prod" {
			delete(z.wanted, n)
		} else {
			delete(z.desired, n)
		}
	}
}

// askFor asks for everything, and tells of answers that are not what is wanted.
func (z *sharedZone) askFor(ctx context.Context, want map[string]string) (wrong []string) {
	all := map[string]string{}
	for n, address := range want {
		all[n] = address
	}
	for ctx.Err() == nil {
		for n, address := range all {
			answer, err := z.bind.Lookup(ctx, z.key(n))
			if err == nil && (len(answer.Sets) != 1 || !slices.Equal(answer.Sets[0].Data, []string{address})) {
				wrong = append(wrong, fmt.Sprintf("%s %+v", n, answer))
			}
		}
	}
	return wrong
}

// matches compares all addresses and all owners of the zone with what is wanted.
func (z *sharedZone) matches(what string, want map[string]string, owner string) {
	z.Helper()
	addresses, owners, err := z.has(z.Context())
	if err != nil {
		z.Fatal(err)
	}
	if len(addresses) != len(want) || len(owners) != len(want) {
		z.Errorf("%s: there are %d sets and %d notes, want %d", what, len(addresses), len(owners), len(want))
	}
	for n, address := range want {
		if !slices.Equal(addresses[n], []string{address}) || owners[n] != owner {
			z.Errorf("%s: %s is %v of %q, want %s of %q", what, n, addresses[n], owners[n], address, owner)
		}
	}
}
