package scenario

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
)

// TestChainsOfThreeHundredZones has Zones that each take their name from the one before.
// Names have at most 255 octets (RFC 1035 §2.3.4).
func TestChainsOfThreeHundredZones(t *testing.T) {
	const zones, served = 300, 1
	s := newKubizone(t)
	for order, at := range map[string]func(int) int{
		"from the top":    func(i int) int { return i },
		"from the bottom": func(i int) int { return zones - 1 - i },
	} {
		s.run("created "+order, func(s *scene) {
			longest := (255 - len("\x03org\x00") - 1 - len(s.word)) / len("\x01a")
			s.serve("example.org.", "a.example.org.")
			s.apply(`zone a/org: {domainName: example.org., delegations: ` + anything + `}
		record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.1}`)
			s.unharmed("192.0.2.1")
			before := s.metric("zonefold_api_writes_total")
			for i := range zones {
				s.apply(link(at(i)))
			}
			s.apply(fmt.Sprintf(`record a/deep: {domainName: x, zoneRef: {name: z%d}, type: A, rdata: 192.0.2.2}`, zones-1))
			s.refused("record a/deep", "ParentUnresolved", fmt.Sprintf("Zone ~a/z%d", zones-1))
			s.links(func(i int) string {
				switch {
				case i < served:
					return "True Ready"
				case i < longest:
					return "False NoBackend" // accepted, and that is all
				case i == longest:
					return "False InvalidName"
				}
				return "False ParentUnresolved"
			})
			s.cond(fmt.Sprintf("zone a/z%d", longest), "Accepted", "False InvalidName", "octets",
				fmt.Sprintf("Zone ~a/z%d", longest))
			s.cond(fmt.Sprintf("zone a/z%d", longest+1), "Accepted", "False ParentUnresolved",
				fmt.Sprintf("Zone ~a/z%d", longest))
			last := fmt.Sprintf("zone a/z%d", longest-1)
			s.cond(last, "Accepted", "True Accepted")
			s.fqdn(last, strings.Repeat("a.", longest)+"example.org.")
			s.parent(last, fmt.Sprintf("a/z%d", longest-2))
			s.agree("a/z0")
			if writes := s.metric("zonefold_api_writes_total") - before; writes > 4*zones {
				s.t.Errorf("%d Zones took %v writes", zones, writes)
			}
			s.unharmed("192.0.2.1")
		})
	}
}

// link is the i-th Zone of a chain.
func link(i int) string {
	parent := "org"
	if i > 0 {
		parent = fmt.Sprintf("z%d", i-1)
	}
	backends := "[{name: ~none}]"
	if i == 0 {
		backends = "[]" // the default
	}
	return fmt.Sprintf("zone a/z%d: {domainName: a, zoneRef: {name: %s}, backendRefs: %s, delegations: %s}", i, parent,
		backends, anything)
}

// links waits until every Zone of a chain has the condition that want says, and each is a sentence.
func (s *scene) links(want func(int) string) {
	s.t.Helper()
	s.eventually("the chain", func() string {
		var list kubizone.ZoneList
		if err := s.client.List(s.ctx, &list, client.InNamespace(s.prefix+"a")); err != nil {
			return err.Error()
		}
		for i := range list.Items {
			z := &list.Items[i]
			var number int
			if _, err := fmt.Sscanf(z.Name, "z%d", &number); err != nil {
				continue
			}
			c := find(z.Status.Conditions, "Ready")
			if c == nil {
				return z.Name + " has no condition"
			}
			if got := fmt.Sprintf("%s %s", c.Status, c.Reason); got != want(number) || !strings.HasSuffix(c.Message, ".") {
				return fmt.Sprintf("%s says %s (%s), not %s", z.Name, got, c.Message, want(number))
			}
		}
		return ""
	})
}
