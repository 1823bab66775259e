// Package zone decides what every zone holds: which Zones are accepted, which
// Zone takes which claim, what a refusal is told, and which record sets result.
//
// Its World is incremental and pure. Put and Delete enqueue what depends on an object;
// Settle recomputes that from its own claims alone and returns a Delta. The result
// depends on the set of objects only, never on the order in which they came.
//
// A newcomer finds the rules by file name: policy.go has what the dialects decide about their Zones, resolve.go gives names to references,
// delegation.go judges Zones by the rules above them, home.go finds the Zone of a
// claim, compose.go merges the claims of one name, held.go says whose names may not
// be hidden, glue.go derives what a parent needs from its sub-zones, own.go adds a
// Zone's own sets, heap.go divides sets among claims that do not share, cut.go decides what a cut hides, hash.go and
// soa.go label the content. The rest keeps the work small: domain.go enqueues what depends on a changed Zone,
// turnaway.go answers a crowd at one name, queue.go orders the work, settle.go does it.
package zone
