package sim

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// What random lives are about.
var (
	domains  = []string{"example.org.", "example.net.", "team-b.example.org."}
	places   = []string{"a", "b"}                         // namespaces
	hosts    = []string{"", "www.", "b.", "x.b.", "*.b."} // before a domain
	pauses   = []string{"0s", "10ms", "100ms", "1s", "5s", "30s"}
	backings = []string{"[{name: one}]", "[{name: two}]", "[{name: one}, {name: two}]"}
)

// An author writes a random life.
type author struct {
	*rand.Rand
	steps   []Step
	made    int            // objects: no name is used twice, as what becomes of an object that is being deleted depends on when it is written
	zones   []string       // that there are, as namespace/name
	records []string       // the same
	domain  map[string]int // of a Zone, which it keeps
	foul    [2]bool        // whether a server is down or knows another key than the Secret
	kept    bool           // yesterday's content
}

// RandomLife writes a life with about so many steps. The same random numbers write the same life.
func RandomLife(r *rand.Rand, steps int) Life {
	a := &author{Rand: r, domain: map[string]int{}}
	a.begin()
	for range steps {
		a.turn()
	}
	a.mend()
	if a.IntN(3) == 0 {
		a.deleteAll()
	}
	return Life{Name: "People and servers do what comes to their minds.", Steps: a.steps}
}

// RandomFault chooses one of the faults that a life with so many effects may meet.
func RandomFault(r *rand.Rand, effects int) Fault {
	kinds := []Kind{CrashBefore, CrashAfter, Pause}
	return Fault{Kind: kinds[r.IntN(len(kinds))], At: 1 + r.IntN(max(effects, 1))}
}

func (a *author) step(text, data string) {
	if data != "" {
		data += "\n"
	}
	a.steps = append(a.steps, Step{text, []byte(data)})
}

func (a *author) choose(from []string) string { return from[a.IntN(len(from))] }

// begin makes two servers that have all domains, a Backend for each, an operator, and Records that no domain is served without.
func (a *author) begin() {
	for i, foreign := range []string{"Delete", "Keep"} {
		for _, d := range domains {
			records := ""
			if foreign == "Keep" {
				records = "foreign." + d + " A 198.51.100.9"
			}
			a.step("server "+address(i)+" "+key(0)+" "+d, records)
		}
		a.secret(i, 0)
		a.step("apply", fmt.Sprintf(`apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: %s}
spec:
  default: %t
  foreign: %s
  rfc2136: {servers: ["%s"], tsig: {keyName: zonefold., secretRef: {name: tsig-%s, key: key}}}`, backendName(i), i == 0, foreign, address(i), backendName(i)))
	}
	a.step("begin", "")
	for i, d := range domains {
		a.step("apply", fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: ns-%d, namespace: a}
spec: {domainName: %s, type: NS, rdata: ns.example.com.}`, i, d))
		a.records = append(a.records, "a/ns-"+strconv.Itoa(i))
	}
	a.newZone(0)
}

func address(server int) string { return "192.0.2." + strconv.Itoa(server+1) + ":53" }

func backendName(server int) string { return []string{"one", "two"}[server] }

// key is a version of a TSIG key.
func key(version int) string {
	return base64.StdEncoding.EncodeToString([]byte("a secret of version " + strconv.Itoa(version)))
}

// secret puts a server's key in its Backend's Secret.
func (a *author) secret(server, version int) {
	a.step("apply", fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: tsig-%s, namespace: zonefold-system}
data: {key: %s}`, backendName(server), base64.StdEncoding.EncodeToString([]byte(key(version)))))
}

// turn is one thing that happens, and a pause.
func (a *author) turn() {
	switch a.IntN(12) {
	case 0:
		a.newZone(a.IntN(len(domains)))
	case 1:
		if len(a.zones) > 0 {
			name := a.choose(a.zones)
			a.zone(name, a.domain[name])
		}
	case 2:
		a.drop(&a.zones, "Zone")
	case 3: // a Zone is renamed
		if name := a.drop(&a.zones, "Zone"); name != "" {
			a.newZone(a.domain[name])
		}
	case 4:
		a.drop(&a.records, "Record")
	case 5, 6: // a Record is changed
		if len(a.records) > 0 {
			a.record(a.choose(a.records))
		}
	case 7:
		a.trouble(a.IntN(2))
	case 8:
		a.yesterday()
	default:
		a.newRecord()
	}
	a.step("wait "+a.choose(pauses), "")
}

func (a *author) name() string {
	a.made++
	return a.choose(places) + "/n" + strconv.Itoa(a.made)
}

func (a *author) newZone(domain int) {
	name := a.name()
	a.zones, a.domain[name] = append(a.zones, name), domain
	a.zone(name, domain)
}

func (a *author) zone(name string, domain int) {
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
  - {namespace: b, records: [{pattern: "%s"}], zones: ["team-b.@"]}`, name[2:], name[:1], domains[domain], a.choose(backings), at))
}

func (a *author) newRecord() {
	name := a.name()
	a.records = append(a.records, name)
	a.record(name)
}

func (a *author) record(name string) {
	data := []string{
		"type: A, rdata: 192.0.2." + strconv.Itoa(10+a.IntN(3)), "type: A, rdata: 192.0.2.20, ttl: 90", `type: AAAA, rdata: "2001:db8::1"`,
		"type: TXT, rdata: '\"t" + strconv.Itoa(a.IntN(3)) + "\"'", "type: MX, rdata: 10 mail.example.com.",
	}
	a.step("apply", fmt.Sprintf(`apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {name: %s, namespace: %s}
spec: {domainName: "%s", %s}`, name[2:], name[:1], a.choose(hosts)+a.choose(domains), a.choose(data)))
}

// drop deletes one of some objects, and returns its name.
func (a *author) drop(from *[]string, kind string) string {
	if len(*from) == 0 {
		return ""
	}
	i := a.IntN(len(*from))
	name := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	a.step("delete "+kind+" "+name, "")
	return name
}

// trouble has a server refuse, or what was wrong with it end.
func (a *author) trouble(server int) {
	switch {
	case a.foul[server]:
		a.mendOne(server)
	case a.IntN(2) == 0:
		a.foul[server] = true
		a.step("down "+address(server), "")
	default:
		a.foul[server] = true
		a.step("key "+address(server)+" "+key(1), "")
	}
}

func (a *author) mendOne(server int) {
	if a.foul[server] {
		a.foul[server] = false
		a.step("up "+address(server), "")
		a.step("key "+address(server)+" "+key(2), "")
		a.secret(server, 2)
	}
}

func (a *author) mend() {
	a.mendOne(0)
	a.mendOne(1)
}

// yesterday has a server keep what it has, or come back with it: at a calm moment, as what is under way then goes one way or the other.
func (a *author) yesterday() {
	a.mend()
	a.step("wait 5m", "")
	if !a.kept {
		a.kept = true
		a.step("keep "+address(0)+" "+domains[0], "")
		return
	}
	a.step("lose "+address(0)+" "+domains[0], "")
	a.step("wait "+auditAfter.String(), "")
}

func (a *author) deleteAll() {
	for len(a.records) > 0 || len(a.zones) > 0 {
		if from, kind := &a.records, "Record"; len(a.records) > 0 && (len(a.zones) == 0 || a.IntN(2) == 0) {
			a.drop(from, kind)
		} else {
			a.drop(&a.zones, "Zone")
		}
		a.step("wait "+a.choose(pauses), "")
	}
}
