package embedded

import (
	"bytes"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/rr"
)

// unopened is the rcode while the server does not answer: resolvers ask another server then, secondaries come again.
func (r *responder) unopened() (rcode int) {
	if r.request.transfers() {
		r.observe(r.request.kind(), TransferUnavailable)
		return dns.RcodeRefused
	}
	return dns.RcodeServerFailure
}

// isReplica reports whether the request comes from another replica.
func (r *responder) isReplica() bool {
	return r.server != nil && r.server.replicas.has(r.signature.valid())
}

// asksForListing reports whether the question is for the listing, which no zone of that name hides.
func (r *responder) asksForListing() bool { return bytes.Equal(r.request.name.wire, wireOf(Listing())) }

// listing returns the listing, nil if it is not offered. To an IXFR from its newest serial it waits until there is a
// newer one, or the heartbeat is due.
func (r *responder) listing() *Zone {
	if r.request.typ == rr.Type(dns.TypeIXFR) {
		return r.server.awaitListing(&r.request.serial)
	}
	return r.server.awaitListing(nil)
}
