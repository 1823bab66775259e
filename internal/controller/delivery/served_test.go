package delivery

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestARefusedSetIsToldToItsRecordsAlone has a server refuse one set, take it, and refuse it again: the other Records
// of the Zone need not be looked at.
func TestARefusedSetIsToldToItsRecordsAlone(t *testing.T) {
	play(t, func(s *stage) {
		s.server("one", "example.org.", backendtest.Profile{Bad: func(set rr.Set) bool {
			return len(set.Data) > 0 && set.Data[0] == "192.0.2.66"
		}})
		s.place("one", func(p *Place) { p.Default = true })
		s.zone("org", "example.org.")
		s.record("other", "other.example.org.", "192.0.2.1")
		s.record("www", "www.example.org.", "192.0.2.1")
		for _, step := range []struct{ address, want string }{
			{"192.0.2.66", "False Rejected: Backend one does not take www.example.org. A: REFUSED: bad record (rejected)"},
			{"192.0.2.2", "True Served: Served by one."},
			{"192.0.2.66", "False Rejected: Backend one does not take www.example.org. A: REFUSED: bad record (rejected)"},
		} {
			s.told()
			s.record("www", "www.example.org.", step.address)
			s.reachedIs("www", step.want)
			s.toldOf("www", "none")
			s.untold("other", "org")
		}
	})
}

// TestServed is the truth table of Served, for a Record whose content has the number 5.
func TestServed(t *testing.T) {
	www := rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}
	mail := rr.Key{Name: parse(t, "mail.example.org."), Type: rr.TypeA}
	away := &backend.Error{Class: backend.ErrUnavailable, Err: errors.New("no answer")}
	has := func(seq uint64) *attached { return &attached{report: &engine.Report{Seq: seq}} }
	refuses := func(key rr.Key) *attached {
		return &attached{report: &engine.Report{Seq: 5, Refused: map[rr.Key]engine.Refusal{key: {Reason: "bad"}}}}
	}
	failed := func(seq uint64) *attached { return &attached{report: &engine.Report{Seq: seq, Err: away}} }
	observes := &attached{terms: terms{observe: true}, report: &engine.Report{Difference: &engine.Difference{Added: 2}}}
	lacks := func(reason string) *controller.Outcome { o := controller.Not(reason, "Mend it."); return &o }
	type at map[string]*attached
	for _, c := range []struct {
		name  string
		at    at
		lacks *controller.Outcome
		want  string
	}{
		{"all have confirmed it", at{"a": has(5), "b": has(6)}, nil, "True Served: Served by a, b."},
		{"one has confirmed what was before it", at{"a": has(5), "b": has(4)}, nil,
			"False Pending: Backend b is about to receive it."},
		{"nothing has been heard of one", at{"a": has(5), "b": {}}, nil, "False Pending: Backend b is about to receive it."},
		{"one has it, and cannot take what comes after", at{"a": failed(5)}, nil, "True Served: Served by a."},
		{"one cannot take it", at{"a": has(5), "b": failed(4)}, nil,
			"False Unavailable: Backend b (srv) does not serve example.org.: no answer."},
		{"a server that is away is told before one that is only behind", at{"a": {}, "b": failed(4)}, nil,
			"False Unavailable: Backend b (srv) does not serve example.org.: no answer."},
		{"one refuses it", at{"a": has(5), "b": refuses(www)}, nil,
			"False Rejected: Backend b does not take www.example.org. A: bad"},
		{"one refuses another set", at{"a": has(5), "b": refuses(mail)}, nil, "True Served: Served by a, b."},
		{"all only observe", at{"a": observes}, nil, "False Observing: Nothing is written. Backend a only observes."},
		{"one only observes", at{"a": has(5), "b": observes}, nil, "True Served: Served by a."},
		{"one is being withdrawn", at{"a": has(5), "b": {leaving: true}}, nil, "True Served: Served by a."},
		{"all are being withdrawn", at{"a": {leaving: true}}, nil, "False Withdrawing: It is being withdrawn."},
		{"none is attached", at{}, nil,
			"False NoBackend: No Backend serves example.org.; mark a Backend as default, or name one in backendRefs."},
		{"the only one does not exist", at{}, lacks(controller.ReasonBackendNotFound),
			"False NoBackend: No Backend serves example.org. Mend it."},
		{"the only one does not grant it", at{}, lacks(controller.ReasonBackendNotGranted),
			"False NoBackend: No Backend serves example.org. Mend it."},
		{"the only one cannot be used", at{}, lacks(controller.ReasonBackendNotReady), "False BackendNotReady: Mend it."},
		{"another one does not exist", at{"a": has(5)}, lacks(controller.ReasonBackendNotFound),
			"False BackendNotFound: Mend it."},
		{"another one does not grant it", at{"a": has(5)}, lacks(controller.ReasonBackendNotGranted),
			"False BackendNotGranted: Mend it."},
		{"another one cannot be used", at{"a": has(5)}, lacks(controller.ReasonBackendNotReady),
			"False BackendNotReady: Mend it."},
		{"what is refused is told before what is missing", at{"a": refuses(www)}, lacks(controller.ReasonBackendNotFound),
			"False Rejected: Backend a does not take www.example.org. A: bad"},
		{"what is missing is told before what is on its way", at{"a": {}}, lacks(controller.ReasonBackendNotFound),
			"False BackendNotFound: Mend it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &zoneFeed{name: parse(t, "example.org."), at: map[attachmentKey]*attached{}}
			for name, a := range c.at {
				there := *a
				there.place, there.server = "Backend "+name, "srv"
				l.at[attachmentKey{name, backend.TargetKey{Server: "srv"}}] = &there
			}
			z := &delivery{obstacles: obstacles{lacks: c.lacks}}
			if got := show(z.reached(l, 5, &www)); got != c.want {
				t.Errorf("it is\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestAZoneKnowsWhatItsServersRefuse(t *testing.T) {
	www := rr.Key{Name: parse(t, "www.example.org."), Type: rr.TypeA}
	report := &engine.Report{Refused: map[rr.Key]engine.Refusal{www: {Reason: "bad"}}}
	l := &zoneFeed{at: map[attachmentKey]*attached{
		{place: "takes it"}:   {place: "Backend a", report: &engine.Report{}},
		{place: "is silent"}:  {place: "Backend b"},
		{place: "refuses it"}: {place: "Backend c", report: report},
		{place: "loses it"}:   {place: "Backend d", report: report, leaving: true},
		{place: "observes"}:   {place: "Backend e", report: report, terms: terms{observe: true}},
	}}
	got := l.refused()
	if len(got) != 1 {
		t.Fatalf("%d servers refuse something: %v", len(got), got)
	}
	if said, want := show(*got[0].Outcome(www)), "False Rejected: Backend c does not take www.example.org. A: bad"; said !=
		want {
		t.Errorf("it is %s\nwant %s", said, want)
	}
}

// TestADSIsServedByTheZoneAbove has the two Zones go to different servers: what the one of the sub-zone has is no word
// on the DS (RFC 4035 §3.1.4.1).
func TestADSIsServedByTheZoneAbove(t *testing.T) {
	play(t, func(s *stage) {
		const good, bad = "1 8 2 ABCD", "1 8 2 66"
		s.server("up", "example.org.", backendtest.Profile{Bad: func(set rr.Set) bool {
			return set.Type == rr.TypeDS && slices.Contains(set.Data, bad)
		}})
		s.server("down", "sub.example.org.", backendtest.Profile{})
		s.place("down", nil)
		s.place("up", unusable)
		s.zone("org", "example.org.", "up")
		s.zone("sub", "sub.example.org.", "down")
		key := rr.Key{Name: parse(t, "sub.example.org."), Type: rr.TypeDS}
		put := func(record string, kind rr.Type, data string) {
			s.core.PutClaim(zone.Claim{ID: recordID(record), Created: born, Where: zone.Where{Name: key.Name}, Type: kind,
				Data: []string{data}}, core.Version{UID: "1", Generation: 1})
			s.settle()
		}
		is := func(want string) {
			t.Helper()
			v, _ := s.core.Verdict(recordID("ds"))
			if got := show(s.d.Reached(v.Serving(), recordID("ds"), key)); got != want {
				t.Errorf("it is %s\nwant %s", got, want)
			}
			found, err := InspectorOf(s.core, s.d).Inspect(recordID("ds"))
			if err != nil || found.Home != zoneID("org") {
				t.Errorf("who asks is told of %s: %v", found.Home, err)
			}
		}
		put("ns", rr.TypeNS, "ns.example.net.")
		put("ds", rr.TypeDS, good)
		s.servedIs("sub", "True Served: Served by down.")
		is("False BackendNotReady: Backend up cannot be used: Secret x/key cannot be read.")
		s.told()
		s.place("up", nil)
		is("True Served: Served by up.")
		s.toldOf("ds", "org")
		s.told()
		put("ds", rr.TypeDS, bad)
		is("False Rejected: Backend up does not take sub.example.org. DS: REFUSED: bad record (rejected)")
		s.toldOf("ds", "none")
		s.told()
		put("ds", rr.TypeDS, good)
		is("True Served: Served by up.")
		s.toldOf("ds", "none")
	})
}

// TestWhatIsGoneIsNotWaitedForWhileAServerIsAway has Records come and go, and one change, meanwhile.
func TestWhatIsGoneIsNotWaitedForWhileAServerIsAway(t *testing.T) {
	play(t, func(s *stage) {
		m := s.server("one", "example.org.", backendtest.Profile{})
		s.place("one", nil)
		s.zone("org", "example.org.", "one")
		m.SetDown(true)
		s.record("stays", "stays.example.org.", "192.0.2.1")
		for i := range 2000 {
			name := fmt.Sprintf("r%d", i)
			s.record(name, name+".example.org.", "192.0.2.1")
			s.core.DeleteClaim(recordID(name))
			s.record("changes", "changes.example.org.", fmt.Sprintf("192.0.2.%d", i%200))
		}
		st, unlock := s.d.state.Lock()
		l := st.zones[zoneID("org")].current()
		waiting, waits, times := len(l.waiting), len(l.waits), len(l.times)
		unlock()
		if waiting > leastSwept || waits > 2*leastSwept || times > mostTraced {
			t.Errorf("%d contents are waited for, by %d claims, and %d are timed", waiting, waits, times)
		}
		m.SetDown(false)
		s.told()
		<-time.After(time.Hour) // in the bubble
		s.toldOf("stays", "org")
		s.toldOf("changes", "org")
		s.reachedIs("stays", "True Served: Served by one.")
	})
}
