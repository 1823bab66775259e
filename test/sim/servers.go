package sim

import (
	"errors"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// kinds are the limits of the servers that backends of the product have, as far as their content outlives an operator.
var kinds = map[string]backend.Limits{
	"bind":     {ApexNS: backend.ApexNSRequired},
	"bindcar":  {ApexNS: backend.ApexNSRequired, ListsZones: true, Creates: true, Removes: true, Followed: true},
	"powerdns": {ListsZones: true, Creates: true, Confirms: true},
	"route53":  {SOA: backend.SOAServer, ApexNS: backend.ApexNSServer, Confirms: true, MaxTTL: 1<<31 - 1},
	"cloudflare": {SOA: backend.SOAServer, ApexNS: backend.ApexNSServer, Confirms: true, MinTTL: 60, MaxTTL: 86400,
		Concurrency: 2},
	"webhook": {Atomic: backend.AtomicSet, Read: backend.ReadSet, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer,
		Confirms: true, MinTTL: 1},
	"blind": {Atomic: backend.AtomicSet, Read: backend.ReadNone, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer,
		Confirms: true, MinTTL: 1},
	"extdns": {Atomic: backend.AtomicValue, SOA: backend.SOAServer, ApexNS: backend.ApexNSServer, MinTTL: 1,
		MaxTTL: 1<<31 - 1, Concurrency: 1},
}

// excuse has the serials of a zone that came back begin anew, where no object says that it is delivered.
func (w *World) excuse(s *server, at string, zone dnsname.Name) {
	if !w.delivered()[delivered{at, zone.String()}] {
		s.Excuse(zone)
	}
}

// spoil has something be wrong with a name server, or end.
func (w *World) spoil(s *server, words []string) error {
	switch {
	case words[0] == "forget" && len(words) == 2:
		w.eyes.loses()
		for _, zone := range s.Zones() {
			s.Forget(zone)
			w.excuse(s, words[1], zone)
		}
	case (words[0] == "half" || words[0] == "whole") && len(words) == 2:
		s.SetHalving(words[0] == "half")
	case (words[0] == "refuse" || words[0] == "accept") && len(words) == 3:
		name, err := dnsname.Parse(words[2])
		if err != nil {
			return err
		}
		w.eyes.loses() // refused sets are tried again at an audit
		if s.SetRefused(name, words[0] == "refuse"); words[0] == "refuse" {
			w.eyes.picks(words[1])
		}
	case words[0] == "slow" && len(words) == 3:
		d, err := time.ParseDuration(words[2])
		if err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		s.slow = d
	default:
		return errors.New("there is no such step")
	}
	return nil
}

// restore keeps a zone's content, or puts the kept one in its place.
func (w *World) restore(s *server, words []string) error {
	if len(words) != 3 {
		return errors.New("the zone is missing")
	}
	zone, err := dnsname.Parse(words[2])
	switch {
	case err != nil:
		return err
	case words[0] == "keep":
		s.kept[zone] = s.Copy(zone)
	default:
		s.Lose(zone, s.kept[zone])
		w.excuse(s, words[1], zone)
	}
	return nil
}

// serve makes a name server: its address, its key, a zone of it and, if it is no BIND, its kind.
func (w *World) serve(words []string, records string) error {
	at, key, zone, limits := words[0], words[1], words[2], kinds["bind"]
	if len(words) > 3 {
		var err error
		if limits, err = limitsOf(words[3]); err != nil {
			return err
		}
	}
	name, err := dnsname.Parse(zone)
	if err != nil {
		return err
	}
	return w.serveKind(at, key, name, limits, records)
}

// serveKind makes a name server of some limits.
func (w *World) serveKind(at, key string, name dnsname.Name, limits backend.Limits, records string) error {
	var sets []rr.Set
	for line := range strings.Lines(records) {
		set, err := setOf(strings.Fields(line))
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	if limits.ApexNS == backend.ApexNSServer {
		sets = append(sets, rr.NewSet(rr.Key{Name: name, Type: rr.TypeNS}, 60, "ns.service.example."))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.servers[at]
	if s == nil {
		profile := judged(w.eyes, at, backendtest.Profile{Limits: limits})
		s = &server{Memory: backendtest.NewMemory(profile), key: key, kept: map[dnsname.Name]backendtest.Copy{}}
		w.servers[at] = s
	}
	s.AddZone(name, rr.SOA{TTL: 60, MName: name, RName: name, Serial: 1, Refresh: 3600, Retry: 600, Expire: 86400,
		Minimum: 60}, sets...)
	return nil
}
