package attack

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"

	"github.com/miekg/dns"
	"k8s.io/client-go/tools/clientcmd"
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
		aStranger, "asks the operator for a review, to learn who holds a name", "a client CA: `admission.clientCA`",
		func(s *site) {
			forged, err := certify(reviewClient, nil)
			s.must(err)
			for _, shown := range [][]tls.Certificate{nil, {{Certificate: [][]byte{forged.cert.Raw}, PrivateKey: forged.key}}} {
				web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true,
					Certificates: shown}}}
				resp, err := web.Post("https://"+s.admission+"/validate", "application/json", strings.NewReader("{}"))
				if err == nil {
					_ = resp.Body.Close()
					s.Errorf("it is answered %s", resp.Status)
				}
			}
		},
	}, {
		aStranger, "learns from the metrics what is served",
		"`metrics.protected`: 401 without a token, 403 with one that may not get `/metrics`",
		func(s *site) {
			read := func(kubeconfig string) int {
				web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
				req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "https://"+s.metrics+"/metrics", http.NoBody)
				s.must(err)
				if kubeconfig != "" {
					config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
					s.must(err)
					req.Header.Set("Authorization", "Bearer "+config.BearerToken)
				}
				resp, err := web.Do(req)
				s.must(err)
				_ = resp.Body.Close()
				return resp.StatusCode
			}
			if code := read(""); code != http.StatusUnauthorized {
				s.Errorf("it is answered %d", code)
			}
			tenant, err := s.cluster.KubeconfigFor(s.ctx, mallory, "tenant")
			s.must(err)
			if code := read(tenant); code != http.StatusForbidden {
				s.Errorf("a tenant is answered %d", code)
			}
			s.store(objects(`{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: partner, name: prometheus}}`)[0])
			s.store(
				objects(
					`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: prometheus}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: zonefold-metrics}, subjects: [{kind: ServiceAccount, namespace: partner, name: prometheus}]}`)[0])
			scraper, err := s.cluster.KubeconfigFor(s.ctx, partner, "prometheus")
			s.must(err)
			s.eventually("whoever may read them does", func() string {
				return strings.TrimPrefix(fmt.Sprint(read(scraper)), "200")
			})
		},
	}, {
		aStranger, "copies a whole zone", "nobody may transfer zones unless a Backend allows it: REFUSED",
		func(s *site) {
			for _, m := range []*dns.Msg{new(dns.Msg).SetAxfr("example.org."), new(dns.Msg).SetIxfr("example.org.", 1,
				"ns.example.net.", "hostmaster.example.org.")} {
				if answer := s.says("tcp", m); answer.Rcode != dns.RcodeRefused || len(answer.Answer) > 0 {
					s.Errorf("it is answered %v", answer)
				}
			}
		},
	}, {
		aStranger, "sends an UPDATE", "the name server accepts those that a key of a Backend has signed: REFUSED",
		func(s *site) {
			m := new(dns.Msg).SetUpdate("example.org.")
			m.Insert([]dns.RR{&dns.A{Hdr: dns.RR_Header{Name: "pay.example.org.", Rrtype: dns.TypeA, Class: dns.ClassINET,
				Ttl: 60}, A: []byte{192, 0, 2, 66}}})
			if answer := s.says("tcp", m); answer.Rcode != dns.RcodeRefused {
				s.Errorf("it is answered %v", answer)
			}
		},
	}, {
		aStranger, "lists or changes records as external-dns", "a token of a Backend: 401",
		func(s *site) {
			for _, ask := range []string{"GET /", "GET /records", "POST /records", "POST /adjustendpoints"} {
				method, path, _ := strings.Cut(ask, " ")
				req, err := http.NewRequestWithContext(s.ctx, method, "http://"+s.webhook+path, strings.NewReader("{}"))
				s.must(err)
				req.SetBasicAuth("external-dns", "")
				resp, err := http.DefaultClient.Do(req)
				s.must(err)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusUnauthorized {
					s.Errorf("%s is answered %s", ask, resp.Status)
				}
			}
		},
	}, {
		aStranger, "has the name server send large answers to somebody else",
		"answers over UDP have at most 1,232 octets, and ANY returns one set (RFC 8482)",
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
