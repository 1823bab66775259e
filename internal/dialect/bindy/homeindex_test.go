package bindy

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// TestHooksFindWhatSelectorsSelect compares, after random changes, what is found by hooks with what selectors say about
// every record.
func TestHooksFindWhatSelectorsSelect(t *testing.T) {
	values := []string{"a", "b"}
	selectors := []metav1.LabelSelector{
		{}, withLabels(map[string]string{"x": "a"}), withLabels(map[string]string{"x": "b", "y": "a"}), expression("x", "In",
			"a"), expression("x", "In", "a", "b"),
		expression("y", "Exists"), expression("y", "DoesNotExist"), expression("x", "NotIn", "a"),
		expression("x", "Like", "a"),
		{MatchLabels: map[string]string{"y": "b"}, MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "x", Operator: "Exists"}}},
	}
	rapid.Check(t, func(t *rapid.T) {
		h := NewHomes()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			name := fmt.Sprintf("o%d", rapid.IntRange(0, 5).Draw(t, "object"))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				h.DeleteZone(ZoneID("dns", name))
			case 1, 2:
				h.PutZone(selecting("dns/"+name, "example.com", 1, rapid.SliceOfN(rapid.SampledFrom(selectors), 0, 3).Draw(t,
					"selectors")...))
			default:
				r := naming("", "", rapid.MapOf(rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom(values)).Draw(t, "labels"))
				r.ID.Name = name
				h.PutRecord(r)
			}
			s := h.space("dns")
			for _, r := range s.records {
				var want []*homeZone
				for _, z := range slices.SortedFunc(maps.Values(s.zones), (*homeZone).compare) {
					if z.selects(r.labels) {
						want = append(want, z)
					}
				}
				if !slices.Equal(r.selected, want) {
					t.Fatalf("%d zones are found to select %v, and %d do", len(r.selected), r.labels, len(want))
				}
			}
		}
	})
}

func TestHomesForgetWhatIsGone(t *testing.T) {
	h := NewHomes()
	stays := naming("", "", map[string]string{"x": "a"})
	stays.ID.Name = "stays"
	h.PutRecord(stays)
	for i := range 10 {
		name := fmt.Sprintf("z%d", i)
		h.PutZone(selecting("dns/"+name, name+".example.com", 1, withLabels(map[string]string{name: "a"})))
		r := naming(name+".example.com", name, map[string]string{name: "a"})
		r.ID.Name = name
		h.PutRecord(r)
		h.DeleteZone(ZoneID("dns", name))
		h.DeleteRecord(r.ID)
	}
	s := h.spaces["dns"]
	if n := len(s.called) + len(s.byZone) + len(s.byRef) + len(s.selecting); n > 0 || len(s.labelled) != 2 {
		t.Errorf("of zones and records that are gone %d names are known, and hooks %v", n, s.labelled)
	}
	h.DeleteRecord(stays.ID)
	h.Foresee(stays)
	h.Of(stays.ID)
	h.Notes(ZoneID("dns", "z0"))
	if len(h.spaces) > 0 {
		t.Errorf("%d namespaces are known in which there is nothing", len(h.spaces))
	}
}

// BenchmarkHomes puts 10,000 records into a namespace where 1,000 zones select some each, and then the zones once more.
func BenchmarkHomes(b *testing.B) {
	var zones []*v1beta1.DNSZone
	var records []Record
	for i := range 10_000 {
		l := map[string]string{"zone": fmt.Sprint(i % 1000), "app": "web"}
		if i < 1000 {
			zones = append(zones, selecting(fmt.Sprintf("dns/z%d", i), fmt.Sprintf("z%d.example.com", i), int64(i),
				withLabels(map[string]string{"zone": fmt.Sprint(i)})))
		}
		r := naming("", "", l)
		r.ID.Name = fmt.Sprint(i)
		records = append(records, r)
	}
	for b.Loop() {
		h := NewHomes()
		for _, z := range zones {
			h.PutZone(z)
		}
		for _, r := range records {
			h.PutRecord(r)
		}
		for _, z := range zones {
			h.DeleteZone(ZoneID(z.Namespace, z.Name))
			h.PutZone(z)
		}
	}
}
