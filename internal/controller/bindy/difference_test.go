package bindy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend/engine"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// differs says what the servers of a zone hold otherwise than is wanted, a line each: the primaries, then the
// secondaries.
func (s *stage) differs(namespace string) string {
	name, looks, err := s.known.Looks(dialect.ZoneID(namespace, "example"))
	if err != nil || name.String() != "example.com." {
		return fmt.Sprintf("of %s: %v", name, err)
	}
	out := make([]string, len(looks))
	var read []engine.Look
	for _, l := range looks {
		read = append(read, l.Look)
	}
	engine.LookAll(s.Ctx, time.Minute, read, func(i int, seen engine.Seen) {
		have, want := seen.Differing()
		out[i] = looks[i].Place + ":"
		for _, set := range have {
			out[i] += fmt.Sprint(" -", set.Name, " ", set.Data)
		}
		for _, set := range want {
			out[i] += fmt.Sprint(" +", set.Name, " ", set.Data)
		}
		if seen.Err != nil || seen.Held.SOA.Serial == 0 {
			out[i] = fmt.Sprint(looks[i].Place, ": ", seen.Err)
		}
	})
	return strings.Join(slices.Sorted(slices.Values(out)), "\n")
}

// toldOf complains unless the difference has what somebody else has written at a primary, and what the secondaries have
// got from there.
func (n *bindNode) toldOf(primary string, all []string) string {
	n.Helper()
	if n.answersAt(primary, "evil.example.com.", dns.TypeA, "192.0.2.66") != "" {
		return "" // it is undone already
	}
	got := n.differs(n.namespace)
	for i, line := range strings.Split(got, "\n") {
		spoilt := strings.HasSuffix(all[i], primary) || strings.Contains(all[i], "secondary")
		wrong := all[i] + ": -evil.example.com. [192.0.2.66] +rock.example.com. [192.0.2.200]"
		if strings.HasSuffix(line, wrong) != spoilt {
			return got
		}
	}
	return ""
}
