package backendtest

import (
	"testing"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Harness is a running server, fresh for one test, and what the suite may do to it. Functions that are nil are things
// that cannot be done to it; the cases that need them are not run.
type Harness struct {
	// Zone is on the server, with an SOA, apex NS and perhaps an address for them, and nothing else.
	Zone dnsname.Name
	// Missing is a zone that the server does not have.
	Missing dnsname.Name

	// Backend makes a new client with credentials that suffice.
	Backend func() backend.Backend
	// WrongKey makes a client with credentials that do not.
	WrongKey func() backend.Backend

	// Truth returns what the server holds, read in a way of its own (a transfer, the server's tool), without types that
	// nobody may write and without the SOA among the sets; false when it does not have the zone.
	Truth func(zone dnsname.Name) (rr.SOA, rr.Sets, bool)

	// Foreign changes Zone as another writer would, serial included where the server counts.
	Foreign func(put []rr.Set, gone []rr.Key)

	// Stop and Start end the server and begin it again with what it had.
	Stop, Start func()

	// Bad makes the data of a set of a name of Zone that zonefold takes for valid and the server refuses.
	Bad func(owner dnsname.Name) rr.Set

	// MaxSet is the most records that the server takes in one set, 0 if any number.
	MaxSet int

	// MaxApplies is how many batches 20,000 new address sets may take; 0: any number.
	MaxApplies int
}

// Run runs the suite. Start starts a fresh server for each case and ends it with t.Cleanup.
func Run(t *testing.T, start func(t *testing.T) Harness) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rig := newRig(t, start(t))
			if c.needs != nil && !c.needs(rig) {
				t.Log("does not apply to this server")
				return
			}
			c.run(rig)
		})
	}
}
