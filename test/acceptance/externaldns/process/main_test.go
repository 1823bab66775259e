package process

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// tenants are namespaces that an external-dns has a token for, by the Zone that lets them in. The page has another one,
// external-dns.
var tenants = map[string]string{
	"shop": `backendRefs: [{name: own}, {name: bind}],
    delegations: [{namespace: shop, records: [{pattern: "*"}]}]`,
	"plain": `backendRefs: [{name: own}], delegations: [{namespace: plain, records: [{pattern: "*"}]}]`,
	"some": `backendRefs: [{name: own}],
    delegations: [{namespace: some, records: [{pattern: "*.apps", types: [A, TXT]}]}]`,
}

func token(tenant string) string { return tenant + " has a token of its own" }

// objects are there besides those of a tenant and those of the pages of docs/.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: external-dns}
---
apiVersion: v1
kind: Namespace
metadata: {name: dns}
---
apiVersion: v1
kind: Secret
metadata: {name: bind, namespace: ` + testoperator.Namespace + `}
stringData: {key: %s}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: bind}
spec: {rfc2136: {servers: [%q], tsig: {keyName: bind., secretRef: {name: bind}}}}
---
apiVersion: v1
kind: Secret
metadata: {name: clients, namespace: ` + testoperator.Namespace + `}
stringData: {key: b25lIHNlY3JldCBvZiBhIERIQ1Agc2VydmVyIQ==}
---
`

// a site is what runs for all tests.
type site struct {
	*testoperator.Site
	program string // external-dns
	dns     string // the address of the operator's name server
	webhook string // that of its server for external-dns
	bind    *nameserver.Server
	bindKey string // the secret of its key, bind.
}

// here is the site of all tests. It is a package variable because TestMain can hand nothing to the tests that it runs.
var here site

func TestMain(m *testing.M) {
	code, err := run(context.Background(), m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context, m *testing.M) (code int, err error) {
	if here.program, err = testoperator.ExternalDNS(ctx); err != nil {
		return 1, err
	}
	for _, at := range []*string{&here.dns, &here.webhook} {
		number, release, err := nameserver.ClaimPort()
		if err != nil {
			return 1, err
		}
		defer release()
		*at = fmt.Sprintf("127.0.0.1:%d", number)
	}
	dir, err := os.MkdirTemp("", "zonefold-bind-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	name := func(text string) dnsname.Name {
		n, wrong := dnsname.Parse(text)
		err = errors.Join(err, wrong)
		return n
	}
	key := nameserver.TSIG{Name: name("bind."), Algorithm: "hmac-sha256",
		Secret: base64.StdEncoding.EncodeToString([]byte("a secret of the name server"))}
	zones := []nameserver.Zone{{Name: name("shop.example.")}, {Name: name("moves.example.")},
		{Name: name("tables.example.")}}
	if err != nil {
		return 1, err
	}
	here.bind, err = nameserver.StartBIND(ctx, nameserver.Options{Dir: dir, Keys: []nameserver.TSIG{key}, Zones: zones})
	if err != nil {
		return 1, err
	}
	defer here.bind.Close()
	here.bindKey = key.Secret
	all, err := everything(ctx, key.Secret)
	if err != nil {
		return 1, err
	}
	here.Site, err = testoperator.StartSite(ctx, testoperator.SiteOptions{Values: "updates=true,externalDNS.enabled=true",
		Objects: all, Args: []string{"--dns-bind-address", here.dns, "--external-dns-bind-address", here.webhook}})
	if err != nil {
		return 1, err
	}
	code = m.Run()
	if text := here.Log.String(); code != 0 {
		fmt.Fprintln(os.Stderr, "the operator's log ends:\n"+text[max(0, len(text)-6000):])
	}
	return code, here.Close()
}

// everything returns the objects that are there from the beginning.
func everything(ctx context.Context, secret string) (string, error) {
	webhooks, err := testoperator.Example(ctx, "externaldns-webhook.md", "## Setting it up", "yaml")
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, objects, secret, here.bind.Addr())
	fmt.Fprintf(&out, "%s", webhooks)
	var tokens []string
	for tenant, zone := range tenants {
		tokens = append(tokens, fmt.Sprintf("{secretRef: {name: %s}, namespace: %[1]s}", tenant))
		fmt.Fprintf(&out, `---
apiVersion: v1
kind: Namespace
metadata: {name: %s}
---
apiVersion: v1
kind: Secret
metadata: {name: %[1]s, namespace: %s}
stringData: {token: %s}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: %[1]s, namespace: dns}
spec: {domainName: %[1]s.example., %[4]s}
`, tenant, testoperator.Namespace, token(tenant), zone)
	}
	fmt.Fprintf(&out, `---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: tenants}
spec: {embedded: {externalDNS: [%s]}}
`, strings.Join(tokens, ", "))
	return out.String(), nil
}

// patience is how long something may take that takes a moment on an idle machine.
const patience = 60 * time.Second

func eventually(t *testing.T, what string, check func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	testcluster.Eventually(ctx, t, what, check)
}

// ask returns what a name server answers, "TTL data" each, sorted.
func ask(ctx context.Context, server, question string) ([]string, error) {
	name, kind, _ := strings.Cut(question, " ")
	client := dns.Client{Timeout: 2 * time.Second}
	answer, _, err := client.ExchangeContext(ctx, new(dns.Msg).SetQuestion(name, dns.StringToType[kind]), server)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range answer.Answer {
		out = append(out, fmt.Sprintf("%d %s", r.Header().Ttl, strings.TrimPrefix(r.String(), r.Header().String())))
	}
	slices.Sort(out)
	return out, nil
}

// answers waits until name servers answer a question, such as "www.example.org. A", with some data, "TTL data" each.
func answers(t *testing.T, servers []string, question string, want ...string) {
	t.Helper()
	for _, server := range servers {
		eventually(t, question, func() string {
			got, err := ask(t.Context(), server, question)
			if err != nil || !slices.Equal(got, want) {
				return fmt.Sprintf("the answer of %s is %q (%v), want %q", server, got, err, want)
			}
			return ""
		})
	}
}

// kubectl does something as the cluster's administrator, with input if there is some.
func kubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := here.Cluster.RunKubectlInput(t.Context(), strings.NewReader(input), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
