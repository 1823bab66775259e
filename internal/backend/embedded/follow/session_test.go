package follow

import (
	"net/netip"
	"testing"

	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// TestAZoneThatIsTakenWhileItLeavesTheListingIsDropped: the whole listing comes again, such as when the leader does not
// know the way from an older one, while a zone of the old one is transferred, which the server does not have yet.
func TestAZoneThatIsTakenWhileItLeavesTheListingIsDropped(t *testing.T) {
	key := embedded.Key{Name: name(t, "replica."), Secret: "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE="}
	server, err := embedded.Serve(t.Context(), embedded.Options{
		Listen: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, Closed: true,
		Replicas: embedded.ReplicaOptions{Key: &key},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(t.Context()) })
	s := newSession(&Follower{opts: Options{Server: server}}, nil)

	entry, owner := rr.Sets{}.Txn(), name(t, "abc."+embedded.Listing().String())
	entry.Put(rr.NewSet(rr.Key{Name: owner, Type: rr.TypePTR}, 0, "example.org."))
	entry.Put(rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 0, `"1" "7" "main" "zone"`))
	if err := s.replace(rfc2136.Pulled{SOA: rr.SOA{Serial: 1}, Sets: entry.Sets()}); err != nil {
		t.Fatal(err)
	}
	zone, _ := s.queue.next() // and the transfer begins
	if err := s.replace(rfc2136.Pulled{SOA: rr.SOA{Serial: 2}}); err != nil {
		t.Fatal(err)
	}
	s.queue.done(zone, false) // it has been taken
	s.queue.close()
	if waiting := s.queue.order; len(waiting) != 1 || waiting[0] != zone {
		t.Errorf("%v is not looked at again, but %v", zone, waiting)
	}
}

func name(t *testing.T, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
