package embedded

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/tsig"
)

// signed packs a question for the SOA of bench.example. with ID 7, signed with a key at a time.
func signed(t testing.TB, key *Key, at time.Time, edit func(*dns.Msg)) (msg []byte, mac string) {
	t.Helper()
	m := new(dns.Msg).SetQuestion("bench.example.", dns.TypeSOA)
	m.Id = 7
	if edit != nil {
		edit(m)
	}
	m.SetTsig(key.Name.String(), key.Algorithm+".", 300, at.Unix())
	msg, mac, err := dns.TsigGenerate(m, key.Secret, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return msg, mac
}

// ofServer is a responder of a server, as questions from a client meet it.
func ofServer(s *Server) *responder {
	r := new(responder)
	r.serve(s)
	r.client = loopback().Prefixes[0].Addr()
	return r
}

func TestSignedQuestionsAreAnswered(t *testing.T) {
	s, _, _ := filled(t, Options{}, 1)
	now := time.Now()
	for _, algorithm := range tsig.Algorithms() {
		key := testKey(t, "Follower.Example.", algorithm)
		setPolicy(t, s, Policy{Transfer: []Rule{{Key: testKey(t, "other.example.", algorithm)}, {Key: key}}})
		for name, edit := range map[string]func(*dns.Msg){
			"an answer": nil, "EDNS": edns(1232), "a denial": func(m *dns.Msg) { m.Question[0].Name = "no.bench.example." },
			"a refusal":        func(m *dns.Msg) { m.Question[0].Name = "example.com." },
			"a compressed key": func(m *dns.Msg) { m.Compress = true; m.Question[0].Name = "a.follower.example." },
		} {
			msg, mac := signed(t, key, now, edit)
			r := ofServer(s)
			wire := r.respond(s.Catalogue(), msg, nil, false)
			if err := dns.TsigVerify(wire, testSecret, mac, false); err != nil {
				t.Errorf("%s, %s: %v: %v", algorithm, name, err, unpack(t, wire))
			}
			if short := r.short(); dns.TsigVerify(short, testSecret, mac, false) != nil || !unpack(t, short).Truncated {
				t.Errorf("%s, %s: the truncated answer is not signed: %v", algorithm, name, unpack(t, short))
			}
		}
	}
}

func TestWrongSignatures(t *testing.T) {
	s, _, _ := filled(t, Options{}, 1)
	now := time.Now()
	key := testKey(t, "follower.", "hmac-sha256")
	setPolicy(t, s, Policy{Transfer: []Rule{{Key: key}}})
	other := *key
	other.Secret = "b3RoZXI="
	with := func(k *Key, at time.Time, edit func(*dns.Msg)) []byte { msg, _ := signed(t, k, at, edit); return msg }
	// repacked changes the message after it was signed.
	repacked := func(edit func(*dns.Msg, *dns.TSIG)) []byte {
		m := unpack(t, with(key, now, nil))
		edit(m, m.Extra[len(m.Extra)-1].(*dns.TSIG))
		wire, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return wire
	}
	for _, c := range []struct {
		name string
		msg  []byte
		want string // rcode, error of the TSIG, signed or not
	}{
		{"a good one", with(key, now, nil), "NOERROR NOERROR signed"},
		{"within five minutes", with(key, now.Add(-299*time.Second), nil), "NOERROR NOERROR signed"},
		{"an unknown key", with(testKey(t, "unknown.", "hmac-sha256"), now, nil), "NOTAUTH BADKEY"},
		{"an algorithm that is not the key's", with(testKey(t, "follower.", "hmac-sha512"), now, nil), "NOTAUTH BADKEY"},
		{"an algorithm that nobody has", repacked(func(_ *dns.Msg, s *dns.TSIG) {
			s.Algorithm = "hmac-md5.sig-alg.reg.int."
		}), "NOTAUTH BADKEY"},
		{"another secret", with(&other, now, nil), "NOTAUTH BADSIG"},
		{"another question", repacked(func(m *dns.Msg, _ *dns.TSIG) { m.Question[0].Qtype = dns.TypeNS }), "NOTAUTH BADSIG"},
		{"another ID, as forwarders make one", repacked(func(m *dns.Msg, _ *dns.TSIG) { m.Id = 8 }),
			"NOERROR NOERROR signed"},
		{"another time", repacked(func(_ *dns.Msg, s *dns.TSIG) { s.TimeSigned++ }), "NOTAUTH BADSIG"},
		{"a clock that is late", with(key, now.Add(-301*time.Second), nil), "NOTAUTH BADTIME signed"},
		{"a clock that is early", with(key, now.Add(310*time.Second), nil), "NOTAUTH BADTIME signed"},
		{"half of the MAC", repacked(func(_ *dns.Msg, s *dns.TSIG) { s.MAC, s.MACSize = s.MAC[:32], 16 }),
			"NOTAUTH BADTRUNC signed"},
		{"less than half of the MAC", repacked(func(_ *dns.Msg, s *dns.TSIG) { s.MAC, s.MACSize = s.MAC[:30], 15 }),
			"FORMERR"},
		{"no MAC", repacked(func(_ *dns.Msg, s *dns.TSIG) { s.MAC, s.MACSize = "", 0 }), "FORMERR"},
		{"a MAC that is too long", repacked(func(_ *dns.Msg, s *dns.TSIG) { s.MAC, s.MACSize = s.MAC+"00", 33 }), "FORMERR"},
		{"a class", repacked(func(_ *dns.Msg, s *dns.TSIG) { s.Hdr.Class = dns.ClassINET }), "FORMERR"},
		{"a TTL", repacked(func(_ *dns.Msg, s *dns.TSIG) { s.Hdr.Ttl = 1 }), "FORMERR"},
		{"two signatures", repacked(func(m *dns.Msg, s *dns.TSIG) { m.Extra = append(m.Extra, s) }), "FORMERR"},
		{"something after the signature", repacked(func(m *dns.Msg, _ *dns.TSIG) {
			m.Extra = append(m.Extra, mustRR(t, "a. 1 A 192.0.2.1"))
		}), "FORMERR"},
		{"a signature in the wrong section", repacked(func(m *dns.Msg, s *dns.TSIG) {
			m.Extra, m.Ns = nil, []dns.RR{s}
		}), "FORMERR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := ofServer(s).respond(s.Catalogue(), c.msg, nil, true)
			m := unpack(t, wire)
			got := dns.RcodeToString[m.Rcode]
			if sig := m.IsTsig(); sig != nil {
				got += " " + strings.Replace(dns.RcodeToString[int(sig.Error)], "BADVERS", "BADSIG", 1)
				if sig.MACSize > 0 {
					got += " signed"
					checkSigned(t, wire, c.msg, sig)
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if m.Rcode != dns.RcodeSuccess && len(m.Answer) > 0 {
				t.Errorf("it is answered: %v", m)
			}
		})
	}
}

// checkSigned verifies the MAC of an answer, at the time that is in it, and what BADTIME tells besides (RFC 8945
// §5.2.3).
func checkSigned(t *testing.T, wire, request []byte, sig *dns.TSIG) {
	t.Helper()
	asked := unpack(t, request).IsTsig()
	key := testKey(t, "follower.", "hmac-sha256")
	signer, err := tsig.NewSigner(*key)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := hex.DecodeString(sig.OtherData)
	mac, _ := hex.DecodeString(asked.MAC)
	body := append([]byte(nil), wire[:findSignature(wire)]...)
	body[11]--
	want := signer.MAC(withLength(mac), body,
		signer.AppendVariables(nil, tsig.Stamp{Time: sig.TimeSigned, Fudge: sig.Fudge, Error: sig.Error, Other: other}))
	if sig.MAC != hex.EncodeToString(want) {
		t.Errorf("the MAC of the answer is wrong")
	}
	if sig.Error == dns.RcodeBadTime && (sig.TimeSigned != asked.TimeSigned || len(other) != 6) {
		t.Errorf("BADTIME has time %d, the question %d, and other data %s", sig.TimeSigned, asked.TimeSigned, sig.OtherData)
	}
}

func TestTwoGroupsMayUseOneNameForTwoKeys(t *testing.T) {
	s, _, _ := filled(t, Options{}, 1)
	one, two := testKey(t, "follower.", "hmac-sha256"), testKey(t, "follower.", "hmac-sha256")
	two.Secret = "YW5vdGhlciBvZiBzaXh0ZWVu"
	setPolicy(t, s, Policy{Transfer: []Rule{{Key: one}}})
	if err := s.SetPolicy("other", Policy{Transfer: []Rule{{Key: two}}}); err != nil {
		t.Fatal(err)
	}
	ask := func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAXFR }
	for key, want := range map[*Key]string{one: "", two: "REFUSED"} {
		msg, mac := signed(t, key, time.Now(), ask)
		r := ofServer(s)
		wire := r.respond(s.Catalogue(), msg, nil, true)
		got := ""
		if r.outgoing == nil {
			got = dns.RcodeToString[unpack(t, wire).Rcode]
			if err := dns.TsigVerify(wire, key.Secret, mac, false); err != nil {
				t.Error(err)
			}
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	s.DropPolicy("other")
	msg, _ := signed(t, two, time.Now(), ask)
	if m := unpack(t, ofServer(s).respond(s.Catalogue(), msg, nil, true)); m.Rcode != dns.RcodeNotAuth {
		t.Errorf("a key that was dropped: %v", m)
	}
}

// FuzzSignature sends anything that has a TSIG at its end; nothing of it is taken for signed.
func FuzzSignature(f *testing.F) {
	s, err := Serve(f.Context(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	key := testKey(f, "follower.", "hmac-sha256")
	setPolicy(f, s, Policy{Transfer: []Rule{{Key: key}}})
	if _, err := s.Group("test").Apply(f.Context(), mustName(f, "bench.example."),
		backend.Batch{Create: true, SOA: new(readZone(f, exampleOrg).soa)}); err != nil {
		f.Fatal(err)
	}
	other := *key
	other.Secret = "b3RoZXI="
	for _, typ := range []uint16{dns.TypeSOA, dns.TypeAXFR, dns.TypeIXFR} {
		msg, _ := signed(f, &other, time.Now(), func(m *dns.Msg) {
			if m.Question[0].Qtype = typ; typ == dns.TypeIXFR {
				m.Ns = ixfr("bench.example.", 1).Ns
			}
		})
		f.Add(msg)
	}
	r := ofServer(s)
	f.Fuzz(func(t *testing.T, msg []byte) {
		wire := r.respond(s.Catalogue(), msg, nil, true)
		if r.outgoing != nil || r.signature.key != nil {
			t.Fatalf("a signature was guessed:\n%x", msg)
		}
		if wire != nil {
			if m := unpack(t, wire); m.IsTsig() != nil && m.Rcode != dns.RcodeNotAuth {
				t.Fatal(fmt.Sprint("a signature that is wrong is answered with ", m))
			}
		}
		findSignature(append(msg, make([]byte, headerSize)...))
	})
}
