package main

import (
	"strings"
	"testing"
)

func TestFlagsTakeWhatMakesSense(t *testing.T) {
	const reviews = "--admission-bind-address=:9443"
	for _, c := range []struct {
		sentence string
		args     string // separated by blanks, of which "~" stands for one
		wrong    string // part of what is said; "": they are taken
	}{
		{"the fewest of everything", "--max-set-size=0 --max-status-entries=0 --history=0 --audit-interval=1s", ""},
		{"a negative set", "--max-set-size=-1", "--max-set-size is -1; it takes a number from 0"},
		{"a negative status", "--max-status-entries=-1", "--max-status-entries is -1; it takes a number from 0"},
		{"a negative history", "--history=-1", "--history is -1; it takes a number from 0 to 1000"},
		{"the longest history", "--history=1000", ""},
		{"a history without end", "--history=1001", "--history is 1001; it takes a number from 0 to 1000"},
		{"servers that are read all the time", "--audit-interval=999ms",
			"--audit-interval is 999ms; it takes a duration of 1s"},

		{"no namespace", "--namespace=", `--namespace is ""; it takes the name of a namespace`},
		{"two namespaces", "--namespace=A~B", `--namespace is "A B"; it takes the name of a namespace`},
		{"no namespace of fleets", "--bindy-namespace=", `--bindy-namespace is ""`},
		{"no ServiceAccount", "--service-account=", `--service-account is ""; it takes the name of a ServiceAccount`},
		{"a ServiceAccount with dots", "--service-account=a.b", ""},
		{"namespaces with blanks", "--secrets-namespaces=a,~b --credentials-namespaces=a,~b", ""},
		{"Secrets of no namespace", "--secrets-namespaces=,", "it names no namespace; without the flag, all are meant"},
		{"Secrets of a namespace that cannot be", "--secrets-namespaces=a,B", `--secrets-namespaces is "B"`},
		{"credentials of a namespace that cannot be", "--credentials-namespaces=a,B", `--credentials-namespaces is "B"`},

		{"admission for some", reviews + " --admission-client-ca-file=ca.crt --admission-client-names=api", ""},
		{"names that nobody vouches for", reviews + " --admission-client-names=api",
			"--admission-client-names needs the authorities of these clients; also set --admission-client-ca-file"},
		{"names that are none", reviews + " --admission-client-ca-file=ca.crt --admission-client-names=,",
			"--admission-client-names is \",\", without a name"},
		{"clients of no admission", "--admission-client-ca-file=ca.crt",
			"--admission-client-ca-file is for admission, which is off; also set --admission-bind-address"},
		{"a certificate of no admission", "--admission-cert-dir=certs",
			"--admission-cert-dir is for admission, which is off; also set --admission-bind-address"},
		{"a certificate of metrics for everybody", "--metrics-cert-dir=certs",
			"--metrics-cert-dir is for protected metrics; also set --metrics-protected"},
		{"a certificate of no server for external-dns", "--external-dns-cert-dir=certs",
			"--external-dns-cert-dir is for the server of external-dns' protocol, which is off; also set " +
				"--external-dns-bind-address"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			args := strings.Fields(c.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "~", " ")
			}
			_, err := parse(args, func(string) string { return "" })
			if c.wrong == "" && err != nil {
				t.Error(err)
			}
			if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
				t.Errorf("the error is %v, without %q", err, c.wrong)
			}
		})
	}
}
