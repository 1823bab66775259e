package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// zones are there all the time. passing comes and goes.
var zones = []string{"one.example.", "two.example.", "three.example."}

const passing = "passing.example."

// A constant is a record that every zone has from the beginning to the end. In its spec and data, ~ is the zone.
type constant struct {
	kind   string
	name   string
	rrtype uint16
	spec   map[string]any
	data   string
}

var constants = []constant{
	{"ARecord", "www", dns.TypeA, map[string]any{"ipv4Addresses": []any{"192.0.2.1", "192.0.2.2"}},
		"192.0.2.1, 192.0.2.2"},
	{"TXTRecord", "@", dns.TypeTXT, map[string]any{"text": []any{"always", "here"}}, `"always" "here"`},
	{"CNAMERecord", "alias", dns.TypeCNAME, map[string]any{"target": "www.~"}, "www.~"},
	{"MXRecord", "@", dns.TypeMX, map[string]any{"priority": int64(10), "mailServer": "mail.~"}, "10 mail.~"},
	{"AAAARecord", "mail", dns.TypeAAAA, map[string]any{"ipv6Address": "2001:db8::1"}, "2001:db8::1"},
	{"SRVRecord", "_dns._tcp", dns.TypeSRV, map[string]any{"priority": int64(1), "weight": int64(2), "port": int64(53),
		"target": "www.~"}, "1 2 53 www.~"},
	{"ARecord", "*.any", dns.TypeA, map[string]any{"ipv4Address": "192.0.2.3"}, "192.0.2.3"},
}

// A subject is a record that changes.
type subject struct {
	kind, zone, name string
	rrtype           uint16
}

func (s subject) question() question { return question{s.name + "." + s.zone, s.rrtype} }

// content is one that no record has had before.
func (s subject) content(n uint32) (spec map[string]any, data string) {
	v4 := func(last byte) string { return netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), last}).String() }
	switch s.kind {
	case "ARecord":
		addresses := []any{v4(1), v4(2), v4(3)}[:1+n%3]
		var texts []string
		for _, a := range addresses {
			texts = append(texts, a.(string))
		}
		return map[string]any{"ipv4Addresses": addresses}, strings.Join(texts, ", ")
	case "AAAARecord":
		address := fmt.Sprintf("2001:db8::1:%x", n)
		return map[string]any{"ipv6Address": address}, netip.MustParseAddr(address).String()
	case "TXTRecord":
		return map[string]any{"text": []any{fmt.Sprintf("version %d", n)}}, fmt.Sprintf("%q", fmt.Sprintf("version %d", n))
	default:
		return map[string]any{"priority": int64(n % 100), "mailServer": fmt.Sprintf("m%d.%s", n, s.zone)}, fmt.Sprintf(
			"%d m%d.%s", n%100, n, s.zone)
	}
}

const (
	recordTTL = 30
	zoneTTL   = 60
)

// A load changes records all the time.
type load struct {
	*field
	model    *model
	random   *rand.Rand
	subjects []subject
	there    map[string]bool // the passing zone, and subjects by name
	n        uint32          // contents so far
	retry    uint32          // of the SOA of the second zone
}

func newLoad(f *field, m *model, random *rand.Rand) *load {
	l := &load{field: f, model: m, random: random, there: map[string]bool{}}
	kinds := []subject{{kind: "ARecord", rrtype: dns.TypeA}, {kind: "AAAARecord", rrtype: dns.TypeAAAA},
		{kind: "TXTRecord", rrtype: dns.TypeTXT}, {kind: "MXRecord", rrtype: dns.TypeMX}}
	for i := range 30 {
		s := kinds[i%len(kinds)]
		s.zone, s.name = zones[i%len(zones)], fmt.Sprintf("r%d", i)
		l.subjects = append(l.subjects, s)
	}
	return l
}

// begin makes the zones with their constant records, and some of the others. The records of the passing zone are there
// long before it: watches of two kinds may bring the later one of two objects first, by as long as client-go waits with
// a watch that the API server has refused.
func (l *load) begin(ctx context.Context) error {
	if err := l.putConstants(ctx, passing, constants[:2]); err != nil {
		return err
	}
	for _, zone := range zones {
		if err := l.putZone(ctx, zone, 600); err != nil {
			return err
		}
		if err := l.putConstants(ctx, zone, constants); err != nil {
			return err
		}
	}
	for _, s := range l.subjects[:len(l.subjects)/2] {
		if err := l.change(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func objectName(zone string) string { return strings.TrimSuffix(zone, ".example.") }

// putZone has a zone whose SOA differs by one number.
func (l *load) putZone(ctx context.Context, zone string, retry uint32) error {
	l.model.want(question{zone, dns.TypeSOA}, fmt.Sprintf("%d ns1.%s admin.%s 0 3600 %d 604800 60", zoneTTL, zone, zone,
		retry))
	if l.model.now(question{zone, dns.TypeNS}) == nothing {
		l.model.want(question{zone, dns.TypeNS}, fmt.Sprintf("%d ns1.%s, ns2.%s", zoneTTL, zone, zone))
		l.model.want(question{"ns1." + zone, dns.TypeA}, fmt.Sprintf("%d 192.0.2.53", zoneTTL))
		l.model.want(question{"ns2." + zone, dns.TypeA}, fmt.Sprintf("%d 192.0.2.54", zoneTTL))
	}
	return l.put(ctx, object("DNSZone", objectName(zone), map[string]any{
		"zoneName": strings.TrimSuffix(zone, "."), "clusterRef": fleet, "ttl": int64(zoneTTL),
		"soa": map[string]any{
			"primaryNameServer": "ns1." + zone, "adminEmail": "admin." + zone, "ttl": int64(zoneTTL),
			"refresh": int64(3600), "retry": int64(retry), "expire": int64(604800), "negativeTtl": int64(60),
		},
		"nameServers": []any{
			map[string]any{"hostname": "ns1." + zone, "ipv4Address": "192.0.2.53"}, map[string]any{"hostname": "ns2." + zone,
				"ipv4Address": "192.0.2.54"},
		},
	}))
}

func (l *load) putConstants(ctx context.Context, zone string, all []constant) error {
	for i, c := range all {
		name := strings.TrimPrefix(c.name+"."+zone, "@.")
		l.model.want(question{name, c.rrtype}, fmt.Sprintf("%d %s", recordTTL, strings.ReplaceAll(c.data, "~", zone)))
		spec := map[string]any{"zone": zone, "name": c.name, "ttl": int64(recordTTL)}
		for field, value := range c.spec {
			if text, ok := value.(string); ok {
				value = strings.ReplaceAll(text, "~", zone)
			}
			spec[field] = value
		}
		if err := l.put(ctx, object(c.kind, fmt.Sprintf("always-%d-%s", i, objectName(zone)), spec)); err != nil {
			return err
		}
	}
	return nil
}

// run changes one thing after the other until ctx ends. What it has begun it brings to an end.
func (l *load) run(ctx context.Context) (changes int, err error) {
	for pause(ctx, time.Duration(l.random.IntN(120))*time.Millisecond) {
		s := l.subjects[l.random.IntN(len(l.subjects))]
		switch n := l.random.IntN(100); {
		case n < 2:
			err = l.pass(l.ctx)
		case n < 4:
			l.retry++
			err = l.putZone(l.ctx, zones[1], 600+l.retry)
		case n < 25 && l.there[s.name]:
			l.there[s.name] = false
			l.model.want(s.question(), nothing)
			err = l.take(l.ctx, object(s.kind, s.name, nil))
		default:
			err = l.change(l.ctx, s)
		}
		if changes++; err != nil {
			return changes, fmt.Errorf("changing %s: %w", s.question(), err)
		}
	}
	return changes, nil
}

// change gives a record a content that it has not had.
func (l *load) change(ctx context.Context, s subject) error {
	l.n++
	spec, data := s.content(l.n)
	spec["zone"], spec["name"], spec["ttl"] = s.zone, s.name, int64(recordTTL)
	if !l.there[s.name] && l.model.now(s.question()) == nothing {
		l.model.want(s.question(), nothing)
	}
	l.there[s.name] = true
	l.model.want(s.question(), fmt.Sprintf("%d %s", recordTTL, data))
	return l.put(ctx, object(s.kind, s.name, spec))
}

// pass makes the passing zone, whose records are there, or deletes it.
func (l *load) pass(ctx context.Context) error {
	o := object("DNSZone", objectName(passing), nil)
	if l.there[passing] {
		l.there[passing] = false
		return l.take(ctx, o)
	}
	if err := l.client.Get(ctx, client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
		return nil // the servers are still to lose it, or nobody knows
	}
	l.there[passing] = true
	return l.putZone(ctx, passing, 600)
}
