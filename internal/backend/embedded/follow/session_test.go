package follow

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
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

// at is a clock that stands still.
type at struct {
	backend.SystemClock
	now time.Time
}

func (c *at) Now() time.Time { return c.now }

// TestThatNobodyLeadsIsToldAfterAWhile: at each first start, and when a leader ends, nobody leads for a moment.
func TestThatNobodyLeadsIsToldAfterAWhile(t *testing.T) {
	var said bytes.Buffer
	clock, failing := &at{now: time.Unix(1e9, 0)}, error(nil)
	f := &Follower{opts: Options{Clock: clock, Log: slog.New(slog.NewTextHandler(&said, nil)),
		Leader: func(context.Context) (netip.AddrPort, bool, error) { return netip.AddrPort{}, false, failing }}}
	for _, step := range []struct {
		sentence string
		passed   time.Duration
		failing  error
		told     bool
	}{
		{"nobody leads", 0, nil, false},
		{"nobody has led for less than a Lease lasts", 14 * time.Second, nil, false},
		{"nobody has led for as long as a Lease lasts", time.Second, nil, true},
		{"it is told already", time.Hour, nil, false},
		{"something else is wrong", 0, errors.New("no right"), true},
		{"nobody leads again", time.Second, nil, false},
		{"nobody has led again for as long", 15 * time.Second, nil, true},
	} {
		said.Reset()
		clock.now, failing = clock.now.Add(step.passed), step.failing
		if f.attempt(t.Context()); (said.Len() > 0) != step.told {
			t.Errorf("%s: it says %q", step.sentence, said.String())
		}
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
