package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/move"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// goodData are the good examples of all types that people may write, in presentation format.
func goodData(t testing.TB) map[rr.Type][]string {
	text, err := os.ReadFile("../rr/testdata/types.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[rr.Type][]string{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		verdict, data, _ := strings.Cut(strings.TrimSpace(rest), " ")
		data, _, _ = strings.Cut(data, "  =>  ")
		typ, err := rr.ParseType(name)
		if verdict != "good" || err != nil || typ.Refused() != "" {
			continue
		}
		canonical, err := rr.ParseData(typ, data)
		if err != nil {
			t.Fatal(err)
		}
		out[typ] = append(out[typ], canonical)
	}
	return out
}

// A randomZone draws a zone that servers load.
type randomZone struct {
	t     *rapid.T
	good  map[rr.Type][]string
	types []rr.Type
}

func (z randomZone) name() string {
	labels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "www", "_dmarc", "xn--bcher-kva", "1", "0", "on", "null",
		`a\.b`, `sp\032ace`, "0/25", `\233`, "a-b", "a--b", "a_b"}), 0, 3).Draw(z.t, "labels")
	if rapid.IntRange(0, 9).Draw(z.t, "wildcard") == 0 {
		labels = append([]string{"*"}, labels...)
	}
	return strings.Join(append(labels, "example.org."), ".")
}

// sets draws sets, of which no two cannot stand together.
func (z randomZone) sets() map[rr.Key]rr.Set {
	sets := map[rr.Key]rr.Set{}
	for range rapid.IntRange(0, 30).Draw(z.t, "sets") {
		name, err := dnsname.Parse(z.name())
		if err != nil {
			z.t.Fatal(err)
		}
		typ := rapid.SampledFrom(z.types).Draw(z.t, "type")
		apex := name.String() == "example.org."
		alone := slices.ContainsFunc(z.types, func(t rr.Type) bool {
			_, there := sets[rr.Key{Name: name, Type: t}]
			return there && (t == rr.TypeCNAME || typ == rr.TypeCNAME || t == rr.TypeDNAME || typ == rr.TypeDNAME)
		})
		if alone || apex && (typ == rr.TypeCNAME || typ == rr.TypeDS) || name.IsWildcard() && typ == rr.TypeNS {
			continue
		}
		most := len(z.good[typ])
		if typ.Singleton() {
			most = 1
		}
		data := rapid.SliceOfN(rapid.SampledFrom(z.good[typ]), 1, most).Draw(z.t, "data")
		ttl := rapid.SampledFrom([]uint32{0, 1, 300, 360, 3600, 1<<31 - 1}).Draw(z.t, "ttl")
		set := rr.NewSet(rr.Key{Name: name, Type: typ}, ttl, data...)
		sets[set.Key()] = set
	}
	return sets
}

// TestAnImportedZoneIsTheSameZone imports random master files and renders what comes of them.
func TestAnImportedZoneIsTheSameZone(t *testing.T) {
	good := goodData(t)
	kinds := map[string][]rr.Type{"bindy": {rr.TypeA, rr.TypeAAAA, rr.TypeTXT, rr.TypeCAA, rr.TypePTR, rr.TypeSRV,
		rr.TypeMX, rr.TypeCNAME}}
	for typ := range good {
		kinds["kubizone"] = append(kinds["kubizone"], typ)
	}
	slices.Sort(kinds["kubizone"])
	for as, types := range kinds {
		t.Run("as "+as, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				z := randomZone{rt, good, types}
				sets := z.sets()
				file, want := masterFileOf(rt, sets)
				args := []string{"import", "file", "-", "--origin", "example.org", "--as", as}
				if as == "kubizone" {
					args = append(args, splits(rt)...)
				}
				code, manifests, said := runOn(t, file, args...)
				want, left := without(want, said)
				if code != command.ExitDone && (as == "kubizone" || left == 0) {
					rt.Fatalf("import exits with %d and says %s, of\n%s", code, said, file)
				}
				code, out, said := runOn(t, manifests, "render", "-f", "-", "-o", "json")
				if code != command.ExitDone || said != "" {
					rt.Fatalf("render exits with %d and says %s", code, said)
				}
				if got := entriesIn(rt, out); !slices.Equal(got, want) {
					rt.Errorf("the zone\n%s\nbecomes\n%s\nof\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"), manifests)
				}
			})
		})
	}
}

// splits draws namespaces for names, among them those below a name that may be delegated.
func splits(t *rapid.T) (args []string) {
	for _, split := range rapid.SliceOfN(rapid.SampledFrom([]string{"one=*.a", "one=a", "two=*.b", "two=*.b.a", "two=a*",
		"one=*.*.www", "two=@", "one=*"}), 0, 3).Draw(t, "splits") {
		args = append(args, "--split", split)
	}
	return args
}

// without takes away the records that import says it left out, and counts them.
func without(want []string, said string) (kept []string, left int) {
	kept = slices.DeleteFunc(want, func(line string) bool {
		words := strings.SplitN(line, " ", 5)
		return strings.Contains(said, "left out: "+words[0]+" "+words[3]+" "+words[4]+": ")
	})
	return kept, strings.Count(said, "left out: ")
}

const soaOfRandom = "ns.example.net. hostmaster.example.org. 1 7200 900 1209600 300"

// masterFileOf writes sets as a master file in any order, and as lines that can be compared.
func masterFileOf(t *rapid.T, sets map[rr.Key]rr.Set) (file string, want []string) {
	apex := rr.Key{Name: mustName("example.org."), Type: rr.TypeNS}
	if _, ok := sets[apex]; !ok {
		sets[apex] = rr.NewSet(apex, 300, "ns.example.net.")
	} else { // the server of the SOA, which a DNSZone has in any case
		sets[apex] = rr.NewSet(apex, sets[apex].TTL, append(sets[apex].Data, "ns.example.net.")...)
	}
	var lines []string
	for _, set := range sets {
		for _, data := range set.Data {
			lines = append(lines, fmt.Sprintf("%s %d IN %s %s", set.Name, set.TTL, set.Type, data))
		}
	}
	slices.Sort(lines)
	want = append(slices.Clone(lines), "example.org. 300 IN SOA "+soaOfRandom)
	slices.Sort(want)
	return "$ORIGIN example.org.\n@ 300 IN SOA " + soaOfRandom + "\n" +
		strings.Join(rapid.Permutation(lines).Draw(t, "order"), "\n") + "\n", want
}

func mustName(s string) dnsname.Name {
	name, err := dnsname.Parse(s)
	if err != nil {
		panic(err)
	}
	return name
}

// entriesIn returns the records of the one zone of a document, its SOA with the serial 1.
func entriesIn(t interface{ Fatal(...any) }, text string) []string {
	var doc move.JsonDocument
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Zones) != 1 || !doc.Zones[0].Accepted {
		t.Fatal("not one accepted zone: " + text)
	}
	var out []string
	for _, e := range doc.Zones[0].Entries {
		data := e.RData
		if e.Type == "SOA" {
			soa, err := rr.ParseSOA(data)
			if err != nil {
				t.Fatal(err)
			}
			soa.Serial = 1
			data = soa.Data()
		}
		out = append(out, fmt.Sprintf("%s %d %s %s %s", e.FQDN, e.TTL, e.Class, e.Type, data))
	}
	slices.Sort(out)
	return out
}
