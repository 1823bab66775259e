package attack

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An endless body repeats something for as long as somebody reads it.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], e.text[e.at:])
		n, e.at = n+c, (e.at+c)%len(e.text)
	}
	return n, nil
}

// babbler serves over HTTP what has a beginning and no end.
func (s *site) babbler(begin, again string) string {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, io.MultiReader(strings.NewReader(begin), &endless{text: again}))
	}))
	s.Cleanup(web.Close)
	return web.URL
}

// transferrer is a name server whose transfers of compressed names have no end.
func (s *site) transferrer(zone string) string {
	s.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	soa := &dns.SOA{Hdr: dns.RR_Header{Name: zone, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 60}, Ns: "ns." + zone,
		Mbox: "host." + zone, Serial: 9, Refresh: 1, Retry: 1, Expire: 1}
	long := strings.Repeat(strings.Repeat("a", 60)+".", 3) + zone
	var records []dns.RR
	for range 1200 {
		records = append(records, &dns.NS{Hdr: dns.RR_Header{Name: long, Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 60},
			Ns: long})
	}
	server := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m := new(dns.Msg).SetReply(r)
		m.Compress, m.Answer = true, []dns.RR{soa}
		if kind := r.Question[0].Qtype; kind != dns.TypeAXFR && kind != dns.TypeIXFR {
			_ = w.WriteMsg(m)
			return
		}
		for m.Answer = append(m.Answer, records...); w.WriteMsg(m) == nil; m.Answer = records {
		}
	})}
	go func() { _ = server.ActivateAndServe() }()
	s.Cleanup(func() { _ = server.Shutdown() })
	return l.Addr().String()
}

// peak is the most memory that the operator has had, in octets.
func (s *site) peak() int64 {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.operator.PID()))
	s.must(err)
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	s.must(err)
	return kilobytes << 10
}

// limit is the memory limit of the chart, in octets.
const limit = 512 << 20

// poison delivers a Zone of the victim to a hostile server, waits until that is told to be too much, and looks at what
// it cost.
func (s *site) poison(name, spec, secret string) {
	s.Helper()
	backend := objects(fmt.Sprintf("{apiVersion: zonefold.dev/v1alpha1, kind: Backend, metadata: {name: %s}, spec: {%s}}",
		name, spec))[0]
	key := objects(fmt.Sprintf(
		"{apiVersion: v1, kind: Secret, metadata: {namespace: zonefold-system, name: %s}, stringData: {key: %q}}", name,
		secret))[0]
	zone := objects(fmt.Sprintf("{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {namespace: victim, name: "+
		"%[1]s}, spec: {domainName: %[1]s.example., backendRefs: [{name: %[1]s}]}}", name))[0]
	for _, o := range []*unstructured.Unstructured{key, backend, zone} {
		s.store(o)
	}
	s.Cleanup(func() {
		// What cannot be withdrawn is kept by its finalizer, which the operator puts back as long as the Zone is not being
		// deleted.
		after := *s
		var cancel context.CancelFunc
		after.ctx, cancel = context.WithTimeout(context.WithoutCancel(s.ctx), patience)
		defer cancel()
		after.must(after.admin.Delete(after.ctx, zone))
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		after.must(client.IgnoreNotFound(after.admin.Patch(after.ctx, zone, patch)))
		for _, o := range []*unstructured.Unstructured{zone, backend, key} {
			after.remove(o)
		}
	})
	s.eventually("the Zone is told that its server says too much", func() string {
		s.must(s.admin.Get(s.ctx, client.ObjectKeyFromObject(zone), zone))
		if status := fmt.Sprint(zone.Object["status"]); !strings.Contains(status, "TooLarge") || !strings.Contains(status,
			"--read-memory") {
			return status
		}
		return ""
	})
	if peak := s.peak(); peak > limit {
		s.Errorf("the operator has had %d MiB of memory, more than the chart's limit", peak>>20)
	}
	s.changes()
}

// changes has a Record of the victim changed, and answered, and changed back.
func (s *site) changes() {
	s.Helper()
	record := objects(victimsRecord)[0]
	for _, address := range []string{"192.0.2.79", "192.0.2.80"} {
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"rdata":%q}}`, address))
		s.must(s.admin.Patch(s.ctx, record, patch))
		s.eventually("the change is answered", func() string {
			if got, err := s.ask("www.example.org.", dns.TypeA); err != nil || got != address {
				return fmt.Sprint(got, err)
			}
			return ""
		})
	}
}

func fromServers() []attempt {
	return []attempt{{
		aServer, "answers with an endless transfer of compressed names", "a budget for everything that is read: `TooLarge`",
		func(s *site) {
			key := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
			s.poison("endless", fmt.Sprintf("rfc2136: {servers: [%q]}", s.transferrer("endless.example.")), key)
		},
	}, {
		aServer, "answers with an endless stream of empty JSON objects", "a budget for everything that is read: `TooLarge`",
		func(s *site) {
			s.poison("bomb", fmt.Sprintf("powerdns: {url: %q, secretRef: {name: bomb}}",
				s.babbler(`{"kind":"Native","rrsets":[`, `{},`)), "the-key-of-an-api")
		},
	}}
}
