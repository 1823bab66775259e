package webhook

import (
	"errors"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

// kinds are records of every type, and what BIND answers for them and after a change of their values.
var kinds = []struct {
	sentence, kind, subdomain string
	values, changed           []string
	numbers                   *v1alpha1.RecordMetadata
	question, want, then      string
}{
	{"several IPv4 addresses", "A", "www", []string{"192.0.2.1", "192.0.2.2"}, []string{"192.0.2.3"}, nil, "www",
		"300 192.0.2.1; 300 192.0.2.2", "300 192.0.2.3"},
	{"an IPv6 address", "AAAA", "www", []string{"2001:db8::1"}, []string{"2001:db8::2"}, nil, "www", "300 2001:db8::1",
		"300 2001:db8::2"},
	{"another name for a name", "CNAME", "alias", []string{"www.example.net"}, []string{"web.example.net"}, nil, "alias",
		"300 www.example.net.", "300 web.example.net."},
	{"text with quotes and blanks", "TXT", "@", []string{`v=1 "so" \ it is`}, []string{"short"}, nil, "",
		`300 "v=1 \"so\" \\ it is"`, `300 "short"`},
	{"a mail server", "MX", "@", []string{"mail.example.net"}, []string{"mx.example.net"}, numbers(10), "",
		"300 10 mail.example.net.", "300 10 mx.example.net."},
	{"a service", "SRV", "_ldap._tcp", []string{"ldap.example.net"}, []string{"dir.example.net"}, numbers(1, 2, 389),
		"_ldap._tcp", "300 1 2 389 ldap.example.net.", "300 1 2 389 dir.example.net."},
	{"a delegation", "NS", "child", []string{"ns1.example.net", "ns2.example.net"}, []string{"ns3.example.net"}, nil,
		"child", "300 ns1.example.net.; 300 ns2.example.net.", "300 ns3.example.net."},
	{"the name of an address", "PTR", "1.2", []string{"host.example.net"}, []string{"other.example.net"}, nil, "1.2",
		"300 host.example.net.", "300 other.example.net."},
	{"an authority for certificates", "CAA", "@", []string{`0 issue "ca.example.net"`}, []string{`0 issue ";"`}, nil, "",
		`300 0 issue "ca.example.net"`, `300 0 issue ";"`},
	{"a wildcard", "A", "*.apps", []string{"192.0.2.9"}, []string{"192.0.2.10"}, nil, "any.apps", "300 192.0.2.9",
		"300 192.0.2.10"},
}

func numbers(n ...int32) *v1alpha1.RecordMetadata {
	m := &v1alpha1.RecordMetadata{Priority: &n[0]}
	if len(n) == 3 {
		m.Weight, m.Port = &n[1], &n[2]
	}
	return m
}

func TestEveryTypeIsServed(t *testing.T) {
	for _, c := range []struct {
		sentence  string
		algorithm v1alpha1.Algorithm
	}{
		{"requests are not signed", ""}, {"requests are signed with SHA256", "SHA256"}, {"requests are signed with SHA512",
			"SHA512"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			s := newSite(t)
			if c.algorithm == "" {
				s.class("hook", s.hook("--unsigned").URL, 10, nil)
			} else {
				s.secret("hmac", "a secret of sixteen")
				h := s.hook("--secret-file", s.file("hmac", "a secret of sixteen"), "--algorithm", string(c.algorithm))
				s.class("hook", h.URL, 10, s.signed("hmac", c.algorithm))
			}
			s.operate()
			s.everyType()
			s.gone()
		})
	}
}

// everyType makes, changes and looks up a record of every type.
func (s *site) everyType() {
	s.Helper()
	object := func(i int) *v1alpha1.DNSRecord {
		c := kinds[i]
		o := s.record(fmt.Sprintf("kind-%d", i), "hook", c.kind+" "+c.subdomain)
		o.Spec.Values, o.Spec.Metadata = c.values, c.numbers
		return o
	}
	for i := range kinds {
		s.must(s.live.Create(s.ctx, object(i)))
	}
	s.answered(func(i int) string { return kinds[i].want })
	for i, c := range kinds {
		o := object(i)
		s.must(s.live.Get(s.ctx, client.ObjectKeyFromObject(o), o))
		before := o.DeepCopy()
		o.Spec.Values = c.changed
		s.must(s.live.Patch(s.ctx, o, client.MergeFrom(before)))
	}
	s.answered(func(i int) string { return kinds[i].then })
}

// answered waits until all records are ready, and compares BIND's answers then: it may not be otherwise any more.
func (s *site) answered(want func(i int) string) {
	s.Helper()
	if n := s.settled(); n != len(kinds) {
		s.Fatal(errors.New("there are too few DNSRecords"), n)
	}
	for i, c := range kinds {
		name := zone
		if c.question != "" {
			name = c.question + "." + zone
		}
		if got := s.ask(name, c.kind); got != want(i) {
			s.Errorf("%s: BIND answers %s for %s %s, want %s", c.sentence, got, name, c.kind, want(i))
		}
	}
}
