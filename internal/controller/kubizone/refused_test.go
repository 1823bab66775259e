package kubizone

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestWhatNoRecordAsksForIsToldByItsZone has servers refuse sets; the Zone tells of those whose objects cannot.
func TestWhatNoRecordAsksForIsToldByItsZone(t *testing.T) {
	ns := rr.NewSet(rr.Key{Name: parse(t, "sub.example.org."), Type: rr.TypeNS}, 60, "ns_1.sub.example.org.")
	ptr := rr.NewSet(rr.Key{Name: parse(t, "1.2.0.192.in-addr.arpa."), Type: rr.TypePTR}, 60, "_x.example.org.")
	gone := rr.Key{Name: parse(t, "gone.example.org."), Type: rr.TypeA}
	out := delivery.ZoneOutcome{Snapshot: zone.Snapshot{Sets: setsFor(t, ns, ptr)}}
	says := engine.Refusal{Reason: "REFUSED."}
	record, service := zone.ID{Kind: zone.KindRecord, Namespace: "a", Name: "ns"},
		zone.ID{Kind: "Service", Namespace: "a", Name: "web"}
	for _, c := range []struct {
		sentence string
		refused  []delivery.Refused
		asking   []zone.ID
		want     []string
	}{
		{"a server takes everything", nil, nil, nil},
		{"no object asks for the set", refuses(says, "bind", ns.Key()), nil, []string{
			"Rejected: Backend bind does not take sub.example.org. NS: REFUSED. It comes from a Zone below; change it there."}},
		{"it is the name of an address", refuses(says, "bind", ptr.Key()), nil, []string{
			"Rejected: Backend bind does not take 1.2.0.192.in-addr.arpa. PTR: REFUSED. It comes from the address of another " +
				"object; change that, or write a Record here."}},
		{"an object without a status asks for it", refuses(says, "bind", ns.Key()), []zone.ID{service}, []string{
			"Rejected: Backend bind does not take sub.example.org. NS: REFUSED. Service a/web asks for it."}},
		{"a Record asks for it, and says so itself", refuses(says, "bind", ns.Key()), []zone.ID{service, record}, nil},
		{"two servers of one Backend refuse it",
			append(refuses(says, "bind", ns.Key()), refuses(says, "bind", ns.Key())...), []zone.ID{service}, []string{
				"Rejected: Backend bind does not take sub.example.org. NS: REFUSED. Service a/web asks for it."}},
		{"an external-dns has it",
			refuses(engine.Refusal{Reason: "it is theirs", Cause: backend.CauseOwned}, "bind", ns.Key()),
			[]zone.ID{service}, []string{
				"Owned: Backend bind does not get sub.example.org. NS: it is theirs. Service a/web asks for it."}},
		{"the brake holds it, which DeletionsHeld tells",
			refuses(engine.Refusal{Reason: "held", Cause: backend.CauseHeld}, "bind", ns.Key()), nil, nil},
		{"what is refused is a deletion", refuses(says, "bind", gone), nil, nil},
	} {
		out.Refused = c.refused
		var got []string
		for _, u := range unaskedOf(out, func(rr.Key) []zone.ID { return c.asking }) {
			got = append(got, string(u.note.Reason)+": "+u.note.Message)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: it tells\n%q\nwant\n%q", c.sentence, got, c.want)
		}
	}
}

func refuses(why engine.Refusal, place string, keys ...rr.Key) []delivery.Refused {
	sets := map[rr.Key]engine.Refusal{}
	for _, key := range keys {
		sets[key] = why
	}
	return []delivery.Refused{{Place: "Backend " + place, Sets: sets}}
}

func TestARefusalThatPassesIsNoWarning(t *testing.T) {
	one := unasked{place: "bind", note: zone.Note{Message: "One."}}
	two := unasked{place: "knot", note: zone.Note{Message: "Two."}}
	type look struct {
		after time.Duration // the look before
		all   []unasked
		told  string // before
		want  string
		wait  time.Duration
	}
	for _, c := range []struct {
		sentence string
		looks    []look
	}{
		{"nothing is refused", []look{{0, nil, "", "", 0}}},
		{"a refusal waits for the grace", []look{{0, []unasked{one}, "", "", grace},
			{grace / 2, []unasked{one}, "", "", grace / 2}, {grace / 2, []unasked{one}, "", "One.", 0}}},
		{"one that was over in between waits again", []look{{0, []unasked{one}, "", "", grace},
			{grace / 2, nil, "", "", 0}, {grace / 2, []unasked{one}, "", "", grace}}},
		{"another one waits by itself", []look{{0, []unasked{one}, "", "", grace},
			{grace, []unasked{one, two}, "", "One.", grace}}},
		{"what the leader before has told stays told", []look{{0, []unasked{one, two}, "It is so. One.", "One.", grace}}},
	} {
		now, s := noon, &zoneState{}
		for i, l := range c.looks {
			now = now.Add(l.after)
			notes, wait := s.lasting(l.all, l.told, now)
			var got []string
			for _, n := range notes {
				got = append(got, n.Message)
			}
			if strings.Join(got, " ") != l.want || wait != l.wait {
				t.Errorf("%s: look %d tells %q and waits %s, want %q and %s", c.sentence, i, got, wait, l.want, l.wait)
			}
		}
	}
}
