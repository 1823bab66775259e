package zone

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
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
		if !v.Above.IsZero() {
			b.WriteString(", served by " + v.Above.String())
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

func recordLine(name string, ttl uint32, typ, data string) string {
	return fmt.Sprintf("%s %d %s %s\n", name, ttl, typ, data)
}

// putZones reads "namespace/name [created] domainName [field=value ...]", where a
// field may be "pinned", "reverse=namespace,...", "reverse=*", "ns=name,...", "glue=name=address" or
// "server=address"; each followed by indented rules: "zones [for namespace,...]: pattern ..." and "records [for
// namespace,...]: pattern[/TYPE,...] ...".
func (s *scenario) putZones(t *testing.T, lines []string) {
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && strings.HasPrefix(lines[n], " ") {
			n++
		}
		z := parseZone(t, strings.Fields(lines[0]))
		for _, line := range lines[1:n] {
			z.Rules = append(z.Rules, parseRule(t, strings.TrimSpace(line)))
		}
		s.world.PutZone(z)
		lines = lines[n:]
	}
}

func parseZone(t *testing.T, fields []string) Zone {
	z := Zone{TTL: 360, Refresh: 86400, Retry: 7200, Expire: 3600000, Minimum: 360, Policy: treePolicy()}
	z.ID, z.Created, fields = parseObject(t, KindZone, fields)
	if reason, invalid := strings.CutPrefix(fields[0], "!"); invalid {
		z.Invalid = &Refusal{Reason(reason), "The Zone is wrong."}
	} else {
		z.Where = parseWhere(t, fields[0])
	}
	for _, f := range fields[1:] {
		switch field, value, _ := strings.Cut(f, "="); field {
		case "ttl":
			z.TTL = uint32(parseNumber(t, value))
		case "refresh":
			z.Refresh = uint32(parseNumber(t, value))
		case "pinned":
			z.Policy = Policy{Pinned: true, NoAliases: true}
		case "ns":
			z.Own = append(z.Own, rr.NewSet(rr.Key{Name: z.Where.Name, Type: rr.TypeNS}, z.TTL, strings.Split(value, ",")...))
		case "glue":
			name, address, _ := strings.Cut(value, "=")
			z.Own = append(z.Own, rr.NewSet(rr.Key{Name: parseName(t, name), Type: rr.TypeA}, z.TTL, address))
		case "server":
			z.Servers = append(z.Servers, Address{rr.TypeA, value})
		case "reverse":
			z.Reverse = &Reverse{Namespaces: strings.Split(value, ",")}
			if value == "*" {
				z.Reverse.Namespaces = nil
			}
		case "mname":
			z.MName = parseName(t, value)
		case "rname":
			z.RName = parseName(t, value)
		case "warn":
			z.Warnings = append(z.Warnings, Note{Reason: Reason(value), Message: "Something is questionable."})
		default:
			t.Fatalf("a Zone has no field %q", f)
		}
	}
	return z
}

// treePolicy is that of the Zones of the scenarios that are not pinned, with the words of kubi.zone.
func treePolicy() Policy {
	return Policy{Words: Words{
		Name: "domainName", Place: "domainName or zoneRef",
		RecordRule: "records: [{pattern: %q}]", ZoneRule: "zones: [%q]",
		Grant: "namespaces: [%s] and zones: [%q]",
	}}
}

func parseRule(t *testing.T, line string) Rule {
	var rule Rule
	kind, patterns, ok := strings.Cut(line, ":")
	kind, namespaces, limited := strings.Cut(kind, " for ")
	if limited {
		rule.Namespaces = strings.Split(namespaces, ",")
	}
	for _, text := range strings.Fields(patterns) {
		switch kind {
		case "zones":
			rule.Zones = append(rule.Zones, parsePattern(t, text))
		case "records":
			pattern, types, _ := strings.Cut(text, "/")
			rule.Records = append(rule.Records, RecordRule{parsePattern(t, pattern), parseTypes(t, types)})
		default:
			ok = false
		}
	}
	if !ok {
		t.Fatalf("%q is no rule", line)
	}
	return rule
}

// putRecords reads "namespace/name [created] domainName [ttl] TYPE data".
func (s *scenario) putRecords(t *testing.T, lines []string) {
	for _, line := range lines {
		c := Claim{}
		var fields []string
		c.ID, c.Created, fields = parseObject(t, KindRecord, strings.Fields(line))
		c.Where = parseWhere(t, fields[0])
		if reason, invalid := strings.CutPrefix(fields[1], "!"); invalid {
			c.Invalid = &Refusal{Reason(reason), "The Record is wrong."}
		} else {
			parseData(t, &c, fields[1:])
		}
		s.world.PutClaim(c)
	}
}

func parseData(t *testing.T, c *Claim, fields []string) {
	if ttl, err := strconv.ParseUint(fields[0], 10, 32); err == nil {
		short := uint32(ttl)
		c.TTL, fields = &short, fields[1:]
	}
	var err error
	if c.Type, err = rr.ParseType(fields[0]); err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(strings.Join(fields[1:], " "), " | ") {
		data, err := rr.ParseData(c.Type, text)
		if err != nil {
			t.Fatal(err)
		}
		c.Data = append(c.Data, data)
	}
}

// putGrants reads "backend: namespace,...: pattern ..."; a backend with nothing after
// its name grants nothing any more. Lines of one section add up.
func (s *scenario) putGrants(t *testing.T, lines []string) {
	grants := map[string][]Grant{}
	for _, line := range lines {
		backend, rest, _ := strings.Cut(line, ":")
		namespaces, patterns, some := strings.Cut(strings.TrimSpace(rest), ":")
		if !some {
			grants[backend] = nil
			continue
		}
		g := Grant{}
		if namespaces != "" {
			g.Namespaces = strings.Split(namespaces, ",")
		}
		for _, p := range strings.Fields(patterns) {
			g.Zones = append(g.Zones, parsePattern(t, p))
		}
		grants[backend] = append(grants[backend], g)
	}
	for backend, g := range grants {
		s.world.PutGrants(backend, g)
	}
}

// choose reads the options of the installation: "grants required" and "public suffixes name ...". They come before all
// objects.
func (s *scenario) choose(t *testing.T, lines []string) {
	for _, line := range lines {
		names, suffixes := strings.CutPrefix(line, "public suffixes ")
		switch {
		case suffixes:
			s.world.opts.PublicSuffix = func(n dnsname.Name) bool { return slices.Contains(strings.Fields(names), n.String()) }
		case line == "grants required":
			s.world.opts.RequireGrants = true
		default:
			t.Fatalf("no option is called %q", line)
		}
	}
}

// delete reads "Zone namespace/name" and "Record namespace/name".
func (s *scenario) delete(t *testing.T, lines []string) {
	for _, line := range lines {
		kind, object, _ := strings.Cut(line, " ")
		switch id := parseID(t, kind, object); kind {
		case KindZone:
			s.world.DeleteZone(id)
		case KindRecord:
			s.world.DeleteClaim(id)
		default:
			t.Fatalf("%q names no object", line)
		}
	}
}

// withdraw has Zones be deleted whose objects are still there.
func (s *scenario) withdraw(t *testing.T, lines []string) {
	for _, line := range lines {
		kind, object, _ := strings.Cut(line, " ")
		if kind != KindZone {
			t.Fatalf("%q names no Zone", line)
		}
		s.world.WithdrawZone(parseID(t, kind, object))
	}
}

// parseObject reads "namespace/name", and "t" with the second of creation if it is there.
func parseObject(t *testing.T, kind string, fields []string) (ID, time.Time, []string) {
	if len(fields) < 2 {
		t.Fatalf("%v is no object", fields)
	}
	id, rest := parseID(t, kind, fields[0]), fields[1:]
	if second, ok := strings.CutPrefix(rest[0], "t"); ok && len(rest) > 1 {
		if n, err := strconv.Atoi(second); err == nil {
			return id, time.Unix(int64(n), 0), rest[1:]
		}
	}
	return id, time.Time{}, rest
}

func parseID(t *testing.T, kind, s string) ID {
	namespace, name, ok := strings.Cut(s, "/")
	if !ok {
		t.Fatalf("%q is not namespace/name", s)
	}
	return ID{kind, namespace, name}
}

// parseWhere reads a name, or "name@namespace/zone": what is before the last "@" is in
// the Zone after it.
func parseWhere(t *testing.T, s string) Where {
	var where Where
	if i := strings.LastIndexByte(s, '@'); i >= 0 && strings.Contains(s[i:], "/") {
		where.Ref, where.RefField, s = parseID(t, KindZone, s[i+1:]), "zoneRef", s[:i]
	}
	var err error
	if strings.HasSuffix(s, ".") {
		where.Name, err = dnsname.Parse(s)
	} else {
		where.Relative, err = dnsname.ParseRelative(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return where
}

func parseTypes(t *testing.T, s string) []rr.Type {
	var out []rr.Type
	for _, name := range slices.DeleteFunc(strings.Split(s, ","), func(s string) bool { return s == "" }) {
		typ, err := rr.ParseType(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, typ)
	}
	return out
}

func parsePattern(t *testing.T, s string) dnsname.Pattern {
	p, err := dnsname.ParsePattern(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func parseName(t *testing.T, s string) dnsname.Name {
	n, err := dnsname.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func parseNumber(t *testing.T, s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
