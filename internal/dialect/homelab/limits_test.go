package homelab

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestAClassAllowsNoMoreThanItsRecordsCanBeComparedWith(t *testing.T) {
	var c v1alpha1.DNSClass
	c.Name = "large"
	for i := range 256 { // as many items as the schema takes, with names beyond what all may have
		item := v1alpha1.Allowance{Namespaces: []string{fmt.Sprint("team-", i)}}
		for n := range 30 {
			item.Names = append(item.Names, fmt.Sprintf("n%d.example.org.", n))
		}
		c.Spec.Allowed = append(c.Spec.Allowed, item)
	}
	got := ConvertClass(&c)
	if want := zone.MaxRuleParts / 32; len(got.Rules) != want {
		t.Errorf("%d items allow something, not %d", len(got.Rules), want)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, fmt.Sprint(zone.MaxRuleParts)) {
		t.Errorf("it is told %v", got.Warnings)
	}
}
