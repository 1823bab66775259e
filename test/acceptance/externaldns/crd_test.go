package externaldns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/source"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	"github.com/zonefold/zonefold/internal/dialect/sources"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Main(m, "../../../config/crd")) }

// set writes one of the sets of a DNSEndpoint. What is otherwise with us is in TestDNSEndpointsThatAreReadOtherwise.
func (a *author) set(i, n int) externaldns.Endpoint {
	e := externaldns.Endpoint{DNSName: fmt.Sprintf("e%d.w%d.example.org%s", n, i, a.one("", "", "."))}
	if a.some(2) {
		e.RecordTTL = []int64{0, 60, 3600}[a.IntN(3)]
	}
	e.RecordType = a.one("A", "AAAA", "CNAME", "TXT", "MX", "SRV", "NS", "A", "CNAME")
	var from []string
	switch e.RecordType {
	case "A":
		from = []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4."} // a final dot makes external-dns drop the set
	case "AAAA":
		from = []string{"2001:db8::1", "2001:db8::2"}
	case "CNAME":
		from = []string{"lb.example.net", "lb.example.net."}
	case "TXT":
		from = []string{"v=spf1 -all", `"two" "parts"`, "plain"}
	case "MX":
		from = []string{"10 mx.example.net", "20 mx2.example.net.", "10 mx3.example.net"}
	case "SRV":
		from = []string{"0 50 80 web.example.net.", "0 50 81 web.example.net."}
	case "NS":
		from = []string{"ns.example.net", "ns2.example.net"}
	}
	for range a.IntN(len(from)) + 1 {
		if target := a.one(from...); !slices.Contains(e.Targets, target) && (e.RecordType != "CNAME" || e.Targets == nil) {
			e.Targets = append(e.Targets, target)
		}
	}
	if a.some(8) {
		e.Targets = nil
	}
	return e
}

// dnsEndpoint writes a DNSEndpoint of the configuration with a number.
func (a *author) dnsEndpoint(i int, number string) *externaldns.DNSEndpoint {
	o := &externaldns.DNSEndpoint{ObjectMeta: a.meta(i)}
	o.Name, o.Namespace = fmt.Sprintf("c%s-w%d", number, i), "default"
	o.Labels["world"] = number
	o.Annotations = nil // those of others do not count
	for n := range a.IntN(4) {
		o.Spec.Endpoints = append(o.Spec.Endpoints, a.set(i, n))
	}
	return o
}

// TestDNSEndpointsAskForWhatExternalDNSMakesOfThem has a real API server, which external-dns' own source reads.
func TestDNSEndpointsAskForWhatExternalDNSMakesOfThem(t *testing.T) {
	config, kube := connect(t)
	for seed := range uint64(configurations) {
		number := fmt.Sprint(seed)
		t.Run(number, func(t *testing.T) {
			a := &author{Rand: rand.New(rand.NewPCG(seed, 2))}
			var objects []*externaldns.DNSEndpoint
			for i := range worlds {
				objects = append(objects, a.dnsEndpoint(i, number))
			}
			store(t, kube, objects)
			selected := labels.Set{"world": number}
			if a.some(3) {
				selected["app"] = "a"
			}
			o := sources.Options{Labels: labels.SelectorFromSet(selected)}
			judge(t, objects, o, madeOf(t, config, o))
		})
	}
}

// madeOf returns what external-dns makes of DNSEndpoints, by their names.
func madeOf(t *testing.T, config *rest.Config, o sources.Options) map[string][]string {
	theirs, err := source.NewCRDSource(t.Context(), config, &source.Config{LabelFilter: o.Labels,
		AnnotationFilter: labels.Everything()})
	if err != nil {
		t.Fatal(err)
	}
	endpoints, err := theirs.Endpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, e := range endpoints {
		if of, crd := strings.CutPrefix(e.Labels[endpoint.ResourceLabelKey], "crd/default/"); crd && len(e.Targets) > 0 {
			host := strings.TrimSuffix(e.DNSName, ".")
			out[of] = append(out[of], line(host, e.RecordType, int64(e.RecordTTL), e.Targets))
		}
	}
	for of := range out {
		slices.Sort(out[of])
	}
	return out
}

// asked returns what one asks for with us: a set that external-dns drops, as its log says, is one whose claim is
// invalid here.
func asked(inventory *sources.Inventory, object *externaldns.DNSEndpoint) (out []string) {
	id, _ := inventory.IDOf(object)
	w, is := inventory.Wish(id)
	if !is {
		return nil
	}
	invalid := map[zone.ID]bool{}
	for _, c := range w.Claims() {
		invalid[c.ID] = c.Invalid != nil
	}
	for _, e := range w.Endpoints {
		host, ttl := strings.TrimSuffix(e.Host, "."), int64(0)
		if e.TTL != nil {
			ttl = int64(*e.TTL)
		}
		if !invalid[id.Part(host+"/"+e.Type.String())] {
			out = append(out, line(host, e.Type.String(), ttl, e.Targets))
		}
	}
	slices.Sort(out)
	return out
}

// judge compares what external-dns makes of DNSEndpoints with what we do.
func judge(t *testing.T, objects []*externaldns.DNSEndpoint, o sources.Options, theirs map[string][]string) {
	inventory, some := sources.NewInventory(o), 0
	for _, object := range objects {
		inventory.Put(object)
		ours, want := asked(inventory, object), theirs[object.Name]
		some += len(want)
		if !slices.Equal(ours, want) {
			t.Fatalf("%s: we say\n  %s\nand external-dns\n  %s\nof %+v", object.Name, strings.Join(ours, "\n  "),
				strings.Join(want, "\n  "), object.Spec.Endpoints)
		}
	}
	if some == 0 {
		t.Error("nobody asks for anything")
	}
}

func TestDNSEndpointsThatAreReadOtherwise(t *testing.T) {
	config, kube := connect(t)
	set := func(e externaldns.Endpoint) externaldns.Endpoint {
		e.DNSName, e.RecordType = "a.example.org", "A"
		return e
	}
	one, two := []string{"192.0.2.1"}, []string{"192.0.2.2"}
	cases := []struct {
		name, why    string
		annotations  map[string]string
		sets         []externaldns.Endpoint
		theirs, ours []string
	}{
		{"other-controller", "the annotation says of every other object that another controller has it",
			map[string]string{prefix + "controller": "another"}, []externaldns.Endpoint{set(externaldns.Endpoint{Targets: one})},
			[]string{"a.example.org A 0 [192.0.2.1]"}, nil},
		{"two-ttls", "all records of a set have one TTL (RFC 2181 §5.2): the first", nil, []externaldns.Endpoint{
			set(externaldns.Endpoint{Targets: one, RecordTTL: 60}), set(externaldns.Endpoint{Targets: two, RecordTTL: 90})},
			[]string{"a.example.org A 60 [192.0.2.1]", "a.example.org A 90 [192.0.2.2]"},
			[]string{"a.example.org A 60 [192.0.2.1 192.0.2.2]"}},
		{"two-identifiers", "there are no weights, regions or the like: the set has the targets of all", nil,
			[]externaldns.Endpoint{set(externaldns.Endpoint{Targets: one, SetIdentifier: "eu"}),
				set(externaldns.Endpoint{Targets: two, SetIdentifier: "us"})},
			[]string{"a.example.org A 0 [192.0.2.1]", "a.example.org A 0 [192.0.2.2]"},
			[]string{"a.example.org A 0 [192.0.2.1 192.0.2.2]"}},
	}
	var objects []*externaldns.DNSEndpoint
	for _, c := range cases {
		o := &externaldns.DNSEndpoint{}
		o.Name, o.Namespace, o.Annotations, o.Labels = c.name, "default", c.annotations, map[string]string{"world": "named"}
		o.Spec.Endpoints = c.sets
		objects = append(objects, o)
	}
	store(t, kube, objects)
	o := sources.Options{Labels: labels.SelectorFromSet(labels.Set{"world": "named"})}
	theirs, inventory := madeOf(t, config, o), sources.NewInventory(o)
	for i, c := range cases {
		inventory.Put(objects[i])
		if ours := asked(inventory, objects[i]); !slices.Equal(ours, c.ours) || !slices.Equal(theirs[c.name], c.theirs) {
			t.Errorf("%s (%s): we say %q, and external-dns %q", c.name, c.why, ours, theirs[c.name])
		}
	}
}

// connect returns clients of a cluster, which nothing but the API server slows down.
func connect(t *testing.T) (*rest.Config, client.Client) {
	config, err := clientcmd.BuildConfigFromFlags("", testcluster.ForTest(t).Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := externaldns.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return config, kube
}

// store creates objects, some at a time.
func store(t *testing.T, kube client.Client, objects []*externaldns.DNSEndpoint) {
	const workers = 8
	var all sync.WaitGroup
	var next atomic.Int64
	for range workers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(objects)); i = next.Add(1) - 1 {
				stored := objects[i].DeepCopy()
				if err := kube.Create(context.WithoutCancel(t.Context()), stored); err != nil {
					t.Error(err)
					return
				}
				objects[i].CreationTimestamp = stored.CreationTimestamp
			}
		})
	}
	all.Wait()
}
