package dynamodb

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/dynamodb/dynamodbtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestSetsOfOtherOwnersAreLeftAlone(t *testing.T) {
	t.Parallel()
	z := share(t)
	z.foreign(address(t, "www", "203.0.113.1"), address(t, "blue", "203.0.113.2"), address(t, "free", "203.0.113.3"))
	z.server.Own("www.example.org#A#", "prod")
	z.server.Own("blue.example.org#A#one", "staging")
	z.server.Own("www.example.net#A#", "prod")
	www, blue, free := address(t, "www", "192.0.2.1"), address(t, "blue", "192.0.2.2"), address(t, "free", "192.0.2.3")
	z.attach(false, false, "staging")
	z.want([]rr.Set{www, blue, free}, www, blue, free)
	r := z.served("beside what others have", 2)
	for k, words := range map[rr.Key]string{
		www.Key(): `owner "prod" of external-dns, according to the table external-dns in DynamoDB; remove it there`,
		// whose place is taken, but of one of several that take turns
		blue.Key(): `owner "staging (set identifier one)"`,
	} {
		if why := r.Refused[k]; why.Cause != backend.CauseOwned || !strings.Contains(why.Reason, words) {
			t.Errorf("the refusal of %s is %+v, want %q", k, why, words)
		}
	}
	theirs := []string{"blue A 203.0.113.2", "free A 192.0.2.3", "www A 203.0.113.1",
		"blue.example.org#A#one of staging", "www.example.net#A# of prod", "www.example.org#A# of prod"}
	z.holds("beside what others have", theirs...)
	z.want([]rr.Set{free}, www, blue)
	z.served("when nobody wants them any more", 0)
	z.holds("when nobody wants them any more", theirs...)
}

// TestWhatAnOwnerHasIsTakenOverAndGivenBack has a zone of another name in the same table, whose items stay, and a note
// that its owner has yet to move to the table.
func TestWhatAnOwnerHasIsTakenOverAndGivenBack(t *testing.T) {
	t.Parallel()
	z := share(t)
	z.foreign(address(t, "www", "192.0.2.1"), address(t, "rest", "192.0.2.2"), address(t, "other", "203.0.113.1"))
	for key, owner := range map[string]string{"www.example.org#A#": "prod", "rest.example.org#A#": "prod",
		"other.example.org#A#": "staging", "www.sub.example.org#A#": "prod"} {
		z.server.Own(key, owner)
	}
	z.foreign(rr.NewSet(rr.Key{Name: parse(t, "a-rest.example.org."), Type: rr.TypeTXT}, 300,
		rr.Text("heritage=external-dns,external-dns/owner=prod")))
	const note = `a-rest TXT "heritage=external-dns,external-dns/owner=prod"`
	www, fresh := address(t, "www", "192.0.2.1"), address(t, "new", "192.0.2.4")
	wanted := []rr.Set{www, fresh, address(t, "other", "192.0.2.3")}
	z.attach(false, false)
	z.want(wanted, wanted...)
	z.served("before", 2)
	z.attach(false, false, "prod")
	if r := z.served("taken over", 1); r.Untaken != 1 {
		t.Errorf("%d sets are not taken, want 1", r.Untaken)
	}
	zone := []string{note, "new A 192.0.2.4", "other A 203.0.113.1", "rest A 192.0.2.2", "www A 192.0.2.1"}
	z.holds("taken over", append(zone[:5:5], "other.example.org#A# of staging", "rest.example.org#A# of prod",
		"www.sub.example.org#A# of prod")...)

	z.attach(true, false, "prod")
	given := []string{"new.example.org#A# of prod", "other.example.org#A# of staging", "rest.example.org#A# of prod",
		"www.example.org#A# of prod", "www.sub.example.org#A# of prod"}
	z.holds("with the table kept", append(zone[:5:5], given...)...)
	www = address(t, "www", "192.0.2.9")
	z.want([]rr.Set{www}, www, wanted[1], wanted[2])
	z.served("changed", 0)
	z.holds("changed", note, "other A 203.0.113.1", "rest A 192.0.2.2", "www A 192.0.2.9",
		"other.example.org#A# of staging",
		"rest.example.org#A# of prod", "www.example.org#A# of prod", "www.sub.example.org#A# of prod")
	z.attach(true, true, "prod")
	r := z.await("given back", func(r engine.Report) bool { return r.Difference != nil })
	if d := r.Difference; d.Added+d.Changed+d.Deleted > 0 {
		t.Errorf("given back, there is a difference: %+v", d)
	}
}

// TestManyItems is more than one call's.
func TestManyItems(t *testing.T) {
	t.Parallel()
	z := share(t)
	z.server.Page = 7
	var sets []rr.Set
	for _, a := range "abcdefgh" {
		for _, b := range "abcdefgh" {
			sets = append(sets, address(t, string(a)+string(b), "192.0.2.1"))
		}
	}
	z.attach(true, false, "prod")
	z.want(sets, sets...)
	z.served("all", 0)
	if n := len(z.server.Owners()); n != len(sets) {
		t.Errorf("the table has %d items, want %d", n, len(sets))
	}
	z.attach(false, false, "prod")
	z.served("all without items", 0)
	for end := time.Now().Add(10 * time.Second); len(z.server.Owners()) > 0; {
		if time.Now().After(end) {
			t.Fatalf("the table has %d items yet", len(z.server.Owners()))
		}
		<-time.After(time.Millisecond)
	}
	if got := z.server.Count("Scan"); got < 10 {
		t.Errorf("there were %d pages: nothing was read in pages", got)
	}
}

// TestNothingIsWrittenWhileTheTableCannotBeRead neither at first nor later, and the report says what to do.
func TestNothingIsWrittenWhileTheTableCannotBeRead(t *testing.T) {
	t.Parallel()
	z := share(t)
	denied := func(string) *dynamodbtest.Error {
		return &dynamodbtest.Error{Status: http.StatusBadRequest, Code: "AccessDeniedException",
			Message: "User: u is not authorized to perform: dynamodb:Scan"}
	}
	z.server.Inject(denied)
	www := address(t, "www", "192.0.2.1")
	z.attach(false, false)
	z.want([]rr.Set{www}, www)
	r := z.await("denied", func(r engine.Report) bool { return r.Err != nil })
	for _, words := range []string{"the table external-dns of DynamoDB, which is needed to write",
		"is not authorized to perform: dynamodb:Scan", "allow the credentials dynamodb:Scan"} {
		if !strings.Contains(r.Err.Error(), words) {
			t.Errorf("the report says %v, without %q", r.Err, words)
		}
	}
	if backend.Class(r.Err) != backend.ErrNotAuthorised {
		t.Errorf("the class is %q", backend.Class(r.Err))
	}
	z.holds("denied")
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.applies > 0 {
		t.Errorf("%d batches were sent", z.applies)
	}
}

// later is a Backend beside a table whose clock can be moved.
func later(
	t *testing.T, s *dynamodbtest.Server, m *backendtest.Memory, owners ...string,
) (backend.Backend, *time.Duration) {
	var passed time.Duration
	table, err := New(access(s), func() time.Time { return time.Now().Add(passed) })
	if err != nil {
		t.Fatal(err)
	}
	return table.Beside(m.Client(true), owners), &passed
}

func memoryWith(t *testing.T, sets ...rr.Set) *backendtest.Memory {
	m := backendtest.NewMemory(backendtest.Profile{Limits: backend.Limits{SOA: backend.SOAServer}})
	zone := parse(t, "example.org.")
	m.AddZone(zone, rr.SOA{MName: zone, RName: zone, Serial: 1}, sets...)
	return m
}

func put(set rr.Set) plan.Change { return plan.Change{Key: set.Key(), Want: set} }

// TestAnOldReadingIsNoGround has the table looked at again before a zone is changed long after it was read.
func TestAnOldReadingIsNoGround(t *testing.T) {
	t.Parallel()
	s, m, zone := serve(t), memoryWith(t), parse(t, "example.org.")
	b, passed := later(t, s, m)
	if _, err := b.Read(t.Context(), zone, backend.Ask{}); err != nil {
		t.Fatal(err)
	}
	s.Own("www.example.org#A#", "prod")
	*passed = freshFor + time.Second
	change := backend.Batch{Changes: []plan.Change{put(address(t, "www", "192.0.2.1"))}}
	_, err := b.Apply(t.Context(), zone, change)
	if backend.Class(err) != backend.ErrConflict || !strings.Contains(err.Error(), `"prod"`) {
		t.Errorf("a set that has an owner by now is written: %v", err)
	}
	s.Drop("www.example.org#A#")
	*passed += freshFor
	s.Inject(func(string) *dynamodbtest.Error { return &dynamodbtest.Error{Status: 500, Code: "InternalServerError"} })
	if _, err := b.Apply(t.Context(), zone, change); backend.Class(err) != backend.ErrUnavailable {
		t.Errorf("a set is written while the table cannot be read: %v", err)
	}
	if _, sets, _ := m.Truth(zone); sets.Len() > 0 {
		t.Errorf("the zone has %d sets", sets.Len())
	}
	s.Inject(nil)
	if _, err := b.Apply(t.Context(), zone, change); err != nil {
		t.Errorf("a set of nobody: %v", err)
	}
}

// TestSomebodyElseIsFaster has an item come, or go, after the table was read.
func TestSomebodyElseIsFaster(t *testing.T) {
	t.Parallel()
	www := address(t, "www", "192.0.2.1")
	s, m, zone := serve(t), memoryWith(t), parse(t, "example.org.")
	b, _ := later(t, s, m, "prod")
	f := registry.InTable(tableOfTests)
	r := registry.Registry{Writes: &f, Writer: "prod"}
	note, _ := r.Note(www.Key(), zone)
	if _, err := b.Read(t.Context(), zone, backend.Ask{}); err != nil {
		t.Fatal(err)
	}
	s.Own("www.example.org#A#", "staging")
	_, err := b.Apply(t.Context(), zone, backend.Batch{Changes: []plan.Change{put(www), put(note)}})
	if _, sets, _ := m.Truth(zone); backend.Class(err) != backend.ErrConflict || sets.Len() > 0 {
		t.Errorf("with an item of somebody else: %v, and %d sets", err, sets.Len())
	}
	s.Drop("www.example.org#A#")
	s.Own("www.example.org#A#", "prod")
	found, err := b.Read(t.Context(), zone, backend.Ask{})
	if has, _ := found.Sets.Get(note.Key()); err != nil || !has.Equal(note) {
		t.Fatalf("the item is shown as %v, %v; want %v", has, err, note)
	}
	s.Own("www.example.org#A#", "staging")
	_, err = b.Apply(t.Context(), zone, backend.Batch{Changes: []plan.Change{put(www), {Key: note.Key(), Have: note}}})
	if backend.Class(err) != backend.ErrUnavailable ||
		!strings.Contains(err.Error(), "after zone example.org. was changed") {
		t.Errorf("an item that has become somebody else's: %v", err)
	}
	if owners := s.Owners(); owners["www.example.org#A#"] != "staging" {
		t.Errorf("the items are %v", owners)
	}
}

// TestChangesThatAreNoNotes has a set at the name of a note that is none, and items about sets that have no notes.
func TestChangesThatAreNoNotes(t *testing.T) {
	t.Parallel()
	s, zone := serve(t), parse(t, "example.org.")
	stray := rr.NewSet(rr.Key{Name: parse(t, "a.:dynamodb:.x.example.org."), Type: rr.TypeTXT}, 300, `"text"`)
	m := memoryWith(t, stray)
	long := strings.Repeat(strings.Repeat("a", 59)+".", 4)
	s.Own(long+"example.org#A#", "prod")
	s.Own("svc.example.org#HTTPS#", "prod")
	b, _ := later(t, s, m, "prod")
	found, err := b.Read(t.Context(), zone, backend.Ask{})
	if err != nil || found.Sets.Len() > 0 {
		t.Errorf("%d sets are shown, %v", found.Sets.Len(), err)
	}
	name, err := dnsname.Parse(long + "example.org.")
	if err != nil {
		t.Fatal(err)
	}
	https, err := rr.ParseType("HTTPS")
	if err != nil {
		t.Fatal(err)
	}
	result, err := b.Apply(t.Context(), zone, backend.Batch{Changes: []plan.Change{put(stray),
		put(rr.NewSet(rr.Key{Name: name, Type: rr.TypeA}, 300, "192.0.2.1")),
		put(rr.NewSet(rr.Key{Name: parse(t, "svc.example.org."), Type: https}, 300, "1 .")),
		put(address(t, "www", "192.0.2.1"))}})
	if err != nil || len(result.Rejected) != 3 {
		t.Errorf("%+v, %v; want 3 refusals", result, err)
	}
	if _, sets, _ := m.Truth(zone); sets.Len() != 2 {
		t.Errorf("the zone has %d sets, want that of www and the stray one", sets.Len())
	}
}

// TestReadingAgain has a server that knows the difference since a reading asked for that.
func TestReadingAgain(t *testing.T) {
	t.Parallel()
	s, m, zone := serve(t), memoryWith(t, address(t, "www", "192.0.2.1")), parse(t, "example.org.")
	s.Own("www.example.org#A#", "prod")
	b, _ := later(t, s, m)
	first, err := b.Read(t.Context(), zone, backend.Ask{})
	if err != nil || first.Sets.Len() != 2 {
		t.Fatalf("%d sets, %v", first.Sets.Len(), err)
	}
	known := &backend.Known{SOA: first.SOA, Sets: first.Sets}
	for _, c := range []struct {
		name string
		do   func()
		sets int
		same bool
	}{
		{"nothing has changed", func() {}, 2, true},
		{"another owner", func() { s.Own("www.example.org#A#", "staging") }, 2, false},
		{"an item more", func() { s.Own("new.example.org#A#", "staging") }, 3, false},
		{"none", func() { s.Drop("new.example.org#A#"); s.Drop("www.example.org#A#") }, 1, false},
	} {
		c.do()
		again, err := b.Read(t.Context(), zone, backend.Ask{Known: known})
		if err != nil || again.Sets.Len() != c.sets || again.Unchanged != c.same {
			t.Errorf("%s: %d sets, unchanged: %t, %v", c.name, again.Sets.Len(), again.Unchanged, err)
		}
	}
	scans := s.Count("Scan")
	if _, err := b.Read(t.Context(), zone, backend.Ask{Keys: []rr.Key{address(t, "www", "").Key()}}); err != nil ||
		s.Count("Scan") != scans {
		t.Errorf("the table is read for a set that is no note: %v", err)
	}
}

// TestTheSuiteOfAllBackends shows that a Backend beside a table is one.
func TestTheSuiteOfAllBackends(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		s, zone := serve(t), parse(t, "example.org.")
		bad := func(s rr.Set) bool { return s.Type == rr.TypeTXT && s.Data[0] == `"bad"` }
		m := backendtest.NewMemory(backendtest.Profile{Limits: backend.Limits{ApexNS: backend.ApexNSRequired}, Bad: bad})
		m.AddZone(zone, rr.SOA{MName: zone, RName: zone, Serial: 1, TTL: 300},
			rr.NewSet(rr.Key{Name: zone, Type: rr.TypeNS}, 300, "server.example.net."))
		return backendtest.Harness{
			Zone: zone, Missing: parse(t, "missing.example."),
			Backend:  func() backend.Backend { return open(t, access(s)).Beside(m.Client(true), nil) },
			WrongKey: func() backend.Backend { return open(t, access(s)).Beside(m.Client(false), nil) },
			Truth:    m.Truth,
			Foreign:  func(put []rr.Set, gone []rr.Key) { m.Foreign(zone, put, gone) },
			Stop:     func() { m.SetDown(true) }, Start: func() { m.SetDown(false) },
			Bad: func(owner dnsname.Name) rr.Set {
				return rr.NewSet(rr.Key{Name: owner, Type: rr.TypeTXT}, 300, `"bad"`)
			},
		}
	})
}
