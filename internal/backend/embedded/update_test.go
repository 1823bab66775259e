package embedded

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestUpdatesAreForThoseWhoMayUpdate(t *testing.T) {
	var mu sync.Mutex
	var taken []Update
	var log bytes.Buffer
	update := func(_ context.Context, u Update) Updated {
		mu.Lock()
		defer mu.Unlock()
		taken = append(taken, u)
		return Updated{Rcode: dns.RcodeYXRrset, Text: "There is a set."}
	}
	s, _, addr := filled(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Update: update}, 1)
	writer, reader, stranger := testKey(t, "writer.", ""), testKey(t, "reader.", ""), testKey(t, "stranger.", "")
	setPolicy(t, s, Policy{Update: []Updater{{Key: *writer, For: "team-a"}}, Transfer: []Rule{{Key: reader}}})
	for _, c := range []struct {
		name, zone string
		key        *Key
		want       int
		text       string
	}{
		{"who may", "bench.example.", writer, dns.RcodeYXRrset, "There is a set."},
		{"who may only copy the zone", "bench.example.", reader, dns.RcodeRefused,
			"No rule lets this client update zone bench.example."},
		{"who does not sign", "bench.example.", nil, dns.RcodeRefused,
			"No rule lets this client update zone bench.example."},
		{"who signs with a key that nobody knows", "bench.example.", stranger, dns.RcodeNotAuth, ""},
		{"a zone that is not here", "example.net.", writer, dns.RcodeNotAuth, "This server has no zone example.net."},
	} {
		for _, network := range []string{"udp", "tcp"} {
			m := new(dns.Msg).SetUpdate(c.zone).SetEdns0(1232, false)
			m.NameUsed([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: "www." + c.zone}}})
			client := dns.Client{Net: network, Timeout: 20 * time.Second}
			if c.key != nil {
				m.SetTsig(c.key.Name.String(), dns.HmacSHA256, 300, time.Now().Unix())
				client.TsigSecret = map[string]string{c.key.Name.String(): c.key.Secret}
			}
			got, _, err := client.Exchange(m, addr)
			if err != nil && (got == nil || got.Rcode != dns.RcodeNotAuth) {
				t.Fatalf("%s, over %s: %v", c.name, network, err)
			}
			if got.Rcode != c.want || got.Opcode != dns.OpcodeUpdate || explanation(got) != c.text {
				t.Errorf("%s, over %s, gets %s %q", c.name, network, dns.RcodeToString[got.Rcode], explanation(got))
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(taken) != 2 {
		t.Fatalf("%d updates are carried out", len(taken))
	}
	for line, want := range map[string]int{`key=reader. reason="No rule lets this client update zone bench.example."`: 2,
		`key=writer. reason="This server has no zone example.net."`: 2, "An update was refused.": 4} {
		if n := strings.Count(log.String(), line); n != want {
			t.Errorf("the log has %d times %s:\n%s", n, line, &log)
		}
	}
	for _, u := range taken {
		m := new(dns.Msg)
		if err := m.Unpack(u.Message); err != nil || u.For != "team-a" || u.Zone != mustName(t, "bench.example.") ||
			len(m.Answer) != 1 || m.Answer[0].Header().Name != "www.bench.example." {
			t.Errorf("got %v (%v)", u, err)
		}
	}
}

// A message that comes again is the same message only for the same group.
func TestUpdatesOfAZoneOfSeveralGroupsAreForOneOfThem(t *testing.T) {
	var mu sync.Mutex
	groups := map[string]int{}
	s, _, addr := filled(t, Options{Update: func(_ context.Context, u Update) Updated {
		mu.Lock()
		defer mu.Unlock()
		groups[u.Group]++
		return Updated{}
	}}, 1)
	writer := testKey(t, "writer.", "")
	for _, group := range []string{"test", "a", "b"} {
		if group != "test" {
			applyTo(t, s.Group(group), mustName(t, "bench.example."))
		}
		if err := s.SetPolicy(group, Policy{Update: []Updater{{Key: *writer, For: "team-" + group}}}); err != nil {
			t.Fatal(err)
		}
	}
	m := new(dns.Msg).SetUpdate("bench.example.")
	m.SetTsig("writer.", dns.HmacSHA256, 300, time.Now().Unix())
	client := dns.Client{Net: "tcp", Timeout: 20 * time.Second, TsigSecret: map[string]string{"writer.": writer.Secret}}
	for range 30 {
		if _, _, err := client.Exchange(m.Copy(), addr); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if groups["a"] != 30 {
		t.Errorf("they are for %v", groups)
	}
}

// Signed or not, and whoever may update what (RFC 2136 §3.1.1).
func TestUpdatesOfWhatIsNoZone(t *testing.T) {
	s, _, addr := filled(t, Options{Update: func(context.Context, Update) Updated {
		t.Error("it is carried out")
		return Updated{}
	}}, 1)
	writer := testKey(t, "writer.", "")
	setPolicy(t, s, Policy{Update: []Updater{{Key: *writer, For: "team-a"}}})
	for _, c := range []struct {
		name string
		make func(*dns.Msg)
		want int
	}{
		{"a zone section of another type", func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeA }, dns.RcodeFormatError},
		{"of a type that no zone has", func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeTKEY }, dns.RcodeFormatError},
		{"another class", func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }, dns.RcodeNotAuth},
		{"no zone", func(m *dns.Msg) { m.Question = nil }, dns.RcodeFormatError},
		{"two zones", func(m *dns.Msg) { m.Question = append(m.Question, m.Question[0]) }, dns.RcodeFormatError},
	} {
		for _, sign := range []bool{true, false} {
			m := new(dns.Msg).SetUpdate("bench.example.")
			c.make(m)
			client := dns.Client{Net: "tcp", Timeout: 20 * time.Second}
			if sign {
				m.SetTsig("writer.", dns.HmacSHA256, 300, time.Now().Unix())
				client.TsigSecret = map[string]string{"writer.": writer.Secret}
			}
			got, _, err := client.Exchange(m, addr)
			if got == nil || got.Rcode != c.want || got.Opcode != dns.OpcodeUpdate || got.Id != m.Id {
				t.Errorf("%s, signed: %v: got %v, %v", c.name, sign, got, err)
			}
		}
	}
}

func TestUpdatesOfAnySize(t *testing.T) {
	s, _, addr := filled(t, Options{Update: func(_ context.Context, u Update) Updated {
		m := new(dns.Msg)
		if err := m.Unpack(u.Message); err != nil {
			return Updated{Rcode: dns.RcodeServerFailure, Text: err.Error()}
		}
		return Updated{Text: fmt.Sprintf("There are %d records.", len(m.Ns))}
	}}, 1)
	writer := testKey(t, "writer.", "")
	setPolicy(t, s, Policy{Update: []Updater{{Key: *writer, For: "team-a"}}})
	for _, n := range []int{1, 100, 1400} {
		m := new(dns.Msg).SetUpdate("bench.example.").SetEdns0(1232, false)
		for i := range n {
			m.Insert([]dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: fmt.Sprintf("h%d.bench.example.", i), Rrtype: dns.TypeTXT},
				Txt: []string{"of some words"}}})
		}
		m.SetTsig("writer.", dns.HmacSHA256, 300, time.Now().Unix())
		client := dns.Client{Net: "tcp", Timeout: 20 * time.Second, TsigSecret: map[string]string{"writer.": writer.Secret}}
		got, _, err := client.Exchange(m, addr)
		if want := fmt.Sprintf("There are %d records.", n); err != nil || explanation(got) != want {
			t.Errorf("of %d records, %d octets: got %v, %v", n, m.Len(), got, err)
		}
	}
}

// Who forges the sender of updates has little sent to it.
func TestUnsignedUpdatesAreLimited(t *testing.T) {
	_, _, addr := filled(t, Options{RateLimit: 10, Update: func(context.Context, Update) Updated { return Updated{} }}, 1)
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	msg, err := new(dns.Msg).SetUpdate("bench.example.").SetEdns0(1232, false).Pack()
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		c.Write(msg)
	}
	answers, buf := 0, make([]byte, 2000)
	for c.SetReadDeadline(time.Now().Add(time.Second)); ; answers++ {
		n, err := c.Read(buf)
		if err != nil {
			break
		}
		if m := unpack(t, buf[:n]); m.Rcode != dns.RcodeRefused {
			t.Fatalf("one is answered with %v", m)
		}
	}
	if answers < 5 || answers > 30 {
		t.Errorf("60 updates at 10 a second: %d answers", answers)
	}
}

func TestAServerThatTakesNoUpdates(t *testing.T) {
	_, addr := serve(t, Options{})
	client := dns.Client{Timeout: 20 * time.Second}
	got, _, err := client.Exchange(new(dns.Msg).SetUpdate("example.org."), addr)
	if err != nil || got.Rcode != dns.RcodeNotImplemented {
		t.Errorf("got %v, %v", got, err)
	}
}

func explanation(m *dns.Msg) string {
	if opt := m.IsEdns0(); opt != nil {
		for _, o := range opt.Option {
			if e, is := o.(*dns.EDNS0_EDE); is {
				return e.ExtraText
			}
		}
	}
	return ""
}
