package sim

import (
	"fmt"
	"slices"
	"strconv"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

// What lives of Zones are about.
var (
	domains        = []string{"example.org.", "example.net.", "team-b.example.org."}
	hosts          = []string{"", "www.", "b.", "x.b.", "*.b."} // before a domain
	kindsOfServers = [2][]string{
		// of which the first shows all that it has: it comes back with yesterday's content
		{"bind", "bind", "bindcar", "powerdns", "route53", "cloudflare", "extdns", anyTraits},
		{"bind", "powerdns", "route53", "webhook", "blind", "extdns", anyTraits},
	}
	// anyTraits stands for a kind whose limits are drawn one by one.
	anyTraits = "any"
	foreigns  = [2]string{"Delete", "Keep"} // what either does with foreign sets
	policies  = []string{"UpsertOnly", "CreateOnly"}
	// grants give some of the domains to some namespaces, and to a all that lives of operators' own servers have beside.
	grants = []string{`[{namespaces: [a, b], zones: ["*."]}]`, `[{namespaces: [a], zones: ["*."]}]`,
		`[{namespaces: [a], zones: ["example.net.", "*.arpa."]}, {namespaces: [b], zones: ["*.org."]}]`}
	backings = []string{"[{name: one}]", "[{name: two}]", "[{name: one}, {name: two}]"}
)

// A zoneLife is about Zones and Records of Kubizone, at two servers.
type zoneLife struct {
	*author
	zones   []string       // that there are, as namespace/name
	records []string       // the same
	apexes  []string       // Records of name servers, which stay to the end: a server that had some keeps the last
	domain  map[string]int // of a Zone, which it keeps
	foul    [2]bool        // whether something is wrong with a server
	refused [2]string      // the name that it does not take
	kept    bool           // yesterday's content
	braked  [2]bool        // whether a Backend holds deletions
	policy  [2]string      // of a Backend; empty: Sync
	granted [2]string      // what a Backend grants; empty: nothing
	frozen  string         // a Zone; empty: there is none
	own     bool           // the first server is that of the operators
}

func newZoneLife(a *author) *zoneLife { return &zoneLife{author: a, domain: map[string]int{}} }

// prepare makes two servers that have all domains, a Backend for each, and Records that no domain is served without. In
// a third of the lives the first are the operators' own.
func (a *zoneLife) prepare() {
	a.own = a.IntN(3) == 0 && len(a.watched) == 0 // there are lives enough of the operators' own, which cost more
	for i, foreign := range foreigns {
		kind := a.choose(kindsOfServers[i])
		if kind == anyTraits {
			kind = a.anyKind(i == 0)
		}
		for _, d := range domains {
			records := ""
			if foreign == "Keep" {
				records = "foreign." + d + " A 198.51.100.9"
			}
			a.step("server "+address(i)+" "+key(0)+" "+d+" "+kind, records)
		}
		a.secret(i, 0)
		a.backend(i)
	}
	for i, d := range domains {
		a.step("apply", fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ns-%d, namespace: a}
spec: {domainName: %s, type: NS, rdata: ns.example.com.}`, i, d))
		a.apexes = append(a.apexes, "a/ns-"+strconv.Itoa(i))
	}
	if a.own {
		a.step("apply", fmt.Sprintf(ownParts, encoded(key(0))))
	}
	a.newZone(0)
}

// ownParts are what the operators' own name servers have beside: a key of updates, and names of addresses.
const ownParts = `apiVersion: v1
kind: Secret
metadata: {name: dhcp, namespace: zonefold-system}
data: {key: %s}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: reverse, namespace: a}
spec:
  domainName: 2.0.192.in-addr.arpa.
  backendRefs: [{name: one}]
  reverse: {from: ["*"]}
  delegations: []`

// backend says of a server's Backend what holds now.
func (a *zoneLife) backend(server int) {
	more := ""
	if a.braked[server] {
		more += "\n  protection: {maxDeletedPercent: 0, minDeleted: 1}"
	}
	if p := a.policy[server]; p != "" {
		more += "\n  protection: {policy: " + p + "}"
	}
	if g := a.granted[server]; g != "" {
		more += "\n  grants: " + g
	}
	a.step("apply", fmt.Sprintf(`apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: %s}
spec:
  default: %t
  foreign: %s
  %s%s`, backendName(server), server == 0, foreigns[server], a.reached(server), more))
}

// reached is what the spec of a server's Backend says of the server.
func (a *zoneLife) reached(server int) string {
	if server == 0 && a.own {
		return "embedded: {transfer: [{addresses: [203.0.113.0/24]}], " +
			"update: [{keyName: dhcp, secretRef: {name: dhcp, key: key}, namespace: a}]}"
	}
	return fmt.Sprintf(`rfc2136: {servers: ["%s"], tsig: {keyName: zonefold., secretRef: {name: tsig-%s, key: key}}}`,
		address(server), backendName(server))
}

func address(server int) string { return "192.0.2." + strconv.Itoa(server+1) + ":53" }

func backendName(server int) string { return []string{"one", "two"}[server] }

// secret puts a server's key in its Backend's Secret.
func (a *zoneLife) secret(server, version int) {
	a.step("apply", fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: tsig-%s, namespace: zonefold-system}
data: {key: %s}`, backendName(server), encoded(key(version))))
}

// turn is one thing that happens.
func (a *zoneLife) turn() {
	many := 18
	if a.own {
		many = 20
	}
	switch a.IntN(many) {
	case 18, 19:
		a.update()
	case 17:
		a.grant(a.IntN(2))
	case 16:
		a.restrain()
	case 15:
		a.freeze()
	case 14:
		a.brake(a.IntN(2))
	case 13:
		a.leave()
	case 0:
		a.newZone(a.IntN(len(domains)))
	case 1:
		if len(a.zones) > 0 {
			name := a.choose(a.zones)
			a.zone(name, a.choose(backings))
		}
	case 2:
		a.drop(&a.zones, "Zone")
	case 3: // a Zone is renamed
		if name := a.drop(&a.zones, "Zone"); name != "" {
			a.newZone(a.domain[name])
		}
	case 4:
		a.drop(&a.records, "Record")
	case 5, 6:
		a.changeRecord()
	case 7:
		a.spoil(a.IntN(2))
	case 8:
		a.yesterday()
	case 9:
		a.wrong()
	default:
		a.newRecord(a.choose(domains))
	}
}

func (a *zoneLife) newZone(domain int) {
	name := a.name()
	a.zones, a.domain[name] = append(a.zones, name), domain
	a.zone(name, a.choose(backings))
}

func (a *zoneLife) zone(name, backing string) {
	at := "*"
	if a.IntN(3) == 0 {
		at = "b.@"
	}
	a.step("apply", fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {name: %s, namespace: %s}
spec:
  domainName: %s
  backendRefs: %s
  delegations:
  - {namespace: a, records: [{pattern: "@"}, {pattern: "*"}], zones: ["*"]}
  - {namespace: b, records: [{pattern: "%s"}], zones: ["team-b.@"]}`, name[2:], name[:1],
		domains[a.domain[name]], backing, at))
}

// leave has a Zone leave a server that does not answer, and then lose a Record that is still there.
func (a *zoneLife) leave() {
	if len(a.zones) == 0 || a.foul[1] {
		return
	}
	name := a.choose(a.zones)
	a.zone(name, "[{name: one}, {name: two}]")
	a.newRecord(domains[a.domain[name]])
	a.step("wait 5s", "")
	a.foul[1] = true
	a.step("down "+address(1), "")
	a.zone(name, "[{name: one}]")
	a.step("wait "+a.choose(pauses), "")
	last := a.records[len(a.records)-1:]
	a.records = a.records[:len(a.records)-1]
	a.drop(&last, "Record")
}

func (a *zoneLife) newRecord(domain string) {
	name := a.name()
	a.records = append(a.records, name)
	a.record(name, domain)
}

// changeRecord has some Record say something else.
func (a *zoneLife) changeRecord() {
	if len(a.records) > 0 {
		a.record(a.choose(a.records), a.choose(domains))
	}
}

func (a *zoneLife) record(name, domain string) {
	data := []string{
		"type: A, rdata: 192.0.2." + strconv.Itoa(10+a.IntN(3)), "type: A, rdata: 192.0.2.20, ttl: 90",
		`type: AAAA, rdata: "2001:db8::1"`,
		"type: TXT, rdata: '\"t" + strconv.Itoa(a.IntN(3)) + "\"'", "type: MX, rdata: 10 mail.example.com.",
	}
	a.step("apply", fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: %s, namespace: %s}
spec: {domainName: "%s", %s}`, name[2:], name[:1], a.choose(hosts)+domain, a.choose(data)))
}

// spoil has a server refuse, or what was wrong with it end.
func (a *zoneLife) spoil(server int) {
	if a.foul[server] {
		a.mendOne(server)
		return
	}
	a.foul[server] = true
	switch a.IntN(7) {
	case 0:
		a.step("key "+address(server)+" "+key(1), "")
	case 1:
		a.refused[server] = a.choose(hosts[1:]) + a.choose(domains)
		a.step("refuse "+address(server)+" "+a.refused[server], "")
	case 2:
		a.step("half "+address(server), "")
	case 3:
		a.step("delete Secret zonefold-system/tsig-"+backendName(server), "")
	case 4:
		a.step("slow "+address(server)+" "+a.choose([]string{"5s", "2m"}), "")
	default:
		a.step("down "+address(server), "")
	}
}

func (a *zoneLife) mendOne(server int) {
	if !a.foul[server] {
		return
	}
	a.foul[server] = false
	a.mended(func() {
		a.step("up "+address(server), "")
		a.step("whole "+address(server), "")
		a.step("slow "+address(server)+" 0s", "")
		if name := a.refused[server]; name != "" {
			a.step("accept "+address(server)+" "+name, "")
			a.refused[server] = ""
		}
		a.step("key "+address(server)+" "+key(2), "")
		a.secret(server, 2)
	})
}

func (a *zoneLife) mend() {
	a.thaw()
	for i := range 2 {
		a.mendOne(i)
		if a.braked[i] {
			a.brake(i)
		}
	}
}

// freeze has what is published of a Zone stay as it is, or not any more.
func (a *zoneLife) freeze() {
	if a.frozen != "" {
		a.thaw()
	} else if len(a.zones) > 0 {
		a.frozen = a.choose(a.zones)
		a.step("annotate Zone "+a.frozen+" "+zonefold.FreezeAnnotation+"=moving", "")
	}
}

func (a *zoneLife) thaw() {
	if slices.Contains(a.zones, a.frozen) {
		a.mended(func() { a.step("annotate Zone "+a.frozen+" "+zonefold.FreezeAnnotation+"-", "") })
	}
	a.frozen = ""
}

// brake has a Backend hold deletions, or let those go that it holds.
func (a *zoneLife) brake(server int) {
	a.braked[server] = !a.braked[server]
	if a.braked[server] {
		a.backend(server)
	} else {
		a.mended(func() { a.backend(server) })
	}
}

// grant has a Backend serve other Zones than before.
func (a *zoneLife) grant(server int) {
	a.granted[server] = a.choose(append([]string{""}, grants...))
	a.backend(server)
}

// restrain has a Backend delete nothing, or change nothing either, while Records come, change and go. All is done
// before, and Zones stay until its policy is over: such a Backend leaves of a Zone that goes what it has by then. One
// of the operators' own has no policy.
func (a *zoneLife) restrain() {
	server := a.IntN(2)
	if a.own {
		server = 1
	}
	a.calm(a)
	a.policy[server] = a.choose(policies)
	a.backend(server)
	for range 3 {
		a.step("wait "+a.choose(pauses), "")
		switch a.IntN(3) {
		case 0:
			a.newRecord(a.choose(domains))
		case 1:
			a.drop(&a.records, "Record")
		default:
			a.changeRecord()
		}
	}
	a.step("wait "+a.choose(pauses), "")
	a.policy[server] = ""
	a.mended(func() { a.backend(server) })
	a.rest()
}

// yesterday has a server keep what it has, or come back with it: at a calm moment, as what is under way then goes one
// way or the other.
func (a *zoneLife) yesterday() {
	a.calm(a)
	if a.own {
		return // nobody but operators gives it anything
	}
	if !a.kept {
		a.kept = true
		a.step("keep "+address(0)+" "+domains[0], "")
		return
	}
	if a.IntN(3) == 0 {
		a.step("forget "+address(0), "")
	} else {
		a.step("lose "+address(0)+" "+domains[0], "")
	}
	a.step("wait "+auditAfter.String(), "")
}

// update has a client change a name that nobody else wants, at a calm moment: what comes of it depends on which Zones
// there are. What is wrong with the API server then begins right before.
func (a *zoneLife) update() {
	a.calm(a)
	if a.IntN(3) == 0 {
		a.step(a.choose([]string{"failing timeout after 5s", "failing 409 before 5s", "absent 1s", "gone 30s"}), "")
	}
	zone := a.choose(domains)
	name := a.choose([]string{"u0.", "u1."}) + zone
	change := "delete " + name + " A"
	if a.IntN(3) > 0 {
		change += "\nadd " + name + " 300 A 192.0.2." + strconv.Itoa(30+a.IntN(3))
	}
	if a.IntN(3) == 0 {
		change += "\ndelete " + name + " TXT\nadd " + name + ` 60 TXT "t` + strconv.Itoa(a.IntN(2)) + `"`
	}
	a.step("update "+zone+" "+key(0), change)
}

// throttled has the API server not take some writes for a while when a Zone and a Record come. Whoever writes waits for
// twice as long after each failure: in the end at most for as long as the trouble lasted, and then all is done.
func (a *zoneLife) throttled() {
	a.step("wait "+calmAfter.String(), "")
	lasts := a.choose([]string{"5s", "20s", "60s"})
	of := a.choose([]string{"status", "zones", "zones/status", "records/status", "zoneslices"})
	a.step("failing "+a.choose(failures)+" "+a.choose([]string{"before", "after"})+" "+of+" "+lasts, "")
	a.newZone(a.IntN(len(domains)))
	a.step("wait "+a.choose([]string{"0s", "10ms", "1s"}), "")
	a.newRecord(a.choose(domains))
	a.step("wait "+lasts, "")
	a.step("wait "+lasts, "")
	a.step("wait 15s", "")
	a.step("settled", "")
}

func (a *zoneLife) deleteAll() {
	a.records, a.apexes = append(a.records, a.apexes...), nil
	for len(a.records) > 0 || len(a.zones) > 0 {
		if from, kind := &a.records, "Record"; len(a.records) > 0 && (len(a.zones) == 0 || a.IntN(2) == 0) {
			a.drop(from, kind)
		} else {
			a.drop(&a.zones, "Zone")
		}
		a.step("wait "+a.choose(pauses), "")
	}
}
