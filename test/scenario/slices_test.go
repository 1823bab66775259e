package scenario

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
)

func TestZoneSlices(t *testing.T) {
	s := newKubizone(t, "--max-status-entries=20")
	s.serve("example.org.")
	s.apply(`zone a/org: {domainName: example.org., delegations: ` + anything + `}`)
	many := func(from, to int) {
		for i := from; i < to; i++ {
			s.apply(fmt.Sprintf(`record a/r%d: {domainName: r%d.example.org., type: A, rdata: 192.0.2.%d}`, i, i, i))
		}
	}
	many(0, 15)
	s.ready("zone a/org", "record a/r14")
	s.agree("a/org")

	s.step("a zone with more entries than fit into its status is in slices", func() {
		many(15, 100)
		s.ready("zone a/org", "record a/r99")
		s.cond("zone a/org", "Sliced", "True InSlices")
		s.sliced("a/org", 101)
	})

	s.step("one change rewrites one slice", func() {
		before := s.versions("a")
		s.apply(`record a/r50: {domainName: r50.example.org., type: A, rdata: 198.51.100.50}`)
		s.answers("r50.example.org. A", "198.51.100.50")
		s.sliced("a/org", 101)
		changed := 0
		for name, version := range s.versions("a") {
			if before[name] != version {
				changed++
			}
		}
		if changed != 1 {
			s.t.Errorf("%d of %d slices were written", changed, len(before))
		}
	})

	s.step("a slice that somebody edits is restored, and one that somebody deletes stays", func() {
		slice := s.slices("a")[0]
		if err := s.client.Patch(s.ctx, &slice, client.RawPatch(types.MergePatchType, []byte(`{"entries":[]}`))); err != nil {
			s.t.Fatal(err)
		}
		s.sliced("a/org", 101)
		if err := s.client.Delete(s.ctx, &slice); err != nil {
			s.t.Fatal(err)
		}
		s.sliced("a/org", 101)
	})

	s.step("so it is while there is no operator, and no other slice is written", func() {
		s.op.Kill()
		slice := s.slices("a")[0]
		if err := s.client.Patch(s.ctx, &slice, client.RawPatch(types.MergePatchType, []byte(`{"entries":[]}`))); err != nil {
			s.t.Fatal(err)
		}
		s.start("--max-status-entries=20")
		s.sliced("a/org", 101)
		if err := s.client.Delete(s.ctx, &slice); err != nil {
			s.t.Fatal(err)
		}
		s.sliced("a/org", 101)
		if n := s.metric(`zonefold_api_writes_total{kind="ZoneSlice"`); n != 1 {
			s.t.Errorf("%v slices were written", n)
		}
	})

	s.step("a zone that fits again has no slices", func() {
		for i := 15; i < 100; i++ {
			s.remove(fmt.Sprintf("record a/r%d", i))
		}
		s.agree("a/org")
		s.eventually("slices", func() string {
			z := s.zone("a/org")
			if n := len(s.slices("a")); n > 0 || z.Status.Slices != 0 || find(z.Status.Conditions, "Sliced") != nil {
				return fmt.Sprintf("there are %d, and the status says %d", n, z.Status.Slices)
			}
			return ""
		})
		s.ready("zone a/org", "record a/r14")
		if n := s.zone("a/org").Status.EntryCount; n != 16 {
			s.t.Errorf("the status counts %d entries", n)
		}
	})
}

// slices lists the slices with content of a namespace.
func (s *scene) slices(namespace string) []zonefold.ZoneSlice {
	s.t.Helper()
	var list zonefold.ZoneSliceList
	if err := s.client.List(s.ctx, &list, client.InNamespace(s.prefix+namespace)); err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(z zonefold.ZoneSlice) bool { return z.Journal })
}

func (s *scene) versions(namespace string) map[string]string {
	out := map[string]string{}
	for _, slice := range s.slices(namespace) {
		out[slice.Name] = slice.ResourceVersion
	}
	return out
}

// sliced waits until the slices of a Zone hold exactly what BIND does, that many entries with the SOA.
func (s *scene) sliced(where string, count int32) {
	s.t.Helper()
	ns := s.reference("zone " + where).namespace[len(s.prefix):]
	s.eventually("slices of "+where, func() string {
		z := s.zone(where)
		var have []string
		for _, slice := range s.slices(ns) {
			for _, e := range slice.Entries {
				have = append(have, fmt.Sprintf("%s %d %s %s", e.FQDN, e.TTL, e.Type, e.RData))
			}
		}
		sets, err := s.bind.Transfer(s.ctx, name(z.Status.FQDN))
		if err != nil {
			return err.Error()
		}
		var want []string
		for _, set := range sets {
			for _, data := range set.Data {
				switch line := fmt.Sprintf("%s %d %s %s", set.Name, set.TTL, set.Type, data); {
				case set.Type.String() == "SOA" && line != entriesOf(z)[0]:
					return fmt.Sprintf("the SOA is %q in the status and %q at the server", entriesOf(z)[0], line)
				case set.Type.String() != "SOA" && data != "localhost.":
					want = append(want, line)
				}
			}
		}
		slices.Sort(have)
		slices.Sort(want)
		if !slices.Equal(have, want) || z.Status.EntryCount != count || int(z.Status.Slices) != len(s.slices(ns)) {
			return fmt.Sprintf("%d entries in %d slices, the server has %d; the status says %d in %d",
				len(have), len(s.slices(ns)), len(want), z.Status.EntryCount, z.Status.Slices)
		}
		return ""
	})
}
