package scenario

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTheQuickstartIsServedByBIND(t *testing.T) {
	s := newStage(t)
	s.word, s.prefix = "example", "" // its names are in files
	s.bind = s.startBIND("example.org.", "team-a.example.org.", "team-b.example.org.")
	s.backend("bind", "default: true, foreign: Delete", s.bind)
	s.start("--verbose")
	s.kubectl("apply", "-f", filepath.Join("..", "..", "examples", "quickstart"))
	s.ready("zone dns/example-org", "zone team-a/team-a", "zone team-b/team-b", "backend bind")
	s.answers("example.org. MX", "10 mail.example.org.")
	s.answers("mail.example.org. A", "192.0.2.25")
	s.answers("example.org. TXT", `"v=spf1 mx -all"`)
	s.refused("record team-b/takeover", "NotDelegated", "www.team-a.example.org.")
	for _, zone := range []string{"dns/example-org", "team-a/team-a", "team-b/team-b"} {
		s.agree(zone)
	}
	table := s.kubectl("get", "zones.kubi.zone,records.kubi.zone", "-A")
	for _, column := range []string{"DOMAIN NAME", "FQDN", "SERIAL", "PARENT", "READY", "REASON", "CLASS", "TYPE",
		"DATA"} {
		if !strings.Contains(table, column) {
			t.Errorf("kubectl get does not show %q:\n%s", column, table)
		}
	}
}
