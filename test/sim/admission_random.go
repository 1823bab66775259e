package sim

import "fmt"

// wrong has somebody want an object that is wrong, and delete it: how is a step, deny or try.
func (a *author) wrong(how, kind, format string) {
	name := a.name()
	a.step(how, fmt.Sprintf(format, name[2:], name[:1]))
	a.step("wait "+a.choose(pauses), "")
	a.step("delete "+kind+" "+name, "")
}

// wrong has somebody want Records and Zones that are not valid. What is wrong with such a Zone is passed over where it
// is there already.
func (a *zoneLife) wrong() {
	if a.IntN(2) == 0 {
		a.author.wrong("deny", "Record", `apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: %s, namespace: %s}
spec: {domainName: www.example.org., type: A, rdata: 192.0.2.999}`)
		return
	}
	a.author.wrong("try", "Zone", `apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: %s, namespace: %s}
spec: {domainName: example.com., delegations: [{namespace: a, records: [{pattern: "a..b"}]}]}`)
}

// wrong has somebody want a DNSRecord of a DNSClass that there is not, which an operator that does not reach the API
// server does not know.
func (a *classLife) wrong() {
	a.author.wrong("try", "DNSRecord.dns.homelab.mortenolsen.pro", `apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata: {name: %s, namespace: %s}
spec: {domain: example.org, subdomain: www, dnsClassRef: {name: none}, type: A, values: [192.0.2.10]}`)
}
