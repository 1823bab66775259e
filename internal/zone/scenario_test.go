package zone

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// updateScenarios makes TestScenarios write what it sees into the expected sections.
func updateScenarios() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

var _ = flag.Bool("update", false, "rewrite the expected sections of testdata/*.txtar")

// TestScenarios runs testdata/*.txtar. Each file is one rule: a comment says it, sections
// put objects, and after each step the whole World is compared. See testdata/README.md.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("finding scenarios: %d files, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(strings.ReplaceAll(name, "_", " "), func(t *testing.T) {
			t.Parallel()
			runScenario(t, file)
		})
	}
}

func runScenario(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(text)
	if len(bytes.TrimSpace(archive.Comment)) == 0 {
		t.Error("no sentence says what the rule is")
	}
	s := scenario{world: New(Options{}), told: map[string]string{}}
	for i := range archive.Files {
		section := &archive.Files[i]
		got, expected := s.section(t, *section)
		if !expected {
			continue
		}
		if updateScenarios() {
			section.Data = []byte(got)
		} else if diff := cmp.Diff(string(section.Data), got); diff != "" {
			t.Errorf("%s (-expected +got):\n%s", s.step+section.Name, diff)
		}
	}
	if updateScenarios() {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A scenario is a World on its way through the sections of a file.
type scenario struct {
	world   *World
	told    map[string]string // what someone who follows the deltas knows
	pending bool              // something was put since the last Settle
	step    string
}

// section applies a section, or returns what an expected section should say.
func (s *scenario) section(t *testing.T, f txtar.File) (got string, expected bool) {
	put := map[string]func(*testing.T, []string){
		"zones": s.putZones, "records": s.putRecords, "grants": s.putGrants, "delete": s.delete, "withdraw": s.withdraw,
		"options": s.choose,
	}[f.Name]
	show := map[string]func() string{"want": s.contents, "verdicts": s.verdicts, "messages": s.messages}[f.Name]
	switch {
	case put != nil:
		put(t, linesOf(f.Data))
		s.pending = true
	case show != nil:
		s.settle(t)
		return show(), true
	case strings.HasPrefix(f.Name, "then "):
		s.step = f.Name + ": "
		if len(f.Data) > 0 {
			t.Errorf("%q is a title; what happens belongs into sections", f.Name)
		}
	default:
		t.Fatalf("no section is called %q", f.Name)
	}
	return "", false
}

// settle settles, and checks what holds in every World.
func (s *scenario) settle(t *testing.T) {
	if !s.pending {
		return
	}
	s.pending = false
	w := s.world
	follow(w, w.Settle(), s.told)
	for what, other := range map[string]map[string]string{
		"who follows the deltas": s.told, "composed from nothing": image(fresh(w, false)),
		"in reverse order": image(fresh(w, true)),
	} {
		if diff := cmp.Diff(other, image(w)); diff != "" {
			t.Errorf("%s%s differs (-that +incremental):\n%s", s.step, what, diff)
		}
	}
	if diff := cmp.Diff(consult(w).verdicts(), verdicts(w)); diff != "" {
		t.Errorf("%sthe oracle differs (-oracle +World):\n%s", s.step, diff)
	}
}

func linesOf(data []byte) []string {
	var out []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// contents prints what the accepted Zones hold, without their SOAs but with what is
// derived in them.
func (s *scenario) contents() string {
	var b strings.Builder
	for id := range sortedByID(s.world.zones) {
		content, ok := s.world.Snapshot(id)
		if !ok {
			continue
		}
		b.WriteString("; " + id.String() + " is " + content.Name.String() + ", primary " + content.SOA.MName.String() + "\n")
		for set := range content.Sets.All() {
			for _, data := range set.Data {
				b.WriteString(recordLine(set.Name.String(), set.TTL, set.Type.String(), data))
			}
		}
	}
	return b.String()
}

// verdicts prints what was decided about every object.
func (s *scenario) verdicts() string {
	var b strings.Builder
	for _, id := range s.objects() {
		v, _ := s.world.Verdict(id)
		b.WriteString(id.String())
		if !v.Name.IsZero() {
			b.WriteString(" " + v.Name.String())
		}
		switch {
		case !v.Accepted:
			b.WriteString(": refused, " + string(v.Reason))
		case !v.Zone.IsZero():
			b.WriteString(": accepted by " + v.Zone.String())
		default:
			b.WriteString(": accepted")
		}
		for _, n := range v.Notes {
			if n.Reason == NoNameServers {
				continue // most have none; messages shows it
			}
			b.WriteString("; " + string(n.Reason))
			if !n.Object.IsZero() {
				b.WriteString(" by " + n.Object.String())
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// messages prints the sentences that users read.
func (s *scenario) messages() string {
	var b strings.Builder
	for _, id := range s.objects() {
		v, _ := s.world.Verdict(id)
		b.WriteString(id.String() + " " + string(v.Reason) + ": " + v.Message + "\n")
		for _, n := range v.Notes {
			b.WriteString("    " + string(n.Reason) + ": " + n.Message + "\n")
		}
	}
	return b.String()
}

// objects lists Zones, then claims.
func (s *scenario) objects() []ID {
	zones := slices.SortedFunc(maps.Keys(s.world.zones), ID.Compare)
	return append(zones, slices.SortedFunc(maps.Keys(s.world.claims), ID.Compare)...)
}
