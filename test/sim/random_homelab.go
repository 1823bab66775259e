package sim

import (
	"fmt"
	"strconv"
)

// What lives of DNSRecords of DNSClasses are about.
var (
	classes  = []string{"one", "two"}
	relative = []string{"@", "www", "t", "*.b"} // before a domain
	allowed  = []string{"", "[{namespaces: [a]}]", `[{names: ["*.example.org"]}]`,
		`[{namespaces: [b], names: ["example.org"]}, {namespaces: [a], names: ["www.example.org"]}]`}
)

// A classLife is about DNSRecords of two DNSClasses, of which the server of one may not show what it has.
type classLife struct {
	*author
	records []string // that there are, as namespace/name
	foul    [2]bool  // whether a server does not answer, or knows another key than the Secret
	keys    [2]int   // versions that servers know
}

func newClassLife(a *author) *classLife { return &classLife{author: a} }

// prepare makes two servers and their classes.
func (a *classLife) prepare() {
	for i := range classes {
		a.step("webhook "+a.host(i)+" "+key(0), "")
		if i == 1 && a.IntN(2) == 0 {
			a.step("blind "+a.host(i), "")
		}
		a.secret(i)
		a.class(i, "")
	}
}

// class has a server's class allow something, "" everything.
func (a *classLife) class(server int, allowed string) {
	if allowed != "" {
		allowed = "\n  allowed: " + allowed
	}
	a.step("apply", fmt.Sprintf(`apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: %[1]s}
spec:
  server: http://%[2]s
  hmacAuth: {secretRef: {name: class-%[1]s, namespace: zonefold-system, key: key}}%[3]s`, classes[server],
		a.host(server), allowed))
}

// allow has a class allow other names than before. All is done then: of a record that was sent, and whose status does
// not say so yet, nothing would say that it is to go.
func (a *classLife) allow(server int) {
	a.calm(a)
	a.class(server, a.choose(allowed))
	a.rest()
}

func (a *classLife) host(server int) string { return classes[server] + ".example" }

// secret puts the key that a server knows in its class's Secret.
func (a *classLife) secret(server int) {
	a.step("apply", fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: class-%s, namespace: zonefold-system}
data: {key: %s}`, classes[server], encoded(key(a.keys[server]))))
}

// turn is one thing that happens.
func (a *classLife) turn() {
	switch a.IntN(12) {
	case 0, 1:
		a.drop(&a.records, "DNSRecord.dns.homelab.mortenolsen.pro")
	case 2, 3:
		if len(a.records) > 0 {
			a.record(a.choose(a.records))
		}
	case 4:
		a.spoil(a.IntN(2))
	case 5:
		a.lose()
	case 6:
		a.wrong()
	case 7:
		a.allow(a.IntN(2))
	default:
		name := a.name()
		a.records = append(a.records, name)
		a.record(name)
	}
}

// record makes a DNSRecord, or has it say something else: also another name, and in another class.
func (a *classLife) record(name string) {
	data := []string{
		"type: A, values: [192.0.2." + strconv.Itoa(10+a.IntN(3)) + "]", "type: A, values: [192.0.2.20, 192.0.2.21], ttl: 90",
		`type: AAAA, values: ["2001:db8::1"]`, "type: TXT, values: [t" + strconv.Itoa(a.IntN(3)) + "]",
		"type: MX, values: [mail" + strconv.Itoa(a.IntN(2)) + ".example.org], metadata: {priority: 10}",
		"type: CNAME, values: [www.example.com]",
	}
	a.step("apply", fmt.Sprintf(`apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSRecord
metadata: {name: %s, namespace: %s}
spec: {domain: example.org, subdomain: "%s", dnsClassRef: {name: %s}, %s}`, name[2:], name[:1], a.choose(relative), a.choose(classes), a.choose(data)))
}

// spoil has a server not answer, or what was wrong with it end.
func (a *classLife) spoil(server int) {
	switch {
	case a.foul[server]:
		a.mendOne(server)
		return
	case a.IntN(4) == 0:
		a.step("delete Secret zonefold-system/class-"+classes[server], "")
	case a.IntN(2) == 0:
		a.step(a.choose([]string{"down", "silent", "ill"})+" "+a.host(server), "")
	default:
		a.keys[server]++
		a.step("webhook "+a.host(server)+" "+key(a.keys[server]), "")
	}
	a.foul[server] = true
}

func (a *classLife) mendOne(server int) {
	if a.foul[server] {
		a.foul[server] = false
		a.mended(func() {
			a.step("up "+a.host(server), "")
			a.secret(server)
		})
	}
}

func (a *classLife) mend() {
	a.mendOne(0)
	a.mendOne(1)
}

// lose has a server that shows what it has lose it, at a calm moment. It does not come back with what was deleted:
// nobody knows of that.
func (a *classLife) lose() {
	a.calm(a)
	a.step("lose "+a.host(0), "")
	a.step("wait "+auditAfter.String(), "")
}

func (a *classLife) deleteAll() { a.dropAll(&a.records, "DNSRecord.dns.homelab.mortenolsen.pro") }
