package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// What lives of fleets are about.
var (
	fleetDomains = []string{"example.com", "other.org"}
	fleetHosts   = []string{"@", "www", "b", "x.b", "*"}
	podTroubles  = []string{"kill", "evict", "crash", "empty", "hang", "mute"}
)

// A fleetLife is about zones and records on the servers of a cluster, and on one more.
type fleetLife struct {
	*author
	zones   []string          // that there are, as namespace/name
	records map[string]string // that there are, and their kinds
	order   []string          // the same, in order
	domain  map[string]string // of a zone, which no other has
	servers []string          // that the cluster has
	alone   string            // the server that is no child of a cluster; "": there is none
	alones  int               // how many of those there were: no name is used twice
	volume  bool              // it has one
	hurt    map[string]bool   // servers that do not answer
}

func newFleetLife(a *author) *fleetLife {
	return &fleetLife{author: a, records: map[string]string{}, domain: map[string]string{}, hurt: map[string]bool{}}
}

// prepare makes a cluster with a zone, and one that has no servers but those that people make.
func (a *fleetLife) prepare() {
	a.step("apply", "{apiVersion: bindy.firestoned.io/v1beta1, kind: Bind9Cluster, metadata: {name: other, namespace: "+
		"a}, spec: {primaryReplicas: 0}}")
	a.volume = a.IntN(2) == 0
	a.cluster(1, a.IntN(2))
	a.newZone()
	a.newRecord()
	a.newRecord()
}

func (a *fleetLife) cluster(primaries, secondaries int) {
	a.servers = []string{"a/dns-primary-0", "a/dns-primary-1", "a/dns-secondary-0"}
	if secondaries == 0 {
		a.servers = a.servers[:2]
	}
	if primaries == 1 {
		a.servers = slices.Delete(a.servers, 1, 2)
	}
	a.step("apply", fmt.Sprintf(`apiVersion: bindy.firestoned.io/v1beta1
kind: Bind9Cluster
metadata: {name: dns, namespace: a}
spec: {primaryReplicas: %d, secondaryReplicas: %d, version: "%s"}`, primaries, secondaries, a.choose([]string{"9.18", "9.20"})))
}

// turn is one thing that happens.
func (a *fleetLife) turn() {
	switch a.IntN(14) {
	case 0:
		a.cluster(1+a.IntN(2), a.IntN(2))
	case 1:
		a.server()
	case 2:
		a.newZone()
	case 3:
		a.changeZone()
	case 4:
		if name := a.drop(&a.zones, "DNSZone"); name != "" {
			delete(a.domain, name)
		}
	case 5, 6:
		a.newRecord()
	case 7:
		if len(a.order) > 0 {
			name := a.choose(a.order)
			a.record(name, a.records[name])
		}
	case 8:
		a.dropRecord()
	case 9:
		a.key()
	case 10:
		a.step("slow "+a.choose([]string{"0s", "1m", "5m"}), "")
	default:
		a.spoil()
	}
}

// server makes the server that is no child of the cluster, or has it be another one, or removes it.
func (a *fleetLife) server() {
	if a.alone != "" && a.IntN(3) == 0 {
		a.step("delete Bind9Instance "+a.alone, "")
		a.alone = ""
		return
	}
	if a.alone == "" {
		a.alones++
		a.alone = "a/alone-" + strconv.Itoa(a.alones)
	}
	more := "replicas: " + strconv.Itoa(1+a.IntN(2))
	if a.volume {
		more = "storage: {storageType: persistentVolumeClaim}"
	}
	a.step("apply", fmt.Sprintf(`apiVersion: bindy.firestoned.io/v1beta1
kind: Bind9Instance
metadata: {name: %s, namespace: a, labels: {more: "true"}}
spec: {clusterRef: %s, role: %s, %s}`, a.alone[2:], a.choose([]string{"dns", "dns", "other"}), a.choose([]string{"Primary", "Secondary"}), more))
}

// newZone makes a zone of a domain that has none.
func (a *fleetLife) newZone() {
	for _, d := range fleetDomains {
		taken := false
		for _, other := range a.domain {
			taken = taken || other == d
		}
		if !taken {
			name := "a/" + a.name()[2:]
			a.zones, a.domain[name] = append(a.zones, name), d
			a.zone(name)
			return
		}
	}
	a.changeZone()
}

func (a *fleetLife) changeZone() {
	if len(a.zones) > 0 {
		a.zone(a.choose(a.zones))
	}
}

// zone makes a zone, or has it be on other servers.
func (a *fleetLife) zone(name string) {
	servers := a.choose([]string{"clusterRef: dns", "clusterRef: dns",
		"clusterRef: dns, bind9InstancesFrom: [{selector: {matchLabels: {more: \"true\"}}}]"})
	a.step("apply", fmt.Sprintf(`apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {name: %s, namespace: a}
spec: {zoneName: %s, %s, soa: {primaryNameServer: ns.example.net, adminEmail: admin.example.net, ttl: %s}}`,
		name[2:], a.domain[name], servers, a.choose([]string{"60", "90"})))
}

func (a *fleetLife) newRecord() {
	name, kind := "a/"+a.name()[2:], a.choose([]string{"ARecord", "ARecord", "TXTRecord", "MXRecord", "CNAMERecord"})
	a.order, a.records[name] = append(a.order, name), kind
	a.record(name, kind)
}

// record makes a record, or has it say something else, perhaps in another zone.
func (a *fleetLife) record(name, kind string) {
	data := map[string]string{
		"ARecord": "ipv4: 192.0.2." + strconv.Itoa(1+a.IntN(5)), "TXTRecord": "text: [t" + strconv.Itoa(a.IntN(3)) + "]",
		"MXRecord":    "priority: 10, mailServer: mail" + strconv.Itoa(a.IntN(2)) + ".example.net.",
		"CNAMERecord": "target: www.example.net.",
	}[kind]
	host := a.choose(fleetHosts)
	if kind == "CNAMERecord" && host == "@" {
		host = "c" // the API server takes no other
	}
	a.step("apply", fmt.Sprintf(`apiVersion: bindy.firestoned.io/v1beta1
kind: %s
metadata: {name: %s, namespace: a}
spec: {zone: %s, name: "%s", ttl: 30, %s}`, kind, name[2:], a.choose(fleetDomains), host, data))
}

func (a *fleetLife) dropRecord() {
	if len(a.order) == 0 {
		return
	}
	i := a.IntN(len(a.order))
	name := a.order[i]
	a.order = slices.Delete(a.order, i, i+1)
	a.step("delete "+a.records[name]+" "+name, "")
	delete(a.records, name)
}

// key has a Secret be lost, or have other keys.
func (a *fleetLife) key() {
	a.step("wait 2m", "") // it is there by now
	a.step("lose-key "+a.choose([]string{"a/dns-transfer-key", "a/dns-primary-0-rndc-key"}), "")
}

// spoil has something happen to a pod.
func (a *fleetLife) spoil() {
	server := a.choose(a.servers)
	if a.alone != "" && a.IntN(3) == 0 {
		server = a.alone
	}
	a.step("wait "+a.choose([]string{"0s", "20s"}), "") // it may have begun
	if a.hurt[server] {
		delete(a.hurt, server)
		a.mended(func() { a.step("heal "+server, "") })
		return
	}
	what := a.choose(podTroubles)
	if what == "hang" || what == "mute" {
		a.hurt[server] = true
	}
	a.step(what+" "+server, "")
}

func (a *fleetLife) mend() {
	for _, server := range slices.Sorted(maps.Keys(a.hurt)) {
		a.step("heal "+server, "")
	}
	a.step("slow 0s", "")
}

func (a *fleetLife) deleteAll() {
	for len(a.order) > 0 {
		a.dropRecord()
		a.step("wait "+a.choose(pauses), "")
	}
	a.dropAll(&a.zones, "DNSZone")
	if a.alone != "" {
		a.step("delete Bind9Instance "+a.alone, "")
	}
	a.step("delete Bind9Cluster a/dns", "")
	a.step("delete Bind9Cluster a/other", "")
}
