package backend

import (
	"context"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Backend is one client of one server or account. It translates and transports; it decides nothing: splitting,
// bisecting, retrying, verifying, ordering and choosing serials belong to the target worker of this package, so a
// Backend tries every call once and answers with what happened.
//
// All methods are safe for concurrent use, obey the context's deadline, and return errors of a class (see ErrorClass).
// An error that has no class counts as ErrUnavailable.
//
// A Backend that holds connections may also be an io.Closer; whoever made it closes it.
type Backend interface {
	// Limits says what the server can do. It is data, the same on every call, and needs no network.
	Limits() Limits

	// Zones lists the zones that the credentials can reach. It is called only when Limits.ListsZones is set.
	Zones(ctx context.Context) ([]dnsname.Name, error)

	// Read returns what the server holds of the zone now, or ErrNoZone.
	// What it returns is complete for the question, or there is an error: a transfer that breaks off, a page that is
	// missing, a record that cannot be read is an error and never a shorter answer.
	// It is never called when Limits.Read is ReadNone.
	Read(ctx context.Context, zone dnsname.Name, ask Ask) (Observed, error)

	// Apply makes the changes of the batch, all or none when Limits.Atomic is AtomicBatch.
	//
	// Changes are in a safe order and are to be made in that order where the server is told them one by one. A change is
	// idempotent: what is already as wanted is success. Within one set values are added before others are removed, so that
	// a set (the apex NS above all) is never empty in between.
	//
	// An error means: with AtomicBatch that nothing was applied (ErrRejected, ErrConflict, ErrNoZone, ErrNotAuthorised,
	// ErrThrottled) or that it is not known whether the batch was (ErrUnavailable); with finer atomicity that any part may
	// have been. The worker reads again whenever it is not known.
	// ErrRejected for the whole batch makes the worker halve it; a server that can say which sets it refused answers
	// with Result.Rejected instead and has applied the others.
	//
	// Right before each message that may change the server MaySend is asked.
	Apply(ctx context.Context, zone dnsname.Name, batch Batch) (Result, error)
}

// Ask says which part of a zone a Read is about.
type Ask struct {
	// Keys are the sets wanted, together with the SOA. Nil asks for the whole zone, empty and not nil for the SOA alone.
	// With Limits.Read ReadSet it is never nil. There may be thousands: choose the cheapest way.
	Keys []rr.Key

	// Known is a hint: what the asker believes the zone to hold at a serial. A server that transfers increments (IXFR,
	// RFC 1995) is asked for those since Known.SOA.Serial and they are laid over Known.Sets. Others ignore it. Nil asks
	// for a reading from scratch, which relies on nothing.
	Known *Known
}

// Known is the content that a reader holds already.
type Known struct {
	SOA  rr.SOA
	Sets rr.Sets
}

// Observed is what a server answered to an Ask.
type Observed struct {
	// SOA of the zone, with its serial, read together with the sets or before them. Zero when the server shows none.
	SOA rr.SOA

	// Sets found, without the SOA. To an Ask with keys those of the keys that exist, else the whole zone; types that
	// nobody may write (rr.Type.Refused: signatures and denials of existence) may be left out.
	Sets rr.Sets

	// Unchanged says that the zone still has the serial of Ask.Known and so its content; Sets is then Known.Sets.
	Unchanged bool
}

// Batch is one Apply.
type Batch struct {
	// Changes in a safe order; may be empty when only the SOA changes.
	Changes []plan.Change

	// SOA, with its serial, that the zone gets together with the changes. Nil when the server owns the SOA or nobody
	// changes it; a server that counts by itself does so then.
	SOA *rr.SOA

	// Expect is the SOA that the worker believes is there: where the protocol has a compare-and-swap the batch applies
	// only if it is, else ErrConflict (RFC 2136 §2.4.2: a value prerequisite). A backend whose protocol has none may look
	// first. Nil when there is nothing to compare.
	Expect *rr.SOA

	// Create says that the server does not have the zone (it answered ErrNoZone, and Limits.Creates is set): make it,
	// whole, in one step with these changes and this SOA. Without Last there is more to come, by batches that change it.
	Create bool

	// Last says that the zone is as it should be, apart from refused sets, when this batch is applied. A zone that could
	// not be made in one batch may be shown to others from then on and no earlier.
	Last bool

	// Assert says that each set becomes what is wanted of it whatever is there, which somebody else may have changed at
	// any time: the sets of an overlay. A Backend that has to know what it changes reads it then, and relies on nothing
	// that it remembers.
	Assert bool

	// Remove says that nobody wants the zone any more, of which zonefold owned everything, and Limits.Removes is set: it
	// goes, whole. The batch has no changes and no SOA. A zone that is not there is success.
	Remove bool
}

// Result is what came of an Apply that returned no error.
type Result struct {
	// SOA of the zone afterwards where the answer tells it; else zero, and a worker that needs it reads.
	SOA rr.SOA

	// Rejected sets; the others of the batch are applied.
	Rejected []Rejection

	// Pending is not nil when the server has made the changes and not all of its name servers answer with them yet. It is
	// polled until they do; done is also said of all batches of the zone before this one. Batches after it do not wait for
	// that, only the report that confirms its content. Errors have a class, and say nothing about the changes.
	Pending func(ctx context.Context) (done bool, err error)
}

// Rejection is one set that the server refused.
type Rejection struct {
	Key       rr.Key
	Reason    string // the server's words
	Cause     Cause  // "" when the server did not tell
	Temporary bool   // the refusal may be the server's trouble rather than the set's; it is tried again after a while
}
