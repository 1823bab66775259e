package attack

import (
	"crypto/tls"
	"net/http"
	"strings"

	"github.com/miekg/dns"
)

// says returns the code of the operator's name server's answer to a message over a network ("udp", "tcp").
func (s *site) says(network string, m *dns.Msg) *dns.Msg {
	s.Helper()
	c := &dns.Client{Net: network}
	answer, _, err := c.ExchangeContext(s.ctx, m, s.dns)
	s.must(err)
	return answer
}

func fromTheNetwork() []attempt {
	return []attempt{{
		aStranger, "asks the operator for a review, to learn from it who holds a name", "a client CA: `admission.clientCA`",
		func(s *site) {
			forged, err := certify(reviewClient, nil)
			s.must(err)
			for _, shown := range [][]tls.Certificate{nil, {{Certificate: [][]byte{forged.cert.Raw}, PrivateKey: forged.key}}} {
				web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: shown}}}
				resp, err := web.Post("https://"+s.admission+"/validate", "application/json", strings.NewReader("{}"))
				if err == nil {
					_ = resp.Body.Close()
					s.Errorf("it is answered %s", resp.Status)
				}
			}
		},
	}, {
		aStranger, "copies a whole zone", "transfers are given to nobody unless a Backend says so: REFUSED",
		func(s *site) {
			for _, m := range []*dns.Msg{new(dns.Msg).SetAxfr("example.org."), new(dns.Msg).SetIxfr("example.org.", 1, "ns.example.net.", "hostmaster.example.org.")} {
				if answer := s.says("tcp", m); answer.Rcode != dns.RcodeRefused || len(answer.Answer) > 0 {
					s.Errorf("it is answered %v", answer)
				}
			}
		},
	}, {
		aStranger, "sends an UPDATE", "the name server takes none: NOTIMP",
		func(s *site) {
			m := new(dns.Msg).SetUpdate("example.org.")
			m.Insert([]dns.RR{&dns.A{Hdr: dns.RR_Header{Name: "pay.example.org.", Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}, A: []byte{192, 0, 2, 66}}})
			if answer := s.says("tcp", m); answer.Rcode != dns.RcodeNotImplemented && answer.Rcode != dns.RcodeRefused {
				s.Errorf("it is answered %v", answer)
			}
		},
	}, {
		aStranger, "has the name server send much to somebody else", "answers over UDP have at most 1,232 octets, and to ANY one set (RFC 8482)",
		func(s *site) {
			m := new(dns.Msg).SetQuestion("example.org.", dns.TypeANY)
			m.SetEdns0(65535, false)
			answer := s.says("udp", m)
			if answer.Len() > 1232 || len(answer.Answer) > 1 {
				s.Errorf("it is answered with %d octets and %d records", answer.Len(), len(answer.Answer))
			}
		},
	}}
}
