package homelab_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
)

func TestEveryTypeOnTheWire(t *testing.T) {
	h := newHook(t, "a-secret-of-a-test")
	w := newWorld(t)
	w.class("dns", h.URL, `hmacAuth: {secret: a-secret-of-a-test, algorithm: SHA256}`)
	for i, c := range []struct{ sentence, what, more, sent string }{
		{"addresses, as the document has them", "A www example.com 192.168.1.100 192.168.1.101", "ttl: 600",
			`{"record":{"type":"A","domain":"example.com","subdomain":"www","values":["192.168.1.100","192.168.1.101"],"ttl":600},"operation":"upsert"}`},
		{"the domain itself", "AAAA @ example.com 2001:DB8::1", "ttl: 1",
			`{"record":{"type":"AAAA","domain":"example.com","subdomain":"@","values":["2001:db8::1"],"ttl":1},"operation":"upsert"}`},
		{"an alias below a wildcard, with underscores", "CNAME *._x Example.COM. _acm.Example.NET.", "",
			`{"record":{"type":"CNAME","domain":"example.com","subdomain":"*._x","values":["_acm.example.net"],"ttl":300},"operation":"upsert"}`},
		{"text", "TXT _dmarc example.com v=DMARC1;p=none", "",
			`{"record":{"type":"TXT","domain":"example.com","subdomain":"_dmarc","values":["v=DMARC1;p=none"],"ttl":300},"operation":"upsert"}`},
		{"mail", "MX @ example.com mail.example.com", "metadata: {priority: 10}",
			`{"record":{"type":"MX","domain":"example.com","subdomain":"@","values":["mail.example.com"],"ttl":300,"metadata":{"priority":10}},"operation":"upsert"}`},
		{"a service", "SRV _sip._tcp example.com sip.example.com", "metadata: {priority: 0, weight: 5, port: 5060}",
			`{"record":{"type":"SRV","domain":"example.com","subdomain":"_sip._tcp","values":["sip.example.com"],"ttl":300,"metadata":{"priority":0,"weight":5,"port":5060}},"operation":"upsert"}`},
		{"name servers", "NS sub example.com ns1.example.com ns2.example.com", "",
			`{"record":{"type":"NS","domain":"example.com","subdomain":"sub","values":["ns1.example.com","ns2.example.com"],"ttl":300},"operation":"upsert"}`},
		{"a pointer", "PTR 1 2.0.192.in-addr.arpa host.example.com", "",
			`{"record":{"type":"PTR","domain":"2.0.192.in-addr.arpa","subdomain":"1","values":["host.example.com"],"ttl":300},"operation":"upsert"}`},
		{"certificates", `CAA ca example.com 0_issue_ca.example`, "",
			`{"record":{"type":"CAA","domain":"example.com","subdomain":"ca","values":["0 issue \"ca.example\""],"ttl":300},"operation":"upsert"}`},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			name := fmt.Sprint("r", i)
			if strings.HasPrefix(c.what, "CAA") {
				w.apply("apiVersion: dns.homelab.mortenolsen.pro/v1alpha1\nkind: DNSRecord\nmetadata: {name: %s}\nspec: "+
					"{dnsClassRef: {name: ~-dns}, type: CAA, subdomain: ca, domain: example.com, values: ['0 issue \"ca.example\"']}",
					name)
			} else {
				w.record(name, "dns", c.what, c.more)
			}
			w.until(name, "Created True RecordCreated")
			if got := strings.Join(h.asked(), "\n"); got != "POST /records "+c.sent {
				t.Errorf("it sends\n%s\nwant\nPOST /records %s", got, c.sent)
			}
			w.delete(name)
			w.until(name, "gone")
			f := strings.Fields(c.what)
			want := "DELETE /records/" + f[0] + "/" + strings.ToLower(strings.TrimSuffix(f[2], ".")) + "/" + f[1]
			if got := strings.Join(h.asked(), "\n"); got != want {
				t.Errorf("it sends\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestWhichTTLCounts(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("plain", h.URL)
	w.class("dns", h.URL, "defaultTTL: 120")
	w.record("own", "dns", "A own example.com 192.0.2.1", "ttl: 60")
	w.record("class", "dns", "A class example.com 192.0.2.1")
	w.record("default", "plain", "A default example.com 192.0.2.1")
	w.holds(h, "A class.example.com 120 192.0.2.1", "A default.example.com 300 192.0.2.1",
		"A own.example.com 60 192.0.2.1")
	w.until("class", "Created True RecordCreated")
	w.class("dns", h.URL, "defaultTTL: 121")
	w.holds(h, "A class.example.com 121 192.0.2.1", "A default.example.com 300 192.0.2.1",
		"A own.example.com 60 192.0.2.1")
	w.until("class", "Updated True RecordUpdated")
	w.until("own", "Created True RecordCreated")
}

// younger makes the next object younger: creation times are whole seconds.
func (w *world) younger() {
	w.t.Helper()
	first := time.Now().Truncate(time.Second)
	w.eventually("time", func() string {
		if time.Now().Truncate(time.Second).After(first) {
			return ""
		}
		return "it is the same second"
	})
}

func TestTheOldestHasTheRecord(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("one", "dns", "A www example.com 192.0.2.1")
	w.until("one", "Created True RecordCreated")
	w.record("two", "dns", "A b.a example.com 192.0.2.2")
	w.younger()
	w.record("three", "dns", "A www example.com 192.0.2.3")
	w.younger()
	w.record("alias", "dns", "CNAME www example.com x.example.net")
	w.record("four", "dns", "A b a.example.com 192.0.2.4") // the same name as two, in other words
	for _, name := range []string{"three", "alias", "four"} {
		w.until(name, "Error False InvalidConfiguration")
		if e := w.get(name).Status.Error; e == nil || e.Code != "CONFLICT" || !strings.Contains(e.Message,
			"belong to the older") && !strings.Contains(e.Message, "which comes first") {
			t.Errorf("%s says %+v", name, e)
		}
	}
	w.holds(h, "A b.a.example.com 300 192.0.2.2", "A www.example.com 300 192.0.2.1")
	h.asked()
	w.delete("two")
	w.until("four", "Created True RecordCreated")
	w.until("two", "gone")
	if got := strings.Join(h.asked(), "\n"); strings.Count(got, "POST") != 2 || !strings.Contains(got,
		"DELETE /records/A/example.com/b.a") || !strings.HasPrefix(got, "POST") {
		t.Errorf("the handover to another split of the name is\n%s", got)
	}
	w.delete("one")
	w.until("three", "Created True RecordCreated")
	w.until("one", "gone")
	if got := strings.Join(h.asked(), "\n"); strings.Contains(got, "DELETE") {
		t.Errorf("the handover is\n%s", got)
	}
	w.holds(h, "A b.a.example.com 300 192.0.2.4", "A www.example.com 300 192.0.2.3")
	w.delete("three")
	w.until("alias", "Created True RecordCreated")
	w.until("three", "gone")
	if got := h.asked(); len(got) != 2 || !strings.HasPrefix(got[0], "DELETE /records/A/") || !strings.HasPrefix(got[1],
		"POST") {
		t.Errorf("the handover to an alias is %q", got)
	}
}

func TestMailServersOfOnePriorityAreOneRecord(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL)
	w.record("one", "dns", "MX @ example.com a.example.com", "metadata: {priority: 10}")
	w.until("one", "Created True RecordCreated")
	w.younger()
	w.record("two", "dns", "MX @ example.com b.example.com", "metadata: {priority: 10}")
	w.younger()
	w.record("three", "dns", "MX @ example.com c.example.com", "metadata: {priority: 20}")
	w.holds(h, `MX example.com 300 a.example.com,b.example.com {"priority":10}`)
	w.until("two", "Created True RecordCreated")
	w.until("three", "Error False InvalidConfiguration")
	w.delete("one")
	w.until("one", "gone")
	w.holds(h, `MX example.com 300 b.example.com {"priority":10}`)
	w.delete("two")
	w.until("three", "Created True RecordCreated")
	w.holds(h, `MX example.com 300 c.example.com {"priority":20}`)
}

func TestAServerThatWantsNumbersInFrontOfTheValues(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("dns", h.URL, "numbersIn: Values")
	w.record("mail", "dns", "MX @ example.com mail.example.com", "metadata: {priority: 10}")
	w.record("www", "dns", "A www example.com 192.0.2.1")
	w.until("mail", "Created True RecordCreated")
	w.until("www", "Created True RecordCreated")
	w.holds(h, "A www.example.com 300 192.0.2.1", "MX example.com 300 10 mail.example.com")
	h.asked()
	w.class("dns", h.URL, "numbersIn: Metadata")
	w.holds(h, "A www.example.com 300 192.0.2.1", `MX example.com 300 mail.example.com {"priority":10}`)
	for _, request := range h.asked() {
		if strings.Contains(request, "www") || strings.HasPrefix(request, "DELETE") {
			t.Errorf("what tells nothing else is sent again: %s", request)
		}
	}
}

func TestANameThatChanges(t *testing.T) {
	for _, c := range []struct{ sentence, before, after, asked string }{
		{"another name", "A a example.com 192.0.2.1", "A b example.com 192.0.2.1", "POST b DELETE A/example.com/a"},
		{"another type", "A a example.com 192.0.2.1", "TXT a example.com x", "POST a DELETE A/example.com/a"},
		{"an alias instead", "A a example.com 192.0.2.1", "CNAME a example.com x.example.net",
			"DELETE A/example.com/a POST a"},
		{"an address instead of an alias", "CNAME a example.com x.example.net", "A a example.com 192.0.2.1",
			"DELETE CNAME/example.com/a POST a"},
		{"the same name in other words", "A b.a example.com 192.0.2.1", "A b a.example.com 192.0.2.1",
			"POST b DELETE A/example.com/b.a POST b"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			h := newHook(t, "")
			w := newWorld(t)
			w.class("dns", h.URL)
			w.record("it", "dns", c.before)
			w.until("it", "Created True RecordCreated")
			h.asked()
			w.record("it", "dns", c.after)
			w.until("it", "Created True RecordCreated")
			w.eventually("the place that it had", func() string {
				if s := w.get("it").Status; len(s.Former) > 0 || s.Applied == nil || s.Applied.Hash == "" {
					return fmt.Sprintf("the status has %+v", s)
				}
				return ""
			})
			var got []string
			for _, r := range h.asked() {
				f := strings.Fields(r)
				if f[0] == "POST" {
					_, rest, _ := strings.Cut(r, `"subdomain":"`)
					name, _, _ := strings.Cut(rest, `"`)
					got = append(got, "POST", name)
				} else {
					got = append(got, f[0], strings.TrimPrefix(f[1], "/records/"))
				}
			}
			if all := strings.Join(got, " "); all != c.asked {
				t.Errorf("the server is asked %s, want %s", all, c.asked)
			}
			f := strings.Fields(c.after)
			w.holds(h, fmt.Sprintf("%s %s.%s 300 %s", f[0], f[1], f[2], f[3]))
		})
	}
}

func TestAClassThatChanges(t *testing.T) {
	one, two := newHook(t, ""), newHook(t, "")
	w := newWorld(t)
	w.class("one", one.URL)
	w.class("same", one.URL)
	w.class("two", two.URL)
	w.record("it", "one", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	one.asked()
	w.record("it", "same", "A www example.com 192.0.2.1")
	w.settled("it", "same")
	if got := strings.Join(one.asked(), "\n"); strings.Contains(got, "DELETE") {
		t.Errorf("the class of the same server begins with\n%s", got)
	}
	w.record("it", "two", "A www example.com 192.0.2.1")
	w.settled("it", "two")
	w.holds(one)
	w.holds(two, "A www.example.com 300 192.0.2.1")
	if got := strings.Join(two.asked(), "\n"); strings.Count(got, "POST") != 2 {
		t.Errorf("the other server is asked\n%s", got)
	}
	three := newHook(t, "") // the server moves
	w.class("two", three.URL)
	w.holds(three, "A www.example.com 300 192.0.2.1")
	if got := two.asked(); len(got) > 0 {
		t.Errorf("the server that is left is asked %q", got)
	}
}

// TestAnAliasThatBecomesAnAddressOfAnotherClass has two servers of one zone, which takes nothing beside an alias.
func TestAnAliasThatBecomesAnAddressOfAnotherClass(t *testing.T) {
	one, two := newHook(t, ""), newHook(t, "")
	w := newWorld(t, slowly)
	w.class("one", one.URL)
	w.class("two", two.URL)
	w.record("it", "one", "CNAME www example.com x.example.net")
	w.until("it", "Created True RecordCreated")
	two.answers(func(rw http.ResponseWriter, r *http.Request) bool {
		return r.Method == http.MethodPost && one.has() != "" && status(400, "")(rw, r)
	})
	w.record("it", "two", "A www example.com 192.0.2.1")
	w.settled("it", "two")
	w.holds(one)
	w.holds(two, "A www.example.com 300 192.0.2.1")
}

// settled waits until a record is on the server of a class and nothing of it anywhere else.
func (w *world) settled(name, class string) {
	w.t.Helper()
	w.eventually(name, func() string {
		s := w.get(name).Status
		if s.Applied == nil || s.Applied.Class != w.ns+"-"+class || s.Applied.Hash == "" || len(s.Former) > 0 ||
			s.State == v1alpha1.StatePending {
			return fmt.Sprintf("its status is %+v", s)
		}
		return ""
	})
}

func TestAClassThatIsDeleted(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.record("it", "dns", "A www example.com 192.0.2.1")
	w.until("it", "Error False DNSClassNotFound")
	w.record("never", "none", "A other example.com 192.0.2.1")
	w.until("never", "Error False DNSClassNotFound")
	w.class("dns", h.URL)
	w.until("it", "Created True RecordCreated")
	class := &v1alpha1.DNSClass{}
	class.Name = w.ns + "-dns"
	w.eventually("the finalizer", func() string {
		if err := w.live.Get(w.ctx, client.ObjectKeyFromObject(class), class); err != nil || len(class.Finalizers) == 0 {
			return fmt.Sprintf("the class is %+v, %v", class, err)
		}
		return ""
	})
	if err := w.live.Delete(w.ctx, class); err != nil {
		t.Fatal(err)
	}
	w.record("it", "dns", "A www example.com 192.0.2.2") // it works for those that it has
	w.holds(h, "A www.example.com 300 192.0.2.2")
	w.delete("it")
	w.until("it", "gone")
	w.holds(h)
	w.eventually("the class", func() string {
		if err := w.live.Get(w.ctx, client.ObjectKeyFromObject(class), class); err == nil {
			return "it is still there"
		}
		return ""
	})
	w.delete("never")
	w.until("never", "gone")
}

func TestTwoSpellingsOfAURLAreOneServer(t *testing.T) {
	h := newHook(t, "")
	w := newWorld(t)
	w.class("one", h.URL)
	w.class("same", h.URL+"//")
	w.record("it", "one", "A www example.com 192.0.2.1")
	w.until("it", "Created True RecordCreated")
	h.asked()
	w.record("it", "same", "A www example.com 192.0.2.1")
	w.settled("it", "same")
	if got := strings.Join(h.asked(), "\n"); strings.Contains(got, "DELETE") || strings.Count(got, "POST") != 1 {
		t.Errorf("the class of the same server begins with\n%s", got)
	}
	w.class("same", h.URL+"/", "timeoutSeconds: 7")
	w.record("later", "same", "A later example.com 192.0.2.1")
	w.until("later", "Created True RecordCreated")
	if got := h.asked(); len(got) != 1 {
		t.Errorf("the other spelling has it send %q", got)
	}
}
