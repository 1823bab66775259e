package webhook

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// ask is what BIND answers to one question, sorted: "TTL DATA", or the code where it has nothing. Below a delegation it
// answers with a referral, in another section.
func (s *site) ask(name, kind string) string {
	s.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name+".", dns.StringToType[kind])
	answer, _, err := (&dns.Client{Net: "tcp"}).ExchangeContext(s.ctx, m, s.bind.Addr())
	s.must(err)
	var out []string
	for _, r := range slices.Concat(answer.Answer, answer.Ns) {
		if dns.TypeToString[r.Header().Rrtype] == kind {
			out = append(out, fmt.Sprint(r.Header().Ttl, " ", strings.TrimPrefix(r.String(), r.Header().String())))
		}
	}
	if len(out) == 0 {
		return dns.RcodeToString[answer.Rcode]
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// transferred is what BIND has besides SOA and NS of the apex: "NAME TYPE" to TTL and data.
func (s *site) transferred() (map[string]string, error) {
	sets, err := s.bind.Transfer(s.ctx, parseName(zone))
	out := map[string]string{}
	for _, set := range sets {
		if what := set.Name.String() + " " + set.Type.String(); what != zone+". SOA" && what != zone+". NS" {
			out[what] = fmt.Sprint(set.TTL, " ", strings.Join(set.Data, " "))
		}
	}
	return out, err
}

// serves waits until BIND has exactly what is wanted.
func (s *site) serves(want map[string]string) {
	s.Helper()
	s.eventually("BIND has what is wanted and nothing else", func() error {
		got, err := s.transferred()
		if err != nil || maps.Equal(got, want) {
			return err
		}
		for what, data := range want {
			if got[what] != data {
				return fmt.Errorf("%s is %q and should be %q; it has %d sets, wanted are %d", what, got[what], data, len(got),
					len(want))
			}
		}
		for what := range want {
			delete(got, what)
		}
		return fmt.Errorf("it has too much: %v", got)
	})
}

// gone deletes all DNSRecords and DNSClasses, and waits until nothing holds them.
func (s *site) gone() {
	s.Helper()
	s.must(s.live.DeleteAllOf(s.ctx, &v1alpha1.DNSRecord{}, client.InNamespace(s.ns)))
	s.eventually("no DNSRecord is left", func() error {
		var left v1alpha1.DNSRecordList
		err := s.live.List(s.ctx, &left, client.InNamespace(s.ns))
		for _, o := range left.Items {
			return fmt.Errorf("%d are left; %s says %+v", len(left.Items), o.Name, o.Status)
		}
		return err
	})
	s.must(s.live.DeleteAllOf(s.ctx, &v1alpha1.DNSClass{}))
	s.eventually("no DNSClass is left", func() error {
		var left v1alpha1.DNSClassList
		err := s.live.List(s.ctx, &left)
		for _, o := range left.Items {
			return fmt.Errorf("%s is left", o.Name)
		}
		return err
	})
	s.serves(map[string]string{})
}
