package sources

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Keep adds to the wish what the object was last known to have at names that it asks for, and for which it has no
// address now: a status that is empty for a while says nothing about where people are to go. before are the Endpoints
// of the wish that Keep returned last. It tells which names these are.
func (w *Wish) Keep(before []Endpoint) {
	has := map[origin]bool{}
	for _, e := range w.Endpoints {
		has[origin{e.Host, e.From}] = true
	}
	kept := map[string]bool{}
	keep := func(counts func(origin) bool) {
		for _, e := range before {
			if counts(origin{e.Host, e.From}) {
				w.add(e)
				kept[e.Host] = true
			}
		}
	}
	keep(func(at origin) bool {
		_, asked := w.asked[at]
		return !has[at] && (asked || w.mayAsk(at.host, func(from string) bool { return from == at.from }))
	})
	asked, leads := map[string]bool{}, map[string]bool{}
	for at := range w.asked {
		asked[at.host] = true
	}
	for _, e := range w.Endpoints {
		leads[e.Host] = true
	}
	keep(func(at origin) bool { // at a Gateway that the route has left for one without an address
		return !leads[at.host] && (asked[at.host] || w.mayAsk(at.host, func(string) bool { return true }))
	})
	if len(kept) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(kept))
	w.note(AddressLost, "has no address for %s at the moment; the records stay as they are until it has one, or no "+
		"longer asks for the name", strings.Join(names[:min(len(names), zone.MaxNotes)], ", "))
}

// mayAsk reports whether a name may be one that a route asks for by a wildcard, of Gateways that nobody knows.
func (w *Wish) mayAsk(host string, of func(from string) bool) bool {
	for asked, certain := range w.asked {
		if !certain && of(asked.from) && (asked.host == "" || within(host, asked.host)) {
			return true
		}
	}
	return false
}

// Lost returns the names that the object asks for and for which it has no address: what was there before another
// operator knows only, or the zones.
func (w *Wish) Lost() []string { return slices.Sorted(maps.Keys(w.lost())) }

// lost returns those names, each with what is to have an address for it: of several the first by its name.
func (w *Wish) lost() map[string]string {
	has := map[origin]bool{}
	for _, e := range w.Endpoints {
		has[origin{e.Host, e.From}] = true
	}
	out := map[string]string{}
	for at := range w.asked {
		if has[at] || at.host == "" {
			continue
		}
		if from, is := out[at.host]; !is || at.from < from {
			out[at.host] = at.from
		}
	}
	return out
}

// LostBy returns the names for which objects have no address, as they write them.
func LostBy(wishes []*Wish) map[dnsname.Name]string {
	lost := map[dnsname.Name]string{}
	for _, w := range wishes {
		for _, host := range w.Lost() {
			if name, err := dnsname.Parse(host + "."); err == nil {
				lost[name] = host
			}
		}
	}
	return lost
}

// RestoreAll adds to wishes what the zones say that there was, by host, at names that their objects have lost. Where
// several ask for a name, the zones do not say who had what: an object is given what no other one has there now, so
// that what the others give up goes, or all where that is nothing.
func RestoreAll(wishes []*Wish, published map[string][]rr.Set) {
	others := map[rr.Key][]string{}
	for _, w := range wishes {
		for _, c := range w.Claims() {
			at := rr.Key{Name: c.Where.Name, Type: c.Type}
			others[at] = append(others[at], c.Data...)
		}
	}
	for _, w := range wishes {
		for host, from := range w.lost() {
			for _, set := range published[host] {
				set = set.But(others[set.Key()])
				ttl := set.TTL
				w.add(Endpoint{Host: host, Type: set.Type, Targets: set.Data, TTL: &ttl, From: from})
			}
		}
	}
}

// Unaddressed is the verdict about a name for which an object has no address.
func Unaddressed(id zone.ID, name string) zone.Verdict {
	at, _ := dnsname.Parse(name + ".") // one that cannot be read has no name
	return zone.Verdict{Reason: AddressLost, Name: at, Message: fmt.Sprintf(
		"%s asks for %s but has no address for it: its status, or that of its Gateway, has none, or it is not accepted. "+
			"Its published records stay. Wait for an address, or set one with the annotation %s.",
		id, name, Prefix+targetKey)}
}
