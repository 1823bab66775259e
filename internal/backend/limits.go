package backend

import (
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Limits says what a server can do, as data that the target worker plans by. The zero value of every field is the
// kindest server: one that takes any batch atomically and lists its zones.
type Limits struct {
	Atomic Atomicity
	Read   Readable
	SOA    SOAOwner
	ApexNS ApexNS

	ListsZones bool // Zones works
	Creates    bool // Batch.Create works
	Removes    bool // Batch.Remove works; otherwise a zone that is withdrawn is emptied

	// Volatile says that the server lives and dies with this process: what it held last is lost, or only an older copy of
	// it is left, when another run begins. It cannot tell which serials were served.
	Volatile bool

	// Followed says that secondaries transfer from several such servers and believe in serials: as long as one refuses
	// something, what it holds instead goes under serials of its own. Volatile servers are several, one after the other:
	// what the last one held under a serial, the next one does not know.
	Followed bool

	// Confirms says that an Apply without an error is proof that every set is stored as sent. Otherwise the worker reads
	// the changed sets back: servers that speak RFC 2136 answer NOERROR to things that they ignore.
	Confirms bool

	// Refuses says why the server can never hold sets of a type, as a clause ("has no LOC records"), "" when it can.
	// Nil refuses none.
	Refuses func(rr.Type) string

	MinTTL uint32 // seconds; a lower TTL is raised to it before planning, because the server would do so
	MaxTTL uint32 // seconds; 0 means none; a higher TTL is lowered to it

	MaxSetSize int // values in one set; 0 means no known limit
	MaxChanges int // changes in one batch; 0 means any number

	// MaxBytes is the size of one batch, in octets or in whatever else Size measures (records, of a service that counts
	// these); 0 means any size. Size returns an upper bound of what one change takes; nil stands for the worker's estimate
	// of DNS wire format in octets.
	MaxBytes int
	Size     func(plan.Change) int

	// CreateBytes stands in for MaxBytes in the batch that makes a zone (Batch.Create); 0: it takes no more than others.
	CreateBytes int

	// Concurrency is how many calls the server takes at the same time, over all its zones; 0 means the engine's default.
	Concurrency int
}

// Atomicity is the largest thing that a server changes completely or not at all.
type Atomicity uint8

const (
	AtomicBatch Atomicity = iota // a batch: RFC 2136, PowerDNS
	AtomicSet                    // a set: a failed batch may be half applied, but no set is
	AtomicValue                  // a value: even a set may be left half changed
)

// Readable is what a server shows of a zone.
type Readable uint8

const (
	ReadZone Readable = iota // all of it
	ReadSet                  // a set that one can name; foreign sets are out of sight
	ReadNone                 // nothing
)

// SOAOwner says who writes the SOA.
type SOAOwner uint8

const (
	SOAClient SOAOwner = iota // the client, with the serial
	SOAServer                 // the server; such a target does not take part in the zone's serial
)

// ApexNS says how the server treats the NS set at the apex.
type ApexNS uint8

const (
	ApexNSFree     ApexNS = iota // as any other set; there may be none
	ApexNSRequired               // at least one stays (BIND ignores the deletion of the last): never deleted as a whole
	ApexNSServer                 // the server's own; never touched
)
