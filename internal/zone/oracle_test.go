package zone

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// An oracle decides who is accepted and which Zone takes which claim by reading the
// sentences of the design one after another, over everything there is and each time
// from nothing. It shares no code with the World, and is slow.
type oracle struct {
	zones  map[ID]Zone
	claims map[ID]Claim
	grants []Grant
	open   bool // no Backend carries grants
	most   Options

	name   map[ID]dnsname.Name // of Zones and claims, where it is known
	reason map[ID]Reason
	parent map[ID]ID           // of accepted Zones
	within map[ID]ID           // of accepted Zones that no rule lets in: the one of their namespace above
	owner  map[dnsname.Name]ID // the accepted Zone of a name
	home   map[ID]ID           // the Zone that is asked to take a claim
	memo   map[place]holdingsAt
}

// A place is a name inside one Zone.
type place struct {
	zone ID
	name dnsname.Name
}

// holdingsAt is what one Zone has at one name.
type holdingsAt struct {
	data    map[rr.Type][]string
	held    []holding
	reasons map[ID]Reason
}

func consult(w *World) *oracle {
	o := &oracle{zones: map[ID]Zone{}, claims: map[ID]Claim{}, most: w.opts, open: len(w.grants) == 0,
		name: map[ID]dnsname.Name{}, reason: map[ID]Reason{}, parent: map[ID]ID{}, owner: map[dnsname.Name]ID{},
		within: map[ID]ID{}, home: map[ID]ID{}, memo: map[place]holdingsAt{}}
	for id, z := range w.zones {
		o.zones[id] = z.Zone
	}
	for id, z := range o.zones {
		named := !z.Where.Name.IsZero() || z.Policy.Pinned
		if z.Invalid == nil && (z.Where.Relative.IsOrigin() || named && !z.Where.Ref.IsZero()) {
			z.Invalid = &Refusal{Reason: InvalidSpec}
			o.zones[id] = z
		}
	}
	for id, c := range w.claims {
		o.claims[id] = c.Claim
	}
	o.grants = slices.Concat(slices.Collect(maps.Values(w.grants))...)
	o.nameZones()
	o.judgeZones()
	o.findHomes()
	for id, zone := range o.home {
		o.reason[id] = o.at(place{zone, o.name[id]}).reasons[id]
	}
	return o
}

// "A Zone has either an FQDN or a zoneRef. Cycles, self-references, unresolvable
// parents: a condition with a reason, no growth."
func (o *oracle) nameZones() {
	for id, z := range o.zones {
		if z.Invalid != nil {
			o.reason[id] = z.Invalid.Reason
			continue
		}
		name, reason := o.follow(z.Where, map[ID]bool{id: true}, id)
		if reason != "" {
			o.reason[id] = reason
		}
		o.name[id] = name
	}
}

// follow returns the name that where stands for, or why there is none. seen are the
// Zones on the way from start.
func (o *oracle) follow(where Where, seen map[ID]bool, start ID) (dnsname.Name, Reason) {
	if !where.Name.IsZero() {
		return where.Name, ""
	}
	if where.Ref.IsZero() {
		return dnsname.Name{}, InvalidSpec
	}
	up, exists := o.zones[where.Ref]
	if !exists {
		return dnsname.Name{}, ReferenceNotFound
	}
	if where.Ref == start {
		return dnsname.Name{}, ReferenceCycle
	}
	if seen[where.Ref] || up.Invalid != nil {
		return dnsname.Name{}, ParentUnresolved
	}
	seen[where.Ref] = true
	above, reason := o.follow(up.Where, seen, start)
	if reason == ReferenceCycle {
		return dnsname.Name{}, ReferenceCycle
	}
	if reason != "" {
		return dnsname.Name{}, ParentUnresolved
	}
	name, err := where.Relative.In(above)
	if err != nil {
		return dnsname.Name{}, InvalidName
	}
	return name, ""
}

// oldest orders identities by age: "oldest creationTimestamp, then namespace/name".
func (o *oracle) oldest(a, b ID) int {
	created := func(id ID) int64 { return ageOf(o.zones[id].Created) }
	if _, claim := o.claims[a]; claim {
		created = func(id ID) int64 { return ageOf(o.claims[id].Created) }
	}
	return cmp.Or(cmp.Compare(created(a), created(b)), a.Compare(b))
}

// younger reports whether a was created after b; in one second nobody is younger.
func (o *oracle) younger(a, b ID) bool {
	return ageOf(o.zones[a].Created) > ageOf(o.zones[b].Created)
}

// enclosing lists the accepted Zones above name, the nearest first; at name too.
func (o *oracle) enclosing(name dnsname.Name) []ID {
	var out []ID
	for up, ok := name, true; ok; up, ok = up.Parent() {
		if id, accepted := o.owner[up]; accepted {
			out = append(out, id)
		}
	}
	return out
}

// "Two Zones with one FQDN: the oldest wins, the other is DuplicateZone."
func (o *oracle) judgeZones() {
	ids := slices.DeleteFunc(slices.Collect(maps.Keys(o.zones)), func(id ID) bool { return o.name[id].IsZero() })
	slices.SortFunc(ids, func(a, b ID) int {
		return cmp.Or(cmp.Compare(o.name[a].NumLabels(), o.name[b].NumLabels()), o.oldest(a, b))
	})
	for _, id := range ids {
		if o.zones[id].Policy.Pinned { // nobody above it, below it or beside it has a say
			o.reason[id] = Accepted
			continue
		}
		parent, reason := o.judgeZone(id)
		if _, taken := o.owner[o.name[id]]; taken && reason == Accepted {
			reason = DuplicateZone
		}
		o.reason[id] = reason
		if reason == Accepted {
			o.parent[id] = parent
			o.owner[o.name[id]] = id
		}
	}
}

// "Below an accepted Zone, only the nearest accepted enclosing Zone judges, by its
// zones rules." "A younger Zone that encloses an older accepted one never demotes it."
// "Where Backends carry grants, roots (and independent Zones below others) are
// accepted only if a grant gives that name to that namespace."
func (o *oracle) judgeZone(id ID) (ID, Reason) {
	z, name := o.zones[id], o.name[id]
	if ref := z.Where.Ref; !ref.IsZero() && o.reason[ref] != Accepted {
		return ID{}, ParentNotAccepted
	}
	for _, up := range o.enclosing(name) {
		if o.name[up] == name {
			continue
		}
		if o.delegates(up, id) {
			return up, Accepted
		}
		if o.younger(up, id) && up != z.Where.Ref {
			continue
		}
		// "A Zone below an accepted one of its own namespace needs no rule to exist: it is independent."
		if up.Namespace == id.Namespace {
			o.within[id] = up
			return ID{}, Accepted
		}
		for other := range o.zones {
			between := o.name[other]
			if !o.zones[other].Policy.Pinned && !between.IsZero() && name.Below(between) && between.Below(o.name[up]) &&
				o.owner[between].IsZero() {
				return ID{}, ParentNotAccepted
			}
		}
		return ID{}, NotDelegated
	}
	if o.granted(id.Namespace, name) {
		return ID{}, Accepted
	}
	return ID{}, NotGranted
}

// "The root and public suffixes need a grant that spells the name, always." "Where grants are required, nobody has a
// root without one."
func (o *oracle) granted(namespace string, name dnsname.Name) bool {
	suffix := o.most.PublicSuffix != nil && o.most.PublicSuffix(name)
	for _, g := range o.grants {
		for _, p := range g.Zones {
			if slices.Contains(g.Namespaces, namespace) && p.Match(name, dnsname.Root) &&
				(!suffix || !strings.Contains(p.String(), "*")) {
				return true
			}
		}
	}
	return o.open && !suffix && !o.most.RequireGrants
}

func (o *oracle) delegates(up, id ID) bool {
	for _, rule := range o.zones[up].Rules {
		for _, p := range rule.Zones {
			if (len(rule.Namespaces) == 0 || slices.Contains(rule.Namespaces, id.Namespace)) && p.Match(o.name[id], o.name[up]) {
				return true
			}
		}
	}
	return false
}

// allows reports whether a `records` rule of the Zone lets the claim in.
func (o *oracle) allows(zone ID, c Claim) bool {
	for _, rule := range o.zones[zone].Rules {
		for _, rec := range rule.Records {
			if (len(rule.Namespaces) == 0 || slices.Contains(rule.Namespaces, c.ID.Namespace)) &&
				(len(rec.Types) == 0 || slices.Contains(rec.Types, c.Type)) && rec.Pattern.Match(o.name[c.ID], o.name[zone]) {
				return true
			}
		}
	}
	return false
}

// "Among the accepted Zones that enclose the name and allow it, the longest; a
// zoneRef pins the Zone, whose delegations still decide, with no fallback."
func (o *oracle) findHomes() {
	for id, c := range o.claims {
		var reason Reason
		o.name[id], reason = o.follow(c.Where, map[ID]bool{}, ID{})
		if c.Invalid != nil {
			reason = c.Invalid.Reason
		}
		if reason == "" {
			reason = o.findHome(c)
		}
		o.reason[id] = reason
	}
}

func (o *oracle) findHome(c Claim) Reason {
	name := o.name[c.ID]
	if ref := c.Where.Ref; !ref.IsZero() {
		switch _, exists := o.zones[ref]; {
		case !exists:
			return ReferenceNotFound
		case o.reason[ref] != Accepted:
			return ParentNotAccepted
		case !name.Under(o.name[ref]):
			return OutOfZone
		case !o.allows(ref, c):
			return NotDelegated
		}
		o.home[c.ID] = ref
		return ""
	}
	candidates := o.enclosing(name)
	if len(candidates) == 0 {
		return NoZone
	}
	// "A tenant can neither see nor change a name that no rule gave it": a Zone that came
	// above an older one of somebody else has nothing to say below it.
	for id := candidates[0]; ; {
		if o.allows(id, c) {
			o.home[c.ID] = id
			return ""
		}
		up := o.parent[id]
		if own, ok := o.within[id]; ok {
			up = own
		}
		if up.IsZero() || o.younger(up, id) && up.Namespace != id.Namespace && up != o.zones[id].Where.Ref {
			return NotDelegated
		}
		id = up
	}
}

// descends reports whether a chain of delegations leads from up to id.
func (o *oracle) descends(id, up ID) bool {
	for ; !id.IsZero(); id = o.parent[id] {
		if id == up {
			return true
		}
	}
	return false
}

// at works out what a Zone has at a name.
func (o *oracle) at(p place) holdingsAt {
	if known, ok := o.memo[p]; ok {
		return known
	}
	h := holdingsAt{data: map[rr.Type][]string{}, reasons: map[ID]Reason{}}
	if o.zones[p.zone].Policy.Heap {
		o.divide(p, &h)
		o.memo[p] = h
		return h
	}
	given := o.derive(p, &h)
	for _, set := range o.zones[p.zone].Own { // "they come before all claims"
		if set.Name == p.name {
			h.data[set.Type] = united(h.data[set.Type], set.Data)
		}
	}
	var claims []ID
	for id, home := range o.home {
		if home == p.zone && o.name[id] == p.name {
			claims = append(claims, id)
		}
	}
	slices.SortFunc(claims, o.oldest)
	for _, id := range claims {
		if reason := o.bar(p, o.claims[id]); reason != "" {
			h.reasons[id] = reason
		}
	}
	// "The Zone's own namespace first, then the oldest."
	own := func(id ID) bool { return id.Namespace == p.zone.Namespace }
	others := slices.DeleteFunc(slices.Clone(claims), own)
	claims = append(slices.DeleteFunc(claims, func(id ID) bool { return !own(id) }), others...)
	var taken []ID
	for _, id := range claims {
		if h.reasons[id] == "" {
			h.reasons[id] = o.take(p, o.claims[id], taken, given, h.data)
		}
		if h.reasons[id] == Accepted {
			taken = append(taken, id)
			h.held = append(h.held, holding{id.Namespace, ageOf(o.claims[id].Created)})
		}
	}
	o.memo[p] = h
	return h
}

// "Sub-zones: their apex NS sets and the A/AAAA that those NS names need (from the
// child and its descendants, and siblings inside the parent) are copied into the
// parent, DS is moved there." It returns who gives which type.
func (o *oracle) derive(p place, h *holdingsAt) map[rr.Type]ID {
	given := map[rr.Type]ID{}
	if child, ok := o.ownerAt(p); ok && o.parent[child] == p.zone && o.copied(child) {
		apex := o.at(place{child, p.name})
		given[rr.TypeNS] = child
		h.data[rr.TypeNS] = slices.Clone(apex.data[rr.TypeNS])
		if len(apex.data[rr.TypeDS]) > 0 {
			given[rr.TypeDS] = child
			h.data[rr.TypeDS] = slices.Clone(apex.data[rr.TypeDS])
		}
	}
	if from := o.enclosing(p.name); o.needed(p) && len(from) > 0 && from[0] != p.zone && o.descends(from[0], p.zone) {
		for _, t := range []rr.Type{rr.TypeA, rr.TypeAAAA} {
			if data := o.at(place{from[0], p.name}).data[t]; len(data) > 0 {
				given[t] = from[0]
				h.data[t] = slices.Clone(data)
				h.held = append(h.held, holding{from[0].Namespace, ageOf(o.zones[from[0]].Created)})
			}
		}
	}
	return given
}

// copied reports whether a sub-zone's NS set enters the parent: if it has one, and
// that would not hide a Zone below which the parent delegates too.
func (o *oracle) copied(child ID) bool {
	for other, parent := range o.parent {
		if parent == o.parent[child] && o.name[other].Below(o.name[child]) {
			return false
		}
	}
	return len(o.at(place{child, o.name[child]}).data[rr.TypeNS]) > 0
}

// needed reports whether NS records that the Zone takes over name p.
func (o *oracle) needed(p place) bool {
	for child, parent := range o.parent {
		if parent == p.zone && o.copied(child) {
			for _, data := range o.at(place{child, o.name[child]}).data[rr.TypeNS] {
				if slices.Contains(rr.Targets(rr.TypeNS, data), p.name) {
					return true
				}
			}
		}
	}
	return false
}

// bar refuses claims that no state of the name itself would let in.
func (o *oracle) bar(p place, c Claim) Reason {
	apex := p.name == o.name[p.zone]
	child, delegated := o.ownerAt(p)
	delegated = delegated && child != p.zone && o.descends(child, p.zone)
	stranger := delegated && c.ID.Namespace != child.Namespace && c.ID.Namespace != p.zone.Namespace
	switch {
	case c.Type == rr.TypeNS && strings.HasPrefix(p.name.String(), "*."):
		return InvalidName
	case apex && c.Type == rr.TypeCNAME:
		return Conflict
	case c.Type == rr.TypeCNAME && o.nameServer(p):
		return Conflict
	case apex && c.Type == rr.TypeDS && o.parent[p.zone].IsZero():
		return NoZone
	case apex && c.Type == rr.TypeNS:
		return ""
	case (c.Type == rr.TypeNS || c.Type == rr.TypeDNAME) && stranger:
		return NameHeld
	case c.Type == rr.TypeNS && delegated:
		return ""
	case (c.Type == rr.TypeNS || c.Type == rr.TypeDNAME) && o.hides(p, c):
		return HidesNames
	}
	return ""
}

// "An NS or DNAME claim that would hide names held by other namespaces is refused";
// names that are younger than the claim do not count.
func (o *oracle) hides(p place, c Claim) bool {
	since := ageOf(c.Created)
	foreign := func(h holding) bool { return h.namespace != c.ID.Namespace && h.created <= since }
	below := map[dnsname.Name]bool{}
	for _, name := range o.name {
		below[name] = name.Below(p.name)
	}
	for _, data := range someData[rr.TypeNS] {
		name := rr.Targets(rr.TypeNS, data)[0]
		below[name] = name.Below(p.name)
	}
	for name, is := range below {
		if is && slices.ContainsFunc(o.at(place{p.zone, name}).held, foreign) {
			return true
		}
	}
	for name, id := range o.owner {
		hidden := name.Below(p.name) || name == p.name && c.Type == rr.TypeDNAME
		if hidden && id != p.zone && o.descends(id, p.zone) && foreign(holding{id.Namespace, ageOf(o.zones[id].Created)}) {
			return true
		}
	}
	return false
}

// take merges a claim into what the name has from those taken before: "sets merge inside one
// namespace, others get NameHeld"; "CNAME/DNAME exclusivity (oldest claim keeps the
// name), duplicates"; "at most 100 records a set".
func (o *oracle) take(p place, c Claim, taken []ID, given map[rr.Type]ID, data map[rr.Type][]string) Reason {
	for _, reason := range []Reason{NameHeld, Conflict} { // a name that is held is told first
		for _, other := range taken {
			if o.beside(p, c, o.claims[other]) == reason && (reason == NameHeld || !o.stranger(given, p, c)) {
				return reason
			}
		}
	}
	if o.stranger(given, p, c) {
		return NameHeld
	}
	apex := p.name == o.name[p.zone]
	for t := range data {
		if t != c.Type && (t == rr.TypeCNAME || c.Type == rr.TypeCNAME) {
			return Conflict
		}
		if !apex && (t == rr.TypeDNAME && c.Type == rr.TypeNS || t == rr.TypeNS && c.Type == rr.TypeDNAME) {
			return Conflict
		}
	}
	all := united(data[c.Type], c.Data)
	if len(all) == len(data[c.Type]) {
		return Accepted
	}
	if len(data[c.Type]) > 0 && (c.Type == rr.TypeCNAME || c.Type == rr.TypeDNAME) {
		return Conflict
	}
	if data[c.Type] == nil && len(data) >= o.most.MaxTypes || len(all) > o.most.MaxSet {
		return SetFull
	}
	data[c.Type] = all
	return Accepted
}
