// Package clusters_test has the operators of three clusters write to one zone of one server. Each notes in the zone
// which sets are its own, as external-dns does, and none touches those of another.
package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const origin = "shared.example."

var tsig = nameserver.TSIG{Name: mustName("zonefold."), Algorithm: "hmac-sha256",
	Secret: "c2VjcmV0IGZvciB0ZXN0cyBvbmx5"}

func mustName(text string) dnsname.Name {
	n, err := dnsname.Parse(text)
	if err != nil {
		panic(err)
	}
	return n
}

// A member is one of the clusters, with a control plane and an operator of its own.
type member struct {
	owner  string // in the notes of the zone
	site   *testoperator.Site
	client client.Client
}

// A federation is the clusters that share the zone.
type federation struct {
	t       *testing.T
	ctx     context.Context
	bind    *nameserver.Server
	members []*member
}

// objects are those of a cluster at first: its Zone of the shared name, at the server that all have.
const objects = `
apiVersion: v1
kind: Secret
metadata: {namespace: zonefold-system, name: tsig}
stringData: {value: %[2]s}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: shared}
spec:
  foreign: Keep
  registries: [{owner: %[1]s, write: true}]
  rfc2136: {servers: ["%[3]s"], tsig: {keyName: zonefold., secretRef: {name: tsig}}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {namespace: default, name: shared}
spec:
  domainName: %[4]s
  backendRefs: [{name: shared}]
  delegations: [{namespaces: [default], records: [{pattern: "*"}]}]
`

func newFederation(t *testing.T, owners ...string) *federation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	bind, err := nameserver.StartBIND(ctx, nameserver.Options{Dir: t.TempDir(), Keys: []nameserver.TSIG{tsig},
		Zones: []nameserver.Zone{{Name: mustName(origin)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bind.Close)
	f := &federation{t: t, ctx: ctx, bind: bind, members: make([]*member, len(owners))}
	problems := make([]error, len(owners))
	var all sync.WaitGroup
	for i, owner := range owners {
		all.Go(func() { f.members[i], problems[i] = f.join(owner) })
	}
	all.Wait()
	t.Cleanup(f.close)
	if err := errors.Join(problems...); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *federation) join(owner string) (*member, error) {
	site, err := testoperator.StartSite(f.ctx, testoperator.SiteOptions{
		Objects: fmt.Sprintf(objects, owner, tsig.Secret, f.bind.Addr(), origin),
	})
	if err != nil {
		return nil, err
	}
	m := &member{owner: owner, site: site}
	config, err := clientcmd.BuildConfigFromFlags("", site.Cluster.Kubeconfig())
	if err != nil {
		return m, err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	scheme := runtime.NewScheme()
	if err := kubizone.AddToScheme(scheme); err != nil {
		return m, err
	}
	m.client, err = client.New(config, client.Options{Scheme: scheme})
	return m, err
}

func (f *federation) close() {
	for _, m := range f.members {
		if m == nil {
			continue
		}
		if f.t.Failed() {
			text := m.site.Log.String()
			f.t.Logf("the log of the operator of %s ends:\n%s", m.owner, text[max(0, len(text)-3000):])
		}
		if err := m.site.Close(); err != nil {
			f.t.Error(err)
		}
	}
}

// await waits until nothing is wrong.
func (f *federation) await(what string, wrong func() string) {
	f.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		complaint := wrong()
		if complaint == "" {
			return
		}
		select {
		case <-f.ctx.Done():
			f.t.Fatalf("%s: %s", what, complaint)
		case <-tick.C:
		}
	}
}

// content is what the server holds but for the apex: the data of each set by name, and the owner that its note names.
type content struct {
	data, owner map[string]string
}

// differs says in what a zone is not as it should be.
func (c content) differs(data map[string]string) string {
	for _, name := range names(c.data, data) {
		if c.data[name] != data[name] {
			return fmt.Sprintf("%s is %q and should be %q", name, c.data[name], data[name])
		}
	}
	return ""
}

func names(maps ...map[string]string) []string {
	var out []string
	for _, m := range maps {
		for name := range m {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
