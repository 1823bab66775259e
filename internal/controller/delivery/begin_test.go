package delivery

import (
	"testing"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestWhatHasChangedIsLookedAtFirst(t *testing.T) {
	now := map[string]zone.Snapshot{}
	stored := map[zone.ID]Stored{}
	id := func(name string) zone.ID { return zone.ID{Kind: zone.KindZone, Namespace: "a", Name: name} }
	put := func(name string, change func(*Stored)) {
		s := zone.Snapshot{Name: parse(t, name+".example."), Hash: "hash of " + name}
		was := Stored{Name: s.Name, Content: engine.Content{SOA: s.SOA, Hash: s.Hash}.ID()}
		now[name] = s
		change(&was)
		stored[id(name)] = was
	}
	same := func(*Stored) {}
	for _, name := range []string{"a", "b", "c", "d"} {
		put(name, same)
	}
	put("changed", func(s *Stored) { s.Content = "another" })
	put("never-published", func(s *Stored) { s.Content = "" })
	put("renamed", func(s *Stored) { s.Name = parse(t, "old.example.") })
	stored[id("refused")] = Stored{Content: "another"}

	order := changedFirst(stored, func(id zone.ID) (zone.Snapshot, bool) {
		s, accepted := now[id.Name]
		return s, accepted
	})
	if len(order) != len(stored) {
		t.Fatalf("%d of %d Zones are looked at", len(order), len(stored))
	}
	for i, id := range order {
		if _, accepted := now[id.Name]; (i < 3) != (accepted && len(id.Name) > 1) {
			t.Errorf("%s comes as number %d of %v", id.Name, i+1, order)
		}
	}
}
