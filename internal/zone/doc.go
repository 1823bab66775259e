// Package zone decides what every zone holds: which Zones are accepted, which
// Zone takes which claim, what a refusal is told, and which record sets result.
//
// Its World is incremental and pure. Put and Delete enqueue what depends on an object;
// Settle recomputes that from its own claims alone and returns a Delta. The result
// depends on the set of objects only, never on the order in which they came.
//
// Its parts know less than it does: objects.go answers questions by what was put and decided, work.go has what Settle
// still has to do, compose.go makes cells, and reverse.go knows who has which address. The World itself takes what is
// put, and goes through the steps.
//
// What a change enqueues in the World, and what each step of Settle enqueues for itself and the steps after it:
//
//	moved ─resolve─► judge ─judgeZones─► homes ─assignHome─► cells ─compose─► reports ─report─► Delta (claims)
//	                                                                      └─► closed ─finish─► Delta (Zones)
//
//	change                                      enqueues
//	a Zone comes or goes, or has another name,  moved: it, and the Zones that refer to it, directly or not
//	    age, Policy or fault
//	its Rules                                   judge: its name
//	its TTL                                     cells: all that it has
//	its Own or Servers                          cells: at the names of these
//	its Reverse                                 turned: the addresses of its domain
//	anything of it                              closed: it
//	grants                                      judge: the names of all Zones
//	a claim comes or changes                    homes: it
//	a claim goes or changes                     cells: the one that it leaves
//
//	step        for each           enqueues
//	resolve     moved Zone         judge: its name before and now
//	                               homes: the claims that refer to it
//	judgeZones  judge name, from   where another Zone has the name, or the same by another parent or with other Rules:
//	            the top down         judge: the names of Zones below
//	                               there, and where a Zone asks such a one next:
//	                                 homes: the claims of its domain, and those that refer to a Zone of the name
//	                                 turned: the addresses of its domain, and of a block
//	                                 cells: at the name; at names of Own and Servers; where Zones above need glue of
//	                                     the domain; above, where claims ask for a cut
//	                               where a younger Zone above is skipped, or no more: cells: the apex of that one
//	assignHome  homes claim        cells: the one that it leaves, and the one that it joins
//	                               reports: it, if no Zone takes it, or not the nearest one
//	compose     cells cell, from   reports: its claims that are accepted, refused or told otherwise
//	            the deepest up     closed: its Zone
//	                               NS or DS of an apex: cells: the parent's, there and at the names of the servers
//	                               NS of an apex: cells: its own at the names of the servers
//	                               A or AAAA: cells: those of Zones above that need them as glue
//	                               a cut: reports: the accepted claims at and below it; closed: the sub-zones below it
//	                               who holds the name: cells: above, where claims ask for a cut
//	                               an accepted A or AAAA: turned: its address, if its PTR depends on it
//	turnCells   turned address,    cells: where a PTR or CNAME is derived for it, which are composed once more;
//	            after all cells    nothing depends on what they derive
//
// A newcomer finds the rules by file name: policy.go has what the dialects decide about their Zones, resolve.go
// gives names to references, delegation.go judges Zones by the rules above them, home.go finds the Zone of a claim,
// compose.go merges the claims of one name, held.go says whose names may not be hidden, glue.go derives what a
// parent needs from its sub-zones, own.go adds a Zone's own sets, heap.go divides sets among claims that do not
// share, keep.go finds what was published for objects that cannot be read, reverse.go derives PTR records, block.go
// knows the zones of fewer than 256 addresses, cut.go decides what a cut hides, hash.go and soa.go label the content.
// The rest keeps the work small: domain.go enqueues what depends on a changed Zone, turnaway.go answers a crowd at one
// name, queue.go orders the work, settle.go does it.
package zone
