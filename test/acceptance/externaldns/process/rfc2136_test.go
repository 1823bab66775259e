package process

import (
	"net"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// updated is what lets external-dns update names below apps.example, and read all of it, which it does by a transfer.
const updated = `
apiVersion: v1
kind: Namespace
metadata: {name: apps}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: updated}
spec:
  embedded:
    update: [{keyName: external-dns, secretRef: {name: clients}, namespace: apps}]
    transfer: [{tsig: {keyName: external-dns, secretRef: {name: clients}}}]
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: apps, namespace: dns}
spec:
  domainName: apps.example.
  backendRefs: [{name: updated}]
  delegations:
  - {namespace: dns, records: [{pattern: held}]}
  - {namespace: apps, records: [{pattern: "*", types: [A, AAAA, CNAME, TXT]}]}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: held, namespace: dns}
spec: {domainName: held.apps.example., type: A, rdata: 192.0.2.80}
`

// byUpdates is an external-dns with the flags of docs/updates.md, and others.
func byUpdates(t *testing.T, more ...string) *follower {
	t.Helper()
	flags, err := testoperator.Example(t.Context(), "updates.md", "### external-dns", "")
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(here.dns)
	if err != nil {
		t.Fatal(err)
	}
	flags = strings.NewReplacer("192.0.2.53", host, "port=53", "port="+port, "example.org", "apps.example").Replace(flags)
	return &follower{T: t, flags: append(append(strings.Fields(flags), "--source=ingress", "--source=crd",
		"--namespace=apps"), more...)}
}

func TestItsProviderOfDynamicUpdates(t *testing.T) {
	own := []string{here.dns}
	kubectl(t, updated+service("apps", "web", "www.apps.example")+wishes("apps", "more",
		`{dnsName: text.apps.example, recordType: TXT, recordTTL: 60, targets: [plain]}`,
		`{dnsName: alias.apps.example, recordType: CNAME, recordTTL: 60, targets: [www.apps.example]}`,
		`{dnsName: "*.any.apps.example", recordType: A, recordTTL: 60, targets: [192.0.2.3]}`), "apply", "-f", "-")
	balanced(t, "apps", "service/web", `{"ip":"192.0.2.2"}`, `{"ip":"192.0.2.1"}`, `{"ip":"2001:db8::1"}`)
	answers(t, own, "held.apps.example. A", "360 192.0.2.80")
	f := byUpdates(t, managed()...)
	f.once()
	for question, want := range map[string][]string{
		"www.apps.example. A":       {"60 192.0.2.1", "60 192.0.2.2"},
		"www.apps.example. AAAA":    {"60 2001:db8::1"},
		"alias.apps.example. CNAME": {"60 www.apps.example."},
		"text.apps.example. TXT":    {`60 "plain"`},
		"x.any.apps.example. A":     {"60 192.0.2.3"},
	} {
		answers(t, own, question, want...)
	}
	f.idles("apps")
	balanced(t, "apps", "service/web", `{"ip":"192.0.2.4"}`)
	f.once("--policy=upsert-only")
	answers(t, own, "www.apps.example. A", "60 192.0.2.4")
	answers(t, own, "www.apps.example. AAAA", "60 2001:db8::1")
	kubectl(t, "", "delete", "dnsendpoint/more", "-n", "apps")
	f.once()
	answers(t, own, "www.apps.example. AAAA")
	answers(t, own, "alias.apps.example. CNAME")
	answers(t, own, "x.any.apps.example. A")

	// one message is carried out whole or not at all, so what is not to stop the others needs one of its own
	kubectl(t, wishes("apps", "some", `{dnsName: one.apps.example, recordType: A, targets: [192.0.2.1]}`,
		`{dnsName: mail.apps.example, recordType: MX, targets: ["10 one.apps.example"]}`,
		`{dnsName: two.apps.example, recordType: A, targets: [192.0.2.2]}`), "apply", "-f", "-")
	f.refused()
	answers(t, own, "one.apps.example. A")
	f.refused("--rfc2136-batch-change-size=1")
	for question, want := range map[string][]string{
		"one.apps.example. A":   {"60 192.0.2.1"},
		"two.apps.example. A":   {"60 192.0.2.2"},
		"mail.apps.example. MX": nil,
		"held.apps.example. A":  {"360 192.0.2.80"},
	} {
		answers(t, own, question, want...)
	}
	kubectl(t, "", "delete", "dnsendpoint,service", "--all", "-n", "apps")
	f.once()
	// the TXT record of what was refused is nobody's to external-dns, and stays
	left := kubectl(t, "", "get", "records.kubi.zone", "-n", "apps", "-o", "jsonpath={.items[*].spec.domainName}")
	if left != "mx-mail.apps.example." {
		t.Errorf("these Records are left: %s", left)
	}
}
