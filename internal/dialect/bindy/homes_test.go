package bindy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// selecting makes a DNSZone "namespace/object" of a name that was created in a second and selects records.
func selecting(object, name string, second int64, from ...metav1.LabelSelector) *v1beta1.DNSZone {
	z := &v1beta1.DNSZone{}
	z.Namespace, z.Name, _ = strings.Cut(object, "/")
	z.CreationTimestamp = metav1.Time{Time: time.Unix(second, 0)}
	z.Spec.ZoneName = name
	for _, s := range from {
		z.Spec.RecordsFrom = append(z.Spec.RecordsFrom, v1beta1.Selection{Selector: s})
	}
	return z
}

// leaving returns a DNSZone that is being deleted.
func leaving(z *v1beta1.DNSZone) *v1beta1.DNSZone {
	z.DeletionTimestamp = &metav1.Time{Time: time.Unix(60, 0)}
	return z
}

func withLabels(l map[string]string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchLabels: l}
}

func expression(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: key, Operator: op, Values: values}}}
}

// naming makes the ARecord dns/www with a zone, a zoneRef and labels.
func naming(zoneName, ref string, l map[string]string) Record {
	a := &v1beta1.ARecord{}
	a.Namespace, a.Name, a.Labels = "dns", "www", l
	a.Spec.Zone, a.Spec.ZoneRef = v1beta1.HostName(zoneName), ref
	r, _ := RecordOf(a)
	return r
}

func TestTheHomeOfARecord(t *testing.T) {
	blue := map[string]string{"team": "blue"}
	old, young := selecting("dns/old", "example.com", 1, withLabels(blue)),
		selecting("dns/young", "example.com", 2, withLabels(blue))
	for _, c := range []struct {
		name   string
		zones  []*v1beta1.DNSZone
		record Record
		want   string
	}{
		{"the zone that it names, in any case, with or without a dot",
			[]*v1beta1.DNSZone{selecting("dns/z", "Example.com", 1)}, naming("eXample.com.", "", nil), "dns/z"},
		{"not one of another namespace", []*v1beta1.DNSZone{selecting("other/z", "example.com", 1, withLabels(nil))}, naming(
			"example.com", "", blue), "ZoneNotFound"},
		{"of two of that name the oldest, and the other is told", []*v1beta1.DNSZone{young, old},
			naming("example.com", "", nil), "dns/old, ZoneAmbiguous by DNSZone dns/young"},
		{"the object that it refers to", []*v1beta1.DNSZone{young, old}, naming("", "young", nil), "dns/young"},
		{"both, if they mean one", []*v1beta1.DNSZone{young, old}, naming("example.com", "young", nil), "dns/young"},
		{"both, and they differ", []*v1beta1.DNSZone{old}, naming("example.net", "old", nil), "InvalidSpec"},
		{"a reference to nothing", []*v1beta1.DNSZone{old}, naming("", "missing", blue), "ZoneNotFound"},
		{"the one that selects it", []*v1beta1.DNSZone{old}, naming("", "", blue), "dns/old"},
		{"of two that select it the oldest (R14b)", []*v1beta1.DNSZone{young, old}, naming("", "", blue),
			"dns/old, SelectedTwice by DNSZone dns/young"},
		{"the one that it names, though an older one selects it", []*v1beta1.DNSZone{old, young}, naming("", "young", blue),
			"dns/young, SelectedTwice by DNSZone dns/old"},
		{"two selectors of one zone are one",
			[]*v1beta1.DNSZone{selecting("dns/z", "a", 1, withLabels(blue), withLabels(nil))}, naming("", "", blue), "dns/z"},
		{"none", []*v1beta1.DNSZone{old}, naming("", "", map[string]string{"team": "red"}), "NotSelected"},
		{"none without recordsFrom", []*v1beta1.DNSZone{selecting("dns/z", "a", 1)}, naming("", "", blue), "NotSelected"},
		{"an empty selector selects everything", []*v1beta1.DNSZone{selecting("dns/z", "a", 1, metav1.LabelSelector{})},
			naming("", "", nil), "dns/z"},
		{"an expression", []*v1beta1.DNSZone{selecting("dns/z", "a", 1, expression("team", "In", "red", "blue"))}, naming("",
			"", blue), "dns/z"},
		{"an unknown operator selects nothing",
			[]*v1beta1.DNSZone{selecting("dns/z", "a", 1, expression("team", "Like", "blue"))}, naming("", "", blue),
			"NotSelected"},
		{"one with too many values selects nothing",
			[]*v1beta1.DNSZone{selecting("dns/z", "a", 1, expression("team", "In", slices.Repeat([]string{"blue"}, 256)...))},
			naming("", "", blue), "NotSelected"},
		{"and does not spoil the other selectors",
			[]*v1beta1.DNSZone{selecting("dns/z", "a", 1, expression("team", "Like"), expression("team", "Exists"))}, naming("",
				"", blue), "dns/z"},
		{"not the zone that it names and that is being deleted",
			[]*v1beta1.DNSZone{leaving(selecting("dns/z", "example.com", 1))}, naming("example.com", "", nil),
			"ZoneNotFound, since it is being deleted"},
		{"another of that name before one that is being deleted",
			[]*v1beta1.DNSZone{leaving(selecting("dns/z", "example.com", 1)), young}, naming("example.com", "", nil),
			"dns/young"},
		{"not the object that it refers to and that is being deleted",
			[]*v1beta1.DNSZone{leaving(selecting("dns/z", "example.com", 1))}, naming("", "z", nil),
			"ZoneNotFound, since it is being deleted"},
		{"not the one that selects it and is being deleted",
			[]*v1beta1.DNSZone{leaving(selecting("dns/z", "a", 1, withLabels(blue)))}, naming("", "", blue),
			"NotSelected, since it is being deleted"},
		{"another that selects it before one that is being deleted",
			[]*v1beta1.DNSZone{leaving(selecting("dns/z", "a", 1, withLabels(blue))), young}, naming("", "", blue), "dns/young"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, recordFirst := range []bool{true, false} {
				h := NewHomes()
				if recordFirst {
					h.PutRecord(c.record)
				}
				for _, z := range c.zones {
					h.PutZone(z)
				}
				if !recordFirst {
					h.PutRecord(c.record)
				}
				if got := homeText(h.Of(c.record.ID)); got != c.want {
					t.Errorf("its home is %s, want %s", got, c.want)
				}
			}
		})
	}
}

func homeText(h Home) string {
	if h.Refusal != nil && strings.Contains(h.Refusal.Message, "is being deleted") {
		return string(h.Refusal.Reason) + ", since it is being deleted"
	}
	if h.Refusal != nil {
		return string(h.Refusal.Reason)
	}
	text := h.Zone.Namespace + "/" + h.Zone.Name
	for _, n := range h.Notes {
		text += fmt.Sprintf(", %s by %s", n.Reason, n.Object)
	}
	return text
}

func TestAZoneIsToldWhatItDoesNotGet(t *testing.T) {
	h := NewHomes()
	h.PutRecord(naming("", "", nil))
	h.PutZone(selecting("dns/old", "a", 1, withLabels(nil)))
	moved := h.PutZone(selecting("dns/young", "b", 2, withLabels(nil)))
	if !slices.Contains(moved.Zones, ZoneID("dns", "young")) {
		t.Errorf("moved are %+v", moved)
	}
	notes := h.Notes(ZoneID("dns", "young"))
	if len(notes) != 1 || notes[0].Message != "DNSZone dns/young selects 1 record that it does not get: a record "+
		"belongs to the zone that it names, or else to the oldest that selects it; let only one zone select a record." {
		t.Errorf("the younger is told %+v", notes)
	}
	moved = h.DeleteZone(ZoneID("dns", "old"))
	if !slices.Contains(moved.Records, naming("", "", nil).ID) || len(h.Notes(ZoneID("dns", "young"))) != 0 {
		t.Errorf("when the older is gone, moved are %+v, and the younger is told %+v", moved, h.Notes(ZoneID("dns", "young")))
	}
}

// What becomes of a World of homes does not depend on the way there, and who follows what is told misses nothing.
func TestHomesDependOnWhatThereIsOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, zones, records := NewHomes(), map[zone.ID]*v1beta1.DNSZone{}, map[zone.ID]Record{}
		homes, notes := map[zone.ID]Home{}, map[zone.ID][]zone.Note{}
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			var moved Moved
			id := ZoneID("dns", rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "zone"))
			record := RecordID(rr.TypeA, "dns", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "record"))
			switch rapid.IntRange(0, 5).Draw(t, "operation") {
			case 0:
				delete(zones, id)
				delete(notes, id)
				moved = h.DeleteZone(id)
			case 1:
				delete(records, record)
				delete(homes, record)
				moved = h.DeleteRecord(record)
			case 2, 3:
				z := drawSelecting(t, id)
				if rapid.IntRange(0, 3).Draw(t, "being deleted") == 0 {
					leaving(z)
				}
				zones[id] = z
				moved = h.PutZone(z)
				notes[id] = h.Notes(id)
			default:
				r := drawNaming(t, record)
				records[record] = r
				moved = h.PutRecord(r)
				homes[record] = h.Of(record)
			}
			for _, id := range moved.Records {
				homes[id] = h.Of(id)
			}
			for _, id := range moved.Zones {
				if zones[id] != nil {
					notes[id] = h.Notes(id)
				}
			}
		}
		fresh := NewHomes()
		for _, id := range slices.SortedFunc(maps.Keys(records), zone.ID.Compare) {
			fresh.PutRecord(records[id])
		}
		for _, id := range slices.SortedFunc(maps.Keys(zones), func(a, b zone.ID) int { return b.Compare(a) }) {
			fresh.PutZone(zones[id])
		}
		for id := range records {
			if diff := cmp.Diff(fresh.Of(id), homes[id]); diff != "" {
				t.Errorf("%s (-from nothing +followed):\n%s", id, diff)
			}
		}
		for id := range zones {
			if diff := cmp.Diff(fresh.Notes(id), notes[id]); diff != "" {
				t.Errorf("%s (-from nothing +followed):\n%s", id, diff)
			}
		}
	})
}

func drawSelecting(t *rapid.T, id zone.ID) *v1beta1.DNSZone {
	var from []metav1.LabelSelector
	for _, team := range rapid.SliceOfN(rapid.SampledFrom([]string{"blue", "red", ""}), 0, 2).Draw(t, "selectors") {
		if team == "" {
			from = append(from, metav1.LabelSelector{})
			continue
		}
		from = append(from, withLabels(map[string]string{"team": team}))
	}
	return selecting("dns/"+id.Name, rapid.SampledFrom([]string{"a.org", "b.org"}).Draw(t, "zoneName"),
		rapid.Int64Range(1, 3).Draw(t, "second"), from...)
}

func drawNaming(t *rapid.T, id zone.ID) Record {
	r := naming(rapid.SampledFrom([]string{"", "", "a.org", "B.org."}).Draw(t, "names"),
		rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(t, "refers"),
		map[string]string{"team": rapid.SampledFrom([]string{"blue", "red", "green"}).Draw(t, "team")})
	r.ID = id
	return r
}

// TestManyZonesThatWantOneRecord has a namespace full of zones that select everything, or are called alike: what a
// record tells, and what one zone more moves, does not grow with them.
func TestManyZonesThatWantOneRecord(t *testing.T) {
	const many = 100
	for _, c := range []struct {
		name     string
		record   Record
		selector []metav1.LabelSelector
		reason   zone.Reason
	}{
		{"all select it", naming("", "", nil), []metav1.LabelSelector{{}}, v1beta1.ReasonSelectedTwice},
		{"all are called as it says", naming("example.com", "", nil), nil, v1beta1.ReasonZoneAmbiguous},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := NewHomes()
			var ids []zone.ID
			for n := range 2 * many {
				r := c.record
				r.ID.Name = fmt.Sprint(n)
				ids = append(ids, r.ID)
				h.PutRecord(r)
			}
			for n := range many {
				moved := h.PutZone(selecting(fmt.Sprintf("dns/z%03d", n), "example.com", int64(n), c.selector...))
				if n > maxNamed+1 && (len(moved.Records) > 0 || len(moved.Zones) > 1) {
					t.Fatalf("the zone %d moves %d records and %d zones", n, len(moved.Records), len(moved.Zones))
				}
			}
			for _, id := range ids {
				notes := h.Of(id).Notes
				if h.Of(id).Zone != ZoneID("dns", "z000") || len(notes) != maxNamed+1 || !strings.Contains(notes[maxNamed].Message,
					"at least one DNSZone more") || notes[0].Reason != c.reason {
					t.Fatalf("its home is %+v", h.Of(id))
				}
			}
			if notes := h.Notes(ZoneID("dns", "z099")); c.selector != nil &&
				(len(notes) != 1 || !strings.Contains(notes[0].Message, "more than 9 records")) {
				t.Errorf("the youngest is told %+v", notes)
			}
			if moved := h.DeleteRecord(ids[0]); len(moved.Zones) > 0 {
				t.Errorf("a record that goes is news to %d zones", len(moved.Zones))
			}
		})
	}
}
