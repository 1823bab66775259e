package gardener

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/utils/ptr"
)

// An account is one at what behaves as Route 53.
type account struct {
	t           *testing.T
	key, secret string
}

func newAccount(t *testing.T) *account {
	t.Helper()
	a := &account{t: t}
	a.key, a.secret, _ = strings.Cut(here.ask(t, "aws account"), " ")
	return a
}

// data is a Secret with the account's credentials.
func (a *account) data() map[string][]byte {
	return map[string][]byte{"accessKeyID": []byte(a.key), "secretAccessKey": []byte(a.secret)}
}

func (a *account) rotate() { a.key, a.secret, _ = strings.Cut(here.ask(a.t, "aws rotate "+a.key), " ") }

// zone makes a hosted zone, and returns its ID.
func (a *account) zone(name, kind string) string {
	a.t.Helper()
	return here.ask(a.t, fmt.Sprintf("aws zone %s %s %s", a.key, name, kind))
}

// flow begins with an external record of a shoot, of which the hosted zone is in the account.
func (a *account) flow(name string) *flow {
	a.t.Helper()
	return newFlow(a.t, provider{name: "route53", kind: "aws-route53", secret: a.data()}, name)
}

// holds compares what a hosted zone has of the record.
func (f *flow) holds(zone, kind, want string) {
	f.t.Helper()
	if got := here.ask(f.t, fmt.Sprintf("aws look %s %s %s", zone, f.values.DNSName, kind)); got != want {
		f.t.Errorf("the hosted zone %s has %s %s as %q, want %q", zone, f.values.DNSName, kind, got, want)
	}
}

// placed compares the hosted zone in the status.
func (f *flow) placed(zone string) {
	f.t.Helper()
	if got := ptr.Deref(f.object().Status.Zone, "none"); got != zone {
		f.t.Errorf("status.zone is %s, want %s", got, zone)
	}
}

// TestRecordsInRoute53 is about what goes wrong with Gardener's own extension for it, or did.
func TestRecordsInRoute53(t *testing.T) {
	startOperator(t, "--gardener-endpoints=aws-route53="+here.AWS)
	t.Run("all", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *account){
			"a record goes into the public one of two zones of one name":             publicAndPrivate,
			"a zone that was made anew is found":                                     madeAnew,
			"a record stays in its zone when one with a longer name appears":         longerName,
			"a name of a load balancer is a name as others, and may become one":      aliases,
			"rotated credentials are wrong until they are deployed":                  rotated,
			"credentials that do not suffice are not those that nobody knows":        denied,
			"throttling is no error, and the flow goes on when it ends":              throttled,
			"throttling of one account is not another one's":                         othersThrottled,
			"two accounts with zones of one name are not mixed up":                   twoAccounts,
			"the records of twelve shoots at once stay below the rate of an account": atOnce,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, newAccount(t))
			})
		}
	})
}
