package sources

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Reasons of what is told about an object beside the verdicts about its claims.
const (
	AddressLost           zone.Reason = "AddressLost"           // it asks for a name and has no address for it
	InvalidAnnotation     zone.Reason = "InvalidAnnotation"     // a value that cannot be read
	UnsupportedAnnotation zone.Reason = "UnsupportedAnnotation" // one for a provider, with which nothing is done
	TemplateFailed        zone.Reason = "TemplateFailed"        // the template of names does not fit the object
	TooManyNames          zone.Reason = "TooManyNames"          // more sets than one object may ask for
)

// maxSets is how many sets one object may ask for. A DNSEndpoint of the size that an API server takes has fewer.
const maxSets = 16384

// An Endpoint is a set that an object asks for.
type Endpoint struct {
	Host    string // as the object says it, without a final dot
	Type    rr.Type
	Targets []string // addresses, or names; of other types their rdata
	TTL     *uint32  // nil: that of the zone
	From    string   // of a route: the Gateway or ListenerSet that has the addresses
}

// A Wish is what one object asks for by now.
type Wish struct {
	ID        zone.ID
	Object    metav1.Object
	Endpoints []Endpoint
	Notes     []zone.Note

	// asked are the names that it asks for, also those without an address; false: one of a route to a Gateway that nobody
	// knows, whose listeners may narrow it.
	asked map[origin]bool
}

// An origin is a name with what has its addresses.
type origin struct{ host, from string }

// note tells something about the object, of which format is the rest of a sentence.
func (w *Wish) note(reason zone.Reason, format string, args ...any) {
	w.Notes = append(w.Notes, zone.Note{Reason: reason, Message: w.ID.String() + " " + fmt.Sprintf(format, args...) + "."})
}

// ask has the object ask for a name at targets, of which there may be none at the moment.
func (w *Wish) ask(at origin, targets []string, ttl *uint32) {
	w.asked[at] = true
	byType := map[rr.Type][]string{}
	for _, target := range targets {
		t := typeOf(target)
		byType[t] = append(byType[t], target)
	}
	for _, t := range []rr.Type{rr.TypeA, rr.TypeAAAA, rr.TypeCNAME} {
		if len(byType[t]) > 0 {
			w.add(Endpoint{Host: at.host, Type: t, Targets: byType[t], TTL: ttl, From: at.from})
		}
	}
}

// add adds a set, or targets to the set that is there.
func (w *Wish) add(e Endpoint) {
	for i := range w.Endpoints {
		if have := &w.Endpoints[i]; have.Host == e.Host && have.Type == e.Type && have.From == e.From {
			have.Targets = unique(append(have.Targets, e.Targets...))
			return
		}
	}
	if e.Targets = unique(slices.Clone(e.Targets)); len(w.Endpoints) < maxSets {
		w.Endpoints = append(w.Endpoints, e)
	} else if len(w.Notes) == 0 || w.Notes[len(w.Notes)-1].Reason != TooManyNames {
		w.note(TooManyNames, "asks for more than %d sets, and the others are ignored; divide it", maxSets)
	}
}

// narrow removes targets that do not count. A name that has no other one is asked for and has no address.
func (w *Wish) narrow(takes func(target string) bool) {
	for i := range w.Endpoints {
		e := &w.Endpoints[i]
		e.Targets = slices.DeleteFunc(slices.Clone(e.Targets), func(target string) bool { return !takes(target) })
	}
	w.Endpoints = slices.DeleteFunc(w.Endpoints, func(e Endpoint) bool { return len(e.Targets) == 0 })
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// typeOf returns the type of the record that leads to a target.
func typeOf(target string) rr.Type {
	ip, err := netip.ParseAddr(target)
	switch {
	case err != nil:
		return rr.TypeCNAME
	case ip.Is4():
		return rr.TypeA
	default:
		return rr.TypeAAAA
	}
}

// Claims returns the claims of the object, one for each set. A name with addresses needs no alias.
func (w *Wish) Claims() []zone.Claim {
	type set struct {
		host string
		typ  rr.Type
	}
	merged := map[set]*Endpoint{}
	var order []set
	for i := range w.Endpoints {
		e := w.Endpoints[i]
		at := set{strings.ToLower(strings.TrimSuffix(e.Host, ".")), e.Type}
		if have := merged[at]; have != nil {
			have.Targets = unique(append(have.Targets, e.Targets...))
			continue
		}
		e.Targets = slices.Clone(e.Targets)
		merged[at], order = &e, append(order, at)
	}
	claims := make([]zone.Claim, 0, len(order))
	for _, at := range order {
		addressed := merged[set{at.host, rr.TypeA}] != nil || merged[set{at.host, rr.TypeAAAA}] != nil
		if at.typ == rr.TypeCNAME && addressed {
			continue
		}
		claims = append(claims, w.claim(at.host, *merged[at]))
	}
	slices.SortFunc(claims, func(a, b zone.Claim) int { return a.ID.Compare(b.ID) })
	return claims
}

// claim turns a set into a claim. What cannot be understood makes it Invalid.
func (w *Wish) claim(host string, e Endpoint) zone.Claim {
	out := zone.Claim{ID: w.ID.Part(host + "/" + e.Type.String()), Created: w.Object.GetCreationTimestamp().Time,
		Type: e.Type, TTL: e.TTL}
	name, err := dnsname.Parse(host + ".")
	if err == nil {
		err = dnsname.CheckOwner(name)
	}
	if err != nil {
		out.Invalid = &zone.Refusal{Reason: zone.InvalidName, Message: fmt.Sprintf(
			"%s asks for %q, which is not a domain name: %v; correct it.", w.ID, host, err)}
		return out
	}
	out.Where.Name = name
	if why := e.Type.Refused(); why != "" {
		out.Invalid = &zone.Refusal{Reason: zone.InvalidType, Message: fmt.Sprintf(
			"%s asks for records of the type %s at %s, which cannot be written: %s.", w.ID, e.Type, name, why)}
		return out
	}
	for _, target := range e.Targets {
		data, err := endpoint.Data(e.Type, target)
		if err != nil {
			out.Invalid = &zone.Refusal{Reason: zone.InvalidData, Message: fmt.Sprintf(
				"%s has the target %q for the %s records at %s, which cannot be read: %v; correct it.", w.ID, target, e.Type, name,
				err)}
			return out
		}
		out.Data = append(out.Data, data)
	}
	if out.Data = unique(out.Data); e.Type == rr.TypeCNAME && len(out.Data) > 1 {
		out.Invalid = &zone.Refusal{Reason: zone.InvalidData, Message: fmt.Sprintf(
			"%s has %d names as targets of %s, but a name can be an alias of only one other (RFC 1034 §3.6.2); choose one "+
				"with the annotation %s.", w.ID, len(out.Data), name, Prefix+targetKey)}
	}
	return out
}
