package sim

import (
	"fmt"
	"strconv"
)

// An accountLife is about DNSRecords of Gardener, at two servers.
type accountLife struct {
	*author
	records []string       // that there are, as namespace/name
	server  map[string]int // of a record, which it keeps
	foul    [2]bool        // whether a server is down or knows another key than the Secrets
	keys    [2]int         // versions that servers know
}

func newAccountLife(a *author) *accountLife { return &accountLife{author: a, server: map[string]int{}} }

// prepare makes two servers, and in each namespace Secrets for both.
func (a *accountLife) prepare() {
	for i := range 2 {
		a.step("server "+a.address(i)+" "+key(0)+" "+a.zone(i), "foreign."+a.zone(i)+" A 198.51.100.9")
		a.secret(i)
	}
}

func (a *accountLife) address(server int) string {
	return "192.0.2." + strconv.Itoa(server+101) + ":53"
}

func (a *accountLife) zone(server int) string {
	return []string{"shoot.example.com.", "shoot.example.org."}[server]
}

// secret puts the key that a server knows in the Secrets.
func (a *accountLife) secret(server int) {
	for _, namespace := range places {
		a.step("apply", fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: account-%d, namespace: %s}
data: {Server: %s, TSIGKeyName: %s, TSIGSecret: %s}`, server, namespace, encoded(a.address(server)), encoded("zonefold."), encoded(key(a.keys[server]))))
	}
}

// turn is one thing that happens.
func (a *accountLife) turn() {
	switch a.IntN(9) {
	case 0:
		a.drop(&a.records, "DNSRecord.extensions.gardener.cloud")
	case 1, 2:
		if len(a.records) > 0 {
			name := a.choose(a.records)
			a.record(name)
			a.ask(name, "reconcile")
		}
	case 3:
		a.spoil(a.IntN(2))
	case 4:
		if len(a.records) > 0 {
			a.ask(a.choose(a.records), a.choose([]string{"reconcile", "restore"}))
		}
	case 5: // what is migrated before it was created never is; what is deleted before it is restored has nothing removed
		if len(a.records) > 0 {
			name := a.choose(a.records)
			a.calm()
			a.ask(name, "migrate")
			a.step("wait "+a.choose(pauses), "")
			a.ask(name, "restore")
			a.calm()
		}
	default:
		name := a.name()
		a.server[name] = a.IntN(2)
		a.records = append(a.records, name)
		a.record(name)
	}
}

// record makes a DNSRecord, or has it say something else. Its set is its own: of two that ask for one set, the last has
// it.
func (a *accountLife) record(name string) {
	at := a.server[name]
	values := []string{"[192.0.2." + strconv.Itoa(10+a.IntN(3)) + "]", "[192.0.2.20, 192.0.2.21], ttl: 60"}
	a.step("apply", fmt.Sprintf(`apiVersion: extensions.gardener.cloud/v1alpha1
kind: DNSRecord
metadata: {name: %[1]s, namespace: %[2]s}
spec: {type: rfc2136, secretRef: {name: account-%[3]d}, recordType: A, name: "%[1]s.%[4]s", values: %[5]s}`,
		name[2:], name[:1], at, a.zone(at)[:len(a.zone(at))-1], a.choose(values)))
}

// ask has a DNSRecord be looked at.
func (a *accountLife) ask(name, operation string) {
	a.step("annotate DNSRecord.extensions.gardener.cloud "+name+" gardener.cloud/operation="+operation, "")
}

// spoil has a server refuse, or what was wrong with it end.
func (a *accountLife) spoil(server int) {
	switch {
	case a.foul[server]:
		a.mendOne(server)
		return
	case a.IntN(4) == 0:
		for _, namespace := range places {
			a.step("delete Secret "+namespace+"/account-"+strconv.Itoa(server), "")
		}
	case a.IntN(2) == 0:
		a.step("down "+a.address(server), "")
	default:
		a.keys[server]++
		a.step("key "+a.address(server)+" "+key(a.keys[server]), "")
	}
	a.foul[server] = true
}

func (a *accountLife) mendOne(server int) {
	if a.foul[server] {
		a.foul[server] = false
		a.mended(func() {
			a.step("up "+a.address(server), "")
			a.secret(server)
		})
	}
}

// calm has what was wrong end, and all be done.
func (a *accountLife) calm() {
	a.ease()
	a.mendOne(0)
	a.mendOne(1)
	a.rest()
}

// mend has all be calm, and looked at once more: whoever writes DNSRecords does so too.
func (a *accountLife) mend() {
	for _, operation := range []string{"restore", "reconcile"} { // what was migrated is restored first
		a.calm()
		for _, name := range a.records {
			a.ask(name, operation)
		}
	}
	a.calm()
}

func (a *accountLife) deleteAll() { a.dropAll(&a.records, "DNSRecord.extensions.gardener.cloud") }
