package scenario

import (
	"fmt"
	"testing"
)

func TestEverythingHappensByEvents(t *testing.T) {
	s := newKubizone(t)
	s.sideBySide()

	s.run("a Zone that comes after its Records takes them", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		record a/by-ref: {domainName: ftp, zoneRef: {name: org}, type: A, rdata: 192.0.2.2}
		`)
		s.refused("record a/www", "NoZone", "www.example.org.")
		s.refused("record a/by-ref", "ReferenceNotFound", "~a/org")
		s.apply(`zone a/org: {domainName: example.org., delegations: ` + anything + `}`)
		s.answers("www.example.org. A", "192.0.2.1")
		s.answers("ftp.example.org. A", "192.0.2.2")
		s.ready("record a/www", "record a/by-ref")
	})

	s.run("a parent that comes after its child takes it in", func(s *scene) {
		s.serve("example.org.", "ref.example.org.", "own.example.org.")
		s.apply(`
		zone a/ref: {domainName: ref, zoneRef: {name: org}, delegations: ` + anything + `}
		record a/ref-www: {domainName: www, zoneRef: {name: ref}, type: A, rdata: 192.0.2.1}
		zone a/own: {domainName: own.example.org., delegations: ` + anything + `}
		record a/own-ns: {domainName: "@", zoneRef: {name: own}, type: NS, rdata: ns.own.example.org.}
		record a/own-a: {domainName: ns, zoneRef: {name: own}, type: A, rdata: 192.0.2.2}
		`)
		s.refused("zone a/ref", "ReferenceNotFound")
		s.refused("record a/ref-www", "ParentUnresolved")
		s.ready("zone a/own", "record a/own-a")
		s.parent("zone a/own", "")
		s.answers("ns.own.example.org. A", "192.0.2.2")
		s.apply(`zone a/org: {domainName: example.org., delegations: ` + anything + `}`)
		s.ready("zone a/org", "zone a/ref", "record a/ref-www", "zone a/own")
		s.parent("zone a/own", "a/org")
		s.parent("zone a/ref", "a/org")
		s.answers("www.ref.example.org. A", "192.0.2.1")
		s.entries("a/org", "own.example.org. 360 NS ns.own.example.org.", "ns.own.example.org. 360 A 192.0.2.2")
		s.agree("a/org")
	})

	s.run("a zone is delegated, withdrawn with all below it, and delegated again", func(s *scene) {
		s.serve("example.org.", "sub.example.org.", "deep.sub.example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{records: [{pattern: "*", types: [TXT]}]}]}
		zone b/sub: {domainName: sub, zoneRef: {name: org, namespace: ~a}, delegations: ` + anything + `}
		zone c/deep: {domainName: deep, zoneRef: {name: sub, namespace: ~b}, delegations: ` + anything + `}
		record b/a: {domainName: www.sub.example.org., type: A, rdata: 192.0.2.1}
		record b/txt: {domainName: www.sub.example.org., type: TXT, rdata: hello}
		record c/a: {domainName: www, zoneRef: {name: deep}, type: A, rdata: 192.0.2.2}
		`)
		below := func() {
			s.t.Helper()
			s.refused("zone b/sub", "NotDelegated", "~b")
			s.fqdn("zone b/sub", "sub.example.org.")
			s.refused("zone c/deep", "ParentNotAccepted")
			s.refused("record b/a", "NotDelegated")
			s.refused("record c/a", "ParentNotAccepted")
			s.noEntries("b/sub")
			s.noEntries("c/deep")
			s.answers("www.sub.example.org. A")
			s.answers("www.deep.sub.example.org. A")
			s.parent("record b/txt", "a/org")
		}
		below()
		for range 2 {
			s.apply(
				`zone a/org: {domainName: example.org., delegations: [{records: [{pattern: "*", types: [TXT]}]}, {namespaces: [~b], zones: ["sub.@"]}]}`)
			s.ready("zone b/sub", "zone c/deep", "record b/a", "record b/txt", "record c/a")
			s.parent("record b/txt", "b/sub")
			s.answers("www.sub.example.org. A", "192.0.2.1")
			s.answers("www.sub.example.org. TXT", `"hello"`)
			s.answers("www.deep.sub.example.org. A", "192.0.2.2")
			s.agree("b/sub")
			s.apply(`zone a/org: {domainName: example.org., delegations: [{records: [{pattern: "*", types: [TXT]}]}]}`)
			below()
		}
	})

	s.run("a new name of the root reaches every descendant, and the old names go", func(s *scene) {
		s.serve("example.org.", "sub.example.org.", "deep.sub.example.org.", "example.com.", "sub.example.com.",
			"deep.sub.example.com.")
		s.apply(`
		zone a/root: {domainName: example.org., delegations: ` + anything + `}
		zone a/sub: {domainName: sub, zoneRef: {name: root}, delegations: ` + anything + `}
		zone a/deep: {domainName: deep, zoneRef: {name: sub}, delegations: ` + anything + `}
		record a/root-www: {domainName: www, zoneRef: {name: root}, type: A, rdata: 192.0.2.1}
		record a/sub-www: {domainName: www, zoneRef: {name: sub}, type: A, rdata: 192.0.2.2}
		record a/deep-www: {domainName: www, zoneRef: {name: deep}, type: A, rdata: 192.0.2.3}
		record a/absolute: {domainName: abs.deep.sub.example.org., type: A, rdata: 192.0.2.4}
		`)
		www := func(tld string, data ...string) {
			s.t.Helper()
			for i, zone := range []string{"", "sub.", "deep.sub."} {
				if len(data) == 0 {
					s.answers("www." + zone + "example." + tld + ". A")
				} else {
					s.answers("www."+zone+"example."+tld+". A", data[i])
				}
			}
		}
		www("org", "192.0.2.1", "192.0.2.2", "192.0.2.3")
		s.answers("abs.deep.sub.example.org. A", "192.0.2.4")
		s.apply(`zone a/root: {domainName: example.com., delegations: ` + anything + `}`)
		www("com", "192.0.2.1", "192.0.2.2", "192.0.2.3")
		www("org")
		s.answers("abs.deep.sub.example.org. A")
		s.refused("record a/absolute", "NoZone")
		for _, ref := range []string{"zone a/root", "zone a/sub", "zone a/deep", "record a/root-www", "record a/sub-www",
			"record a/deep-www"} {
			s.ready(ref)
		}
		s.fqdn("zone a/deep", "deep.sub.example.com.")
		s.fqdn("record a/deep-www", "www.deep.sub.example.com.")
		s.entries("a/deep", "www.deep.sub.example.com. 360 A 192.0.2.3")
		s.eventually("the old name leaves the status", func() string {
			if z := s.zone("a/deep"); len(z.Status.Backends) != 1 || z.Status.Backends[0].FQDN != z.Status.FQDN {
				return fmt.Sprint(z.Status.Backends)
			}
			return ""
		})
		s.agree("a/deep")
	})

	s.run("a Zone deleted in the middle gives its records to the one above", func(s *scene) {
		s.serve("example.org.", "sub.example.org.", "deep.sub.example.org.")
		sub := `zone a/sub: {domainName: sub.example.org., delegations: ` + anything + `}`
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		zone a/ref: {domainName: deep, zoneRef: {name: sub}, delegations: ` + anything + `}
		record a/www: {domainName: www.sub.example.org., type: A, rdata: 192.0.2.1}
		record a/pinned: {domainName: pinned, zoneRef: {name: sub}, type: A, rdata: 192.0.2.2}
		record a/deep: {domainName: www.deep.sub.example.org., type: A, rdata: 192.0.2.3}
		` + sub)
		all := func() {
			s.t.Helper()
			s.ready("record a/www", "record a/pinned", "record a/deep", "zone a/ref")
			s.parent("record a/www", "a/sub")
			s.parent("record a/deep", "a/ref")
			s.answers("www.sub.example.org. A", "192.0.2.1")
			s.answers("pinned.sub.example.org. A", "192.0.2.2")
			s.answers("www.deep.sub.example.org. A", "192.0.2.3")
		}
		all()
		s.remove("zone a/sub")
		s.gone("zone a/sub")
		s.refused("record a/pinned", "ReferenceNotFound")
		s.refused("zone a/ref", "ReferenceNotFound")
		for _, ref := range []string{"record a/www", "record a/deep"} {
			s.parent(ref, "a/org")
			s.ready(ref)
		}
		s.entries("a/org", "www.deep.sub.example.org. 360 A 192.0.2.3", "www.sub.example.org. 360 A 192.0.2.1")
		s.answers("pinned.sub.example.org. A")
		s.apply(sub)
		all()
		s.entries("a/org")
		s.remove("zone a/org", "zone a/sub", "zone a/ref")
		for _, ref := range []string{"zone a/org", "zone a/sub", "zone a/ref"} {
			s.gone(ref)
		}
		for _, n := range []string{"www.sub.example.org. A", "pinned.sub.example.org. A", "www.deep.sub.example.org. A"} {
			s.answers(n)
		}
	})

	s.run("a record moves to a longer zone and back", func(s *scene) {
		s.serve("example.org.", "sub.example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record b/www: {domainName: www.sub.example.org., type: A, rdata: 192.0.2.1}
		`)
		for range 2 {
			s.ready("record b/www")
			s.parent("record b/www", "a/org")
			s.entries("a/org", "www.sub.example.org. 360 A 192.0.2.1")
			s.apply(`zone b/sub: {domainName: sub.example.org., delegations: ` + anything + `}`)
			s.ready("record b/www")
			s.parent("record b/www", "b/sub")
			s.entries("a/org")
			s.entries("b/sub", "www.sub.example.org. 360 A 192.0.2.1")
			s.answers("www.sub.example.org. A", "192.0.2.1")
			s.agree("a/org")
			s.remove("zone b/sub")
			s.gone("zone b/sub")
		}
	})

	s.run("of two Zones with one name the oldest has it, and the other when that goes", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: [{namespace: ~a, records: [{pattern: "*"}]}]}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}
		`)
		s.ready("record a/www")
		s.apply(`
		zone b/org: {domainName: example.org., delegations: [{namespace: ~b, records: [{pattern: "*"}]}]}
		record b/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}
		`)
		s.refused("zone b/org", "DuplicateZone", "~a/org")
		s.refused("record b/www", "NotDelegated")
		s.answers("www.example.org. A", "192.0.2.1")
		s.remove("zone a/org")
		s.gone("zone a/org")
		s.ready("zone b/org", "record b/www")
		s.refused("record a/www", "NotDelegated")
		s.answers("www.example.org. A", "192.0.2.2")
		s.agree("b/org")
	})

	s.run("records change and go one by one, in one namespace and in others", func(s *scene) {
		s.serve("example.org.")
		s.apply(`
		zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/one: {domainName: www.example.org., type: A, ttl: 60, rdata: 192.0.2.1}
		record a/two: {domainName: www.example.org., type: A, ttl: 60, rdata: 192.0.2.2}
		`)
		s.answers("www.example.org. A", "192.0.2.1", "192.0.2.2")
		s.ready("record a/one")
		s.apply(`record b/other: {domainName: www.example.org., type: A, rdata: 192.0.2.66}`)
		s.refused("record b/other", "NameHeld", "www.example.org.")
		s.apply(`record a/two: {domainName: www.example.org., type: A, ttl: 30, rdata: 192.0.2.3}`)
		s.answers("www.example.org. A", "192.0.2.1", "192.0.2.3")
		s.cond("record a/two", "Warning", "True TTLDiffers")
		s.remove("record a/one")
		s.answers("www.example.org. A", "192.0.2.3")
		s.entries("a/org", "www.example.org. 30 A 192.0.2.3")
		s.remove("record a/two")
		s.ready("record b/other")
		s.answers("www.example.org. A", "192.0.2.66")
		s.agree("a/org")
	})
}
