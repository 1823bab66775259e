package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// noted is a note of external-dns.
func noted(owner, of string) rr.Set {
	return set(owner+".example.org.", rr.TypeTXT, 300,
		rr.Text("heritage=external-dns,external-dns/owner="+of+",external-dns/resource=ingress/web/www"))
}

// A shared zone is one in which external-dns has sets.
type sharedZone struct {
	*bench
	memory *backendtest.Memory
	server *spy
	store  *backendtest.Store
	feed   *engine.Feed
	sets   []rr.Set // wanted
}

func shareZone(t *testing.T, r *registry.Registry, there ...rr.Set) *sharedZone {
	m, s := serverWith(bindLike, zoneName)
	m.Foreign(mustParse(zoneName), there, nil)
	z := &sharedZone{memory: m, server: s, store: &backendtest.Store{}}
	z.begin(t, r)
	return z
}

// begin starts an engine with what the last one has stored.
func (z *sharedZone) begin(t *testing.T, r *registry.Registry) {
	z.bench = newBench(t, func(c *engine.Config) { c.Ceilings, c.Ledger, c.Audit = z.store, z.store, time.Hour })
	config, written := z.store.Restart(engine.FeedConfig{ID: zoneName, Zone: mustParse(zoneName)})
	z.feed = z.engine.NewFeed(config)
	z.feed.Publish(contentOf(mustParse(zoneName), z.sets...), nil)
	z.attach(r, written)
}

func (z *sharedZone) attach(r *registry.Registry, written rr.Sets) {
	z.engine.Attach(target("s", zoneName), engine.Attachment{Name: "b", Feed: z.feed, Backend: z.server, Keep: true,
		Registry: r, Written: written})
}

// want publishes sets; changed are those that changed.
func (z *sharedZone) want(sets []rr.Set, changed ...rr.Key) {
	z.sets = sets
	content := contentOf(mustParse(zoneName), sets...)
	z.store.Wanted(zoneName, content)
	z.feed.Publish(content, changed)
	z.pass(time.Minute)
}

// holds compares what the server has with lines such as "www A 192.0.2.1".
func (z *sharedZone) holds(what string, want ...string) {
	z.Helper()
	_, sets, _ := z.memory.Truth(mustParse(zoneName))
	var got []string
	for s := range sets.All() {
		if s.Type == rr.TypeNS {
			continue
		}
		line := s.Name.In(mustParse(zoneName)) + " " + s.Type.String() + " " + strings.Join(s.Data, " ")
		if _, owner, ok := strings.Cut(line, "external-dns/owner="); ok {
			owner, _, _ = strings.Cut(strings.TrimSuffix(owner, `"`), ",")
			line = s.Name.In(mustParse(zoneName)) + " of " + owner
		}
		got = append(got, line)
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		z.Errorf("%s: the server has\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (z *sharedZone) refuses(what string, k rr.Key, words string) {
	z.Helper()
	r := z.last("b")
	if why := r.Refused[k]; why.Cause != backend.CauseOwned || !strings.Contains(why.Reason, words) {
		z.Errorf("%s: the refusal of %s is %+v, want %q", what, k, why, words)
	}
}

func of(formats ...registry.Format) *registry.Registry { return &registry.Registry{Formats: formats} }

func TestSetsOfOtherOwnersAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := shareZone(t, of(registry.Format{}), address("www", "203.0.113.1"), noted("a-www", "prod"),
			set("mail.example.org.", rr.TypeCNAME, 300, "example.net."), noted("mail", "old"), address("free", "203.0.113.3"))
		www, mail, note := address("www", "192.0.2.1"), address("mail", "192.0.2.2"), noted("a-www", "tenant")
		z.want([]rr.Set{www, mail, address("free", "192.0.2.3"), note, address("new", "192.0.2.4")}, www.Key(), mail.Key(),
			note.Key(), address("free", "").Key(), address("new", "").Key())
		theirs := []string{"a-www of prod", "free A 192.0.2.3", "mail CNAME example.net.", "mail of old",
			"new A 192.0.2.4", "www A 203.0.113.1"}
		z.holds("beside what others have", theirs...)
		z.refuses("theirs", www.Key(), `owner "prod" of external-dns, according to TXT a-www.example.org.`)
		z.refuses("an alias", mail.Key(), `owner "old" of external-dns`)
		z.refuses("a note of a tenant", note.Key(), `"prod"`)
		if r := z.last("b"); r.Err != nil || r.Seq == 0 || len(r.Refused) != 3 {
			t.Errorf("the zone is reported with %+v", r)
		}

		z.want([]rr.Set{address("free", "192.0.2.3"), address("new", "192.0.2.4")}, www.Key(), mail.Key(), note.Key())
		z.holds("when nobody wants them any more", theirs...)
		z.stop()
		z.begin(t, of(registry.Format{}))
		z.pass(2 * time.Hour)
		z.holds("after a restart", theirs...)

		z.want([]rr.Set{www}, www.Key(), address("free", "").Key(), address("new", "").Key())
		z.memory.Foreign(mustParse(zoneName), nil, []rr.Key{www.Key(), noted("a-www", "").Key()})
		z.pass(2 * time.Hour)
		z.holds("when the owner has let go", "mail CNAME example.net.", "mail of old", "www A 192.0.2.1")
	})
}

// TestASetThatAnotherOwnerTakesIsLeftToIt has external-dns create a set that zonefold has just created.
func TestASetThatAnotherOwnerTakesIsLeftToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := shareZone(t, of(registry.Format{}))
		www := address("www", "192.0.2.1")
		z.want([]rr.Set{www}, www.Key())
		z.memory.Foreign(mustParse(zoneName), []rr.Set{address("www", "203.0.113.1"), noted("a-www", "prod")}, nil)
		z.want([]rr.Set{www, address("new", "192.0.2.2")}, address("new", "").Key())
		z.holds("when it was taken", "a-www of prod", "new A 192.0.2.2", "www A 203.0.113.1")
		z.refuses("it", www.Key(), "prod")
		z.want([]rr.Set{address("new", "192.0.2.2")}, www.Key())
		z.holds("when nobody else wants it", "a-www of prod", "new A 192.0.2.2", "www A 203.0.113.1")
	})
}

func TestWhatAnOwnerHasIsTakenOver(t *testing.T) {
	there := func() []rr.Set {
		return []rr.Set{address("www", "192.0.2.1"), noted("a-www", "prod"), noted("www", "prod"),
			set("www.example.org.", rr.TypeAAAA, 300, "2001:db8::1"), noted("aaaa-www", "prod"),
			address("old", "192.0.2.2"), noted("old", "prod"), set("old.example.org.", rr.TypeMX, 300, "10 example.net."),
			address("other", "203.0.113.1"), noted("a-other", "staging"),
			address("rest", "203.0.113.2"), noted("a-rest", "prod")}
	}
	www, old := address("www", "192.0.2.1"), address("old", "192.0.2.9")
	wanted := []rr.Set{www, old, address("other", "192.0.2.3"), address("new", "192.0.2.4")}
	keys := []rr.Key{www.Key(), old.Key(), wanted[2].Key(), wanted[3].Key()}
	format := registry.Format{}
	for _, c := range []struct {
		name         string
		registry     *registry.Registry
		taken, given []string
	}{
		{"notes go with it", &registry.Registry{Formats: []registry.Format{format}, Owners: []string{"prod"}},
			[]string{"a-other of staging", "a-rest of prod", "aaaa-www of prod", "new A 192.0.2.4", "old A 192.0.2.9",
				"old MX 10 example.net.", "old of prod", "other A 203.0.113.1", "rest A 203.0.113.2", "www A 192.0.2.1",
				"www AAAA 2001:db8::1"},
			[]string{"a-other of staging", "a-rest of prod", "aaaa-www of prod", "old MX 10 example.net.", "old of prod",
				"other A 203.0.113.1", "rest A 203.0.113.2", "www AAAA 2001:db8::1"}},
		{"notes are kept", &registry.Registry{Formats: []registry.Format{format}, Owners: []string{"prod"}, Writes: &format,
			Writer: "prod"},
			[]string{"a-new of prod", "a-old of prod", "a-other of staging", "a-rest of prod", "a-www of prod",
				"aaaa-www of prod", "new A 192.0.2.4", "old A 192.0.2.9", "old MX 10 example.net.", "old of prod",
				"other A 203.0.113.1", "rest A 203.0.113.2", "www A 192.0.2.1", "www of prod", "www AAAA 2001:db8::1"},
			[]string{"a-other of staging", "a-rest of prod", "aaaa-www of prod", "old MX 10 example.net.", "old of prod",
				"other A 203.0.113.1", "rest A 203.0.113.2", "www AAAA 2001:db8::1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				z := shareZone(t, of(format), there()...)
				z.want(wanted, keys...)
				if r := z.last("b"); len(r.Refused) != 3 {
					t.Errorf("before it is taken over %d sets are refused, want 3: %v", len(r.Refused), r.Refused)
				}
				z.attach(c.registry, rr.Sets{})
				z.pass(time.Minute)
				z.holds("taken over", c.taken...)
				if r := z.last("b"); len(r.Refused) != 1 || r.Untaken != 3 || r.Err != nil {
					t.Errorf("the report is %+v", r)
				}
				sent := z.server.sent()
				z.pass(5 * time.Hour)
				z.holds("hours later", c.taken...)
				if z.server.sent() != sent {
					t.Errorf("audits of a zone that is as it should be sent %d batches", z.server.sent()-sent)
				}
				z.stop()
				z.begin(t, c.registry)
				z.pass(time.Minute)
				z.holds("after a restart", c.taken...)
				z.want(nil, keys...)
				z.holds("when nobody wants them any more", c.given...)
			})
		})
	}
}

// TestNotesFollowTheirSets has a format whose notes are in the zone, also about the apex, and a note that was left when
// an operator stopped.
func TestNotesFollowTheirSets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		format := registry.Format{Prefix: "%{record_type}.reg."}
		z := shareZone(t, &registry.Registry{Formats: []registry.Format{format}, Owners: []string{"prod"}, Writes: &format,
			Writer: "prod"})
		www, mx := address("www", "192.0.2.1"), set("a.example.org.", rr.TypeMX, 300, "10 www.example.org.")
		z.want([]rr.Set{www, mx}, www.Key(), mx.Key())
		z.holds("with notes", "a MX 10 www.example.org.", "mx.reg.a of prod", "www A 192.0.2.1", "a.reg.www of prod")
		z.memory.Foreign(mustParse(zoneName), []rr.Set{noted("a.reg.lost", "prod"), noted("a.reg.theirs", "x")},
			[]rr.Key{noted("a.reg.www", "").Key()})
		z.pass(2 * time.Hour)
		z.holds("put right", "a MX 10 www.example.org.", "mx.reg.a of prod", "a.reg.theirs of x", "www A 192.0.2.1",
			"a.reg.www of prod")
		z.want([]rr.Set{www}, mx.Key())
		z.holds("after a deletion", "a.reg.theirs of x", "www A 192.0.2.1", "a.reg.www of prod")
		z.attach(&registry.Registry{Formats: []registry.Format{format}, Owners: []string{"prod"}}, rr.Sets{})
		z.pass(time.Minute)
		z.holds("when notes are not kept any more", "a.reg.theirs of x", "www A 192.0.2.1")
	})
}
