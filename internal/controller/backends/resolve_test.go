package backends

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
)

// stored are the Secrets of a cluster whose operator is in the namespace "system".
func stored(namespace, name string) (*corev1.Secret, error) {
	consent := map[string]string{v1alpha1.CredentialsLabel: "true"}
	s, ok := map[string]*corev1.Secret{
		"system/one":  {Data: map[string][]byte{"key": []byte("c2VjcmV0IG9mIHNpeHRlZW4=\n")}},
		"system/two":  {Data: map[string][]byte{"a": []byte("c2VjcmV0"), "b": []byte("YW5vdGhlciBvZiBzaXh0ZWVu")}},
		"system/none": {},
		"team/open": {ObjectMeta: metav1.ObjectMeta{Labels: consent},
			Data: map[string][]byte{"key": []byte("b3BlbiBzZWNyZXQgb2YgMTY=")}},
		"team/closed": {Data: map[string][]byte{"key": []byte("secret")}},
		"team/unwilled": {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.CredentialsLabel: "false"}},
			Data: map[string][]byte{"key": []byte("x")}},
	}[namespace+"/"+name]
	if !ok {
		return nil, errors.New("not found")
	}
	return s, nil
}

func classes(name string) (controller.ClassServer, *controller.Outcome) {
	if name == "hook" {
		return controller.ClassServer{URL: "https://hook", Secret: "c2VjcmV0", Blind: true}, nil
	}
	return controller.ClassServer{}, problem("DNSClassNotFound", "DNSClass %s does not exist.", name)
}

func TestWhatABackendIsReachedWith(t *testing.T) {
	tsig := func(secret string) string {
		return `{rfc2136: {servers: ["192.0.2.1"], tsig: {keyName: k, secretRef: ` + secret + `}}}`
	}
	for _, c := range []struct{ name, spec, want string }{
		{"updates that are not signed", `{rfc2136: {servers: ["192.0.2.1", "192.0.2.2:5353"], view: inside}}`,
			"rfc2136 [192.0.2.1 192.0.2.2:5353] inside"},
		{"a key, whose name may lack the final dot, and whose Secret has one value", tsig(`{name: one}`),
			"rfc2136 [192.0.2.1] signed k. c2VjcmV0IG9mIHNpeHRlZW4="},
		{"a key of several in a Secret", tsig(`{name: two, key: b}`),
			"rfc2136 [192.0.2.1] signed k. YW5vdGhlciBvZiBzaXh0ZWVu"},
		{"a Secret of another namespace that consents", tsig(`{name: open, namespace: team}`),
			"rfc2136 [192.0.2.1] signed k. b3BlbiBzZWNyZXQgb2YgMTY="},
		{"PowerDNS with its defaults", `{powerdns: {url: "https://pdns:8081/", secretRef: {name: one}}}`,
			"powerdns https://pdns:8081 localhost Native c2VjcmV0IG9mIHNpeHRlZW4="},
		{"PowerDNS with everything",
			`{powerdns: {url: "https://pdns", serverID: s, zoneKind: Master, secretRef: {name: one}}}`,
			"powerdns https://pdns s Master c2VjcmV0IG9mIHNpeHRlZW4="},

		{"a Secret of another namespace that does not consent", tsig(`{name: closed, namespace: team}`),
			`SecretForbidden: Secret team/closed is not in the operator's namespace system and does not have the label zonefold.dev/credentials: "true".`},
		{"a Secret whose label says no", tsig(`{name: unwilled, namespace: team}`),
			`SecretForbidden: Secret team/unwilled is not in the operator's namespace system and does not have the label zonefold.dev/credentials: "true".`},
		{"a Secret that is not there", tsig(`{name: lost}`),
			"SecretNotFound: Secret system/lost cannot be read: not found. Create it, or let the operator read Secrets of " +
				"its namespace."},
		{"a Secret with several values, and none is named", tsig(`{name: two}`),
			"SecretNotFound: Secret system/two has 2 keys; choose one of them with secretRef.key."},
		{"a Secret without a value", tsig(`{name: none}`),
			"SecretNotFound: Secret system/none has 0 keys; choose one of them with secretRef.key."},
		{"a key that could be guessed", tsig(`{name: two, key: a}`),
			"InvalidSpec: Secret system/two, key a, of the TSIG key k.: the secret has 6 octets, fewer than 16, and could be " +
				"guessed; make one with `tsig-keygen`…"},
		{"a value that is not there", tsig(`{name: two, key: c}`),
			`SecretNotFound: Secret system/two has no key "c"; it has a, b.`},
		{"a key name that is no domain name…", `{rfc2136: {servers: [x], tsig: {keyName: a..b, secretRef: {name: one}}}}`,
			"InvalidSpec: The TSIG keyName is no domain name…"},
		{"PowerDNS without its key", `{powerdns: {url: "https://pdns", secretRef: {name: lost}}}`,
			"SecretNotFound: Secret system/lost cannot be read: not found. Create it, or let the operator read Secrets of " +
				"its namespace."},
		{"no kind of server", `{default: true}`, "InvalidSpec: The spec names no kind of server; add one, such as rfc2136."},
		{"a provider and its Secret as it is",
			`{provider: {type: aws-route53, secretRef: {name: two}, region: eu-west-1, config: {zone: Z1, endpoint: e}}}`,
			"provider aws-route53 in eu-west-1, zone Z1, map[endpoint:e], 2 values"},
		{"a provider without a Secret", `{provider: {type: aws-route53}}`,
			"provider aws-route53 in , zone , map[], 0 values"},
		{"a provider whose Secret is not there", `{provider: {type: aws-route53, secretRef: {name: lost}}}`,
			"SecretNotFound: Secret system/lost cannot be read: not found…"},
		{"a provider whose Secret does not consent",
			`{provider: {type: aws-route53, secretRef: {name: closed, namespace: team}}}`,
			"SecretForbidden: Secret team/closed is not in the operator's namespace…"},
		{"a provider whose Secret is empty", `{provider: {type: aws-route53, secretRef: {name: none}}}`,
			"SecretNotFound: Secret system/none is empty…"},
		{"a fleet that this operator does not run", `{bind9: {clusterRef: {name: x}}}`,
			"NotSupported: This operator runs no fleets of BIND; add bindy to its --dialects…"},
		{"a DNSClass where there are none", `{dnsClass: {name: x}}`,
			"NotSupported: This operator does not serve DNSClasses; add homelab to its --dialects…"},
		{"a DNSClass that cannot be used", `{dnsClass: {name: lost}}`, "DNSClassNotFound: DNSClass lost does not exist."},
		{"a DNSClass", `{dnsClass: {name: hook}}`, "dnshook https://hook signed c2VjcmV0 blind true"},
		{"a name server that this operator is not", `{embedded: {}}`, "NotSupported: This operator is not a name server;…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var spec v1alpha1.BackendSpec
			if err := yaml.Unmarshal([]byte(c.spec), &spec); err != nil {
				t.Fatal(err)
			}
			r := resolver{namespace: "system", secrets: stored, class: classes}
			if c.name == "a DNSClass where there are none" {
				r.class = nil
			}
			got := reached(r, &spec)
			begins, cut := strings.CutSuffix(c.want, "…")
			if got != c.want && !(cut && strings.HasPrefix(got, begins)) {
				t.Errorf("it is\n%s\nwant\n%s", got, c.want)
			}
			if strings.Contains(got, ": ") && strings.Contains(got, "c2VjcmV0") {
				t.Errorf("the trouble tells a secret: %s", got)
			}
		})
	}
}

func TestAnEntryWithoutItsSecretLetsNobodyIn(t *testing.T) {
	var spec v1alpha1.BackendSpec
	err := yaml.Unmarshal([]byte(`{embedded: {
		transfer: [{addresses: [192.0.2.1], tsig: {keyName: lost., secretRef: {name: lost}}}, {addresses: [192.0.2.2]}],
		update: [{keyName: lost., secretRef: {name: lost}, namespace: a},
			{keyName: k., secretRef: {name: one}, namespace: b}],
		externalDNS: [{secretRef: {name: one}, namespace: c}, {secretRef: {name: lost}, namespace: d}]}}`), &spec)
	if err != nil {
		t.Fatal(err)
	}
	s, trouble := resolver{namespace: "system", embedded: true, secrets: stored}.settings(&spec)
	if trouble == nil || trouble.Reason != controller.ReasonSecretNotFound ||
		!strings.HasPrefix(trouble.Message, "embedded.transfer[0]: Secret system/lost") {
		t.Errorf("the first trouble is not told: %v", trouble)
	}
	e := s.Embedded
	if e == nil || len(e.Transfer) != 1 || len(e.Transfer[0].Addresses) != 1 || len(e.Update) != 1 ||
		e.Update[0].Namespace != "b" || len(e.ExternalDNS) != 1 || e.ExternalDNS[0].Namespace != "c" {
		t.Errorf("they are let in: %+v", e)
	}
}

func TestCatalogZones(t *testing.T) {
	long := strings.Repeat("a", 52) + "." + strings.Repeat(strings.Repeat("a", 53)+".", 3)
	for _, c := range []struct{ sentence, catalog, want string }{
		{"none", "", ""},
		{"a name", "catalog.example.", "catalog.example."},
		{"one without the final dot, in upper case", "Catalog.example", "catalog.example."},
		{"the longest", long, long},
		{"one that is longer", "a" + long, "InvalidSpec: The catalogZone is too long: the names of its members have 39 " +
			"octets more; write one such as catalog.example."},
		{"a wildcard", "*.example.", "InvalidSpec: The catalogZone cannot be *.example.; write one such as catalog.example."},
		{"no name", "a..b", `InvalidSpec: The catalogZone is no domain name: "a..b." has an empty label; write one such as ` +
			"catalog.example."},
	} {
		s, trouble := resolver{embedded: true}.settings(&v1alpha1.BackendSpec{Embedded: &v1alpha1.Embedded{
			CatalogZone: c.catalog}})
		got := ""
		switch {
		case trouble != nil:
			got = trouble.Reason + ": " + trouble.Message
		case s.Embedded != nil:
			got = s.Embedded.Catalog.String()
		}
		if got != c.want {
			t.Errorf("%s: it is\n%s\nwant\n%s", c.sentence, got, c.want)
		}
	}
}

func reached(r resolver, spec *v1alpha1.BackendSpec) string {
	s, trouble := r.settings(spec)
	switch {
	case trouble != nil:
		return trouble.Reason + ": " + trouble.Message
	case s.RFC2136 != nil:
		text := fmt.Sprintf("rfc2136 %v", s.RFC2136.Servers)
		if s.RFC2136.View != "" {
			text += " " + s.RFC2136.View
		}
		if !s.RFC2136.KeyName.IsZero() {
			text += fmt.Sprintf(" signed %s %s", s.RFC2136.KeyName, s.RFC2136.Secret)
		}
		return text
	case s.DNSHook != nil:
		return fmt.Sprintf("dnshook %s signed %s blind %t", s.DNSHook.URL, s.DNSHook.Secret, s.DNSHook.Blind)
	case s.Provider != nil:
		p := s.Provider
		return fmt.Sprintf("provider %s in %s, zone %s, %v, %d values", p.Type, p.Region, p.Zone, p.Options, len(p.Data))
	case s.PowerDNS != nil:
		p := s.PowerDNS
		return fmt.Sprintf("powerdns %s %s %s %s", p.URL, p.ServerID, p.ZoneKind, p.APIKey)
	}
	return "nothing"
}

func TestWhatABackendGrants(t *testing.T) {
	namespaces := map[string]labels.Set{"one": {"team": "a"}, "two": {"team": "a", "tier": "b"}, "three": {}}
	for _, c := range []struct {
		name, grants string
		want         []string
		problems     int
	}{
		{"nothing is granted by a Backend without grants", `[]`, nil, 0},
		{"namespaces by name, also one that does not exist yet", `[{namespaces: [one, new], zones: [example.org.]}]`,
			[]string{"[one new] [example.org.]"}, 0},
		{"namespaces by label", `[{namespaceSelector: {matchLabels: {team: a}}, zones: ["*.org."]}]`, []string{
			"[one two] [*.org.]"}, 0},
		{"by label and by name: both", `[{namespaces: [three], namespaceSelector: {matchLabels: {tier: b}}, zones: [a.]}]`,
			[]string{"[three two] [a.]"}, 0},
		{"a selector without conditions is for everybody", `[{namespaceSelector: {}, zones: [a.]}]`, []string{
			"[one three two] [a.]"}, 0},
		{"a selector that nobody meets is for nobody", `[{namespaceSelector: {matchLabels: {team: z}}, zones: [a.]}]`,
			[]string{"[] [a.]"}, 0},
		{"neither names nor a selector is for nobody", `[{zones: [a.]}]`, []string{"[] [a.]"}, 0},
		{"a selector that cannot be read grants nothing, and is told",
			`[{namespaceSelector: {matchExpressions: [{key: team, operator: Near}]}, zones: [a.]}]`, nil, 1},
		{"a pattern that cannot be read grants nothing, the others of its grant do",
			`[{namespaces: [one], zones: ["a..b", a.]}]`, []string{"[one] [a.]"}, 1},
		{"grants are not mixed: each has its own names",
			`[{namespaces: [one], zones: [a.]}, {namespaces: [two], zones: [b.]}]`, []string{"[one] [a.]", "[two] [b.]"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &v1alpha1.Backend{}
			if err := yaml.Unmarshal([]byte(c.grants), &b.Spec.Grants); err != nil {
				t.Fatal(err)
			}
			grants, problems := dialect.ConvertGrants(b, namespaces)
			var got []string
			for _, g := range grants {
				got = append(got, fmt.Sprintf("%v %v", g.Namespaces, g.Zones))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("it grants %q, want %q", got, c.want)
			}
			if len(problems) != c.problems || len(problems) > 0 && !strings.HasPrefix(problems[0], "Grant 0 has ") {
				t.Errorf("the problems are %q", problems)
			}
		})
	}
}

func TestOneNamespaceInNoGrantGetsNothing(t *testing.T) {
	b := &v1alpha1.Backend{}
	b.Spec.Grants = []v1alpha1.Grant{{Namespaces: []string{"one"}, Zones: []string{"*.org."}}}
	grants, _ := dialect.ConvertGrants(b, map[string]labels.Set{"one": nil, "two": nil})
	for _, c := range []struct {
		namespace, zone string
		want            bool
	}{{"one", "example.org.", true}, {"one", "example.net.", false}, {"two", "example.org.", false},
		{"one", "org.", false}} {
		if got := granted(t, grants, c.namespace, c.zone); got != c.want {
			t.Errorf("%s for %s: %v, want %v", c.zone, c.namespace, got, c.want)
		}
	}
}
