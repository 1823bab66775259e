package kubizone

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestWhatAZoneSaysToTheCore(t *testing.T) {
	for _, c := range []struct{ name, spec, want string }{
		{"a zone by its full name has the document's defaults", `{domainName: example.org.}`,
			"example.org. ttl 360 soa 86400 7200 3600000 360"},
		{"a name without a final dot is completed by its zoneRef's, in the same namespace",
			`{domainName: Sub, zoneRef: {name: org}}`,
			"sub of Zone a/org ttl 360 soa 86400 7200 3600000 360"},
		{"a zoneRef may name another namespace", `{domainName: sub, zoneRef: {name: org, namespace: b}}`,
			"sub of Zone b/org ttl 360 soa 86400 7200 3600000 360"},
		{"names with other letters become A-labels", `{domainName: Bücher.example.}`,
			"xn--bcher-kva.example. ttl 360 soa 86400 7200 3600000 360"},
		{"mname and rname are absolute names", `{domainName: example.org., mname: ns.example.net., rname: root.example.org.}`,
			"example.org. ttl 360 soa 86400 7200 3600000 360 ns.example.net. root.example.org."},
		{"timers that secondaries cannot work with are warned of, and served",
			`{domainName: example.org., refresh: 60, retry: 60, expire: 100}`,
			"example.org. ttl 360 soa 60 60 100 360 warned: InvalidTimers"},
		{"a rule without namespaces is for any",
			`{domainName: ".", delegations: [{zones: ["*.example."], records: [{pattern: www, types: [A, TYPE65280]}]}]}`,
			". ttl 360 soa 86400 7200 3600000 360 rule [] [*.example.] www [A TYPE65280]"},
		{"namespace and namespaces are united",
			`{domainName: example.org., delegations: [{namespace: b, namespaces: [c], records: [{pattern: "@"}]}]}`,
			"example.org. ttl 360 soa 86400 7200 3600000 360 rule [b c] [] @ []"},
		{"a rule with a field that nobody knows is void, and the others are not",
			`{domainName: example.org., delegations: [{zones: ["*"], except: [x]}, {namespaces: [b]}]}`,
			"example.org. ttl 360 soa 86400 7200 3600000 360 rule [b] [] warned: InvalidRule"},
		{"a rule with a pattern that is none is void", `{domainName: example.org., delegations: [{zones: ["a..b"]}]}`,
			"example.org. ttl 360 soa 86400 7200 3600000 360 warned: InvalidRule"},
		{"a rule with a pattern of records that is none is void",
			`{domainName: example.org., delegations: [{records: [{pattern: "a..b"}]}]}`,
			"example.org. ttl 360 soa 86400 7200 3600000 360 warned: InvalidRule"},
		{"a rule with an invalid type is void as a whole",
			`{domainName: example.org., delegations: [{zones: ["*"], records: [{pattern: "*", types: [A, X-Y]}]}]}`,
			"example.org. ttl 360 soa 86400 7200 3600000 360 warned: InvalidRule"},
		{"PTR records are of the Zone's own namespace", `{domainName: 10.in-addr.arpa., reverse: {}}`,
			"10.in-addr.arpa. ttl 360 soa 86400 7200 3600000 360 reverse [a]"},
		{"or of those that it names", `{domainName: 10.in-addr.arpa., reverse: {from: [c, b, c], conflict: oldest}}`,
			"10.in-addr.arpa. ttl 360 soa 86400 7200 3600000 360 reverse [b c]"},
		{"or of all", `{domainName: 10.in-addr.arpa., reverse: {from: [b, "*"]}}`,
			"10.in-addr.arpa. ttl 360 soa 86400 7200 3600000 360 reverse []"},

		{"a way to solve conflicts that nobody knows", `{domainName: 10.in-addr.arpa., reverse: {conflict: all}}`,
			`refused: InvalidSpec: Zone a/z has the reverse.conflict "all"; the only valid value is oldest.`},
		{"a partial name needs a zoneRef", `{domainName: sub}`,
			`refused: InvalidSpec: Zone a/z has the partial domainName "sub" and no zoneRef; end it with a dot, or set zoneRef to the Zone that it belongs to.`},
		{"a dot that is escaped does not end a name", `{domainName: 'sub\.'}`,
			`refused: InvalidSpec: Zone a/z has the partial domainName "sub\\." and no zoneRef; end it with a dot, or set zoneRef to the Zone that it belongs to.`},
		{"a full name and a zoneRef contradict each other", `{domainName: example.org., zoneRef: {name: org}}`,
			"refused: InvalidSpec: Zone a/z has both a fully qualified domainName (example.org.) and a zoneRef; remove " +
				"one of them."},
		{"a zone cannot be its parent's apex", `{domainName: "@", zoneRef: {name: org}}`,
			`refused: InvalidName: Zone a/z has the domainName "@", which is the name of Zone a/org itself; a sub-zone needs a name of its own.`},
		{"a zone cannot start at a wildcard", `{domainName: "*.example.org."}`,
			`refused: InvalidName: Zone a/z has the domainName "*.example.org.", but a zone cannot start at a wildcard (RFC 4592 §4.2); name each zone.`},
		{"a TTL above 2147483647", `{domainName: example.org., ttl: 2147483648}`,
			"refused: InvalidSpec: Zone a/z has the ttl 2147483648; it must be from 0 to 2147483647 seconds."},
		{"a negative timer", `{domainName: example.org., retry: -1}`,
			"refused: InvalidSpec: Zone a/z has the retry -1; it must be from 0 to 2147483647 seconds."},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "z"}}
			if err := yaml.Unmarshal([]byte(c.spec), &z.Spec); err != nil {
				t.Fatal(err)
			}
			if got := zoneText(ConvertZone(z)); got != c.want {
				t.Errorf("it says\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestWhatCannotBeReadInAZoneIsRefusedWithAWayOut(t *testing.T) {
	for name, spec := range map[string]string{
		"an empty label":               `{domainName: example..org.}`,
		"a label of 64 octets":         `{domainName: ` + strings.Repeat("a", 64) + `.org.}`,
		"a label with a hyphen first":  `{domainName: -x.org.}`,
		"a relative mname":             `{domainName: example.org., mname: ns}`,
		"an rname with an empty label": `{domainName: example.org., rname: a..b.}`,
		"a field of another type":      `{domainName: example.org., ttl: soon}`,
	} {
		t.Run(name, func(t *testing.T) {
			z := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "z"}}
			if err := yaml.Unmarshal([]byte(spec), &z.Spec); err != nil {
				t.Fatal(err)
			}
			got := ConvertZone(z).Invalid
			if got == nil || !strings.HasPrefix(got.Message, "Zone a/z ") || !strings.HasSuffix(got.Message, "; correct it.") {
				t.Errorf("the refusal is %+v", got)
			}
		})
	}
}

func TestAMailAddressAsAnRNameGetsADot(t *testing.T) {
	for rname, want := range map[string]string{
		"host@bank.test.": `rname that is not an absolute domain name: "host@bank.test." is a mail address: write a dot ` +
			`instead of the @, and \. instead of each dot before it; correct it.`,
		`a\@bank.test.`: "",
	} {
		z := &v1alpha1.Zone{Spec: v1alpha1.ZoneSpec{DomainName: "bank.test.", RName: rname}}
		got := ConvertZone(z).Invalid
		if want == "" && got != nil || want != "" && (got == nil || !strings.HasSuffix(got.Message, want)) {
			t.Errorf("%s: the refusal is %+v, not %q", rname, got, want)
		}
	}
}

func zoneText(z zone.Zone) string {
	if z.Invalid != nil {
		return fmt.Sprintf("refused: %s: %s", z.Invalid.Reason, z.Invalid.Message)
	}
	text := fmt.Sprintf("%s ttl %d soa %d %d %d %d", whereText(z.Where), z.TTL, z.Refresh, z.Retry, z.Expire, z.Minimum)
	for _, name := range []string{z.MName.String(), z.RName.String()} {
		if name != "" {
			text += " " + name
		}
	}
	for _, rule := range z.Rules {
		text += fmt.Sprintf(" rule %v %v", rule.Namespaces, rule.Zones)
		for _, r := range rule.Records {
			text += fmt.Sprintf(" %s %v", r.Pattern, r.Types)
		}
	}
	if z.Reverse != nil {
		text += fmt.Sprintf(" reverse %v", z.Reverse.Namespaces)
	}
	for _, note := range z.Warnings {
		text += " warned: " + string(note.Reason)
	}
	return text
}

func whereText(w zone.Where) string {
	name := w.Name.String()
	if w.Name.IsZero() {
		name = w.Relative.String()
	}
	if w.Ref.IsZero() {
		return name
	}
	return name + " of " + w.Ref.String()
}

func TestWhatARecordSaysToTheCore(t *testing.T) {
	for _, c := range []struct{ name, spec, want string }{
		{"a full name, and no TTL of its own", `{domainName: www.example.org., type: A, rdata: 192.0.2.1}`,
			"www.example.org. A 192.0.2.1"},
		{"a name that is completed", `{domainName: www, zoneRef: {name: org, namespace: b}, type: a, rdata: 192.0.2.1}`,
			"www of Zone b/org A 192.0.2.1"},
		{"a full name may have a zoneRef", `{domainName: www.example.org., zoneRef: {name: org}, type: A, rdata: 192.0.2.1}`,
			"www.example.org. of Zone a/org A 192.0.2.1"},
		{"the apex of the Zone", `{domainName: "@", zoneRef: {name: org}, type: MX, rdata: 10 MAIL.example.org.}`,
			"@ of Zone a/org MX 10 mail.example.org."},
		{"a wildcard", `{domainName: "*.example.org.", type: TXT, rdata: '"a b"'}`, `*.example.org. TXT "a b"`},
		{"words without quotes are strings, and that is told",
			`{domainName: www.example.org., type: TXT, rdata: v=spf1 mx -all}`,
			`www.example.org. TXT "v=spf1" "mx" "-all" warned: UnquotedText`},
		{"one word needs none", `{domainName: www.example.org., type: TXT, rdata: MS=ms1}`, `www.example.org. TXT "MS=ms1"`},
		{"strings in quotes are meant", `{domainName: www.example.org., type: TXT, rdata: '"a" "b"'}`,
			`www.example.org. TXT "a" "b"`},
		{"a TTL of 0 is one", `{domainName: www.example.org., type: A, rdata: 192.0.2.1, ttl: 0}`,
			"www.example.org. A 192.0.2.1 ttl 0"},
		{"a type by its number", `{domainName: www.example.org., type: TYPE65280, rdata: '\# 1 ff'}`,
			`www.example.org. TYPE65280 \# 1 FF`},
		{"the class in words", `{domainName: www.example.org., class: IN, type: A, rdata: 192.0.2.1}`,
			"www.example.org. A 192.0.2.1"},

		{"another class", `{domainName: www.example.org., class: CH, type: TXT, rdata: x}`,
			"refused: ClassMismatch: Record a/r has the class CH, but zones have the class IN; use that."},
		{"a TTL above 2147483647", `{domainName: www.example.org., type: A, rdata: 192.0.2.1, ttl: 2147483648}`,
			"refused: InvalidSpec: Record a/r has the ttl 2147483648; it must be from 0 to 2147483647 seconds."},
		{"a partial name without a zoneRef", `{domainName: www, type: A, rdata: 192.0.2.1}`,
			`refused: InvalidSpec: Record a/r has the partial domainName "www" and no zoneRef; end it with a dot, or set zoneRef to the Zone that it belongs to.`},
		{"of two faults the name is told first", `{domainName: a..b., type: A, rdata: x}`, "refused: InvalidName"},
		{"an invalid type", `{domainName: www.example.org., type: X-Y, rdata: x}`, "refused: InvalidType"},
		{"a SOA is the operator's", `{domainName: www.example.org., type: SOA, rdata: x}`, "refused: InvalidType"},
		{"a signature is the server's", `{domainName: www.example.org., type: RRSIG, rdata: x}`, "refused: InvalidType"},
		{"a meta type", `{domainName: www.example.org., type: ANY, rdata: x}`, "refused: InvalidType"},
		{"data of another type", `{domainName: www.example.org., type: AAAA, rdata: 192.0.2.1}`, "refused: InvalidData"},
		{"data with a second line", `{domainName: www.example.org., type: TXT, rdata: "a\nb"}`, "refused: InvalidData"},
		{"a field of another type", `{domainName: www.example.org., type: A, rdata: 192.0.2.1, ttl: soon}`,
			"refused: InvalidSpec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &v1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "r"}}
			if err := yaml.Unmarshal([]byte(c.spec), &r.Spec); err != nil {
				t.Fatal(err)
			}
			got := claimText(ConvertRecord(r))
			reason, message, refused := strings.Cut(strings.TrimPrefix(got, "refused: "), ": ")
			if refused && c.want == "refused: "+reason && strings.HasPrefix(message, "Record a/r ") &&
				strings.HasSuffix(message, ".") {
				return
			}
			if got != c.want {
				t.Errorf("it says\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func claimText(c zone.Claim) string {
	if c.Invalid != nil {
		return fmt.Sprintf("refused: %s: %s", c.Invalid.Reason, c.Invalid.Message)
	}
	text := fmt.Sprintf("%s %s %s", whereText(c.Where), c.Type, strings.Join(c.Data, " "))
	if c.TTL != nil {
		text += fmt.Sprintf(" ttl %d", *c.TTL)
	}
	for _, note := range c.Warnings {
		text += " warned: " + string(note.Reason)
	}
	return text
}

// Limits of what one Zone may have others pay for.
func TestDelegationsWithoutEnd(t *testing.T) {
	wide := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("x%d", i)
		}
		return out
	}
	unknown := `{"` + strings.Join(wide(20_000), `":1,"`) + `":1}`
	for _, tt := range []struct {
		sentence, delegations string
		rules                 int
		warning               string // in the last one
	}{
		{"as much as it may have", `[{"zones":["` + strings.Join(wide(zone.MaxRuleParts-1), `","`) + `"]}]`, 1, ""},
		{"one pattern more", `[{}, {"zones":["` + strings.Join(wide(zone.MaxRuleParts-1), `","`) + `"]}, {}]`, 1,
			"rule 1 and those after it grant nothing"},
		{"rules without end", `[{},` + strings.Repeat("{},", 100_000) + `{}]`, zone.MaxRuleParts,
			"rule 4096 and those after it grant nothing"},
		{"rules that nobody can read, without end", `[` + strings.Repeat(`{"x":1},`, 100_000) + `{}]`, 1,
			"There are 99984 more like these."},
		{"fields that nobody knows, without end", `[` + unknown + `]`, 0, "and 19984 more faults like these"},
	} {
		t.Run(tt.sentence, func(t *testing.T) {
			var z v1alpha1.Zone
			if err := json.Unmarshal([]byte(`{"spec": {"domainName": "example.org.", "delegations": `+tt.delegations+`}}`),
				&z); err != nil {
				t.Fatal(err)
			}
			got := ConvertZone(&z)
			if len(got.Rules) != tt.rules {
				t.Errorf("%d rules grant something, not %d", len(got.Rules), tt.rules)
			}
			size, last := 0, ""
			for _, n := range got.Warnings {
				size += len(n.Message)
				last = n.Message
			}
			if !strings.Contains(last, tt.warning) || (last == "") != (tt.warning == "") || size > 16_384 {
				t.Errorf("the warnings have %d octets, the last one %.300s", size, last)
			}
		})
	}
}
