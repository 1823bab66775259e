package externaldns

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider/rfc2136"
	"sigs.k8s.io/external-dns/registry"
	"sigs.k8s.io/external-dns/registry/txt"

	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const updateSecret = "b25lIHNlY3JldCBvZiBhIERIQ1Agc2VydmVyIQ=="

// objects let external-dns update names below apps.example.org, and read the whole zone only if %s says so.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: apps}
---
apiVersion: v1
kind: Namespace
metadata: {name: dns}
---
apiVersion: v1
kind: Secret
metadata: {name: external-dns, namespace: ` + testoperator.Namespace + `}
stringData: {key: ` + updateSecret + `}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: own}
spec:
  embedded:
    update: [{keyName: external-dns, secretRef: {name: external-dns}, namespace: apps}]
    transfer: [%s]
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: example-org, namespace: dns}
spec:
  domainName: example.org.
  backendRefs: [{name: own}]
  delegations:
  - {namespace: dns, records: [{pattern: "*"}]}
  - {namespace: apps, records: [{pattern: "*.apps"}]}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: www, namespace: dns}
spec: {domainName: www.apps.example.org., type: A, rdata: 192.0.2.80}
`

// A follower is external-dns with flags that people give it, whose sources are what a test says.
type follower struct {
	config   *externaldns.Config
	registry registry.Registry
}

func newFollower(t *testing.T, address string) *follower {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	flags, err := testoperator.Example(t.Context(), "updates.md", "### external-dns", "")
	if err != nil {
		t.Fatal(err)
	}
	flags = strings.NewReplacer("192.0.2.53", host, "port=53", "port="+port).Replace(flags)
	f := &follower{config: externaldns.NewConfig()}
	if err := f.config.ParseFlags(strings.Fields(flags)); err != nil {
		t.Fatal(err)
	}
	p, err := rfc2136.New(t.Context(), f.config, endpoint.NewDomainFilter(nil))
	if err != nil {
		t.Fatal(err)
	}
	if f.registry, err = txt.New(f.config, p); err != nil {
		t.Fatal(err)
	}
	return f
}

// sync does once what external-dns does every minute, and reports how much there was to change.
func (f *follower) sync(ctx context.Context, wanted ...*endpoint.Endpoint) (changes int, err error) {
	current, err := f.registry.Records(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading: %w", err)
	}
	if wanted, err = f.registry.AdjustEndpoints(wanted); err != nil {
		return 0, err
	}
	p := (&plan.Plan{Policies: []plan.Policy{plan.Policies[f.config.Policy]}, Current: current, Desired: wanted,
		DomainFilter:   endpoint.MatchAllDomainFilters{f.registry.GetDomainFilter()},
		ManagedRecords: f.config.ManagedDNSRecordTypes, OwnerID: f.registry.OwnerID()}).Calculate()
	c := p.Changes
	if !c.HasChanges() {
		return 0, nil
	}
	return len(c.Create) + len(c.UpdateNew) + len(c.Delete), f.registry.ApplyChanges(ctx, c)
}

// ask returns the data that a name server answers for a name, sorted.
func ask(ctx context.Context, address, question string) ([]string, error) {
	name, kind, _ := strings.Cut(question, " ")
	client := dns.Client{Timeout: 2 * time.Second}
	answer, _, err := client.ExchangeContext(ctx, new(dns.Msg).SetQuestion(name, dns.StringToType[kind]), address)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range answer.Answer {
		out = append(out, strings.TrimPrefix(r.String(), r.Header().String()))
	}
	slices.Sort(out)
	return out, nil
}

func answers(ctx context.Context, t *testing.T, address, question string, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	testcluster.Eventually(ctx, t, question, func() string {
		got, err := ask(ctx, address, question)
		if err != nil || !slices.Equal(got, want) {
			return fmt.Sprintf("the answer is %q (%v), want %q", got, err, want)
		}
		return ""
	})
}

// external-dns reads what is there by a transfer, which shows names of everybody: a key that may update may not do that
// unless the Backend says so.
func TestItsProviderOfDynamicUpdates(t *testing.T) {
	ctx := t.Context()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	site, err := testoperator.StartSite(ctx, testoperator.SiteOptions{Values: "updates=true",
		Objects: fmt.Sprintf(objects, ""), Args: []string{"--dns-bind-address", address}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := site.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			text := site.Log.String()
			t.Logf("the operator's log ends:\n%s", text[max(0, len(text)-6000):])
		}
	})
	answers(ctx, t, address, "www.apps.example.org. A", "192.0.2.80")
	f := newFollower(t, address)
	if _, err := f.sync(ctx); err == nil || !strings.Contains(err.Error(), "reading") {
		t.Errorf("it reads a zone that it may not read: %v", err)
	}
	if err := site.Apply(ctx, fmt.Sprintf(objects,
		"{tsig: {keyName: external-dns, secretRef: {name: external-dns}}}")); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(ctx, t, "a transfer", func() string {
		if _, err := f.registry.Records(ctx); err != nil {
			return err.Error()
		}
		return ""
	})
	a := func(name string, targets ...string) *endpoint.Endpoint {
		return endpoint.NewEndpointWithTTL(name+".apps.example.org", "A", 60, targets...)
	}
	for _, step := range []struct {
		name    string
		wanted  []*endpoint.Endpoint
		changes int
		answers map[string]string
	}{
		{"two names come", []*endpoint.Endpoint{a("one", "192.0.2.1"), a("two", "192.0.2.2", "192.0.2.3")}, 2,
			map[string]string{"one A": "192.0.2.1", "two A": "192.0.2.2 192.0.2.3"}},
		{"nothing changes", []*endpoint.Endpoint{a("one", "192.0.2.1"), a("two", "192.0.2.2", "192.0.2.3")}, 0, nil},
		{"an address changes", []*endpoint.Endpoint{a("one", "192.0.2.4"), a("two", "192.0.2.2", "192.0.2.3")}, 1,
			map[string]string{"one A": "192.0.2.4"}},
		{"a name is somebody else's", []*endpoint.Endpoint{a("one", "192.0.2.4"), a("two", "192.0.2.3"),
			a("www", "192.0.2.66")}, 1, map[string]string{"two A": "192.0.2.3", "www A": "192.0.2.80"}},
		{"a name becomes an alias", []*endpoint.Endpoint{a("two", "192.0.2.3"),
			endpoint.NewEndpointWithTTL("one.apps.example.org", "CNAME", 60, "two.apps.example.org")}, 2,
			map[string]string{"one CNAME": "two.apps.example.org."}},
		{"all go", nil, 2, map[string]string{"one CNAME": "", "two A": "", "www A": "192.0.2.80"}},
		{"nothing is left to do", nil, 0, nil},
	} {
		changes, err := f.sync(ctx, step.wanted...)
		if err != nil || changes != step.changes {
			t.Errorf("%s: it changes %d sets, want %d (%v)", step.name, changes, step.changes, err)
		}
		for question, data := range step.answers {
			name, kind, _ := strings.Cut(question, " ")
			answers(ctx, t, address, name+".apps.example.org. "+kind, strings.Fields(data)...)
		}
	}
	left, err := site.Cluster.RunKubectl(ctx, "get", "records.kubi.zone", "-n", "apps", "-o", "name")
	if err != nil || strings.TrimSpace(left) != "" {
		t.Errorf("these Records are left: %s %v", left, err)
	}
}
