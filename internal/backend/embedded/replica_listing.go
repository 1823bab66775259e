package embedded

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// The listing has for each member a name, its ID, with two sets: a PTR of the zone, and a TXT of the form, the serial,
// the group, and what kind of zone it is.
const listingForm = "1"

// maxText is what a string of a TXT holds, in octets (RFC 1035 §3.3). Names of Backends have at most 253.
const maxText = 255

// The kinds of zones in a listing.
const (
	kindZone    = "zone"
	kindFilled  = "filled" // a zone that has sets only to be complete
	kindCatalog = "catalog"
)

// An Entry is what a listing says of a member.
type Entry struct {
	Member
	ID      string
	Serial  uint32
	Catalog bool
	Filled  bool // see Copy
}

// awaitListing returns the listing when it is another one than that of a serial, or the heartbeat is due; nil if it is
// not offered. Without a serial it returns it at once.
func (s *Server) awaitListing(serial *uint32) *Zone {
	late := make(chan struct{})
	timer := s.opts.Clock.AfterFunc(s.replicas.heartbeat, func() { close(late) })
	defer timer.Stop()
	for {
		z, wake := s.list()
		if z == nil || serial == nil || *serial != z.soa.Serial {
			return z
		}
		select {
		case <-wake:
		case <-late:
			return z
		case <-s.stopping:
			return nil
		}
	}
}

// list returns the listing as of now, nil if it is not offered, and what is closed when there may be another.
func (s *Server) list() (*Zone, chan struct{}) {
	st, unlock := s.state.Lock()
	defer unlock()
	r := &st.shared
	if !r.offered {
		return nil, r.wake
	}
	if r.listing == nil || len(r.changed) > 0 {
		if err := st.renewListing(); err != nil {
			s.opts.Log.Error("The zones could not be listed for other replicas. This is a bug in zonefold.", slog.String(
				"error", err.Error()))
			return nil, r.wake
		}
	}
	return r.listing, r.wake
}

// renewListing brings the listing up to date, at the cost of what changed.
func (st *state) renewListing() error {
	s, r := st.server, &st.shared
	old := r.listing
	from := old
	if from == nil {
		// The SOA tells this listing from those of other servers, and of this one before it was started again.
		instance, err := entryName(newID())
		if err != nil {
			return err
		}
		if from, err = NewZone(Listing(), rr.SOA{MName: instance, RName: Listing(), Refresh: 1, Retry: 1,
			Expire: 1}); err != nil {
			return err
		}
	}
	var changes []plan.Change
	for m := range r.changed {
		changes = append(changes, st.entryChanges(m)...)
	}
	clear(r.changed)
	soa := from.soa
	soa.Serial = max(soa.Serial+1, 1)
	next, refused, err := from.With(&soa, changes)
	switch {
	case err != nil:
		return err
	case len(refused) > 0:
		// A member that cannot be listed keeps followers from nothing but itself.
		s.opts.Log.Error("A zone could not be listed for other replicas. This is a bug in zonefold.",
			slog.String("reason", refused[0].Reason))
	}
	next.private = true
	if old != nil {
		next.remember(old, old.stepTo(next, changes, s.opts.History), s.opts.History)
	}
	r.listing = next
	return nil
}

// entryChanges returns what changes in the listing for a member.
func (st *state) entryChanges(m Member) (changes []plan.Change) {
	r := &st.shared
	c := r.members[m]
	e := st.entry(m, c.id)
	if c.listed != "" && (e == nil || c.listed != e.ID) {
		changes = appendEntry(changes, c.listed, nil)
		c.listed = ""
	}
	if c.id == "" {
		delete(r.members, m)
	}
	if e != nil {
		changes = appendEntry(changes, e.ID, e)
		c.listed = e.ID
	}
	return changes
}

// entry returns what to list of a member, nil if nothing. Groups that have different versions of a zone are about to
// have the newest, and that is the one that can be transferred.
func (st *state) entry(m Member, id string) *Entry {
	z := st.server.catalogue.Load().Zone(m.Zone)
	if id == "" || len(m.Group) > maxText || z == nil || z.private != (st.groups[m.Group].catalogOf(m.Zone) != nil) {
		return nil
	}
	return &Entry{Member: m, ID: id, Serial: z.soa.Serial, Catalog: z.private, Filled: len(z.filled) > 0}
}

// appendEntry appends the changes that give an ID an entry, or take it away.
func appendEntry(changes []plan.Change, id string, e *Entry) []plan.Change {
	owner, err := entryName(id)
	if err != nil {
		return changes // newID makes labels, and what it did not make was a label when it came
	}
	zone, about := plan.Change{Key: rr.Key{Name: owner, Type: rr.TypePTR}},
		plan.Change{Key: rr.Key{Name: owner, Type: rr.TypeTXT}}
	if e != nil {
		zone.Want = rr.NewSet(zone.Key, 0, e.Zone.String())
		about.Want = rr.NewSet(about.Key, 0, e.text())
	}
	return append(changes, zone, about)
}

func entryName(id string) (dnsname.Name, error) {
	return dnsname.FromLabels(append([]string{id}, Listing().Labels()...))
}

// text is the TXT of an entry.
func (e *Entry) text() string {
	kind := kindZone
	switch {
	case e.Catalog:
		kind = kindCatalog
	case e.Filled:
		kind = kindFilled
	}
	var wire []byte
	for _, s := range [...]string{listingForm, strconv.FormatUint(uint64(e.Serial), 10), e.Group, kind} {
		wire = append(wire, byte(len(s)))
		wire = append(wire, s...)
	}
	return rr.FromWire(rr.TypeTXT, wire)
}

// ReadEntry reads what a listing has at a name below its own. It returns false if there is no entry, and an error if
// there is something that this version of zonefold cannot read.
func ReadEntry(listing rr.Sets, name dnsname.Name) (e Entry, found bool, err error) {
	zone, hasZone := listing.Get(rr.Key{Name: name, Type: rr.TypePTR})
	about, hasText := listing.Get(rr.Key{Name: name, Type: rr.TypeTXT})
	above, _ := name.Parent()
	switch {
	case !hasZone && !hasText:
		return Entry{}, false, nil
	case above != Listing() || len(zone.Data) != 1 || len(about.Data) != 1:
		return Entry{}, false, fmt.Errorf("%s is not an entry of a listing", name)
	}
	e.ID = name.Labels()[0]
	if e.Zone, err = dnsname.Parse(zone.Data[0]); err == nil {
		err = e.readText(about.Data[0])
	}
	if err != nil {
		return Entry{}, false, fmt.Errorf("reading entry %s of the listing: %w", e.ID, err)
	}
	return e, true, nil
}

// readText reads the TXT of an entry.
func (e *Entry) readText(text string) error {
	wire, err := rr.Wire(rr.TypeTXT, text)
	if err != nil {
		return err
	}
	var fields []string
	for len(wire) > 0 {
		end := 1 + int(wire[0])
		fields = append(fields, string(wire[1:end]))
		wire = wire[end:]
	}
	if len(fields) != 4 || fields[0] != listingForm || !slices.Contains([]string{kindZone, kindFilled, kindCatalog},
		fields[3]) {
		return fmt.Errorf("%s has another form than %s: the leader has another version of zonefold", text, listingForm)
	}
	serial, err := strconv.ParseUint(fields[1], 10, 32)
	if err != nil {
		return fmt.Errorf("serial %q is not a number", fields[1])
	}
	e.Serial, e.Group, e.Catalog = uint32(serial), fields[2], fields[3] == kindCatalog
	e.Filled = fields[3] == kindFilled
	return nil
}
