package process

import (
	"fmt"
	"strings"
	"testing"
)

// service is a Service with a hostname, which has its addresses when balanced says so.
func service(namespace, name, host string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: %s, namespace: %s, annotations: {external-dns.kubernetes.io/hostname: %q}}
spec: {type: LoadBalancer, ports: [{port: 80}], allocateLoadBalancerNodePorts: false}
`, name, namespace, host)
}

// balanced gives a Service or an Ingress addresses, as who balances load does: {"ip": …} or {"hostname": …} each.
func balanced(t *testing.T, namespace, object string, at ...string) {
	t.Helper()
	kubectl(t, "", "patch", object, "-n", namespace, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status":{"loadBalancer":{"ingress":[%s]}}}`, strings.Join(at, ",")))
}

// wishes is a DNSEndpoint.
func wishes(namespace, name string, endpoints ...string) string {
	return fmt.Sprintf(`---
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: %s, namespace: %s}
spec: {endpoints: [%s]}
`, name, namespace, strings.Join(endpoints, ", "))
}

func TestWhatItsSourcesSayIsServed(t *testing.T) {
	both := []string{here.dns, here.bind.Addr()}
	kubectl(t, service("shop", "web", "www.shop.example")+`  # its TTL is said
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front, namespace: shop, annotations: {external-dns.kubernetes.io/ttl: 5m}}
spec: {rules: [{host: front.shop.example}, {host: "*.any.shop.example"}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: alias, namespace: shop}
spec: {rules: [{host: alias.shop.example}]}
`+wishes("shop", "more",
		`{dnsName: text.shop.example, recordType: TXT, targets: ["v=spf1 -all"]}`,
		`{dnsName: mail.shop.example, recordType: MX, recordTTL: 60, targets: ["10 www.shop.example"]}`),
		"apply", "-f", "-")
	balanced(t, "shop", "service/web", `{"ip":"192.0.2.2"}`, `{"ip":"192.0.2.1"}`, `{"ip":"2001:db8::1"}`)
	balanced(t, "shop", "ingress/front", `{"ip":"192.0.2.3"}`)
	balanced(t, "shop", "ingress/alias", `{"hostname":"www.shop.example"}`)
	f := follow(t, "shop", "shop", managed()...)
	f.once()
	note := `360 "heritage=external-dns,external-dns/owner=cluster-a,external-dns/resource=%s"`
	for question, want := range map[string][]string{
		"www.shop.example. A":         {"360 192.0.2.1", "360 192.0.2.2"},
		"www.shop.example. AAAA":      {"360 2001:db8::1"},
		"front.shop.example. A":       {"300 192.0.2.3"},
		"other.any.shop.example. A":   {"300 192.0.2.3"},
		"alias.shop.example. CNAME":   {"360 www.shop.example."},
		"text.shop.example. TXT":      {`360 "v=spf1 -all"`},
		"mail.shop.example. MX":       {"60 10 www.shop.example."},
		"a-www.shop.example. TXT":     {fmt.Sprintf(note, "service/shop/web")},
		"a-any.any.shop.example. TXT": {fmt.Sprintf(note, "ingress/shop/front")},
	} {
		answers(t, both, question, want...)
	}
	f.idles("shop", "--policy=upsert-only")

	balanced(t, "shop", "service/web", `{"ip":"192.0.2.4"}`)
	f.once("--policy=upsert-only")
	answers(t, both, "www.shop.example. A", "360 192.0.2.4")
	kubectl(t, "", "delete", "ingress/alias", "-n", "shop")
	f.once("--policy=upsert-only")
	f.idles("shop", "--policy=upsert-only")
	answers(t, both, "alias.shop.example. CNAME", "360 www.shop.example.")
	answers(t, both, "www.shop.example. AAAA", "360 2001:db8::1") // a type that goes is a deletion, too
	f.once("--policy=sync")
	answers(t, both, "alias.shop.example. CNAME")
	answers(t, both, "cname-alias.shop.example. TXT")
	answers(t, both, "www.shop.example. AAAA")
	f.idles("shop", "--policy=sync")
	kubectl(t, "", "delete", "ingress,service,dnsendpoint", "--all", "-n", "shop")
	f.once("--policy=sync")
	answers(t, both, "www.shop.example. A")
	if left := kubectl(t, "", "get", "records.kubi.zone", "-n", "shop", "-o", "name"); left != "" {
		t.Errorf("these Records are left:\n%s", left)
	}
}

func TestWithoutARegistryItTouchesOnlyItsOwn(t *testing.T) {
	kubectl(t, `
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: by-hand, namespace: plain}
spec: {domainName: hand.plain.example., type: A, rdata: 192.0.2.80}
`+wishes("plain", "two", `{dnsName: one.plain.example, recordType: A, targets: [192.0.2.1]}`,
		`{dnsName: two.plain.example, recordType: A, targets: [192.0.2.2]}`), "apply", "-f", "-")
	f := follow(t, "plain", "plain", "--registry=noop", "--policy=sync")
	f.once()
	answers(t, []string{here.dns}, "one.plain.example. A", "360 192.0.2.1")
	answers(t, []string{here.dns}, "a-one.plain.example. TXT")
	f.idles("plain")
	kubectl(t, wishes("plain", "two", `{dnsName: one.plain.example, recordType: CNAME, targets: [hand.plain.example]}`),
		"apply", "-f", "-")
	f.once()
	answers(t, []string{here.dns}, "one.plain.example. CNAME", "360 hand.plain.example.")
	answers(t, []string{here.dns}, "two.plain.example. A")
	answers(t, []string{here.dns}, "hand.plain.example. A", "360 192.0.2.80")
	kubectl(t, "", "delete", "dnsendpoint/two", "-n", "plain")
	f.once()
	answers(t, []string{here.dns}, "one.plain.example. CNAME")
	left := kubectl(t, "", "get", "records.kubi.zone", "-n", "plain", "-o", "name")
	if left != "record.kubi.zone/by-hand\n" {
		t.Errorf("these Records are left:\n%s", left)
	}
}

func TestTwoOfThemShareANamespace(t *testing.T) {
	kubectl(t, `
apiVersion: v1
kind: Namespace
metadata: {name: pair-a}
---
apiVersion: v1
kind: Namespace
metadata: {name: pair-b}
`+wishes("pair-a", "a", `{dnsName: a.pair.example.org, recordType: A, targets: [192.0.2.1]}`,
		`{dnsName: both.pair.example.org, recordType: A, targets: [192.0.2.1]}`)+
		wishes("pair-b", "b", `{dnsName: b.pair.example.org, recordType: A, targets: [192.0.2.2]}`,
			`{dnsName: both.pair.example.org, recordType: A, targets: [192.0.2.2]}`), "apply", "-f", "-")
	a := follow(t, "pair-a", "external-dns", "--policy=sync")
	b := follow(t, "pair-b", "external-dns", "--policy=sync", "--txt-owner-id=cluster-b")
	for range 2 {
		a.once()
		b.once()
	}
	own := []string{here.dns}
	answers(t, own, "a.pair.example.org. A", "360 192.0.2.1")
	answers(t, own, "b.pair.example.org. A", "360 192.0.2.2")
	answers(t, own, "both.pair.example.org. A", "360 192.0.2.1")
	kubectl(t, "", "delete", "dnsendpoint/a", "-n", "pair-a")
	a.once()
	b.once() // which may have the name now
	answers(t, own, "a.pair.example.org. A")
	answers(t, own, "both.pair.example.org. A", "360 192.0.2.2")
	answers(t, own, "b.pair.example.org. A", "360 192.0.2.2")
	b.idles("external-dns")
}

// A host that is nobody's to give stops neither the others nor external-dns, and is served once a Zone lets it in.
func TestAHostThatIsNotDelegatedStopsNoOther(t *testing.T) {
	own := []string{here.dns}
	kubectl(t, wishes("some", "all", `{dnsName: one.apps.some.example, recordType: A, targets: [192.0.2.1]}`,
		`{dnsName: theft.some.example, recordType: A, targets: [192.0.2.66]}`,
		`{dnsName: two.apps.some.example, recordType: A, targets: [192.0.2.2]}`), "apply", "-f", "-")
	f := follow(t, "some", "some", "--registry=noop", "--policy=sync")
	log, end := f.run()
	reads := func(n int) {
		t.Helper()
		eventually(t, "more loops", func() string {
			if got := f.gate.passed("GET /records 200"); got < n {
				return fmt.Sprintf("it has read %d times\n%s", got, log)
			}
			return ""
		})
	}
	reads(1)
	answers(t, own, "one.apps.some.example. A", "360 192.0.2.1")
	answers(t, own, "two.apps.some.example. A", "360 192.0.2.2")
	answers(t, own, "theft.some.example. A")
	reads(4)
	if n := f.gate.passed("POST /records 500"); n != 1 {
		t.Errorf("it is told %d times what is wrong, want once: %q", n, f.gate.calls)
	}
	if wrong := complaints(log.String()); len(wrong) != 1 || !strings.Contains(wrong[0], "soft error") {
		t.Errorf("it complains:\n%s", strings.Join(wrong, "\n"))
	}
	said := kubectl(t, "", "get", "records.kubi.zone", "-n", "some", "-o",
		`jsonpath={.items[?(@.spec.domainName=="theft.some.example.")].status.conditions[*].reason}`)
	if !strings.Contains(said, "NotDelegated") {
		t.Errorf("the Record says %q", said)
	}
	if !strings.Contains(here.Log.String(), "a request of external-dns is not carried out") {
		t.Error("the operator's log says nothing of it")
	}
	kubectl(t, "", "patch", "zones.kubi.zone/some", "-n", "dns", "--type=json", "-p",
		`[{"op":"add","path":"/spec/delegations/-","value":{"namespace":"some","records":[{"pattern":"theft"}]}}]`)
	answers(t, own, "theft.some.example. A", "360 192.0.2.66")

	// what is answered stays until what is wanted instead is possible
	kubectl(t, wishes("some", "all",
		`{dnsName: one.apps.some.example, recordType: CNAME, targets: [theft.some.example]}`,
		`{dnsName: three.apps.some.example, recordType: A, targets: [192.0.2.3]}`), "apply", "-f", "-")
	answers(t, own, "three.apps.some.example. A", "360 192.0.2.3")
	answers(t, own, "two.apps.some.example. A")
	answers(t, own, "one.apps.some.example. A", "360 192.0.2.1")
	kubectl(t, "", "patch", "zones.kubi.zone/some", "-n", "dns", "--type=json", "-p",
		`[{"op":"add","path":"/spec/delegations/-","value":{"namespace":"some","records":[{"pattern":"*.apps"}]}}]`)
	answers(t, own, "one.apps.some.example. CNAME", "360 theft.some.example.")
	end()
}
