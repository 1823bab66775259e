// Package embedded is zonefold's own authoritative name server: what it answers to a question, how that goes into a
// message, and how messages come and go.
//
// A [Zone] is the content of one zone and a [Catalogue] all zones, each at one moment. Both are immutable and share
// what did not change, so a change costs what it changes, and a question is answered from one moment whatever happens
// meanwhile. A zone holds its names, with those that exist only because of names below them, in a tree by hash: looking
// a name up is one step for each label from the apex down, which finds cuts and DNAMEs on the way and ends at the name
// or at its closest encloser. Sets are kept as they go into messages.
//
// Answers are small: no addresses beside the answer (only glue in referrals), no name servers beside data, ANY answered
// with one set (RFC 8482), UDP up to 1232 octets. Nothing that is not served here is answered.
//
// Zones come by way of [Group], a backend.Backend. A group's [Policy] says who may transfer its zones (AXFR, IXFR),
// with which TSIG keys, who is told of changes (NOTIFY), and whether there is a catalog zone of them; nobody and
// nothing by default.
//
// Several servers answer the same: one of them leads, and package follow keeps the others the same as it.
package embedded
