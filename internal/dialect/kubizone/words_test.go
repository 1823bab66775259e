package kubizone

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestTheCoreNamesTheFieldsOfTheDialect has each sentence said in which the core names a field.
func TestTheCoreNamesTheFieldsOfTheDialect(t *testing.T) {
	const (
		org     = `{domainName: org.}`
		open    = `{domainName: org., delegations: [{zones: ["*"], records: [{pattern: "*"}, {pattern: "@"}]}]}`
		below   = `{domainName: b.org., delegations: [{records: [{pattern: "@"}]}]}`
		address = `type: A, rdata: 192.0.2.1}`
		digest  = "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB"
	)
	for _, c := range []struct {
		name    string
		objects map[string]string // specs; the object that is told is that of b
		want    string
	}{
		{"a Zone that no delegation lets in", map[string]string{"Zone a/org": org, "Zone b/z": below},
			`Zone a/org has no delegation that gives b.org. to namespace b; add one with zones: ["b"] to it.`},
		{"a Zone that none of its own namespace lets in", map[string]string{"Zone b/org": org, "Zone b/z": below},
			`so it has no records of Zone b/z; to change that, add one with zones: ["b"] to it.`},
		{"a Record that no delegation lets in",
			map[string]string{"Zone a/org": org, "Record b/z": `{domainName: www.org., ` + address},
			`no delegation that gives www.org. A to namespace b; add one with records: [{pattern: "www"}] to it.`},
		{"a Record that a Zone above has",
			map[string]string{"Zone a/org": open, "Zone c/z": below, "Record b/z": `{domainName: www.b.org., ` + address},
			`add records: [{pattern: "www"}] to a delegation of Zone c/z.`},
		{"a root without a grant", map[string]string{"Zone b/z": `{domainName: net.}`},
			`ask for a grant with namespaces: [b] and zones: ["net."].`},
		{"a Zone without name servers", map[string]string{"Zone b/z": org}, `add NS records with domainName "@".`},
		{"a DS without name servers", map[string]string{"Zone a/org": open, "Zone c/z": below,
			"Record b/z": `{domainName: b.org., type: DS, rdata: 1 8 2 ` + digest + `}`},
			`add NS records with domainName "@", or see the conditions of that Zone.`},
		{"a Record outside of its Zone",
			map[string]string{"Zone b/org": org, "Record b/z": `{domainName: www.net., zoneRef: {name: org}, ` + address},
			`which is not inside Zone b/org (org.); correct domainName or zoneRef.`},
		{"a Record of a Zone that is not there",
			map[string]string{"Record b/z": `{domainName: www, zoneRef: {name: org}, ` + address},
			`Record b/z refers to Zone b/org, which does not exist; create it or correct zoneRef.`},
		{"a Zone that refers to itself", map[string]string{"Zone b/z": `{domainName: b, zoneRef: {name: z}}`},
			`refers to itself through its zoneRefs (Zone b/z and on); let one of them have an absolute domainName.`},
	} {
		if told := toldOf(t, c.objects); !strings.Contains(told, c.want) {
			t.Errorf("%s is told %q, without %q", c.name, told, c.want)
		}
	}
}

// toldOf puts objects into a World in which names below org. are granted, and returns all that b/z is told.
func toldOf(t *testing.T, specs map[string]string) string {
	w := zone.New(zone.Options{})
	grant := zone.Grant{Namespaces: []string{"a", "b", "c"}}
	for _, text := range []string{"org.", "*.org."} {
		p, err := dnsname.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		grant.Zones = append(grant.Zones, p)
	}
	w.PutGrants("main", []zone.Grant{grant})
	var id zone.ID
	for object, spec := range specs {
		kind, key, _ := strings.Cut(object, " ")
		var z v1alpha1.Zone
		var r v1alpha1.Record
		z.Namespace, z.Name, _ = strings.Cut(key, "/")
		r.Namespace, r.Name, _ = strings.Cut(key, "/")
		into := map[string]any{"Zone": &z.Spec, "Record": &r.Spec}[kind]
		if err := yaml.UnmarshalStrict([]byte(spec), into); err != nil {
			t.Fatal(err)
		}
		if kind == "Zone" {
			w.PutZone(ConvertZone(&z))
		} else {
			w.PutClaim(ConvertRecord(&r))
		}
		if key == "b/z" {
			id = zone.ID{Kind: kind, Namespace: z.Namespace, Name: z.Name}
		}
	}
	w.Settle()
	v, _ := w.Verdict(id)
	told := v.Message
	for _, n := range v.Notes {
		told += " " + n.Message
	}
	return told
}
