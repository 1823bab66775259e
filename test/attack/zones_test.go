package attack

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// malloryRecord is a Record of kubi.zone.
func malloryRecord(name, domain, kind, rdata string) string {
	return fmt.Sprintf(
		"{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: %s}, spec: {domainName: %q, type: %s, rdata: %q}}",
		name, domain, kind, rdata)
}

func malloryZone(name, domain string) string {
	return fmt.Sprintf(
		`{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {name: %s}, spec: {domainName: %q, delegations: [{namespaces: [mallory], records: [{pattern: "@"}, {pattern: "*"}]}]}}`, name, domain)
}

// namesStay has the cluster have the policy of docs/delegation.md until the attempt is over.
func (s *site) namesStay() {
	s.Helper()
	text, err := os.ReadFile("../../docs/delegation.md")
	s.must(err)
	_, policy, _ := strings.Cut(string(text), "```yaml\napiVersion: admissionregistration.k8s.io/v1\n")
	policy, _, found := strings.Cut(policy, "```")
	if !found {
		s.Fatal("docs/delegation.md has no policy")
	}
	for _, o := range objects("apiVersion: admissionregistration.k8s.io/v1\n" + policy) {
		s.store(o)
		s.Cleanup(func() { s.remove(o) })
	}
}

// respecifies changes the spec of an object of mallory's in mallory's name.
func (s *site) respecifies(kind, name, spec string) error {
	s.Helper()
	o := objects(fmt.Sprintf("{apiVersion: kubi.zone/v1alpha1, kind: %s, metadata: {namespace: %s, name: %s}}", kind,
		mallory, name))[0]
	return s.mallory.Patch(s.ctx, o, client.RawPatch("application/merge-patch+json", []byte(`{"spec":`+spec+`}`)))
}

func onZones() []attempt {
	return []attempt{{
		aTenant, "writes a Record below another tenant's Zone", "delegation: `NotDelegated`",
		func(s *site) { s.told("NotDelegated", malloryRecord("pay", "pay.example.org.", "A", "192.0.2.66")) },
	}, {
		aTenant, "writes a Record that names another tenant's Zone", "delegation: `NotDelegated`; a reference gives nothing",
		func(s *site) {
			s.told("NotDelegated",
				`{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: pay}, spec: {domainName: pay, zoneRef: {name: zone, namespace: victim}, type: A, rdata: 192.0.2.66}}`)
		},
	}, {
		aTenant, "creates a Zone with the name of another tenant's", "the oldest has it: `DuplicateZone`",
		func(s *site) { s.told("DuplicateZone", malloryZone("twin", "example.org.")) },
	}, {
		aTenant, "creates a Zone below another tenant's", "delegation: `NotDelegated`; it takes no Records",
		func(s *site) {
			s.told("NotDelegated", malloryZone("below", "pay.example.org."))
			s.told("NotDelegated", malloryRecord("pay", "pay.example.org.", "A", "192.0.2.66"))
		},
	}, {
		aTenant, "creates a Zone of a public suffix around another tenant's", "a grant has to name it: `NotGranted`",
		func(s *site) { s.told("NotGranted", malloryZone("org", "org.")) },
	}, {
		aTenant, "creates the root zone", "a grant has to name it: `NotGranted`",
		func(s *site) { s.told("NotGranted", malloryZone("root", ".")) },
	}, {
		aTenant, "changes a name that another namespace has and that a rule gives to both",
		"the first namespace holds it: `NameHeld`",
		func(s *site) { s.told("NameHeld", malloryRecord("api", "api.shared.example.org.", "A", "192.0.2.66")) },
	}, {
		aTenant, "gives an old Record a name that another namespace has had since",
		"the policy of [docs/delegation.md](docs/delegation.md#age), where it is: the name stays",
		func(s *site) {
			s.namesStay()
			s.must(s.malloryPuts(malloryZone("old", "old.mallory.example.")))
			s.must(s.malloryPuts(malloryRecord("old", "old.shared.example.org.", "A", "192.0.2.66")))
			names := 0
			s.eventually("the policy is in force", func() string {
				names++
				if s.respecifies("Record", "old", fmt.Sprintf(`{"domainName":"old-%d.shared.example.org."}`, names)) == nil {
					return "the name can be changed"
				}
				return ""
			})
			for _, spec := range []string{`{"domainName":"api.shared.example.org."}`, `{"type":"TXT"}`,
				`{"domainName":"api.shared","zoneRef":{"name":"zone","namespace":"victim"}}`} {
				s.denied(s.respecifies("Record", "old", spec), "names-stay", "do not change")
			}
			s.denied(s.respecifies("Zone", "old", `{"domainName":"shared.example.org."}`), "names-stay", "do not change")
			s.must(s.respecifies("Record", "old", `{"rdata":"192.0.2.67"}`))
			s.must(s.respecifies("Zone", "old", `{"delegations":[]}`))
		},
	}, {
		aTenant, "delegates names of others away with an NS record above them",
		"names that others hold cannot be hidden: `HidesNames`",
		func(s *site) {
			s.told("HidesNames", malloryRecord("cut", "shared.example.org.", "NS", "ns.mallory.example."))
		},
	}, {
		aTenant, "redirects names of others with a DNAME above them", "names that others hold cannot be hidden: `HidesNames`",
		func(s *site) {
			s.told("HidesNames", malloryRecord("cut", "shared.example.org.", "DNAME", "mallory.example."))
		},
	}, {
		aTenant, "puts a second record or a directive into rdata", "rdata is parsed strictly: refused by admission",
		func(s *site) {
			for _, rdata := range []string{"192.0.2.66\nwww.example.org. A 192.0.2.66", "192.0.2.66 ; x",
				"$INCLUDE /etc/passwd"} {
				s.denied(s.malloryPuts(malloryRecord("odd", "odd.shared.example.org.", "A", rdata)), "odd")
			}
		},
	}, {
		aTenant, "labels its Record as part of another tenant's Zone", "the label decides nothing",
		func(s *site) {
			s.told("NotDelegated",
				`{apiVersion: kubi.zone/v1alpha1, kind: Record, metadata: {name: pay, labels: {kubi.zone/parent-zone: zone.victim}}, spec: {domainName: pay.example.org., type: A, rdata: 192.0.2.66}}`)
		},
	}, {
		aTenant, "writes the status of its Zone", "RBAC: the tenant's role has no subresource",
		func(s *site) {
			s.must(s.malloryPuts(malloryZone("mine", "mallory.example.")))
			o := objects(malloryZone("mine", "mallory.example."))[0]
			o.SetNamespace(mallory)
			s.forbidden(s.mallory.Status().Patch(s.ctx, o, client.RawPatch("application/merge-patch+json",
				[]byte(`{"status":{"serialCeiling":4294967295}}`))))
		},
	}, {
		aTenant, "writes a ZoneSlice, so that records of others count as published",
		"RBAC: the tenant's role does not have ZoneSlices",
		func(s *site) {
			s.forbidden(s.malloryPuts(`{apiVersion: zonefold.dev/v1alpha1, kind: ZoneSlice, metadata: {name: forged}}`))
		},
	}, {
		aTenant, "creates a Backend that grants it everything", "RBAC: Backends are cluster-scoped",
		func(s *site) {
			s.forbidden(s.mallory.Create(s.ctx,
				objects(
					`{apiVersion: zonefold.dev/v1alpha1, kind: Backend, metadata: {name: mallory}, spec: {embedded: {}, grants: [{namespaces: [mallory], zones: ["*."]}]}}`)[0]))
		},
	}, {
		aTenant, "creates a DNSClass with the Secret of another namespace", "RBAC: DNSClasses are cluster-scoped",
		func(s *site) {
			s.forbidden(s.mallory.Create(s.ctx,
				objects(
					`{apiVersion: dns.homelab.mortenolsen.pro/v1alpha1, kind: DNSClass, metadata: {name: mallory}, spec: {server: "http://192.0.2.66", hmacAuth: {secretRef: {namespace: victim, name: dns, key: apiKey}}}}`)[0]))
		},
	}}
}
