package sources

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	externaldns "github.com/zonefold/zonefold/api/externaldns/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// world reads objects, of which the annotations lack external-dns' prefix.
func world(t *testing.T, o Options, text string) *Inventory {
	t.Helper()
	v := NewInventory(o)
	for doc := range strings.SplitSeq(text, "---\n") {
		v.Put(object(t, doc))
	}
	return v
}

func object(t *testing.T, doc string) metav1.Object {
	t.Helper()
	doc = strings.ReplaceAll(doc, "\t", " ")
	var head metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
		t.Fatal(err)
	}
	made, is := map[string]metav1.Object{
		"Service": &corev1.Service{}, "Node": &corev1.Node{}, "Namespace": &corev1.Namespace{},
		"EndpointSlice": &discoveryv1.EndpointSlice{}, "Ingress": &networkingv1.Ingress{},
		"Gateway": &gatewayv1.Gateway{}, "ListenerSet": &gatewayv1.ListenerSet{}, "HTTPRoute": &gatewayv1.HTTPRoute{},
		"DNSEndpoint": &externaldns.DNSEndpoint{},
	}[head.Kind]
	if !is {
		t.Fatalf("no kind in %s", doc)
	}
	if err := yaml.UnmarshalStrict([]byte(doc), made); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	if made.GetNamespace() == "" && head.Kind != "Node" && head.Kind != "Namespace" {
		made.SetNamespace("a")
	}
	full := map[string]string{}
	for key, value := range made.GetAnnotations() {
		full[Prefix+key] = value
	}
	made.SetAnnotations(full)
	return made
}

// claims says what the objects ask for, in lines.
func claims(v *Inventory) string {
	ids := v.All()
	slices.SortFunc(ids, zone.ID.Compare)
	var out []string
	for _, id := range ids {
		if w, is := v.Wish(id); is {
			out = append(out, linesOf(w)...)
		}
	}
	return strings.Join(out, "\n")
}

func linesOf(w *Wish) (out []string) {
	for _, c := range w.Claims() {
		if c.Invalid != nil {
			out = append(out, fmt.Sprintf("%s: %s: %s", c.ID, c.Invalid.Reason, c.Invalid.Message))
			continue
		}
		line := fmt.Sprintf("%s: %s %s %s", c.ID, c.Where.Name, c.Type, strings.Join(c.Data, " "))
		if c.TTL != nil {
			line += fmt.Sprintf(" ttl %d", *c.TTL)
		}
		out = append(out, line)
	}
	for _, n := range w.Notes {
		out = append(out, string(n.Reason)+": "+n.Message)
	}
	return out
}

const (
	node = `{kind: Node, metadata: {name: n1}, status: {addresses: [{type: InternalIP, address: 10.0.0.1},
		{type: ExternalIP, address: 192.0.2.1}]}}`
	gate = `{kind: Gateway, metadata: {name: gate}, spec: {gatewayClassName: c, listeners: [{name: l, port: 80, protocol: HTTP,
		hostname: "*.example.org"}]}, status: {addresses: [{value: 192.0.2.7}]}}`
	accepted = `status: {parents: [{parentRef: {name: gate}, controllerName: c, conditions: [{type: Accepted, status: "True",
		reason: R, message: "", lastTransitionTime: null}]}]}`
)

func TestWhatObjectsAskFor(t *testing.T) {
	for _, c := range []struct {
		name, objects, want string
		options             Options
	}{
		{name: "a Service at its load balancer, by address family", objects: `
			{kind: Service, metadata: {name: s, annotations: {hostname: "a.example.org., B.example.org", ttl: 5m}},
			spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}, {ip: "2001:DB8::1"}]}}}`,
			want: `
			Service a/s: a.example.org. A 192.0.2.1 ttl 300
			Service a/s: a.example.org. AAAA 2001:db8::1 ttl 300
			Service a/s: b.example.org. A 192.0.2.1 ttl 300
			Service a/s: b.example.org. AAAA 2001:db8::1 ttl 300`},
		{name: "a name with addresses has no alias", objects: `
			{kind: Service, metadata: {name: s, annotations: {hostname: a.example.org}}, spec: {type: LoadBalancer},
			status: {loadBalancer: {ingress: [{ip: 192.0.2.1}, {hostname: lb.example.net}]}}}`,
			want: `Service a/s: a.example.org. A 192.0.2.1`},
		{name: "and one alias only", objects: `
			{kind: Service, metadata: {name: s, annotations: {hostname: a.example.org, target: "x.example.net,y.example.net"}}}`,
			want: `Service a/s: InvalidData: Service a/s has 2 names as targets of a.example.org., but a name can be an alias of only one other (RFC 1034 §3.6.2); choose one with the annotation external-dns.kubernetes.io/target.`},
		{name: "what is no name is refused", objects: `
			{kind: Ingress, metadata: {name: i, annotations: {target: 192.0.2.1}}, spec: {rules: [{host: a..example.org}]}}`,
			want: `Ingress a/i: InvalidName: Ingress a/i asks for "a..example.org", which is not a domain name: "a..example.org." has an empty label; correct it.`},
		{name: "what is for a provider is told, and what cannot be read", objects: `
			{kind: Service, metadata: {name: s, annotations: {hostname: a.example.org, target: 192.0.2.1, ttl: soon,
			aws-weight: "10", set-identifier: x}}}`,
			want: `
			Service a/s: a.example.org. A 192.0.2.1
			UnsupportedAnnotation: Service a/s has annotations that are ignored, because they ask a provider for more than records can say: external-dns.kubernetes.io/aws-weight, ` +
				`external-dns.kubernetes.io/set-identifier; remove them.
			InvalidAnnotation: Service a/s has the annotation external-dns.kubernetes.io/ttl with the value "soon", ` +
				`which is not a time from 1 to 2147483647 seconds, so the zone's TTL applies; correct it.`},
		{name: "a Service on ports of nodes, with SRV records", objects: node + `
---
{kind: Service, metadata: {name: s, annotations: {hostname: a.example.org}}, spec: {type: NodePort,
	ports: [{name: http, port: 80, nodePort: 30080}]}}`,
			want: `
			Service a/s: _s._tcp.a.example.org. SRV 0 50 30080 a.example.org.
			Service a/s: a.example.org. A 192.0.2.1
			Node kube-system/n1: n1. A 192.0.2.1`},
		{name: "pods of a headless Service that are ready, and their host names", objects: `
{kind: Service, metadata: {name: s, annotations: {hostname: a.example.org}}, spec: {type: ClusterIP, clusterIP: None}}
---
{kind: EndpointSlice, metadata: {name: s-1, labels: {kubernetes.io/service-name: s}}, addressType: IPv4, endpoints: [
	{addresses: [10.1.0.1], hostname: p-0, targetRef: {kind: Pod, name: p-0}},
	{addresses: [10.1.0.2], hostname: p-1, targetRef: {kind: Pod, name: p-1}, conditions: {ready: false}}]}`,
			want: `
			Service a/s: a.example.org. A 10.1.0.1
			Service a/s: p-0.a.example.org. A 10.1.0.1`},
		{name: "a route has what it shares with listeners", objects: gate + `
---
{kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gate}], hostnames: [a.example.org, a.example.net]}, ` +
			accepted + `}`, want: `HTTPRoute a/r: a.example.org. A 192.0.2.7`},
		{name: "at its own target before that of the Gateway", objects: gate + `
---
{kind: HTTPRoute, metadata: {name: r, annotations: {target: 192.0.2.99}}, spec: {parentRefs: [{name: gate}]}, ` +
			accepted + `}`, want: `HTTPRoute a/r: *.example.org. A 192.0.2.99`},
		{name: "a DNSEndpoint, with names as people write them", objects: `
			{kind: DNSEndpoint, metadata: {name: d}, spec: {endpoints: [
			{dnsName: a.example.org, recordType: MX, targets: [10 mx.example.org], recordTTL: 60},
			{dnsName: a.example.org, recordType: TXT, targets: ["v=spf1 -all", "\"a\" \"b\""]},
			{dnsName: b.example.org, recordType: A, targets: [192.0.2.300]}, {dnsName: c.example.org, recordType: A},
			{dnsName: d.example.org, recordType: X-Y, targets: [a]},
			{dnsName: n.example.org, recordType: NAPTR, targets: ['1 2 "s" "SIP+D2U" "" _sip._udp.example.org']},
			{dnsName: r.example.org, recordType: CNAME, targets: [""]},
			{dnsName: e.example.org, recordType: A, targets: [192.0.2.1], recordTTL: -1}]}}`,
			want: `
			DNSEndpoint a/d: a.example.org. MX 10 mx.example.org. ttl 60
			DNSEndpoint a/d: a.example.org. TXT "a" "b" "v=spf1 -all"
			DNSEndpoint a/d: InvalidData: DNSEndpoint a/d has the target "192.0.2.300" for the A records at b.example.org., ` +
				`which cannot be read: A data "192.0.2.300" is not an IPv4 address; correct it.
			DNSEndpoint a/d: e.example.org. A 192.0.2.1
			DNSEndpoint a/d: n.example.org. NAPTR 1 2 "s" "SIP+D2U" "" _sip._udp.example.org.
			DNSEndpoint a/d: InvalidData: DNSEndpoint a/d has the target "" for the CNAME records at r.example.org., which ` +
				`cannot be read: CNAME data "" is not valid: it is empty; correct it.
			AddressLost: DNSEndpoint a/d has an endpoint 3, c.example.org A, without targets; add some.
			InvalidType: DNSEndpoint a/d has an endpoint 4 with an invalid type: "X-Y" is not a record type: write its ` +
				`name, or TYPE and its number; correct it.
			InvalidSpec: DNSEndpoint a/d has an endpoint 7, e.example.org A, with the recordTTL -1, which is not from 1 to ` +
				`2147483647 seconds, so the zone's TTL applies; correct it.`},
		{name: "a template names what has no name",
			options: Options{Template: parsed(t, "{{.Name}}.{{.Namespace}}.example.org")},
			objects: `
{kind: Service, metadata: {name: s}, spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}
---
{kind: Ingress, metadata: {name: i, annotations: {target: 192.0.2.2}}, spec: {rules: [{host: x.example.org}]}}`,
			want: `
			Ingress a/i: x.example.org. A 192.0.2.2
			Service a/s: s.a.example.org. A 192.0.2.1`},
		{name: "a template knows the source", options: Options{Template: parsed(t,
			`{{if isSource "Service"}}svc{{else if isSource "gateway-httproute"}}http{{end}}.{{.Name}}.example.org`)},
			objects: `
{kind: Service, metadata: {name: s, annotations: {target: 192.0.2.1}}, spec: {type: LoadBalancer}}
---
{kind: Gateway, metadata: {name: gate}, spec: {listeners: [{name: l, protocol: HTTP}]}, status: {addresses: [{value: 192.0.2.7}]}}
---
{kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gate}]}, status: {parents: [{parentRef: {name: gate},
	conditions: [{type: Accepted, status: "True"}]}]}}`,
			want: `
			HTTPRoute a/r: http.r.example.org. A 192.0.2.7
			Service a/s: svc.s.example.org. A 192.0.2.1`},
		{name: "addresses of some networks alone, and no names then", options: Options{Networks: []netip.Prefix{
			netip.MustParsePrefix("192.0.2.0/24")}, NotNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.9/32")}},
			objects: `
{kind: Service, metadata: {name: s, annotations: {hostname: a.example.org}}, spec: {type: LoadBalancer},
	status: {loadBalancer: {ingress: [{ip: 192.0.2.1}, {ip: 192.0.2.9}, {ip: 10.0.0.1}]}}}
---
{kind: Ingress, metadata: {name: i, annotations: {target: lb.example.net}}, spec: {rules: [{host: x.example.org}]}}`,
			want: `Service a/s: a.example.org. A 192.0.2.1`},
		{name: "what somebody else looks after does not count", objects: `
			{kind: Ingress, metadata: {name: i, annotations: {target: 192.0.2.2, controller: another}}, spec: {rules: [{host: x.example.org}]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.options.NodeNamespace = "kube-system"
			got := claims(world(t, c.options, c.objects))
			var want []string
			for line := range strings.Lines(c.want) {
				if line = strings.TrimSpace(line); line != "" {
					want = append(want, line)
				}
			}
			if got != strings.Join(want, "\n") {
				t.Errorf("they ask for\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

func parsed(t *testing.T, text string) *Template {
	t.Helper()
	out, err := ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatIsLostStays(t *testing.T) {
	const route = `{kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gate}], hostnames: [a.example.org]}, `
	service := func(hosts, status string) string {
		return `{kind: Service, metadata: {name: s, annotations: {hostname: "` + hosts + `"}}, spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [` + status + `]}}}`
	}
	const lost = "AddressLost"
	_, two := twoGateways()
	for _, c := range []struct {
		name, before, after, gone, want string
		options                         Options
	}{
		{name: "a load balancer without an address", before: service("a.example.org", "{ip: 192.0.2.1}"),
			after: service("a.example.org", ""), want: "a.example.org. A 192.0.2.1 " + lost},
		{name: "but not at a name that it does not ask for any more",
			before: service("a.example.org,b.example.org", "{ip: 192.0.2.1}"), after: service("b.example.org", ""),
			want: "b.example.org. A 192.0.2.1 " + lost},
		{name: "and not beside an address", before: service("a.example.org", "{ip: 192.0.2.1}"),
			after: service("a.example.org", `{ip: "2001:db8::1"}`), want: "a.example.org. AAAA 2001:db8::1"},
		{name: "an address that does not count", options: Options{NotNetworks: []netip.Prefix{
			netip.MustParsePrefix("10.0.0.0/8")}}, before: service("a.example.org", "{ip: 192.0.2.1}"),
			after: service("a.example.org", "{ip: 10.0.0.1}"), want: "a.example.org. A 192.0.2.1 " + lost},
		{name: "a Gateway without addresses", before: gate + "\n---\n" + route + accepted + "}",
			after: strings.Replace(gate, "{value: 192.0.2.7}", "", 1), want: "a.example.org. A 192.0.2.7 " + lost},
		{name: "a Gateway that is gone", before: gate + "\n---\n" + route + accepted + "}", gone: gate,
			want: "a.example.org. A 192.0.2.7 " + lost},
		{name: "a route that nobody accepts", before: gate + "\n---\n" + route + accepted + "}",
			after: route + "status: {parents: []}}", want: "a.example.org. A 192.0.2.7 " + lost},
		{name: "a route that goes to a Gateway that has not accepted it yet",
			before: gate + "\n---\n" + two + "\n---\n" + route + accepted + "}",
			after:  strings.Replace(route, "name: gate", "name: two", 1) + "status: {parents: []}}",
			want:   "a.example.org. A 192.0.2.7 " + lost},
		{name: "a route that goes to a Gateway that does not exist yet",
			before: gate + "\n---\n" + route + accepted + "}",
			after:  strings.Replace(route, "name: gate", "name: two", 1) + "status: {parents: []}}",
			want:   "a.example.org. A 192.0.2.7 " + lost},
		{name: "but not when that has accepted it", before: gate + "\n---\n" + two + "\n---\n" + route + accepted + "}",
			after: strings.ReplaceAll(route+accepted+"}", "name: gate", "name: two"),
			want:  "a.example.org. A 192.0.2.8"},
		{name: "but not at a listener that has another name now", before: gate + "\n---\n" + route + accepted + "}",
			after: strings.Replace(gate, "*.example.org", "*.example.net", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := world(t, c.options, c.before)
			id := zone.ID{Kind: "Service", Namespace: "a", Name: "s"}
			if strings.Contains(c.before, "HTTPRoute") {
				id = zone.ID{Kind: "HTTPRoute", Namespace: "a", Name: "r"}
			}
			before, _ := v.Wish(id)
			if c.gone != "" {
				v.Delete(object(t, c.gone))
			} else {
				v.Put(object(t, c.after))
			}
			after, is := v.Wish(id)
			if !is {
				t.Fatal("it asks for nothing")
			}
			after.Keep(before.Endpoints)
			var got []string
			for _, claim := range after.Claims() {
				got = append(got, fmt.Sprintf("%s %s %s", claim.Where.Name, claim.Type, strings.Join(claim.Data, " ")))
			}
			for _, n := range after.Notes {
				got = append(got, string(n.Reason))
			}
			if is := strings.Join(got, " "); is != c.want {
				t.Errorf("it is %q, want %q", is, c.want)
			}
		})
	}
}

// routeOfTwo is accepted by two Gateways, gate and two.
const routeOfTwo = `{kind: HTTPRoute, metadata: {name: r},
		spec: {parentRefs: [{name: gate}, {name: two}], hostnames: [a.example.org]},
		status: {parents: [
		{parentRef: {name: gate}, controllerName: c, conditions: [{type: Accepted, status: "True", reason: R, message: "", lastTransitionTime: null}]},
		{parentRef: {name: two}, controllerName: c, conditions: [{type: Accepted, status: "True", reason: R, message: "", lastTransitionTime: null}]}]}}`

func twoGateways() (first, second string) {
	return gate, strings.NewReplacer("name: gate", "name: two", "192.0.2.7", "192.0.2.8").Replace(gate)
}

func TestOfTwoGatewaysOneMayLoseItsAddress(t *testing.T) {
	gate, other := twoGateways()
	v := world(t, Options{}, gate+"\n---\n"+other+"\n---\n"+routeOfTwo)
	id := zone.ID{Kind: "HTTPRoute", Namespace: "a", Name: "r"}
	before, _ := v.Wish(id)
	if changed := v.Put(object(t, strings.Replace(other, "{value: 192.0.2.8}", "", 1))); !slices.Contains(changed, id) {
		t.Errorf("a Gateway changes only %v", changed)
	}
	v.Put(object(t, strings.Replace(gate, "192.0.2.7", "192.0.2.9", 1)))
	after, _ := v.Wish(id)
	after.Keep(before.Endpoints)
	if got := after.Claims(); len(got) != 1 || !slices.Equal(got[0].Data, []string{"192.0.2.8", "192.0.2.9"}) {
		t.Errorf("it asks for %+v", got)
	}
}

func TestOfTwoGatewaysTheOneThatHasLostItsAddressGetsWhatWasPublished(t *testing.T) {
	gate, other := twoGateways()
	for _, c := range []struct{ has, lost, was string }{{gate, other, "192.0.2.8"}, {other, gate, "192.0.2.7"}} {
		lost := strings.Replace(c.lost, "{value: "+c.was+"}", "", 1)
		v := world(t, Options{}, c.has+"\n---\n"+lost+"\n---\n"+routeOfTwo)
		id := zone.ID{Kind: "HTTPRoute", Namespace: "a", Name: "r"}
		before, _ := v.Wish(id)
		all := setOf(t, "a.example.org.", "192.0.2.7", "192.0.2.8")
		RestoreAll([]*Wish{before}, map[string][]rr.Set{"a.example.org": {all}})
		after, _ := v.Wish(id) // something has changed that does not matter
		after.Keep(before.Endpoints)
		if got := after.Claims(); len(got) != 1 || !slices.Equal(got[0].Data, all.Data) {
			t.Errorf("without %s it asks for %+v", c.was, got)
		}
	}
}

// setOf returns a set of A records.
func setOf(t *testing.T, name string, data ...string) rr.Set {
	t.Helper()
	n, err := dnsname.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return rr.NewSet(rr.Key{Name: n, Type: rr.TypeA}, 60, data...)
}

func TestWhatWasPublishedBeforeIsRestored(t *testing.T) {
	v := world(t, Options{}, `{kind: Ingress, metadata: {name: i}, spec: {rules: [{host: A.example.org}]}}`)
	w, _ := v.Wish(zone.ID{Kind: "Ingress", Namespace: "a", Name: "i"})
	if got := w.Lost(); !slices.Equal(got, []string{"A.example.org"}) {
		t.Fatalf("it has lost %q", got)
	}
	RestoreAll([]*Wish{w}, map[string][]rr.Set{"A.example.org": {setOf(t, "a.example.org.", "192.0.2.1")}})
	if got := linesOf(w); !slices.Equal(got, []string{"Ingress a/i: a.example.org. A 192.0.2.1 ttl 60"}) {
		t.Errorf("it asks for %q", got)
	}
}

// TestWhatOthersHaveByNowIsNotRestored has a name lead nowhere any more where the others that ask for it do not lead.
func TestWhatOthersHaveByNowIsNotRestored(t *testing.T) {
	v := world(t, Options{},
		`{kind: Ingress, metadata: {name: lost}, spec: {rules: [{host: a.example.org}, {host: b.example.org}]}}
---
{kind: Ingress, metadata: {name: other}, spec: {rules: [{host: a.example.org}, {host: b.example.org}]},
  status: {loadBalancer: {ingress: [{ip: 192.0.2.2}]}}}
`)
	lost, _ := v.Wish(zone.ID{Kind: "Ingress", Namespace: "a", Name: "lost"})
	other, _ := v.Wish(zone.ID{Kind: "Ingress", Namespace: "a", Name: "other"})
	published := map[string][]rr.Set{}
	for host, data := range map[string][]string{
		"a.example.org": {"192.0.2.1", "192.0.2.2"},
		"b.example.org": {"192.0.2.2"}, // both had it
	} {
		published[host] = []rr.Set{setOf(t, host+".", data...)}
	}
	RestoreAll([]*Wish{lost, other}, published)
	if got := linesOf(lost); !slices.Equal(got, []string{
		"Ingress a/lost: a.example.org. A 192.0.2.1 ttl 60", "Ingress a/lost: b.example.org. A 192.0.2.2 ttl 60"}) {
		t.Errorf("it asks for %q", got)
	}
}

// TestAStatusThatSaysNothingNewChangesNothing: controllers of Gateways and nodes write all the time.
func TestAStatusThatSaysNothingNewChangesNothing(t *testing.T) {
	v := world(t, Options{}, gate+"\n---\n"+node+"\n---\n"+`{kind: HTTPRoute, metadata: {name: r}, spec: {parentRefs: [{name: gate}]}}`)
	for _, o := range []string{
		strings.Replace(gate, "status: {", "status: {conditions: [{type: Programmed, status: 'True', reason: R, "+
			"message: '', lastTransitionTime: null}], ", 1),
		strings.Replace(node, "status: {", "status: {conditions: [{type: Ready, status: 'True'}], ", 1),
	} {
		if changed := v.Put(object(t, o)); len(changed) > 0 {
			t.Errorf("%v change", changed)
		}
	}
}
