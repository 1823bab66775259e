package bindy

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// key is the one in use of a Secret.
func (n *bindNode) key(secret string) (name, value string) {
	n.Helper()
	var s corev1.Secret
	if err := n.Live.Get(n.Ctx, client.ObjectKey{Namespace: n.namespace, Name: secret}, &s); err != nil {
		n.Fatal(err)
	}
	return string(s.Data[bind9.ItemName]) + ".", string(s.Data[bind9.ItemSecret])
}

// foreign writes at one primary as somebody who has got hold of the key: a record to add, and a name to delete.
func (n *bindNode) foreign(instance, add, remove string) {
	n.Helper()
	name, secret := n.key(dialect.KeySecret(instance))
	m := new(dns.Msg)
	m.SetUpdate("example.com.")
	m.RemoveName([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: remove}}})
	record, err := dns.NewRR(add)
	if err != nil {
		n.Fatal(err)
	}
	m.Insert([]dns.RR{record})
	m.SetTsig(name, dns.HmacSHA256, 300, time.Now().Unix())
	answer, _, err := (&dns.Client{Net: "tcp", TsigSecret: map[string]string{name: secret}}).Exchange(m, n.at(instance))
	if err != nil || answer.Rcode != dns.RcodeSuccess {
		n.Fatalf("writing as somebody else: %v, %v", answer, err)
	}
}

// whole is the zone as a server transfers it, in an order of its own, and its serial.
func (n *bindNode) whole(instance string) (content string, serial uint32) {
	n.Helper()
	name, secret := n.key(dialect.TransferName("dns"))
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", n.at(instance))
	if err != nil {
		return err.Error(), 0
	}
	defer conn.Close()
	m := new(dns.Msg)
	m.SetAxfr("example.com.")
	m.SetTsig(name, dns.HmacSHA256, 300, time.Now().Unix())
	t := dns.Transfer{Conn: &dns.Conn{Conn: conn}, TsigSecret: map[string]string{name: secret}}
	parts, err := t.In(m, n.at(instance))
	if err != nil {
		return err.Error(), 0
	}
	var all []string
	for part := range parts {
		if part.Error != nil {
			return part.Error.Error(), 0
		}
		for _, r := range part.RR {
			if soa, ok := r.(*dns.SOA); ok {
				serial = soa.Serial
				continue
			}
			all = append(all, r.String())
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n"), serial
}

// same complains unless these servers have the same content under the same serial, and a record in it and another one
// not.
func (n *bindNode) same(with, without string, instances ...string) string {
	n.Helper()
	first, serial := n.whole(instances[0])
	for _, i := range instances {
		content, s := n.whole(i)
		if content != first || s != serial || !strings.Contains(content, with) || strings.Contains(content, without) {
			return fmt.Sprintf("%s has, under serial %d:\n%s", i, s, content)
		}
	}
	return ""
}

// TestR16WhatSomebodyElseWritesIsUndone has somebody write at one primary, who has the key for it. The next change
// finds it, puts it right on every server, secondaries included, which had transferred it, and tells of it.
func TestR16WhatSomebodyElseWritesIsUndone(t *testing.T) {
	s, n := zoneStage(t, "drift")
	s.Apply(clusterWith, n.namespace, 2, 2)
	s.Apply(exampleZone, n.namespace)
	s.Apply(addressRecord, n.namespace, "www", "192.0.2.1")
	s.Apply(addressRecord, n.namespace, "rock", "192.0.2.200")
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
	all := []string{"dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1"}
	s.Eventually("the same everywhere", func() string { return n.same("192.0.2.200", "evil", all...) })
	if got := s.differs(n.namespace); strings.ContainsAny(got, "+") || strings.Count(got, "\n") != 3 {
		t.Errorf("before anybody has written, servers differ: %s", got)
	}
	for i := range 4 {
		at := all[i%2]
		n.foreign(at, "evil.example.com. 60 A 192.0.2.66", "rock.example.com.")
		for _, secondary := range all[2:] {
			s.Eventually("what somebody else has written", func() string {
				if n.answersAt(at, "evil.example.com.", dns.TypeA, "192.0.2.66") != "" {
					return "" // the operator was still reading after its last change, and has undone it
				}
				return n.answersAt(secondary, "evil.example.com.", dns.TypeA, "192.0.2.66")
			})
		}
		if i == 0 {
			s.Eventually("it being told", func() string { return n.toldOf(at, all) })
		}
		next := fmt.Sprintf("192.0.2.%d", 10+i)
		s.Apply(addressRecord, n.namespace, "www", next)
		began := time.Now()
		s.Eventually(fmt.Sprintf("what is wanted, everywhere (%d)", i), func() string {
			why := n.same(next, "evil", all...)
			if time.Since(began) > 25*time.Second && why != "" {
				for _, at := range all {
					_, serial := n.whole(at)
					t.Log(i, at, serial, n.tally(at))
				}
				t.Fatal(why)
			}
			return why
		})
	}
	s.zoneIs(n.namespace, metav1.ConditionTrue, v1beta1.ReasonAllConfigured)
}
