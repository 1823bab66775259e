package scenario

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const externalDNSToken = "a token of twenty-four octets"

// A webhook asks the operator as external-dns does.
type webhook struct {
	*scene
	address, token string
	secure         *http.Client // nil: without TLS
}

// webhookPort claims a port for the server of external-dns' protocol.
func (s *scene) webhookPort() uint16 {
	s.t.Helper()
	number, release, err := nameserver.ClaimPort()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(release)
	return number
}

// call makes a request with the token as its URL has it.
func (h webhook) call(method, path, body string) (status int, answer string) {
	h.t.Helper()
	scheme, client := "http", http.DefaultClient
	if h.secure != nil {
		scheme, client = "https", h.secure
	}
	r, err := http.NewRequestWithContext(h.ctx, method, scheme+"://"+h.address+path, strings.NewReader(h.text(body)))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Accept", endpoint.MediaType)
	r.Header.Set("Content-Type", endpoint.MediaType)
	if h.token != "" {
		r.SetBasicAuth("external-dns", h.token)
	}
	got, err := client.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer got.Body.Close()
	said, err := io.ReadAll(got.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	if typ := got.Header.Get("Content-Type"); got.StatusCode == http.StatusOK && typ != endpoint.MediaType {
		h.t.Errorf("%s %s has the type %s", method, path, typ)
	}
	return got.StatusCode, strings.TrimSpace(string(said))
}

// changes has something carried out; the answer to what is refused contains refusal.
func (h webhook) changes(body, refusal string) {
	h.t.Helper()
	status, said := h.call(http.MethodPost, "/records", body)
	if want := http.StatusNoContent; refusal == "" && status != want {
		h.t.Errorf("%s is answered %d: %s", body, status, said)
	}
	if refusal != "" && (status != http.StatusInternalServerError || !strings.Contains(said, h.text(refusal))) {
		h.t.Errorf("%s is answered %d: %s; it should be refused: %s", body, status, said, refusal)
	}
}

// lists compares what there is with endpoints.
func (h webhook) lists(want string) {
	h.t.Helper()
	status, said := h.call(http.MethodGet, "/records", "")
	if got, want := h.sorted(said), h.sorted(want); status != http.StatusOK || got != want {
		h.t.Errorf("%d: there is\n%s\nand not\n%s", status, got, want)
	}
}

// sorted brings a list of endpoints into one form.
func (h webhook) sorted(text string) string {
	h.t.Helper()
	var all []endpoint.Endpoint
	if err := json.Unmarshal([]byte(h.text(text)), &all); err != nil {
		h.t.Fatalf("%s: %v", text, err)
	}
	for i := range all {
		all[i].Labels = nil
	}
	slices.SortFunc(all, func(a, b endpoint.Endpoint) int {
		return cmp.Compare(a.DNSName+" "+a.RecordType, b.DNSName+" "+b.RecordType)
	})
	out, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		h.t.Fatal(err)
	}
	return string(out)
}

const externalDNSBackend = `backend b: {embedded: {update: [{keyName: dhcp, secretRef: {name: ~dhcp}, namespace: ~b}],
  externalDNS: [{secretRef: {name: ~token}, namespace: ~b}]}}
`

func TestExternalDNSWrites(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	address := fmt.Sprintf("127.0.0.1:%d", s.webhookPort())
	s.bind = s.ownServer("--external-dns-bind-address", address, "--read-memory", "64Mi")
	s.secret(testoperator.Namespace, s.prefix+"dhcp", updateSecret, nil)
	s.secret(testoperator.Namespace, s.prefix+"token", externalDNSToken, nil)
	s.ensureNamespace(s.prefix + "b")
	s.apply(externalDNSBackend +
		`zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], delegations: ` +
		`[{namespace: ~a, records: [{pattern: "*"}]}, {namespace: ~b, records: [{pattern: "*.apps"}]}]}
zone a/closed: {domainName: example.net., backendRefs: [{name: ~b}]}
record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.80}
record a/held: {domainName: held.apps.example.org., type: A, rdata: 192.0.2.81}
record b/beside: {domainName: beside.apps.example.org., type: TXT, rdata: beside}
record b/own: {domainName: own.apps.example.org., type: A, rdata: 192.0.2.82}`)
	s.answers("own.apps.example.org. A", "192.0.2.82")
	h := webhook{scene: s, address: address, token: externalDNSToken}
	s.step("who has no token is told so", func() {
		for _, token := range []string{"", "another one of 16 octets", externalDNSToken[1:]} {
			status, said := webhook{scene: s, address: address, token: token}.call(http.MethodGet, "/records", "")
			if status != http.StatusUnauthorized || !strings.Contains(said, "embedded.externalDNS") {
				s.t.Errorf("%q is answered %d: %s", token, status, said)
			}
		}
	})
	s.step("a client is for the zones that let its namespace in", func() {
		status, said := h.call(http.MethodGet, "/", "")
		if want := s.text(`{"include":["example.org"]}`); status != http.StatusOK || said != want {
			s.t.Errorf("the answer is %d: %s", status, said)
		}
	})
	wanted := `[{"dnsName":"web.apps.example.org","recordType":"A","recordTTL":60,"targets":["192.0.2.2","192.0.2.1"]},
		{"dnsName":"a-web.apps.example.org","recordType":"TXT","targets":["\"heritage=external-dns,external-dns/owner=me\""]},
		{"dnsName":"web.apps.example.org","recordType":"AAAA","targets":["2001:DB8:0::1"]},
		{"dnsName":"Alias.apps.example.org","recordType":"CNAME","targets":["web.apps.example.org"],
			"providerSpecific":[{"name":"alias","value":"false"}]},
		{"dnsName":"*.any.apps.example.org","recordType":"CNAME","targets":["web.apps.example.org."]},
		{"dnsName":"mail.apps.example.org","recordType":"MX","targets":["10 web.apps.example.org"]},
		{"dnsName":"_sip._udp.apps.example.org","recordType":"SRV","targets":["0 5 5060 web.apps.example.org."]},
		{"dnsName":"n.apps.example.org","recordType":"NAPTR","targets":["10 20 \"u\" \"E2U+sip\" \"!^.*$!sip:a@example.org!\" ."]},
		{"dnsName":"txt.apps.example.org","recordType":"TXT","targets":["v=spf1 -all","say \"hello\""]}]`
	var adjusted string
	s.step("what it makes is listed as it is adjusted, and answered", func() {
		var status int
		if status, adjusted = h.call(http.MethodPost, "/adjustendpoints", wanted); status != http.StatusOK {
			s.t.Fatalf("adjusting is answered %d: %s", status, adjusted)
		}
		h.changes(`{"create":`+adjusted+`}`, "")
		h.lists(adjusted)
		if _, again := h.call(http.MethodPost, "/adjustendpoints", adjusted); h.sorted(again) != h.sorted(adjusted) {
			s.t.Errorf("what is adjusted is adjusted to %s", again)
		}
		s.answers("web.apps.example.org. A", "192.0.2.1", "192.0.2.2")
		s.answers("alias.apps.example.org. CNAME", "web.apps.example.org.")
		s.answers("_sip._udp.apps.example.org. SRV", "0 5 5060 web.apps.example.org.")
		s.answers("txt.apps.example.org. TXT", `"v=spf1 -all"`, `"say \"hello\""`)
	})
	s.step("what changes, and goes, does so", func() {
		old := `{"dnsName":"web.apps.example.org","recordType":"A","recordTTL":60,"targets":["192.0.2.1","192.0.2.2"]}`
		is := `{"dnsName":"web.apps.example.org","targets":["192.0.2.2","192.0.2.3"],"recordType":"A"}`
		h.changes(`{"updateOld":[`+old+`],"updateNew":[`+is+`]}`, "")
		s.answers("web.apps.example.org. A", "192.0.2.2", "192.0.2.3")
		alias := `{"dnsName":"alias.apps.example.org","recordType":"CNAME","targets":["web.apps.example.org"]}`
		h.changes(`{"delete":[`+alias+`],"create":[{"dnsName":"alias.apps.example.org","recordType":"A",`+
			`"targets":["192.0.2.4"]}]}`, "")
		s.answers("alias.apps.example.org. A", "192.0.2.4")
		_, said := h.call(http.MethodGet, "/records", "")
		if !strings.Contains(said, s.text(is)) {
			s.t.Errorf("%s is not in %s", is, said)
		}
		h.changes(`{"delete":`+said+`}`, "")
		h.lists(`[]`)
		s.answers("web.apps.example.org. A")
	})
	s.step("what is refused is told, stays, and keeps nothing else from being carried out", func() {
		taken := `{"dnsName":"www.example.org","recordType":"AAAA","targets":["2001:db8::66"]}`
		held := `{"dnsName":"held.apps.example.org","recordType":"AAAA","targets":["2001:db8::66"]}`
		fine := `{"dnsName":"fine.apps.example.org","recordType":"A","targets":["192.0.2.5"]}`
		h.changes(`{"create":[`+taken+`,`+held+`,`+fine+`]}`, `NotDelegated: Zone ~a/org has no delegation`)
		s.answers("fine.apps.example.org. A", "192.0.2.5")
		s.answers("www.example.org. AAAA")
		h.lists(`[` + fine + `,` + held + `,` + taken + `]`)
		s.remove("record a/held")
		s.answers("held.apps.example.org. AAAA", "2001:db8::66")
	})
	s.step("what cannot be held is told, and what is there stays", func() {
		fine := `{"dnsName":"fine.apps.example.org","recordType":"A","targets":["192.0.2.5"]}`
		for bad, why := range map[string]string{
			`{"dnsName":"fine.apps.example.org","recordType":"A","targets":["192.0.2"]}`:                        `the target "192.0.2"`,
			`{"dnsName":"fine.apps.example.org","recordType":"A","targets":["192.0.2.6"],"setIdentifier":"eu"}`: `the set identifier "eu"`,
			`{"dnsName":"fine.apps.example.org","recordType":"SOA","targets":["a. b. 1 2 3 4 5"]}`:              `cannot be written`,
		} {
			h.changes(`{"updateOld":[`+fine+`],"updateNew":[`+bad+`]}`, why)
		}
		s.answers("fine.apps.example.org. A", "192.0.2.5")
		beside := `{"dnsName":"beside.apps.example.org","recordType":"A","targets":["192.0.2.6"]}`
		h.changes(`{"create":[`+beside+`]}`, "")
		h.changes(`{"delete":[`+beside+`],"create":[{"dnsName":"beside.apps.example.org","recordType":"CNAME",`+
			`"targets":["www.example.org"]}]}`, "Conflict")
		s.answers("beside.apps.example.org. A", "192.0.2.6")
	})
	s.step("it changes and deletes nothing that it has not made", func() {
		if got := s.nsupdate("dhcp", "update add h.apps.example.org. 60 A 192.0.2.7"); got != "" {
			s.t.Fatal(got)
		}
		for _, name := range []string{"own 192.0.2.82", "h 192.0.2.7"} {
			label, address, _ := strings.Cut(name, " ")
			h.changes(fmt.Sprintf(`{"delete":[{"dnsName":"%s.apps.example.org","recordType":"A","targets":["%s"]}]}`, label,
				address), "")
			s.answers(label+".apps.example.org. A", address)
		}
		if got := s.nsupdate("dhcp", "update delete fine.apps.example.org. A"); got != "update failed: REFUSED" {
			s.t.Errorf("a client of dynamic updates is told %q of the records of external-dns", got)
		}
	})
	s.step("who had a token that is taken back is told so", func() {
		s.kubectl("delete", "secret", s.prefix+"token", "-n", testoperator.Namespace)
		s.eventually("the token is not known any more", func() string {
			status, said := h.call(http.MethodGet, "/records", "")
			return unless(status == http.StatusUnauthorized, fmt.Sprintf("%d: %.100s", status, said))
		})
		s.cond("backend b", "Ready", "False SecretNotFound", "embedded.externalDNS[0]", "~token")
		s.secret(testoperator.Namespace, s.prefix+"token", externalDNSToken, nil)
		s.eventually("the token is known again", func() string {
			status, said := h.call(http.MethodGet, "/records", "")
			return unless(status == http.StatusOK, fmt.Sprintf("%d: %.100s", status, said))
		})
	})
	s.step("a body that is no such thing is refused", func() {
		for body, want := range map[string]int{`{"create":`: 400, `[]`: 400, `{"create":[` + strings.Repeat(`{},`, 8<<20) +
			`{}]}`: 413} {
			if status, said := h.call(http.MethodPost, "/records", body); status != want {
				s.t.Errorf("%.20s is answered %d: %s", body, status, said)
			}
		}
	})
}

// Whichever replica external-dns asks: the one that leads answers.
func TestFollowersPassExternalDNSOn(t *testing.T) {
	s := newStage(t)
	s.mayUpdate()
	port := s.webhookPort()
	all := s.replicas(2, "--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=100s",
		"--leader-elect-retry-period=500ms")
	s.secret(testoperator.Namespace, s.prefix+"dhcp", updateSecret, nil)
	s.secret(testoperator.Namespace, s.prefix+"token", externalDNSToken, nil)
	s.apply(externalDNSBackend + `zone a/org: {domainName: example.org., backendRefs: [{name: ~b}], ` +
		`delegations: [{namespace: ~b, records: [{pattern: "*"}]}]}
record b/www: {domainName: www.example.org., type: A, rdata: 192.0.2.80}`)
	for i, r := range all {
		r.args = append(r.args, fmt.Sprintf("--external-dns-bind-address=127.0.0.%d:%d", i+1, port))
		r.run()
		s.leads(all[0])
	}
	s.shown(all, "www.example.org. A", "192.0.2.80")
	for i := range all {
		h := webhook{scene: s, address: fmt.Sprintf("127.0.0.%d:%d", i+1, port), token: externalDNSToken}
		one := fmt.Sprintf(`{"dnsName":"h%d.example.org","recordType":"A","targets":["192.0.2.%d"]}`, i, i)
		h.changes(`{"create":[`+one+`]}`, "")
		s.shown(all, fmt.Sprintf("h%d.example.org. A", i), fmt.Sprintf("192.0.2.%d", i))
		h.lists(`[` + one + `]`)
		h.changes(`{"delete":[`+one+`]}`, "")
		h.lists(`[]`)
	}
}
