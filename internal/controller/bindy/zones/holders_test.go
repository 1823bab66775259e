package zones

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestWhoIsToldOfAZoneOfTheSameName has three of different age at one server.
func TestWhoIsToldOfAZoneOfTheSameName(t *testing.T) {
	at := client.ObjectKey{Namespace: "dns", Name: "ns"}
	st := &state{known: map[zone.ID]*known{}, fleets: map[zone.ID]fleetOf{}, names: newNameIndex(),
		assigned: assigned{assignments: map[zone.ID]assignment{}}}
	put := func(object, name string, second int64) (zone.ID, []zone.ID) {
		o := selecting("dns/"+object, name, second)
		o.CreationTimestamp = metav1.Time{Time: time.Unix(second, 0)}
		id := dialect.ZoneID("dns", object)
		st.known[id], st.fleets[id], st.names.accepted[id] = &known{zone: o}, fleetOf{primaries: []client.ObjectKey{at}}, true
		others := st.rename(id)
		slices.SortFunc(others, zone.ID.Compare)
		return id, others
	}
	middle, none := put("middle", "example.com", 2)
	young, older := put("young", "example.com", 3)
	if len(none) > 0 || len(older) > 0 {
		t.Errorf("told are %v and %v, to whom it does not matter", none, older)
	}
	old, told := put("old", "example.com", 1)
	if !slices.Equal(told, []zone.ID{middle, young}) || st.holderAt(at, "example.com") != old {
		t.Errorf("told are %v, and %s has the server", told, st.holderAt(at, "example.com"))
	}
	if _, told := put("middle", "example.net", 2); !slices.Equal(told, []zone.ID{young}) {
		t.Errorf("of a name that is left, %v are told", told)
	}
	if _, told := put("middle", "example.com", 2); !slices.Equal(told, []zone.ID{young}) {
		t.Errorf("of one that comes back, %v are told", told)
	}
	if _, told := put("middle", "example.com", 4); !slices.Equal(told, []zone.ID{old, young}) {
		t.Errorf("of one that was made anew, %v are told", told)
	}
	if _, told := put("middle", "example.net", 4); len(told) > 0 {
		t.Errorf("of a name that the youngest leaves, %v are told", told)
	}
	st.known[old].zone = selecting("dns/old", "example.com", 5)
	fleet := st.fleets[old]
	delete(st.fleets, old)
	if told := st.rename(old); !slices.Equal(told, []zone.ID{young}) {
		t.Errorf("of one that was made anew elsewhere, %v are told", told)
	}
	st.known[old].zone, st.fleets[old] = selecting("dns/old", "example.com", 1), fleet
	st.rename(old)
	st.known[old].zone = nil
	delete(st.fleets, old)
	if told := st.rename(old); !slices.Equal(told, []zone.ID{young}) || st.holderAt(at, "example.com") != young {
		t.Errorf("of a zone that is gone, %v are told, and %s has the server", told, st.holderAt(at, "example.com"))
	}
}

// TestAZoneIsToldOfAnOlderOneBeforeItIsStored has one of the name at one of two servers.
func TestAZoneIsToldOfAnOlderOneBeforeItIsStored(t *testing.T) {
	at, other := client.ObjectKey{Namespace: "dns", Name: "ns"}, client.ObjectKey{Namespace: "dns", Name: "other"}
	old := dialect.ZoneID("dns", "old")
	st := &state{known: map[zone.ID]*known{}, fleets: map[zone.ID]fleetOf{}, names: newNameIndex(),
		assigned: assigned{assignments: map[zone.ID]assignment{}}}
	o := selecting("dns/old", "example.com", 2)
	o.CreationTimestamp = metav1.Time{Time: time.Unix(2, 0)}
	st.known[old], st.fleets[old] = &known{zone: o}, fleetOf{primaries: []client.ObjectKey{at}}
	st.names.accepted[old] = true
	st.rename(old)
	const has = "DNSZone dns/old is older and has example.com on Bind9Instance dns/ns; delete one of the two, or choose " +
		"other servers for it."
	for _, c := range []struct {
		name, object, zone string
		second             int64 // when it was stored; 0: it is not
		on                 []client.ObjectKey
		want               string
	}{
		{"a new one of the name", "new", "Example.com", 0, []client.ObjectKey{other, at}, has},
		{"on other servers", "new", "example.com", 0, []client.ObjectKey{other}, ""},
		{"another name", "new", "example.net", 0, []client.ObjectKey{at}, ""},
		{"the one that is there", "old", "example.com", 2, []client.ObjectKey{at}, ""},
		{"a younger one that gets the name", "young", "example.com", 3, []client.ObjectKey{at}, has},
		{"an older one that gets the name", "older", "example.com", 1, []client.ObjectKey{at}, ""},
	} {
		o := selecting("dns/"+c.object, c.zone, c.second)
		if o.CreationTimestamp = (metav1.Time{}); c.second > 0 {
			o.CreationTimestamp = metav1.Time{Time: time.Unix(c.second, 0)}
		}
		if got := st.elderOf(o, c.on); got != c.want {
			t.Errorf("%s: it is told %q", c.name, got)
		}
	}
}
