package main

import (
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
)

func TestTheQuestionsAreOfEveryKind(t *testing.T) {
	const n = 250
	server, err := embedded.Serve(t.Context(), options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(t.Context()) })
	zone, err := writeZone(t.TempDir(), n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load(t.Context(), server, func() (backend.Batch, error) { return master(zone) }); err != nil {
		t.Fatal(err)
	}
	type kind struct {
		rcode, answers, authority int
		qtype                     uint16
	}
	got, asked := map[kind]int{}, map[string]bool{}
	for i := range 10 * n {
		text := question(i, n)
		asked[text] = true
		name, typ, _ := strings.Cut(text, " ")
		answer, err := dns.Exchange(new(dns.Msg).SetQuestion(name, dns.StringToType[typ]), server.Addrs()[0].String())
		if err != nil {
			t.Fatal(err)
		}
		got[kind{answer.Rcode, len(answer.Answer), len(answer.Ns), dns.StringToType[typ]}]++
	}
	for what, k := range map[string]struct {
		kind
		share int
	}{
		"addresses, also of wildcards": {kind{0, 1, 0, dns.TypeA}, 5 * n},
		"addresses of IPv6":            {kind{0, 1, 0, dns.TypeAAAA}, 2 * n},
		"a type that is not there":     {kind{0, 0, 1, dns.TypeMX}, n},
		"a name that is not there":     {kind{dns.RcodeNameError, 0, 1, dns.TypeA}, n},
		"a name in a zone of somebody": {kind{0, 0, 1, dns.TypeA}, n},
	} {
		if got[k.kind] != k.share {
			t.Errorf("%s: %d answers, want %d, among %v", what, got[k.kind], k.share, got)
		}
	}
	if want := 10*n - 3*n - n; len(asked) != want { // four of ten ask for the same kind of address, two for the other
		t.Errorf("%d different questions, want %d", len(asked), want)
	}
}

func TestDnsperfIsRead(t *testing.T) {
	const text = `Statistics:

  Queries sent:         100000
  Queries completed:    99998 (100.00%)
  Queries lost:         2 (0.00%)

  Response codes:       NOERROR 90000 (90.00%), NXDOMAIN 10000 (10.00%)
  Average packet size:  request 46, response 79
  Run time (s):         1.5
  Queries per second:   66667.120000
`
	got, err := parse(text)
	want := round{sent: 100_000, lost: 2, qps: 66667.12, codes: "NOERROR 90000 (90.00%), NXDOMAIN 10000 (10.00%)"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for line := range strings.Lines(text) {
		if less := strings.Replace(text, line, "", 1); strings.Contains(line, "lost") || strings.Contains(line, "second") {
			if got, err := parse(less); err == nil {
				t.Errorf("without %q it is read as %+v", line, got)
			}
		}
	}
}
