package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

const (
	zoneName = "bench.example."
	soaData  = "ns1.example.net. root.bench.example. 1 7200 3600 604800 300"
)

func hostName(i int) string { return fmt.Sprintf("host-%d.%s", i, zoneName) }

// writeZone writes a master file: hosts with addresses of both kinds, a wildcard for each hundred of them, and as many
// zones below it that others have, with name servers in them.
func writeZone(dir string, hosts int) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s 3600 IN SOA %s\n%[1]s 3600 IN NS ns1.example.net.\n", zoneName, soaData)
	for i := range hosts {
		fmt.Fprintf(&b, "%s 300 IN A %s\n%[1]s 300 IN AAAA 2001:db8::%[3]x:%[4]x\n", hostName(i), figures.Address(i), i>>16,
			i&0xffff)
	}
	for i := range hosts/100 + 1 {
		fmt.Fprintf(&b, "*.wild-%d.%s 300 IN A %s\n", i, zoneName, figures.Address(i))
		fmt.Fprintf(&b, "cut-%d.%s 300 IN NS ns.cut-%[1]d.%[2]s\nns.cut-%[1]d.%[2]s 300 IN A %[3]s\n", i, zoneName,
			figures.Address(i))
	}
	file := filepath.Join(dir, "zone")
	return file, os.WriteFile(file, []byte(b.String()), 0o644)
}

// question returns the i-th question: of ten, six are for addresses that exist, and one each for a type that does not,
// a name that does not, a name that a wildcard covers, and a name in another zone. They go through the hosts in no
// order.
func question(i, hosts int) string {
	host := (i/10*7919 + i%10*1009) % hosts
	part := host / 100
	switch i % 10 {
	case 0, 1, 2, 3:
		return hostName(host) + " A"
	case 4, 5:
		return hostName(host) + " AAAA"
	case 6:
		return hostName(host) + " MX"
	case 7:
		return fmt.Sprintf("no-%d.%s A", host, zoneName)
	case 8:
		return fmt.Sprintf("x%d.wild-%d.%s A", host, part, zoneName)
	default:
		return fmt.Sprintf("www%d.cut-%d.%s A", host, part, zoneName)
	}
}

// writeQuestions writes ten for each host, in dnsperf's form.
func writeQuestions(dir string, hosts int) (string, error) {
	var b strings.Builder
	for i := range 10 * hosts {
		fmt.Fprintln(&b, question(i, hosts))
	}
	file := filepath.Join(dir, "questions")
	return file, os.WriteFile(file, []byte(b.String()), 0o644)
}

// hosts makes a zone of so many addresses, each at a name of its own.
func hosts(n int) (batch backend.Batch, err error) {
	soa, err := rr.ParseSOA(soaData)
	if err != nil {
		return batch, err
	}
	soa.TTL = 3600
	apex, err := dnsname.Parse(zoneName)
	if err != nil {
		return batch, err
	}
	key := rr.Key{Name: apex, Type: rr.TypeNS}
	batch = backend.Batch{Create: true, SOA: &soa,
		Changes: []plan.Change{{Key: key, Want: rr.NewSet(key, 3600, "ns1.example.net.")}}}
	for i := range n {
		c, err := changeTo(i, figures.Address(i))
		if err != nil {
			return batch, err
		}
		batch.Changes = append(batch.Changes, c)
	}
	return batch, nil
}

// changeTo gives a host an address.
func changeTo(host int, address string) (plan.Change, error) {
	name, err := dnsname.Parse(hostName(host))
	key := rr.Key{Name: name, Type: rr.TypeA}
	return plan.Change{Key: key, Want: rr.NewSet(key, 300, address)}, err
}
