package bindcar

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Defaults of the SOA, in seconds.
const (
	defaultRefresh  = 3600
	defaultRetry    = 600
	defaultExpire   = 604800
	defaultNegative = 86400
)

// maxTTL is the largest TTL (RFC 2181 §8).
const maxTTL = 1<<31 - 1

// A draft is the content of a new zone while it is put together.
type draft struct {
	zone zoneName
	ttl  uint32
	sets map[rr.Key]rr.Set
}

// zoneFile is the master file of a new zone. What BIND would refuse, or silently leave out, is refused here (400), and
// every value is parsed and written anew, so nothing that a caller writes gets into the file as it is.
func zoneFile(zone zoneName, c ZoneConfig, now time.Time) (string, error) {
	d := draft{zone: zone, ttl: c.TTL, sets: map[rr.Key]rr.Set{}}
	soa, err := d.soa(c, now)
	if err == nil {
		err = d.servers(c)
	}
	if err == nil {
		err = d.records(c.Records)
	}
	for key, set := range d.sets {
		d.sets[key] = rr.NewSet(key, set.TTL, set.Data...)
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return "", invalid("%v", err)
	}
	return d.text(soa), nil
}

func (d *draft) soa(c ZoneConfig, now time.Time) (rr.SOA, error) {
	s := rr.SOA{
		TTL: c.TTL, Serial: or(c.SOA.Serial, today(now)), Refresh: or(c.SOA.Refresh, defaultRefresh),
		Retry:  or(c.SOA.Retry, defaultRetry),
		Expire: or(c.SOA.Expire, defaultExpire), Minimum: or(c.SOA.NegativeTTL, defaultNegative),
	}
	var err error
	if s.MName, err = d.zone.host(c.SOA.PrimaryNS); err != nil {
		return s, fmt.Errorf("soa.primaryNs: %w", err)
	}
	if s.RName, err = d.zone.host(c.SOA.AdminEmail); err != nil || strings.Contains(c.SOA.AdminEmail, "@") {
		return s, fmt.Errorf(
			"soa.adminEmail: %s is not a mailbox in the form of a name, such as admin.example.com. for admin@example.com",
			clip(c.SOA.AdminEmail))
	}
	for _, v := range []uint32{s.TTL, s.Refresh, s.Retry, s.Expire, s.Minimum} {
		if v > maxTTL {
			return s, fmt.Errorf("%d seconds are more than %d (RFC 2181 §8)", v, maxTTL)
		}
	}
	return s, nil
}

func or(given *uint32, otherwise uint32) uint32 {
	if given != nil {
		return *given
	}
	return otherwise
}

// today is the first serial of a day, YYYYMMDD01.
func today(now time.Time) uint32 {
	y, m, d := now.UTC().Date()
	return uint32(y)*1000000 + uint32(m)*10000 + uint32(d)*100 + 1
}

// servers adds the apex NS and the addresses of hosts. Addresses of hosts outside the zone have no place in it: BIND
// would leave them out too.
func (d *draft) servers(c ZoneConfig) error {
	for i, s := range c.NameServers {
		host, err := d.zone.host(s)
		if err != nil {
			return fmt.Errorf("nameServers[%d]: %w", i, err)
		}
		d.add(rr.Key{Name: d.zone.name, Type: rr.TypeNS}, d.ttl, host.String())
	}
	addresses := map[string][]string{}
	for host, ip := range c.NameServerIPs {
		addresses[host] = append(addresses[host], ip)
	}
	for host, ips := range c.NameServerAddresses {
		addresses[host] = append(addresses[host], ips...)
	}
	for _, s := range slices.Sorted(maps.Keys(addresses)) {
		host, err := d.zone.host(s)
		if err != nil {
			return fmt.Errorf("nameServerIps: %w", err)
		}
		for _, text := range addresses[s] {
			ip, err := netip.ParseAddr(text)
			if err != nil || ip.Zone() != "" {
				return fmt.Errorf("nameServerIps: the address %s of %s is not an IP address", clip(text), clip(s))
			}
			typ := rr.TypeAAAA
			if ip.Is4() {
				typ = rr.TypeA
			}
			if host.Under(d.zone.name) {
				d.add(rr.Key{Name: host, Type: typ}, d.ttl, ip.String())
			}
		}
	}
	return nil
}

func (d *draft) records(all []Record) error {
	for i, r := range all {
		if err := d.record(r); err != nil {
			return fmt.Errorf("records[%d]: %w", i, err)
		}
	}
	return nil
}

func (d *draft) record(r Record) error {
	key, data, err := readRecord(d.zone, recordText{r.Name, r.Type, r.Value, r.Priority}, false)
	if err != nil {
		return err
	}
	ttl := or(r.TTL, d.ttl)
	if ttl > maxTTL {
		return fmt.Errorf("the TTL %d is more than %d (RFC 2181 §8)", ttl, maxTTL)
	}
	d.add(key, ttl, data)
	return nil
}

// add puts a record into its set, which has the TTL of its first. The set is put in order in the end.
func (d *draft) add(key rr.Key, ttl uint32, data string) {
	set, ok := d.sets[key]
	if !ok {
		set = rr.Set{Name: key.Name, Type: key.Type, TTL: ttl}
	}
	set.Data = append(set.Data, data)
	d.sets[key] = set
}

// check refuses what BIND does not load.
func (d *draft) check() error {
	has := func(k rr.Key) bool { _, ok := d.sets[k]; return ok }
	servers, ok := d.sets[rr.Key{Name: d.zone.name, Type: rr.TypeNS}]
	if !ok {
		return fmt.Errorf("nameServers: the zone %s needs a name server", d.zone.given)
	}
	for _, s := range servers.Data {
		host, err := dnsname.Parse(s)
		if err != nil {
			return err
		}
		if why := rr.BadServer(d.zone.name, host, has); why != "" {
			return fmt.Errorf("nameServers: %s: %s", host, why)
		}
		if rr.LacksAddress(d.zone.name, host, has) {
			return fmt.Errorf("nameServers: %s is in the zone and has no address; give one in nameServerIps", host)
		}
	}
	types := map[dnsname.Name]int{}
	for k := range d.sets {
		types[k.Name]++
	}
	for k, set := range d.sets {
		others := types[k.Name] - 1
		if k.Name == d.zone.name {
			others++ // the SOA
		}
		if k.Type.Exclusive() && others > 0 {
			return fmt.Errorf("records: %s has %s beside other records (RFC 1034 §3.6.2)", k.Name, k.Type)
		}
		if k.Type.Singleton() && len(set.Data) > 1 {
			return fmt.Errorf("records: %s has %d records of the type %s, of which there can be one", k.Name, len(set.Data),
				k.Type)
		}
	}
	return nil
}

// text writes the records in canonical order, each with its TTL, all names absolute.
func (d *draft) text(soa rr.SOA) string {
	var b strings.Builder
	b.Grow(128 * (len(d.sets) + 1))
	fmt.Fprintf(&b, "$TTL %d\n%s\t%d\tIN\tSOA\t%s\n", d.ttl, d.zone.name, soa.TTL, soa.Data())
	keys := slices.SortedFunc(maps.Keys(d.sets), rr.Key.Compare)
	for _, k := range keys {
		set := d.sets[k]
		for _, data := range set.Data {
			b.WriteString(k.Name.String())
			b.WriteByte('\t')
			b.WriteString(strconv.FormatUint(uint64(set.TTL), 10))
			b.WriteString("\tIN\t" + k.Type.String() + "\t" + data + "\n")
		}
	}
	return b.String()
}
