package bindy

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

func TestTheConfigurationOfACluster(t *testing.T) {
	for _, c := range []struct {
		sentence  string
		spec      string
		primary   string // what the options of primaries hold
		secondary string
		main      string
		wrong     string
	}{
		{"nothing said: no recursion, and transfers for the cluster's own servers alone", `{}`,
			`allow-transfer { "bindy-transfer"; };|recursion no;`, `allow-transfer { "bindy-transfer"; };`,
			`include "/etc/bind/named.conf.options";`, ""},
		{"a list for one role goes before the global one",
			`{global: {allowTransfer: [192.0.2.1]}, secondary: {allowTransfer: [192.0.2.2]}}`,
			`allow-transfer { "bindy-transfer"; 192.0.2.1; };`, `allow-transfer { "bindy-transfer"; 192.0.2.2; };`, "", ""},
		{"a role without a global part", `{primary: {allowTransfer: [192.0.2.2]}}`,
			`allow-transfer { "bindy-transfer"; 192.0.2.2; };`, "", "", ""},
		{"lists by their names, and their opposites",
			`{acls: {office: [192.0.2.0/24, lab], lab: ["2001:db8::/32"]}, global: {allowQuery: ["!office", any]}}`,
			`allow-query { "bindy-update"; "bindy-transfer"; !192.0.2.0/24; !2001:db8::/32; any; };`, "", "", ""},
		{"a list without elements is nobody", `{acls: {office: []}, global: {allowQuery: [office]}}`,
			`allow-query { "bindy-update"; "bindy-transfer"; };`, "", "", ""},
		{"recursion and forwarders", `{global: {recursion: true, forwarders: [192.0.2.53], dnssec: {validation: false}}}`,
			`recursion yes;|forwarders { 192.0.2.53; };|dnssec-validation no;`, "recursion yes;", "", ""},
		{"signing", `{global: {dnssec: {signing: {enabled: true, policy: ours}}}}`, `dnssec-policy "ours"`, "", "", ""},
		{"zones of the user's", `{configMapRefs: {namedConfZones: mine}}`, "", "", `include "/etc/bind/named.conf.zones";`,
			""},

		{"a bad entry, by the field that has it", `{secondary: {allowTransfer: ["192.0.2.2; }; //"]}}`, "", "", "",
			"spec.secondary.allowTransfer[0]"},
		{"a bad entry in a named list", `{acls: {office: [nowhere.example]}, global: {allowQuery: [office]}}`, "", "", "",
			"spec.acls.office[0]"},
		{"a name that no list has", `{acls: {office: [any], lab: [any]}, global: {allowQuery: [ofice]}}`, "", "", "",
			"or key NAME, each with ! before it to exclude it, or the name of a list in acls (lab, office)"},
		{"a name where there is no list", `{global: {allowQuery: [office]}}`, "", "", "",
			"or the name of a list in acls (there is none)"},
		{"lists that name each other", `{acls: {a: [b], b: [a]}, global: {allowQuery: [a]}}`, "", "", "",
			"spec.acls.a refers to itself"},
		{"the opposite of exceptions", `{acls: {a: ["!192.0.2.1", any]}, global: {allowQuery: ["!a"]}}`, "", "", "",
			"itself has exceptions"},
		{"a forwarder that is none", `{global: {forwarders: ["example.org"]}}`, "", "", "", "spec.global.forwarders[0]"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			var spec v1beta1.CommonSpec
			if err := yaml.UnmarshalStrict([]byte(c.spec), &spec); err != nil {
				t.Fatal(err)
			}
			files, err := clusterFiles(&spec)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("the error is %v, without %q", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]string{"named.conf.options": c.primary,
				"named.conf.options.secondary": c.secondary, "named.conf": c.main} {
				for text := range strings.SplitSeq(want, "|") {
					if !strings.Contains(files[file], text) {
						t.Errorf("%s does not hold %s:\n%s", file, text, files[file])
					}
				}
			}
		})
	}
}
