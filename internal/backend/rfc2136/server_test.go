package rfc2136_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/backend/tsig"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// onEach runs a test against a fresh server of each kind.
func onEach(t *testing.T, test func(t *testing.T, s *nameserver.Server)) {
	for program, start := range programs {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			test(t, serve(t, start))
		})
	}
}

func (w *writer) put(sets ...rr.Set) {
	w.Helper()
	changes := make([]plan.Change, len(sets))
	for i, set := range sets {
		changes[i] = plan.Change{Key: set.Key(), Want: set}
	}
	w.apply(changes...)
}

// ask reads some keys back and compares with the truth.
func (w *writer) ask(s *nameserver.Server, known *backend.Known, keys ...rr.Key) {
	w.Helper()
	soa, truth, _ := truth(w, s, w.zone)
	found, err := w.client.Read(w.Context(), w.zone, backend.Ask{Keys: keys, Known: known})
	if err != nil {
		w.Fatal(err)
	}
	if found.SOA != soa {
		w.Errorf("the SOA is read as %v, it is %v", found.SOA, soa)
	}
	for _, key := range keys {
		got, _ := found.Sets.Get(key)
		if want, _ := truth.Get(key); !got.Equal(want) {
			w.Errorf("%s is read as %v, it is %v", key, got, want)
		}
	}
}

func TestEveryAlgorithm(t *testing.T) {
	for program, start := range programs {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			opts := nameserver.Options{Dir: t.TempDir(), Zones: []nameserver.Zone{{Name: parse(t, "example.org.")}}}
			algorithms := append(tsig.Algorithms(), "hmac-sha1")
			for _, algorithm := range algorithms {
				opts.Keys = append(opts.Keys, nameserver.TSIG{Name: parse(t, algorithm+".key."), Algorithm: algorithm,
					Secret: secret})
			}
			s, err := start(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			for i, algorithm := range algorithms {
				c, err := rfc2136.New(rfc2136.Config{
					Server: s.Addr(), Now: time.Now,
					Key: rfc2136.Key{Name: parse(t, algorithm+".key."), Algorithm: strings.ToUpper(algorithm), Secret: secret},
				})
				if err != nil {
					t.Fatal(err)
				}
				w := newWriter(t, c)
				w.put(address(t, algorithm, "192.0.2.1"))
				w.ask(s, nil, address(t, algorithm, "192.0.2.1").Key())
				whole, err := c.Read(t.Context(), w.zone, backend.Ask{})
				if err != nil || whole.Sets.Len() != 2+i {
					t.Errorf("%s: the transfer has %d sets (%v), want %d", algorithm, whole.Sets.Len(), err, 2+i)
				}
			}
		})
	}
}

// TestAccountsKnowMissingZones looks for zones that a server has, and has not.
func TestAccountsKnowMissingZones(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		key := rfc2136.Key{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: secret}
		client, err := rfc2136.New(rfc2136.Config{Server: s.Addr(), Key: key, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		account := rfc2136.NewAccount(client, dnsname.Name{})
		if _, err := account.HostedZone(t.Context(), "example.org"); err != nil {
			t.Error(err)
		}
		for _, id := range []string{"gone.example.net.", "net."} {
			if _, err := account.HostedZone(t.Context(), id); !errors.Is(err, backend.ErrNoZone) {
				t.Errorf("%s: %v, want %v", id, err, backend.ErrNoZone)
			}
		}
	})
}

func TestWrongKeys(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		right := rfc2136.Key{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: secret}
		unknown, other, algorithm := right, right, right
		unknown.Name, other.Secret, algorithm.Algorithm = parse(t, "unknown."), otherSecret, "hmac-sha512"
		late := func() time.Time { return time.Now().Add(-time.Hour) }
		for what, c := range map[string]struct {
			key  rfc2136.Key
			now  func() time.Time
			word string
		}{
			"an unknown key":        {unknown, time.Now, "BADKEY"},
			"another secret":        {other, time.Now, "BADSIG"},
			"another algorithm":     {algorithm, time.Now, "BADKEY"},
			"a clock that is late":  {right, late, "BADTIME"},
			"no signature whatever": {rfc2136.Key{}, time.Now, ""},
		} {
			client, err := rfc2136.New(rfc2136.Config{Server: s.Addr(), Key: c.key, Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			set := address(t, "www", "192.0.2.1")
			_, applied := client.Apply(t.Context(), parse(t, "example.org."),
				backend.Batch{Changes: []plan.Change{{Key: set.Key(), Want: set}}})
			_, read := client.Read(t.Context(), parse(t, "example.org."), backend.Ask{})
			for _, err := range []error{applied, read} {
				if detail, ok := errors.AsType[*backend.Error](err); c.word != "" && ok &&
					detail.Cause != backend.CauseUnauthenticated {
					t.Errorf("%s: the cause of %v is %q", what, err, detail.Cause)
				}
				if !errors.Is(err, backend.ErrNotAuthorised) || !strings.Contains(err.Error(), c.word) {
					t.Errorf("%s: %v, want %s and %s", what, err, backend.ErrNotAuthorised, c.word)
				}
				if text := fmt.Sprint(err); c.word != "" && (!strings.Contains(text, "; ") || strings.HasSuffix(text, ".") ||
					strings.Contains(text, ".;")) {
					t.Errorf("%s: %q does not say what to do, or ends more than once", what, text)
				}
				if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), otherSecret)) {
					t.Errorf("the error shows a secret: %v", err)
				}
			}
		}
		if _, sets, _ := truth(t, s, parse(t, "example.org.")); sets.Len() != 1 {
			t.Errorf("wrong keys changed the zone")
		}
	})
}

func TestMissingZone(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		c := client(t, s, secret)
		zone := parse(t, "missing.example.")
		_, applied := c.Apply(t.Context(), zone, backend.Batch{SOA: &rr.SOA{MName: zone, RName: zone, Serial: 1}})
		_, read := c.Read(t.Context(), zone, backend.Ask{})
		if !errors.Is(applied, backend.ErrNoZone) || !errors.Is(read, backend.ErrNoZone) {
			t.Errorf("writing says %v, reading says %v", applied, read)
		}
	})
}

func TestOneOfTwoWritersLoses(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		one, two := newWriter(t, client(t, s, secret)), newWriter(t, client(t, s, secret))
		one.put(address(t, "one", "192.0.2.1"))
		expect, next := two.soa, two.soa
		next.Serial++ // the serial that the other writer gave
		set := address(t, "two", "192.0.2.2")
		_, err := two.client.Apply(t.Context(), two.zone, backend.Batch{Changes: []plan.Change{{Key: set.Key(), Want: set}},
			SOA: &next, Expect: &expect})
		if !errors.Is(err, backend.ErrConflict) || !strings.Contains(err.Error(), "serial 2 where 1 was expected") {
			t.Errorf("the second writer hears %v, want a conflict", err)
		}
		if _, sets, _ := truth(t, s, two.zone); sets.Len() != 2 {
			t.Errorf("the zone has %d sets, want the NS and one address", sets.Len())
		}
	})
}

func TestBINDRefusesASetOf150(t *testing.T) {
	t.Parallel()
	s := serve(t, nameserver.StartBIND)
	w := newWriter(t, client(t, s, secret))
	var many []string
	for i := range 150 {
		many = append(many, fmt.Sprintf("192.0.2.%d", i))
	}
	set := rr.NewSet(rr.Key{Name: parse(t, "many.example.org."), Type: rr.TypeA}, 300, many...)
	expect, next := w.soa, w.soa
	next.Serial++
	_, err := w.client.Apply(t.Context(), w.zone, backend.Batch{Changes: []plan.Change{{Key: set.Key(), Want: set}},
		SOA: &next, Expect: &expect})
	detail, ok := errors.AsType[*backend.Error](err)
	if !ok || detail.Class != backend.ErrRejected || detail.Words != "SERVFAIL" || !detail.Temporary {
		t.Errorf("a set of 150 records: %v", err)
	}
	mx := rr.NewSet(rr.Key{Name: parse(t, "mx.example.org."), Type: rr.TypeMX}, 300, "10 under_score.example.org.")
	_, err = w.client.Apply(t.Context(), w.zone, backend.Batch{Changes: []plan.Change{{Key: mx.Key(), Want: mx}},
		SOA: &next, Expect: &expect})
	if !errors.Is(err, backend.ErrRejected) || !strings.Contains(err.Error(), "REFUSED") {
		t.Errorf("a record that the zone must not hold: %v", err)
	}
	if soa, _, _ := truth(t, s, w.zone); soa != w.soa {
		t.Errorf("asking whether updates are allowed at all changed the SOA from %v to %v", w.soa, soa)
	}
}

func TestBINDCountsFewUpdates(t *testing.T) {
	t.Parallel()
	s := serve(t, nameserver.StartBIND)
	w := newWriter(t, client(t, s, secret))
	batches := w.hosts()
	updates, err := s.Updates(t.Context())
	if err != nil || updates != batches || updates > 30 {
		t.Errorf("20,000 sets took %d batches and %d UPDATEs (%v), want at most 30 of each", batches, updates, err)
	}
	if _, sets, _ := truth(t, s, w.zone); sets.Len() != 20_001 {
		t.Errorf("the server holds %d sets, want 20,001", sets.Len())
	}
}

func TestConnectionsThatTheServerClosed(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		w := newWriter(t, client(t, s, secret))
		for i := range 3 {
			w.put(address(t, "www", fmt.Sprintf("192.0.2.%d", i)))
			if err := s.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		_, err := w.client.Read(t.Context(), w.zone, backend.Ask{})
		if !errors.Is(err, backend.ErrUnavailable) {
			t.Errorf("a server that is down: %v", err)
		}
	})
}

// TestQueriesAreNotDeceived asks for sets that a query shows wrongly or not at all.
func TestQueriesAreNotDeceived(t *testing.T) {
	for program, start := range programs {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			child := nameserver.Zone{Name: parse(t, "hosted.example.org."), Text: `hosted.example.org. 300 IN SOA a. b. 9 1 1 1 1
hosted.example.org. 300 IN NS other.example.net.
hosted.example.org. 300 IN TXT "child"
ns.hosted.example.org. 300 IN A 203.0.113.9
`}
			s := serve(t, start, child)
			w := newWriter(t, client(t, s, secret))
			wild := rr.NewSet(rr.Key{Name: parse(t, "*.example.org."), Type: rr.TypeA}, 300, "192.0.2.7")
			cut := rr.NewSet(rr.Key{Name: parse(t, "cut.example.org."), Type: rr.TypeNS}, 300, "ns.cut.example.org.")
			hosted := rr.NewSet(rr.Key{Name: parse(t, "hosted.example.org."), Type: rr.TypeNS}, 300, "ns.hosted.example.org.")
			w.put(wild, cut, hosted, address(t, "ns.cut", "192.0.2.8"), address(t, "ns.hosted", "192.0.2.9"),
				address(t, "same", "192.0.2.7"), address(t, "other", "192.0.2.6"), address(t, "a.b", "192.0.2.5"),
				rr.NewSet(rr.Key{Name: parse(t, "tree.example.org."), Type: rr.TypeDNAME}, 300, "example.net."),
				rr.NewSet(rr.Key{Name: parse(t, "cut.example.org."), Type: rr.TypeDS}, 300, "1 13 2 "+strings.Repeat("0A", 32)),
				rr.NewSet(rr.Key{Name: parse(t, "alias.example.org."), Type: rr.TypeCNAME}, 300, "other.example.org."),
				rr.NewSet(rr.Key{Name: parse(t, "loop.example.org."), Type: rr.TypeCNAME}, 300, "loop.example.org."), // SERVFAIL
				rr.NewSet(rr.Key{Name: parse(t, "*.apps.example.org."), Type: rr.TypeCNAME}, 300, "ingress.apps.example.org."))
			keys := []rr.Key{
				wild.Key(), cut.Key(), hosted.Key(), address(t, "ns.cut", "0.0.0.0").Key(),
				address(t, "ns.hosted", "0.0.0.0").Key(),
				address(t, "same", "0.0.0.0").Key(), address(t, "other", "0.0.0.0").Key(), address(t, "none", "0.0.0.0").Key(),
				address(t, "none.none", "0.0.0.0").Key(), address(t, "a.b", "0.0.0.0").Key(), address(t, "b", "0.0.0.0").Key(),
				address(t, "x.tree", "0.0.0.0").Key(), address(t, "alias", "0.0.0.0").Key(),
				{Name: parse(t, "x.tree.example.org."), Type: rr.TypeCNAME},
				{Name: parse(t, "tree.example.org."), Type: rr.TypeDNAME},
				{Name: parse(t, "cut.example.org."), Type: rr.TypeDS}, {Name: parse(t, "alias.example.org."), Type: rr.TypeCNAME},
				address(t, "loop", "0.0.0.0").Key(), address(t, "ingress.apps", "0.0.0.0").Key(),
				{Name: parse(t, "loop.example.org."), Type: rr.TypeCNAME},
				{Name: parse(t, "*.apps.example.org."), Type: rr.TypeCNAME},
				{Name: parse(t, "ingress.apps.example.org."), Type: rr.TypeCNAME},
				{Name: parse(t, "hosted.example.org."), Type: rr.TypeTXT}, {Name: w.zone, Type: rr.TypeNS},
				{Name: w.zone, Type: rr.TypeMX},
			}
			for _, key := range keys {
				w.ask(s, nil, key)
			}
			w.ask(s, nil, keys...)
			whole, err := w.client.Read(t.Context(), w.zone, backend.Ask{})
			if err != nil {
				t.Fatal(err)
			}
			w.put(address(t, "same", "192.0.2.8"), address(t, "late.hosted", "192.0.2.8"))
			w.ask(s, &backend.Known{SOA: whole.SOA, Sets: whole.Sets},
				append(keys, address(t, "late.hosted", "0.0.0.0").Key())...)
		})
	}
}

// TestIncrements reads by IXFR after random changes and compares with a reading from scratch.
func TestIncrements(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		random := rand.New(rand.NewPCG(1, 2))
		w := newWriter(t, client(t, s, secret))
		w.put(address(t, "first", "192.0.2.1"))
		read := func(ask backend.Ask) backend.Observed {
			t.Helper()
			found, err := w.client.Read(t.Context(), w.zone, ask)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		known := read(backend.Ask{})
		if again := read(backend.Ask{Known: &backend.Known{SOA: known.SOA, Sets: known.Sets}}); !again.Unchanged ||
			again.SOA != known.SOA || again.Sets.Len() != known.Sets.Len() {
			t.Errorf("a zone that did not change is read as %v", again)
		}
		for range 30 {
			for range 1 + random.IntN(3) {
				_, now, _ := truth(t, s, w.zone)
				w.apply(someChanges(t, random, now)...)
			}
			scratch := read(backend.Ask{})
			found := read(backend.Ask{Known: &backend.Known{SOA: known.SOA, Sets: known.Sets}})
			if found.SOA != scratch.SOA || !same(found.Sets, scratch.Sets) {
				t.Fatalf("since serial %d the zone is read as\n%v\nfrom scratch as\n%v", known.SOA.Serial, list(found.Sets),
					list(scratch.Sets))
			}
			wrong := known.Sets.Txn()
			for set := range known.Sets.All() {
				wrong.Delete(set.Key())
			}
			found = read(backend.Ask{Known: &backend.Known{SOA: known.SOA, Sets: wrong.Sets()}})
			if found.SOA != scratch.SOA || found.Sets.Len() > scratch.Sets.Len() {
				t.Fatalf("with wrong knowledge the zone is read as\n%v", list(found.Sets))
			}
			known = scratch
		}
		ahead := known.SOA
		ahead.Serial += 10
		if found := read(backend.Ask{Known: &backend.Known{SOA: ahead, Sets: known.Sets}}); found.Unchanged ||
			!same(found.Sets, known.Sets) {
			t.Errorf("a server that went back is read as %v", found)
		}
	})
}

// someChanges changes TTLs, values and whole sets of a few names.
func someChanges(t testing.TB, random *rand.Rand, now rr.Sets) []plan.Change {
	var changes []plan.Change
	seen := map[rr.Key]bool{}
	for range 1 + random.IntN(6) {
		owner := fmt.Sprintf("n%d.example.org.", random.IntN(8))
		key := rr.Key{Name: parse(t, owner), Type: []rr.Type{rr.TypeA, rr.TypeTXT}[random.IntN(2)]}
		if seen[key] {
			continue
		}
		seen[key] = true
		have, _ := now.Get(key)
		change := plan.Change{Key: key, Have: have}
		if n := random.IntN(4); n > 0 {
			var data []string
			for range n {
				data = append(data, map[rr.Type]string{
					rr.TypeA: fmt.Sprintf("192.0.2.%d", random.IntN(6)), rr.TypeTXT: fmt.Sprintf(`"%d \" \\ \200"`, random.IntN(6)),
				}[key.Type])
			}
			change.Want = rr.NewSet(key, uint32(300+random.IntN(2)), data...)
		}
		changes = append(changes, change)
	}
	return changes
}

func same(a, b rr.Sets) bool { return list(a) == list(b) }

func list(sets rr.Sets) string {
	var b strings.Builder
	for set := range sets.All() {
		fmt.Fprintln(&b, set.Key(), set.TTL, set.Data)
	}
	return b.String()
}
